"""Lowering to kernels keeps the meaning of programs, and refuses races.

Random programs run at the stripe level, at the opencl level, and some on the device.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects.builtin import (
    FileLineColLoc,
    IntAttr,
    ModuleOp,
    StringAttr,
)
from xdsl.parser import Parser

from gingham.dialects import make_context
from gingham.errors import GinghamError
from gingham.passes.convert.lower_stripe_to_opencl import LowerStripeToOpenCLPass
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.executor import OpenCLExecutable
from gingham.targets.reference import interpret

Random = np.random.Generator


def parse(text: str) -> ModuleOp:
    module = Parser(make_context(), text, "test.mlir").parse_module()
    module.verify()
    return module


def lower(text: str) -> ModuleOp:
    module = parse(text)
    LowerStripeToOpenCLPass().apply(Context(), module)
    module.verify()
    return module


@dataclass
class Form:
    """A random linear form with its bounds."""

    text: str
    low: int
    high: int


def random_form(random: Random, indices: dict[str, int], magnitude: int) -> Form:
    """A form over some of these indices, given with their ranges."""
    low = high = constant = int(random.integers(-2, 3))
    terms: list[str] = []
    for name, extent in indices.items():
        coefficient = int(random.integers(-magnitude, magnitude + 1))
        if coefficient == 0 or random.random() < 0.3:
            continue
        terms.append(f"{coefficient} * %{name}")
        low += min(coefficient * (extent - 1), 0)
        high += max(coefficient * (extent - 1), 0)
    return Form(" + ".join([*terms, str(constant)]), low, high)


def random_indices(random: Random, prefix: str, most: int) -> dict[str, int]:
    count = int(random.integers(0, most + 1))
    return {f"{prefix}{n}": int(random.integers(1, 5)) for n in range(count)}


def random_level(random: Random, is_top: bool) -> str:
    levels = ["", "", "unroll", *(["grid", "grid", "group"] if is_top else [])]
    return str(random.choice(levels))


def declared(random: Random, indices: dict[str, int], is_top: bool) -> str:
    return ", ".join(
        f"%{name} : {extent} {random_level(random, is_top)}"
        for name, extent in indices.items()
    )


def random_constraints(random: Random, indices: dict[str, int]) -> list[str]:
    return [
        f"{random_form(random, indices, 2).text} >= 0"
        for _ in range(int(random.choice([0, 0, 1, 2])))
    ]


def where(constraints: list[str]) -> str:
    return f"where {', '.join(constraints)}" if constraints else ""


def random_program(random: Random) -> tuple[str, list[tuple[int, ...]]]:
    """Two nested blocks over shifted and strided windows, aggregating into one output.

    The text, and the shapes of the inputs.
    """
    outer = random_indices(random, "o", 4)
    inner = random_indices(random, "n", 3)
    both = outer | inner
    aggregation = str(random.choice(["add", "max", "mul", ""]))
    init = "init 1" if random.random() < 0.7 else ""
    init_is_outer = random.random() < 0.5
    # Where the window of the outer block starts, and what the inner one adds to it.
    starts = [random_form(random, outer, 3) for _ in range(2)]
    steps = [random_form(random, inner, 2) for _ in range(2)]
    reads = [random_form(random, both, 2) for _ in range(2)]
    windows = [step.high - step.low + 1 for step in steps]
    # Without the last cell some windows overhang; constraints keep accesses inside.
    cut = int(random.integers(0, 2))
    shape = [
        max(start.high - start.low + window - cut, 1)
        for start, window in zip(starts, windows, strict=True)
    ]
    access = [f"{start.text} + {-start.low}" for start in starts]
    moves = [f"{step.text} + {-step.low}" for step in steps]
    inside = [
        f"-1 * ({start} + {move}) + {size - 1} >= 0"
        for start, move, size in zip(access, moves, shape, strict=True)
    ]
    input_shape = [read.high - read.low + 1 for read in reads]
    read = ", ".join(f"{form.text} + {-form.low}" for form in reads)
    sizes = "x".join(str(size) for size in shape)
    inputs = "x".join(str(size) for size in input_shape)
    window = "x".join(str(size) for size in windows)
    outer_init, inner_init = (init, "") if init_is_outer else ("", init)
    text = f"""
