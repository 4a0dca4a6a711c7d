"""f16 and bf16 on the device are what they are in the interpreter, bit by bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

import gingham
from gingham.dialects import make_context
from gingham.dialects.eltwise.element_types import ELEMENT_TYPES, is_storage_type
from gingham.dialects.eltwise.numpy_types import numpy_dtype
from gingham.dialects.eltwise.ops import CastOp, ElementwiseOp, element_of
from gingham.passes.opencl.emulate_types import OpenCLEmulateTypesPass
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.executor import OpenCLExecutable
from gingham.targets.reference import interpret

Array = NDArray[Any]

STORED = ("f16", "bf16")


@pytest.fixture(scope="module")
def device(opencl_device: OpenCLDevice) -> OpenCLDevice:
    if not opencl_device.details.supports_fp64:
        pytest.skip("the device does not compute with f64")
    return opencl_device


def parse(text: str) -> ModuleOp:
    return Parser(make_context(), text, "test.mlir").parse_module()


def numbers(element: str) -> Array:
    """Every number of a type of 16 bits, in order; of others, those hard to round."""
    dtype = numpy_dtype(ELEMENT_TYPES[element])
    random = np.random.default_rng([*element.encode()])
    if element in STORED:
        return np.arange(2**16, dtype=np.uint16).view(dtype)
    if element == "i1":
        return random.integers(0, 2, 2**16).astype(dtype)
    if dtype.kind != "f":
        limits = np.iinfo(dtype)
        values = random.integers(limits.min, limits.max, 2**16, dtype, endpoint=True)
        return values >> random.integers(0, dtype.itemsize * 8, 2**16).astype(dtype)
    bits = random.integers(0, 2 ** (8 * dtype.itemsize), 2**16, f"u{dtype.itemsize}")
    values = bits.view(dtype)
    with np.errstate(all="ignore"):
        for number, stored in enumerate(STORED):
            # Next to numbers half way between two of the narrow type, and on them.
            narrow = numbers(stored).astype(np.float64)
            middle = (narrow[:-1] + narrow[1:]) / 2
            middle = middle[np.isfinite(middle)].astype(dtype)
            chosen = middle[random.integers(0, len(middle), 2**14)]
            towards = random.choice([-np.inf, np.inf], 2**14).astype(dtype)
            beside = np.nextafter(chosen, towards)
            place = slice(number * 2**15, number * 2**15 + 2**15)
            values[place] = np.concatenate([chosen, beside])
    return values


def conversions(lanes: int) -> str:
    """A program of all conversions to and from f16 and bf16."""
    names = list(ELEMENT_TYPES)
    pairs = [
        (source, target)
        for source in names
        for target in names
        if source != target and not {source, target}.isdisjoint(STORED)
    ]
    results = {f"{s}_to_{t}": t for s, t in pairs}
    buffers = {name: name for name in names} | results
    types = {name: f"!opencl.buffer<65536x{e}>" for name, e in buffers.items()}
    kernels: list[str] = []
    launches: list[str] = []
    for source in names:
        own = [source, *(f"{s}_to_{t}" for s, t in pairs if s == source)]
        pointers = {x: f"!opencl.pointer<{buffers[x]}, global>" for x in own}
        arguments = ", ".join(f"%p_{x} : {type}" for x, type in pointers.items())
        value = sized(source, lanes)
        lines = [
            f"opencl.kernel @from_{source}({arguments}) group [1, 1, 1] {{",
            f"%i = opencl.work_item group_id 0 below {65536 // lanes}",
            f"%x = opencl.load %p_{source}[{lanes} * %i] : {pointers[source]} -> "
            f"{value}",
        ]
        for result in own[1:]:
            target = sized(results[result], lanes)
            lines += [
                f"%{result} = eltwise.cast %x : {value} to {target}",
                f"opencl.store %{result}, %p_{result}[{lanes} * %i] : {target} -> "
                f"{pointers[result]}",
            ]
        kernels.append("\n".join([*lines, "}"]))
        launches.append(
            f"opencl.launch @from_{source} groups [{65536 // lanes}, 1, 1] "
            f"({', '.join(f'%{x}' for x in own)}) : " + ", ".join(types[x] for x in own)
        )
    outputs = ", ".join(types[x] for x in results)
    return "\n".join(
        [
            *kernels,
            f"func.func @main({', '.join(f'%{x} : {types[x]}' for x in names)}) -> "
            f"({outputs}) {{",
            *(f"%{x} = opencl.allocate : {types[x]}" for x in results),
            *launches,
            f"func.return {', '.join(f'%{x}' for x in results)} : {outputs}",
            "}",
        ]
    )


def sized(element: str, lanes: int) -> str:
    return element if lanes == 1 else f"vector<{lanes}x{element}>"


def same_bits(got: Array, wanted: Array, name: str) -> None:
    """Equal bit by bit; of a NaN only that it is one."""
    assert got.dtype == wanted.dtype, name
    if got.dtype.kind not in "biu":
        nan = np.isnan(wanted)
        np.testing.assert_array_equal(np.isnan(got), nan, name)
        width = got.dtype.itemsize
        got, wanted = (np.where(nan, 0, x.view(f"u{width}")) for x in (got, wanted))
    np.testing.assert_array_equal(got, wanted, name)


@pytest.mark.parametrize("lanes", [1, 16])
def test_conversions_of_all_numbers(lanes: int, device: OpenCLDevice) -> None:
    module = parse(conversions(lanes))
    inputs = [numbers(element) for element in ELEMENT_TYPES]
    names = [op.results[0].name_hint for op in module.walk() if isinstance(op, CastOp)]
    wanted = interpret(module, inputs)
    OpenCLEmulateTypesPass().apply(Context(), module)
    module.verify()
    # The pass itself changes no number, and the device computes what it says.
    for got in (interpret(module, inputs), OpenCLExecutable(module, device)(*inputs)):
        for name, result, want in zip(names, got, wanted, strict=True):
            same_bits(result, want, str(name))


PROGRAM = """
function (A[M, K], B[K, N], S[N], C[]) -> (P, Q, R, T, U, V, W, X, Y, Z) {
  P[i, j : M, N] = +(A[i, k] * B[k, j]);
  Q[i, j : M, N] = >(A[i, k] + B[k, j]), k + i < 7;
  R = sqrt(abs(P)) / (S * S + 0.1) - Q * C;
  T = P > S ? P : -S;
  U[i : M] = *(A[i, k]);
  V[j : N] = +(B[k, j] == S[j]);
  W = mod(P, S) + floor(S / 3) - round(Q / 4);
  X = P < 0 ? 0.5 : max(S, Q);
  Y[i, k : M, K] = =(A[i, k]);
  Z = as_float(S, 32) + P;
}
"""


@pytest.mark.parametrize("sizes", [(3, 5, 7), (16, 33, 64)])
@pytest.mark.parametrize("element", STORED)
def test_programs(element: str, sizes: tuple[int, int, int]) -> None:
    random = np.random.default_rng([*element.encode(), *sizes])
    m, k, n = sizes
    dtype = numpy_dtype(ELEMENT_TYPES[element])
    arrays = [
        # Sums of products of these are exact in f32, in any order.
        random.integers(-8, 9, (m, k)).astype(dtype) / dtype.type(4),
        random.integers(-8, 9, (k, n)).astype(dtype),
        random.normal(0, 2, n).astype(dtype),
        np.array(random.normal(), dtype),
    ]
    results = gingham.compile(PROGRAM)(*arrays)
    wanted = gingham.compile(PROGRAM, device="reference")(*arrays)
    for name, got, want in zip("PQRTUVWXYZ", results, wanted, strict=True):
        same_bits(got, want, name)


def test_nothing_computes_with_f16_behind_it() -> None:
    module = parse(conversions(4))
    OpenCLEmulateTypesPass().apply(Context(), module)
    for op in module.walk():
        if isinstance(op, ElementwiseOp) and not op.function.moves:
            assert not any(is_storage_type(element_of(v.type)) for v in op.operands)
    before = str(module)
    OpenCLEmulateTypesPass().apply(Context(), module)
    assert str(module) == before
