"""`opencl.divide` gives the quotient rounded to the nearest number, bit by bit.

It is run by the interpreter and on every OpenCL device whose `/` gives that, over
numbers of all exponents, those near where products over- and underflow, and quotients
that lie almost in the middle of two numbers.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

import gingham
from gingham.dialects import make_context
from gingham.dialects.opencl.division import DivideOp
from gingham.passes.opencl.divide_by_scalars import OpenCLDivideByScalarsPass
from gingham.runtime.devices import devices
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.executor import OpenCLExecutable
from gingham.targets.reference import interpret
from gingham.tools.optimizer.located_parser import parse_mlir
from gingham.tools.optimizer.sources import Sources

Array = NDArray[Any]

BORDERS = (-149, -126, -125, -102, -101, -100, -99, 0, 101, 102, 103, 126, 127)
"""Exponents of numerators where the way of computing changes, or could go wrong."""

DIVISORS = (
    *(1.0, 3.0, 7.0, 1.9999999, 1.0000001, 0.1, 1000.7, -3.0, -0.7),
    *(2.0**-24, 2.0**24, 2.0**-25, 2.0**25, 1.1 * 2.0**-24, 1.9 * 2.0**23),
    *(0.0, -0.0, 1e-45, 1e-39, 1e-38, 3e38, np.inf, -np.inf, np.nan),
)


def program(rows: int, lanes: int, *, plain: bool = False) -> ModuleOp:
    """A kernel that divides each row of A, a vector, by a number of B.

    A plain one uses the operator of OpenCL C.
    """
    pointer, vector = "!opencl.pointer<f32, global>", f"vector<{lanes}xf32>"
    long, short = f"!opencl.buffer<{rows * lanes}xf32>", f"!opencl.buffer<{rows}xf32>"
    text = f"""
    opencl.kernel @divide(%A : {pointer}, %B : {pointer}, %C : {pointer})
        group [1, 1, 1] {{
      %i = opencl.work_item group_id 0 below {rows}
      %x = opencl.load %A[{lanes} * %i] : {pointer} -> {vector}
      %b = opencl.load %B[%i] : {pointer} -> f32
      %y = eltwise.broadcast %b : f32 to {vector}
      %q = eltwise.div %x, %y : {vector}
      opencl.store %q, %C[{lanes} * %i] : {vector} -> {pointer}
    }}
    func.func @main(%A : {long}, %B : {short}) -> {long} {{
      %C = opencl.allocate : {long}
      opencl.launch @divide groups [{rows}, 1, 1] (%A, %B, %C)
        : {long}, {short}, {long}
      func.return %C : {long}
    }}"""
    context = make_context()
    module = parse_mlir(context, text, "divide.mlir", Sources())
    if not plain:
        OpenCLDivideByScalarsPass().apply(context, module)
        assert any(isinstance(op, DivideOp) for op in module.walk())
    module.verify()
    return module


def opencl_devices() -> list[OpenCLDevice]:
    found = [d for d in devices() if isinstance(d, OpenCLDevice)]
    return [d for d in found if d.failure() is None]


def same(got: Array, want: Array) -> Array:
    """Where bits are equal, or both are NaN."""
    equal = got.view(np.uint32) == want.view(np.uint32)
    return equal | (np.isnan(got) & np.isnan(want))


def check(x: Array, y: Array) -> None:
    """Divide each row of x by a number of y; compare with the bits of NumPy."""
    rows, lanes = x.shape
    operands = (x.reshape(-1), y)
    with np.errstate(all="ignore"):
        want = (x / y[:, None]).reshape(-1)
    results = {"interpreter": interpret(program(rows, lanes), operands)[0]}
    for device in opencl_devices():
        (plain,) = OpenCLExecutable(program(rows, lanes, plain=True), device)(*operands)
        if same(plain, want).all():
            executable = OpenCLExecutable(program(rows, lanes), device)
            (results[device.name],) = executable(*operands)
    for name, got in results.items():
        for place in np.flatnonzero(~same(got, want))[:1]:
            divided = f"{operands[0][place]!r} / {y[place // lanes]!r}"
            pytest.fail(f"{name}: {divided} is {want[place]!r}, got {got[place]!r}")


def numerators(seed: int, count: int) -> Array:
    """Numbers of every exponent and sign, and those that are not finite."""
    random = np.random.default_rng(seed)
    mantissas = np.concatenate([random.integers(0, 2**23, count), [0, 1, 2**23 - 1]])
    bits = (np.arange(256)[:, None] << 23 | mantissas).reshape(-1).astype(np.uint32)
    return np.concatenate([bits, bits | np.uint32(2**31)]).view(np.float32)


@pytest.mark.parametrize("lanes", [2, 4, 8, 16])
def test_all_exponents_by_all_sorts_of_divisors(lanes: int) -> None:
    # In order, so that most vectors lie wholly inside or outside of what is safe.
    x = numerators(lanes, 13).reshape(-1, lanes)
    y = np.array(DIVISORS, np.float32)
    check(np.tile(x, (len(y), 1)), np.repeat(y, len(x)))


def test_vectors_of_mixed_sizes() -> None:
    random = np.random.default_rng(1)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 3.4e38]
    usual = random.normal(0, 1, (4096, 8)).astype(np.float32)
    chosen = random.random(usual.shape) < 0.1
    usual[chosen] = random.choice(np.array(special, np.float32), chosen.sum())
    check(usual, random.uniform(0.5, 2000, len(usual)).astype(np.float32))


def test_borders_of_what_is_safe() -> None:
    random = np.random.default_rng(2)
    exponents = random.choice(BORDERS, (8192, 4))
    x = np.ldexp(random.uniform(1, 2, exponents.shape), exponents).astype(np.float32)
    y = np.ldexp(random.uniform(1, 2, 8192), random.choice([-25, -24, 0, 23, 24], 8192))
    check(x, y.astype(np.float32))


def almost_halves(divisor: int, most: int = 9) -> list[int]:
    """The numerators, of 24 bits as the divisor, whose quotients are almost halfway.

    Halfway between two numbers of 24 bits is an odd M of 25 bits: `M * divisor` is the
    numerator times a power of two, but for a small distance.
    """
    found: list[int] = []
    zeros = (divisor & -divisor).bit_length() - 1
    for shift, distance in itertools.product((24, 25), range(-most, most + 1)):
        if not distance or distance % (1 << zeros) or not (distance >> zeros) % 2:
            continue
        modulus = 1 << (shift - zeros)
        inverse = pow(divisor >> zeros, -1, modulus)
        first = (distance >> zeros) * inverse % modulus
        for middle in range(first, 1 << 25, modulus):
            numerator = (middle * divisor - distance) >> shift
            is_of_this_binade = (numerator >= divisor) == (shift == 24)
            if 1 << 23 <= numerator < 1 << 24 and is_of_this_binade:
                found.append(numerator)
    return found


def test_quotients_almost_halfway_between_numbers() -> None:
    random = np.random.default_rng(3)
    spread = [int(n) for n in random.integers(2**23, 2**24, 3000)]
    rows: list[list[int]] = []
    divisors: list[int] = []
    for divisor in [*spread, *range(2**24 - 500, 2**24), *range(2**23, 2**23 + 500)]:
        found = almost_halves(divisor)
        if found:
            rows.append([found[n % len(found)] for n in range(8)])
            divisors.append(divisor)
    assert len(rows) > 3000
    scale = np.float32(2.0**-23)
    check(np.array(rows, np.float32) * scale, np.array(divisors, np.float32) * scale)


def test_a_program_gets_the_same_quotients() -> None:
    random = np.random.default_rng(4)
    x = random.random((33, 200), np.float32)
    function = gingham.compile(
        "function (A[M, N]) -> (P) { S[i, 0 : M, 1] = +(A[i, j]); P = A / S; }"
    )
    sums = gingham.compile("function (A[M, N]) -> (S) { S[i, 0 : M, 1] = +(A[i, j]); }")
    if not opencl_devices():
        pytest.skip("no OpenCL device")
    got = function(x)
    # Sums of few numbers in another order differ in the last bits only.
    np.testing.assert_allclose(got, x / sums(x), rtol=1e-5)
    if function.device.kind == "cpu":
        assert "opencl.divide" in function.ir(x, stage="opencl")