func.func @main(%A : !stripe.view<{inputs}xf32>) -> !stripe.view<{sizes}xf32> {{
  %C = stripe.alloc : !stripe.view<{sizes}xf32>
  stripe.block "fill" [%x : {shape[0]} grid, %y : {shape[1]}]
      out %c = %C[%x, %y] : 1x1 {{
    %0 = eltwise.constant 2 : f32
    stripe.store %0, %c : !stripe.view<1x1xf32>
  }}
  stripe.block "work" [{declared(random, outer, True)}]
      in %a = %A[0, 0] : {inputs}
      out %ct = %C[{", ".join(access)}] : {window} {aggregation} {outer_init}
      {where(random_constraints(random, outer))} {{
    stripe.block [{declared(random, inner, False)}]
        in %b = %a[{read}] : 1x1
        out %c = %ct[{", ".join(moves)}] : 1x1 {aggregation} {inner_init}
        {where([*random_constraints(random, both), *inside])} {{
      %p = stripe.load %b : !stripe.view<1x1xf32>
      stripe.store %p, %c : !stripe.view<1x1xf32>
    }}
  }}
  func.return %C : !stripe.view<{sizes}xf32>
}}
"""
    return text, [tuple(input_shape)]


def random_inputs(
    random: Random, shapes: list[tuple[int, ...]]
) -> list[NDArray[np.float32]]:
    return [random.integers(-3, 4, shape).astype(np.float32) for shape in shapes]


def without_parallel(text: str) -> str:
    return text.replace(" grid", "").replace(" group", "")


def lowered_if_meaningful(
    random: Random,
) -> tuple[ModuleOp, list[NDArray[Any]], list[NDArray[Any]]] | None:
    """A lowered program with its inputs and results; None when it has no meaning."""
    text, shapes = random_program(random)
    inputs = random_inputs(random, shapes)
    try:
        expected = interpret(parse(text), inputs)
    except GinghamError as error:
        # Two points that assign one cell, or overlapping work of two outer points.
        if "two points" in error.message:
            return None
        raise
    try:
        return lower(text), inputs, expected
    except GinghamError as error:
        if "may write the same cell" not in error.message:
            raise
    return lower(without_parallel(text)), inputs, expected


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_keep_their_meaning(seed: int) -> None:
    random = np.random.default_rng(seed)
    meaningful = 0
    for _ in range(25):
        case = lowered_if_meaningful(random)
        if case is None:
            continue
        module, inputs, expected = case
        meaningful += 1
        # The interpreter checks that work-items do not race.
        (result,) = interpret(module, inputs)
        np.testing.assert_array_equal(result, expected[0], str(module))
    assert meaningful >= 5


@pytest.mark.parametrize("seed", range(100, 110))
def test_random_programs_run_on_the_device(
    seed: int, opencl_device: OpenCLDevice
) -> None:
    random = np.random.default_rng(seed)
    cases = [case for _ in range(4) if (case := lowered_if_meaningful(random))]
    for module, inputs, expected in cases:
        (result,) = OpenCLExecutable(module, opencl_device)(*inputs)
        np.testing.assert_array_equal(result, expected[0], str(module))


def test_races_that_only_constraints_exclude_are_accepted() -> None:
    text = """
func.func @main(%A : !stripe.view<8xf32>) -> !stripe.view<8xf32> {
  %C = stripe.alloc : !stripe.view<8xf32>
  stripe.block "zero" [%i : 8 grid] out %c = %C[%i] : 1 {
    %0 = eltwise.constant 0 : f32
    stripe.store %0, %c : !stripe.view<1xf32>
  }
  stripe.block "pick" [%i : 8 grid, %j : 8]
      in %a = %A[%j] : 1
      out %c = %C[%j] : 1 add
      where %i - %j >= 0, %j - %i >= 0 {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %c : !stripe.view<1xf32>
  }
  func.return %C : !stripe.view<8xf32>
}
"""
    values = np.arange(8, dtype=np.float32)
    (result,) = interpret(lower(text), [values])
    np.testing.assert_array_equal(result, values)


def test_every_op_has_the_location_of_its_statement() -> None:
    module = parse(
        """
func.func @main(%A : !stripe.view<8x9xf32>) -> !stripe.view<8xf32> {
  %C = stripe.alloc : !stripe.view<8xf32>
  stripe.block "b" [%i : 8 grid, %k : 9]
      in %a = %A[%i, %k] : 1x1
      out %c = %C[%i] : 1 add init 0
      where %i - %k >= 0 {
    %t = stripe.alloc : !stripe.view<1xf32, private>
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %t : !stripe.view<1xf32, private>
    stripe.store %x, %c : !stripe.view<1xf32>
  }
  func.return %C : !stripe.view<8xf32>
}
"""
    )
    for number, op in enumerate(module.walk()):
        op.location = FileLineColLoc(
            StringAttr("a.tile"), IntAttr(number + 1), IntAttr(1)
        )
    LowerStripeToOpenCLPass().apply(Context(), module)
    lines = {
        op.name: op.location.line.data
        for op in module.walk()
        if isinstance(op.location, FileLineColLoc)
    }
    assert all(isinstance(op.location, FileLineColLoc) for op in module.walk())
    assert lines["opencl.kernel"] == lines["opencl.for"] == lines["opencl.if"] == 4
    assert lines["opencl.array"] == 5
    assert lines["opencl.launch"] == 4
    assert lines["func.return"] == 9
