"""A part of the backend tests of ONNX; `python -m test.onnx_suite` runs all."""

from __future__ import annotations

from pathlib import Path

import pytest

onnx = pytest.importorskip("onnx")

from test.onnx_suite.suite import cases, run  # noqa: E402

_FAILURES = Path(__file__).parents[2] / "onnx_suite" / "failures.txt"
_EVERY = 8
"""One of so many tests is run on the reference interpreter."""

_ON_THE_DEVICE = (
    "^test_(add|conv_with_strides_padding|gemm_all_attributes|layer_normalization_2d_axis1"
    "|softmax_axis_1|gather_1|maxpool_2d_default)$"
)


def failing() -> set[str]:
    return {line.partition(":")[0] for line in _FAILURES.read_text().splitlines()}


@pytest.mark.parametrize("portion", range(4))
def test_a_sample_on_the_reference_interpreter(portion: int) -> None:
    sample = [case for case in cases() if not case.url][portion * 2 :: _EVERY]
    assert len(sample) > 200
    outcomes = [run(case, "reference") for case in sample[portion::4]]
    failed = {each.name: each.failure for each in outcomes if each.failure}
    assert not failed.keys() - failing(), failed


def test_some_on_the_default_device() -> None:
    outcomes = [run(case, None) for case in cases(_ON_THE_DEVICE)]
    assert len(outcomes) == 7
    assert {each.name: each.failure for each in outcomes if each.failure} == {}
    assert not any(each.steps for each in outcomes)
