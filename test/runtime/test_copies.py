"""Arrays and functions under `copy` and `pickle`."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gingham
from gingham import plaidml
from gingham.edsl import Placeholder
from gingham.errors import GinghamError

SUM = "function (X[M, N]) -> (S) { S[m : M] = +(X[m, n]); }"
SCALES = np.array([1, 2, 3], np.float32)
X = np.arange(6, dtype=np.float32).reshape(2, 3)

Copy = Callable[[Any], Any]


def pickled(value: object) -> Any:
    return pickle.loads(pickle.dumps(value))


@gingham.jit
def doubled(x: Any) -> Any:
    return x + x


def tripled(x: Any) -> Any:
    return x * 3


@pytest.fixture(params=[copy.copy, copy.deepcopy, pickled])
def copied(request: pytest.FixtureRequest) -> Copy:
    return request.param


def test_arrays(copied: Copy) -> None:
    array = gingham.asarray(X, "reference", copy=True)
    other = copied(array)
    array.numpy()[...] = 0
    assert other.device is array.device
    np.testing.assert_array_equal(other.numpy(), X)


def test_a_closed_array(copied: Copy) -> None:
    array = gingham.asarray(X, "reference", copy=True)
    array.close()
    with pytest.raises(GinghamError, match="closed"):
        copied(array)


def test_functions(copied: Copy) -> None:
    f = gingham.compile(SUM, device="reference", constants=["X"], profile=True)
    g = copied(f)
    np.testing.assert_array_equal(g(X), X.sum(1))
    assert (g.input_names, g.output_names) == (["X"], ["S"])
    assert g.device is f.device
    assert g.profile is not f.profile


def test_errors_of_copies_point_into_the_text(copied: Copy) -> None:
    g = copied(gingham.compile(SUM, device="reference"))
    with pytest.raises(GinghamError) as error:
        g(np.zeros(3, np.float32))
    assert error.value.location is not None
    assert error.value.location.text == SUM


def test_programs(copied: Copy) -> None:
    x = Placeholder("float32", [2, 3], "X")
    program = gingham.Program("scaled", [x], [x * SCALES])
    for other in (copied(program), copied(program.compile("reference"))):
        np.testing.assert_array_equal(other(X), X * SCALES)


def test_traced_functions(copied: Copy) -> None:
    assert copied(doubled) is doubled
    f = gingham.jit(device="reference", fast_math=True)(tripled)
    g = copied(f)
    assert g is not f
    np.testing.assert_array_equal(g(X), X * 3)


def test_functions_of_plaidml(copied: Copy) -> None:
    assert copied(plaidml.Function(SUM, fid="sums")).name == "sums"
    composed = plaidml.Function(SUM).module
    f = plaidml.Function.of_module(composed, {}, [])
    with pytest.raises(GinghamError, match="cannot be copied or pickled"):
        copied(f)


def test_devices() -> None:
    device = gingham.default_device()
    assert copy.deepcopy(device) is device
    if not device.is_reference:
        with pytest.raises(TypeError, match="keep its name"):
            pickle.dumps(device)
