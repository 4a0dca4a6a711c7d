"""Element types, literals and casts, against the rules written out in plain Python."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import IndexType, bf16, f16, f64

from gingham.dialects.eltwise.element_types import ELEMENT_TYPES, Kind, bit_width, kind
from gingham.dialects.eltwise.numpy_types import numpy_dtype
from gingham.targets.reference.elements import cast, literal

NAMES = list(ELEMENT_TYPES)


def test_every_element_type_has_a_dtype_of_its_width() -> None:
    for name, element in ELEMENT_TYPES.items():
        assert numpy_dtype(element).itemsize * 8 == bit_width(element), name
    assert numpy_dtype(ELEMENT_TYPES["i1"]) == np.bool_
    assert numpy_dtype(ELEMENT_TYPES["ui16"]) == np.uint16
    assert numpy_dtype(bf16) == ml_dtypes.bfloat16
    assert numpy_dtype(IndexType()) == np.int64


def convert(value: float, source: str, target: str) -> float:
    """C's conversion, and what Gingham adds to it, of one number."""
    element = ELEMENT_TYPES[target]
    width = bit_width(element)
    if target == "i1":
        return value != 0
    if kind(element) is Kind.FLOAT:
        return value
    signed = kind(element) is Kind.SIGNED
    low = -(2 ** (width - 1)) if signed else 0
    high = low + 2**width - 1
    if kind(ELEMENT_TYPES[source]) is not Kind.FLOAT:
        return (int(value) - low) % 2**width + low
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return high if value > 0 else low
    return min(max(math.trunc(value), low), high)


@pytest.mark.parametrize("source", NAMES)
@pytest.mark.parametrize("target", NAMES)
def test_cast(source: str, target: str) -> None:
    element = ELEMENT_TYPES[source]
    dtype = numpy_dtype(element)
    if kind(element) is Kind.FLOAT:
        numbers: list[float] = [
            0.0,
            -0.5,
            0.5,
            1.75,
            -1.75,
            2.5,
            127.5,
            -129,
            300,
            70000,
        ]
        numbers += [1e9, -1e9, 1e19, -1e19, 3e38, math.inf, -math.inf, math.nan]
    elif kind(element) is Kind.BOOLEAN:
        numbers = [0, 1]
    else:
        limits = np.iinfo(dtype)
        numbers = [limits.min, limits.max, 0, 1, 2, 100, limits.max // 3]
    with np.errstate(all="ignore"):
        array = np.array(numbers).astype(dtype)
    got = cast(array, element, ELEMENT_TYPES[target])
    assert got.dtype == numpy_dtype(ELEMENT_TYPES[target])
    with np.errstate(all="ignore"):
        plain = array.astype(np.float64) if source == "bf16" else array
        exact = [convert(value, source, target) for value in plain.tolist()]
        expected = np.array(exact, dtype=object).astype(got.dtype)
    if target == "bf16":
        got, expected = got.astype(np.float64), expected.astype(np.float64)
    np.testing.assert_array_equal(got, expected)


def test_integer_to_bf16_is_rounded_to_f32_first() -> None:
    (value,) = cast(np.array([2**24 + 2**16 + 1]), IndexType(), bf16).tolist()
    assert value == 2**24  # 2**24 + 2**16 lies half way between two numbers of bf16


def test_f64_to_f16_is_rounded_once() -> None:
    # Just above half way between 1 and the next f16; in f32 it would be half way.
    half_way = 1 + 2**-11
    (value,) = cast(np.array([half_way + 2**-40]), f64, f16).tolist()
    assert value == 1 + 2**-10


@pytest.mark.parametrize(
    ("number", "name", "expected"),
    [
        (300, "si8", 44),
        (-1, "ui8", 255),
        (2**63, "si64", -(2**63)),
        (2**64 - 1, "ui64", 2**64 - 1),
        (5, "i1", True),
        (0, "i1", False),
        (0.1, "f32", struct.unpack("f", struct.pack("f", 0.1))[0]),
        (1e300, "f32", math.inf),
        (10**400, "f64", math.inf),
        (7, "bf16", 7.0),
    ],
)
def test_literal(number: float, name: str, expected: float) -> None:
    value = literal(number, ELEMENT_TYPES[name])
    assert value.shape == ()
    assert value.dtype == numpy_dtype(ELEMENT_TYPES[name])
    assert value.item() == expected


def test_casts_and_constants_in_a_module(run: Callable[..., Any]) -> None:
    x = np.array([1.5, -300.0, np.nan], np.float32)
    signed, flag, constant = run(
        """
        func.func @main(%x : tensor<3xf32>)
            -> (tensor<3xsi8>, tensor<3xi1>, tensor<f16>) {
          %a = eltwise.cast %x : tensor<3xf32> to tensor<3xsi8>
          %b = eltwise.cast %x : tensor<3xf32> to tensor<3xi1>
          %c = eltwise.constant 0.1 : tensor<f16>
          func.return %a, %b, %c : tensor<3xsi8>, tensor<3xi1>, tensor<f16>
        }""",
        x,
    )
    assert signed.tolist() == [1, -128, 0]
    assert flag.tolist() == [True, True, True]
    assert constant.shape == ()
    assert constant == np.float16(0.1)
