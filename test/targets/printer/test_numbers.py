"""Constants are printed exactly, and every compiler reads them as what they are."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_targets import Target
from xdsl.dialects.builtin import ModuleOp, VectorType, bf16, f16, f32, f64, i1

from gingham.dialects.eltwise.element_types import (
    ELEMENT_TYPES,
    si8,
    si32,
    si64,
    ui8,
    ui32,
    ui64,
)
from gingham.targets.opencl.printer.vectors import literal
from gingham.targets.printer.types import c_type, integer_literal
from gingham.targets.reference import interpret

Parse = Callable[[str], ModuleOp]


@pytest.mark.parametrize(
    ("number", "type", "text"),
    [
        (1, f32, "1.0f"),
        (-2.5, f32, "(-2.5f)"),
        (0.1, f32, "0.1f"),
        (1e-40, f32, "1e-40f"),
        (-0.0, f32, "(-0.0f)"),
        (1e300, f32, "INFINITY"),
        (-(10**400), f32, "(-INFINITY)"),
        (math.nan, f32, "NAN"),
        (math.nan, f64, "((double)(NAN))"),
        (-math.inf, f64, "((double)(-INFINITY))"),
        (0.1, f64, "0.1"),
        (0.1, f16, "11878"),
        (-math.inf, f16, "64512"),
        (1e6, f16, "31744"),
        (0.1, bf16, "15821"),
        (-(10**400), bf16, "65408"),
        (math.nan, bf16, "32704"),
        (3, i1, "1"),
        (0, i1, "0"),
        (-128, si8, "(-128)"),
        (200, si8, "(-56)"),
        (-1, ui8, "255"),
        (-(2**31), si32, "(-2147483647 - 1)"),
        (2**31 - 1, si32, "2147483647"),
        (5, si64, "5L"),
        (-(2**63), si64, "(-9223372036854775807L - 1)"),
        (5, ui32, "5u"),
        (2**64 - 1, ui64, "18446744073709551615UL"),
        (0.5, VectorType(f32, [8]), "(float8)(0.5f)"),
        (-7, VectorType(si8, [4]), "(char4)((-7))"),
        (1, VectorType(i1, [4]), "(char4)(-1)"),
    ],
)
def test_literals(number: float, type: VectorType, text: str) -> None:
    assert literal(number, c_type(type)) == text


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_a_float_is_named_exactly(number: float) -> None:
    text = literal(number, c_type(f32)).strip("()")
    assert text.endswith("f")
    read = struct.unpack("f", struct.pack("f", float(text[:-1])))[0]
    assert read == number
    assert math.copysign(1, read) == math.copysign(1, number)


@given(st.integers(-(2**63), 2**63 - 1))
def test_an_integer_is_as_long_as_it_must_be(number: int) -> None:
    text = integer_literal(number)
    assert ("L" in text) == (not -(2**31) <= number < 2**31)
    assert eval(text.replace("L", "")) == number


@pytest.mark.parametrize("lanes", [1, 4])
def test_the_compiler_reads_every_constant(
    lanes: int, parse_module: Parse, target: Target
) -> None:
    integers = [0, 1, -1, 127, 128, -128, 255, 2**15, 2**31 - 1, -(2**31), 2**32 - 1]
    integers += [2**63 - 1, -(2**63), 2**64 - 1]
    floats = [
        "0.1",
        "-0.0",
        "1.0e-40",
        "3.4028234663852886e+38",
        "1.0e-310",
        "inf",
        "nan",
    ]
    cases = [
        (name, str(number))
        for name in ELEMENT_TYPES
        if name != "f64"
        for number in (floats if "f" in name else integers)
    ]
    if target.has_double:
        cases += [("f64", number) for number in floats]
    stores: list[str] = []
    counts: dict[str, int] = {}
    for element, number in cases:
        position = counts.setdefault(element, 0)
        counts[element] += 1
        value = element if lanes == 1 else f"vector<{lanes}x{element}>"
        name = f"{element}_{position}"
        stores += [
            f"%{name} = eltwise.constant {number} : {value}",
            f"opencl.store %{name}, %p_{element}[{lanes * position}] : {value} -> "
            f"!opencl.pointer<{element}, global>",
        ]
    buffers = {e: f"!opencl.buffer<{lanes * n}x{e}>" for e, n in counts.items()}
    arguments = ", ".join(f"%p_{e} : !opencl.pointer<{e}, global>" for e in counts)
    values = ", ".join(f"%{e}" for e in counts)
    types = ", ".join(buffers.values())
    module = parse_module(
        f"opencl.kernel @k({arguments}) group [1, 1, 1] {{\n"
        + "\n".join(stores)
        + f"\n}}\nfunc.func @main() -> ({types}) {{\n"
        + "\n".join(f"%{e} = opencl.allocate : {type}" for e, type in buffers.items())
        + f"\nopencl.launch @k groups [1, 1, 1] ({values}) : {types}\n"
        f"func.return {values} : {types}\n}}"
    )
    results = target.run(module)
    for result, want in zip(results, interpret(module, []), strict=True):
        assert result.dtype == want.dtype
        if want.dtype.kind not in "biu":
            # NumPy has no NaN for bfloat16.
            result, want = result.astype(np.float64), want.astype(np.float64)
            assert (np.signbit(result) == np.signbit(want)).all()
        np.testing.assert_array_equal(result, want)
