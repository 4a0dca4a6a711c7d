"""Operators of classical machine learning, compared with onnxruntime."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from onnx_models import INT64, model, node, value

from gingham.runtime.onnx.loading import load

runtime: Any = pytest.importorskip("onnxruntime")

_DOMAIN = "ai.onnx.ml"

CASES: dict[str, dict[str, Any]] = {
    "Binarizer": {"threshold": 0.25},
    "Scaler": {"offset": [1.0, 2.0, -3.0], "scale": [0.5, 2.0, 1.5]},
    "Normalizer": {"norm": "L1"},
    "LinearRegressor": {
        "coefficients": [1.0, 2.0, 3.0, -4.0, 5.0, 6.0],
        "intercepts": [0.5, -1.0],
        "targets": 2,
    },
    "Imputer": {
        "imputed_value_floats": [1.0, 2.0, 3.0],
        "replaced_value_float": float("nan"),
    },
}


@pytest.mark.parametrize("operator", CASES)
def test_operators(operator: str) -> None:
    part = node(operator, ["x"], ["y"], domain=_DOMAIN, **CASES[operator])
    x = np.random.default_rng(7).normal(size=(5, 3)).astype(np.float32)
    if operator == "Imputer":
        x[x > 1] = np.nan
    _compare(part, {"x": x})


@pytest.mark.parametrize("norm", ["MAX", "L2"])
def test_norms(norm: str) -> None:
    x = np.random.default_rng(7).uniform(size=(4, 6)).astype(np.float32)
    _compare(node("Normalizer", ["x"], ["y"], domain=_DOMAIN, norm=norm), {"x": x})


def test_chosen_features() -> None:
    x = np.random.default_rng(7).normal(size=(4, 6)).astype(np.float32)
    part = node("ArrayFeatureExtractor", ["x", "n"], ["y"], domain=_DOMAIN)
    _compare(part, {"x": x, "n": np.array([[5, 0, 2]], np.int64)})


def _compare(part: Any, arrays: dict[str, Any]) -> None:
    """Have a node give what onnxruntime gives, without a step on the host."""
    inputs = [
        value(name, array.shape, INT64 if array.dtype == np.int64 else 1)
        for name, array in arrays.items()
    ]
    whole = model([part], inputs, [value("y", None)], domains={_DOMAIN: 3})
    session = runtime.InferenceSession(
        whole.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    (expected,) = session.run(None, arrays)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = np.asarray(load(whole)(**arrays))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6, strict=True)
