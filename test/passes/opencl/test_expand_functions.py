"""Our formulas for functions of f32 are as exact as `docs/accuracy.md` says.

They are run at the opencl level by the interpreter and on every OpenCL device of the
machine, over all exponents of f32 and the numbers where functions change.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp, f64

from gingham.dialects import make_context
from gingham.dialects.eltwise.ops import element_of
from gingham.dialects.eltwise.table import FUNCTIONS
from gingham.errors import GinghamError
from gingham.passes.opencl.expand_functions import OpenCLExpandFunctionsPass
from gingham.passes.opencl.expansions import EXPANSIONS
from gingham.runtime.devices import devices
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.devices.own_functions import own_functions
from gingham.targets.opencl.executor import OpenCLExecutable
from gingham.targets.reference import interpret
from gingham.tools.optimizer.located_parser import parse_mlir
from gingham.tools.optimizer.sources import Sources

Array = NDArray[Any]

PAGE = Path(__file__).parents[3] / "docs" / "accuracy.md"
ROW = re.compile(r"^\| `(\w+)` \| ([\d.]+) \|", re.MULTILINE)
BOUNDS = {name: float(ulps) for name, ulps in ROW.findall(PAGE.read_text())}
LANES = 8


def _sigmoid(x: Array) -> Array:
    power = np.exp(-np.abs(x))
    return np.where(x < 0, power, 1.0) / (1.0 + power)


EXACT: dict[str, Callable[..., Array]] = {
    "exp": np.exp,
    "log": np.log,
    "pow": np.power,
    "sigmoid": _sigmoid,
    "erf": np.vectorize(math.erf, otypes=[np.float64]),
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "tanh": np.tanh,
}
"""The functions in f64."""

BORDERS = {
    "exp": [-103.98, -103.97, -87.34, -87.33, 88.722, 88.723, 88.73, 89.0, -104.0],
    "sigmoid": [-103.98, -88.8, -87.4, 16.0, 17.5],
    "tanh": [9.0, 9.1, 9.2, 0.3465, 2.0**-12],
    "erf": [0.925, 0.92500001, 3.9, 4.0, 4.1],
    "log": [0.70710677, 0.70710678, 1.0, 1.4142135, 1.4142137, 0.99999994],
    # Those of all of f32 that come closest to multiples of a right angle.
    "sin": [16367173.0 * 2.0**72, 11784.0 + 2.0**-10, 3.1415927, 6.2831855],
}


@cache
def numbers(count: int) -> Array:
    """Numbers of every exponent, of both signs, those that are not finite too."""
    random = np.random.default_rng(7)
    ends = [0, 1, 2, 2**22, 2**23 - 2, 2**23 - 1]
    mantissas = np.concatenate([random.integers(0, 2**23, count), ends])
    bits = (np.arange(256)[:, None] << 23 | mantissas).reshape(-1).astype(np.uint32)
    return np.concatenate([bits, bits | np.uint32(2**31)]).view(np.float32)


def samples(name: str, count: int) -> list[Array]:
    """The operands to try a function on, a whole number of vectors."""
    near = np.random.default_rng(8).normal(0, 3, 4096).astype(np.float32)
    borders = np.array(BORDERS.get(name, []), np.float32)
    x = np.concatenate([numbers(count), near, borders, -borders])
    x = x[: len(x) // LANES * LANES]
    if FUNCTIONS[name].arity == 1:
        return [x]
    random = np.random.default_rng(9)
    special = np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 2, -3, 0.5, 2**25])
    pairs = np.stack(np.meshgrid(special, special)).reshape(2, -1).astype(np.float32)
    near_one = (1 + random.normal(0, 1e-3, len(x))).astype(np.float32)
    powers = random.normal(0, 30000, len(x)).astype(np.float32)
    bases = np.concatenate([x, np.abs(near), near_one, pairs[0]])
    exponents = np.concatenate([random.permutation(x), near, powers, pairs[1]])
    length = len(bases) // LANES * LANES
    return [bases[-length:], exponents[-length:]]


def program(name: str, cells: int, lanes: int = LANES) -> ModuleOp:
    """A kernel that applies a function to every cell of its inputs."""
    type = f"vector<{lanes}xf32>" if lanes > 1 else "f32"
    names = ["%A", "%B"][: FUNCTIONS[name].arity]
    pointer, buffer = "!opencl.pointer<f32, global>", f"!opencl.buffer<{cells}xf32>"
    loads = "\n".join(
        f"{n.lower()} = opencl.load {n}[{lanes} * %i] : {pointer} -> {type}"
        for n in names
    )
    text = f"""
    opencl.kernel @apply({", ".join(f"{n} : {pointer}" for n in [*names, "%C"])})
        group [1, 1, 1] {{
      %i = opencl.work_item group_id 0 below {cells // lanes}
      {loads}
      %c = eltwise.{name} {", ".join(n.lower() for n in names)} : {type}
      opencl.store %c, %C[{lanes} * %i] : {type} -> {pointer}
    }}
    func.func @main({", ".join(f"{n} : {buffer}" for n in names)}) -> {buffer} {{
      %C = opencl.allocate : {buffer}
      opencl.launch @apply groups [{cells // lanes}, 1, 1] ({", ".join(names)}, %C)
        : {", ".join([buffer] * (len(names) + 1))}
      func.return %C : {buffer}
    }}"""
    context = make_context()
    module = parse_mlir(context, text, "apply.mlir", Sources())
    OpenCLExpandFunctionsPass().apply(context, module)
    module.verify()
    return module


def worst(name: str, got: Array, operands: list[Array]) -> tuple[float, list[float]]:
    """The largest error in ulp, and where it is; infinite where a sign is wrong."""
    with np.errstate(all="ignore"):
        want = EXACT[name](*(operand.astype(np.float64) for operand in operands))
        rounded = want.astype(np.float32)
        exponent = np.frexp(np.where(np.isfinite(want), want, 0.0))[1]
        unit = np.ldexp(1.0, np.maximum(exponent, -125) - 24)
        error = np.abs(got.astype(np.float64) - want) / unit
    same = (got == rounded) & (np.isinf(got) | (got == 0))
    same &= np.signbit(got) == np.signbit(rounded)
    error = np.where(same | (np.isnan(got) & np.isnan(want)), 0.0, error)
    error = np.where(np.isnan(error), np.inf, error)
    place = int(error.argmax())
    return float(error[place]), [float(operand[place]) for operand in operands]


def opencl_devices() -> list[OpenCLDevice]:
    found = [d for d in devices() if isinstance(d, OpenCLDevice)]
    return [d for d in found if d.details.supports_fp64 and d.failure() is None]


def test_every_formula_has_a_bound_in_the_page() -> None:
    assert set(EXPANSIONS) <= set(BOUNDS)
    assert all(ulps <= 4 for ulps in BOUNDS.values())


@pytest.mark.parametrize("name", EXPANSIONS)
def test_the_interpreter_finds_the_bound(name: str) -> None:
    operands = samples(name, 24)
    (got,) = interpret(program(name, len(operands[0])), operands)
    error, place = worst(name, got, operands)
    assert error <= BOUNDS[name], f"{name} at {place}"


@pytest.mark.parametrize("name", EXPANSIONS)
def test_devices_keep_the_bound(name: str) -> None:
    operands = samples(name, 300)
    for device in opencl_devices():
        executable = OpenCLExecutable(program(name, len(operands[0])), device)
        (got,) = executable(*operands)
        error, place = worst(name, got, operands)
        assert error <= BOUNDS[name], f"{name} at {place} on {device.name}"


@pytest.mark.parametrize("name", EXPANSIONS)
def test_scalars_are_as_vectors(name: str) -> None:
    operands = [operand[::64].copy() for operand in samples(name, 24)]
    (got,) = interpret(program(name, len(operands[0]), 1), operands)
    error, place = worst(name, got, operands)
    assert error <= BOUNDS[name], f"{name} at {place}"


def test_what_a_runtime_computes_itself_keeps_the_bound() -> None:
    for device in opencl_devices():
        for name in EXPANSIONS.keys() - set(own_functions(device)):
            operands = samples(name, 300)
            module = program(name, len(operands[0]))
            undo_expansion(module, name)
            (got,) = OpenCLExecutable(module, device)(*operands)
            error, place = worst(name, got, operands)
            assert error <= 4, f"{name} at {place} on {device.name}"


def undo_expansion(module: ModuleOp, name: str) -> None:
    """Let the kernel use the runtime's function again."""
    from xdsl.rewriter import Rewriter

    from gingham.dialects.eltwise.ops import FUNCTION_OPS
    from gingham.dialects.opencl.functions import CallOp, FunctionOp
    from gingham.dialects.opencl.kernel import KernelOp

    for op in list(module.ops):
        if isinstance(op, FunctionOp):
            Rewriter.erase_op(op)
        elif isinstance(op, KernelOp):
            (call,) = [inner for inner in op.walk() if isinstance(inner, CallOp)]
            type = call.result.type
            own = FUNCTION_OPS[name].build_typed(list(call.arguments), type)
            Rewriter.replace_op(call, own)


def test_a_device_without_f64_gets_no_formula_that_needs_it() -> None:
    needing = {
        name
        for name in EXPANSIONS
        for op in program(name, LANES).walk()
        if op.results and element_of(op.results[0].type) == f64
    }
    from gingham.targets.opencl.devices import own_functions as table

    assert needing == getattr(table, "_NEED_F64")


def test_an_unknown_function_is_an_error() -> None:
    module = program("exp", LANES)
    with pytest.raises(GinghamError, match="no formula for the function 'cosh'"):
        OpenCLExpandFunctionsPass(("cosh",)).apply(make_context(), module)
