"""Nests whose innermost block an instruction computes mean the same at every level.

Instructions are drawn: small contractions over operands whose axes are in any order.
The programs compute the same over more points, with indices, axes and the operands of
their statements in another order.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from math import prod
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from kernel_targets import run_c
from special_programs import opencl_device
from stripe_programs import CONTEXT, random_input, run
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser

from gingham.passes.stripe.apply.instruct import StripeInstructPass
from gingham.targets.c.language import GnuC
from gingham.targets.hardware import Hardware, Instruction, load_hardware
from gingham.targets.opencl.executor import OpenCLExecutable
from gingham.targets.opencl.printer import print_opencl
from gingham.targets.printer import print_kernels
from gingham.targets.reference import interpret

Array = npt.NDArray[Any]

LANES = (1, 2, 4, 8, 16)
AFTER = (
    "stripe-accumulate",
    "stripe-vectorize{bits=256}",
    "stripe-unroll",
    "stripe-map",
    "lower-stripe-to-opencl",
)


@dataclass(frozen=True)
class Form:
    """A block of two inputs and an output, in one of many ways to write it."""

    axes: list[list[str]]
    """The indices that are the axes of both inputs and of the output."""
    order: list[str]
    operands: list[str]
    function: str
    aggregation: str

    @staticmethod
    def drawn(random: Random, used: list[list[str]], function: str, how: str) -> Form:
        indices = sorted({name for names in used for name in names})
        return Form(
            [random.sample(names, len(names)) for names in used],
            random.sample(indices, len(indices)),
            random.sample(["%x", "%y"], 2),
            function,
            how,
        )

    def text(self, sizes: dict[str, int], init: str = "", attributes: str = "") -> str:
        """As a function over indices of these sizes."""
        types = [
            f"!stripe.view<{'x'.join(str(sizes[n]) for n in names) or '1'}xf32>"
            for names in self.axes
        ]
        starts = [", ".join(f"%{n}" for n in names) or "0" for names in self.axes]
        ones = ["x".join("1" for _ in names) or "1" for names in self.axes]
        how = "" if self.aggregation == "assign" else f" {self.aggregation}{init}"
        return f"""
func.func @main(%A : {types[0]}, %B : {types[1]}) -> {types[2]} {{
  %C = stripe.alloc : {types[2]}
  stripe.block [{", ".join(f"%{n} : {sizes[n]}" for n in self.order)}]
      in %a = %A[{starts[0]}] : {ones[0]}
      in %b = %B[{starts[1]}] : {ones[1]}
      out %c = %C[{starts[2]}] : {ones[2]}{how}
      {attributes} {{
    %x = stripe.load %a : !stripe.view<{ones[0]}xf32>
    %y = stripe.load %b : !stripe.view<{ones[1]}xf32>
    %z = eltwise.{self.function} {", ".join(self.operands)} : f32
    stripe.store %z, %c : !stripe.view<{ones[2]}xf32>
  }}
  func.return %C : {types[2]}
}}
"""


def parsed(text: str) -> ModuleOp:
    module = Parser(CONTEXT, text).parse_module()
    module.verify()
    return module


def inputs_of(module: ModuleOp, seed: int) -> list[Array]:
    (function,) = (op for op in module.ops if isinstance(op, FuncOp))
    random = np.random.default_rng(seed)
    return [random_input(type, random) for type in function.function_type.inputs]


def with_row(instruction: Instruction) -> Hardware:
    plain = load_hardware("cpu-avx2")
    return replace(plain, instructions=(*plain.instructions, instruction))


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[list[str]], dict[str, int]]:
    """Which indices the inputs and the output have, and how many values each has."""
    names = draw(st.sampled_from(("i", "ij", "ijk")))
    sizes = {name: draw(st.sampled_from((2, 4, 8))) for name in names}
    some = st.lists(st.sampled_from(names), unique=True).filter(
        lambda found: prod(sizes[name] for name in found) in LANES
    )
    inputs = st.tuples(some, some).filter(lambda two: {*two[0], *two[1]} == {*names})
    return [*draw(inputs), draw(some)], sizes


@given(
    problem=problems(),
    function=st.sampled_from(("add", "mul", "max")),
    aggregation=st.sampled_from(("add", "max", "mul")),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=40, deadline=None)
def test_instructions_keep_the_meaning(
    problem: tuple[list[list[str]], dict[str, int]],
    function: str,
    aggregation: str,
    seed: int,
) -> None:
    used, sizes = problem
    random = Random(seed)
    if {*used[2]} == {*sizes} and random.random() < 0.5:
        aggregation = "assign"
    block = Form.drawn(random, used, function, aggregation).text(sizes)
    form = Form.drawn(random, used, function, aggregation)
    tile = [sizes[name] for name in form.order]
    schedule = f'#stripe.schedule<tile {tile}, instruction "mine">'
    text = form.text(
        {name: size * random.choice((1, 2, 3)) for name, size in sizes.items()},
        " init 1",
        f"attributes {{stripe.schedule = {schedule}}}",
    )
    note(f"{block}\n{text}")
    module = parsed(text)
    inputs = inputs_of(module, seed)
    (expected,) = interpret(module, inputs)
    run(module, "stripe-tile")
    hardware = with_row(Instruction("mine", 1.0, block=block))
    StripeInstructPass(hardware=hardware).apply(CONTEXT, module)
    assert "opencl.call @mine" in str(module)
    for passes in (None, *AFTER):
        note(str(passes))
        if passes is not None:
            run(module, passes)
        module.verify()
        (got,) = interpret(module, inputs)
        np.testing.assert_array_equal(got, expected)


PRODUCT = """
func.func @main(%A : !stripe.view<64x96x{T}>, %B : !stripe.view<96x128x{T}>)
    -> !stripe.view<64x128x{R}> {{
  %C = stripe.alloc : !stripe.view<64x128x{R}>
  stripe.block "C" [%i : 64, %j : 128, %k : 96]
      in %a = %A[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 add init 0
      attributes {{stripe.schedule = #stripe.schedule<
        tile [4, 32, 96], tile [4, 32, {k}], tile [1, {j}, {k}], {stage}
        instruction "{name}">}} {{
    %x = stripe.load %a : !stripe.view<1x1x{T}>
    %y = stripe.load %b : !stripe.view<1x1x{T}>
    {cast}
    %z = eltwise.mul {operands} : {R}
    stripe.store %z, %c : !stripe.view<1x1x{R}>
  }}
  func.return %C : !stripe.view<64x128x{R}>
}}
"""
STAGE = "stage input 1 at 0 of 1 order [1, 0] global,"
CAST = "%s = eltwise.cast %x : si8 to si32\n    %t = eltwise.cast %y : si8 to si32"
ROWS = {
    "fma_f32x16": ("cpu-avx512", 16, 1),
    "fma_f32x8": ("cpu-avx2", 8, 1),
    "dot_f32x4": ("cpu-avx512-xeon", 1, 4),
    "dp4a": ("nvidia-h200", 1, 4),
    "dot_si8x4": ("amd-rdna3", 1, 4),
}


@pytest.mark.parametrize("name", ROWS)
def test_instructions_of_the_descriptions_run(name: str) -> None:
    hardware, j, k = ROWS[name]
    is_float = "f32" in name
    text = PRODUCT.format(
        name=name,
        j=j,
        k=k,
        stage=STAGE if k > 1 else "",
        T="f32" if is_float else "si8",
        R="f32" if is_float else "si32",
        cast="" if is_float else CAST,
        operands="%x, %y" if is_float else "%t, %s",
    )
    module = parsed(text)
    inputs = inputs_of(module, 1)
    expected = inputs[0].astype(np.int64) @ inputs[1].astype(np.int64)
    run(module, f'stripe-tile,stripe-stage,stripe-instruct{{hardware="{hardware}"}}')
    run(module, ",".join(AFTER))
    assert "= eltwise.add" not in str(module).partition("opencl.kernel")[2]
    spelled = load_hardware(hardware).instruction(name)
    assert spelled is not None
    text = print_opencl(module)
    lines = re.sub(r"[{}]", "", spelled.spelling).strip().splitlines()
    assert all(line in text for line in lines)
    assert (f"#ifdef {spelled.needs}\n" in text) is bool(spelled.needs)
    assert not any(line in print_kernels(module, GnuC()) for line in lines)
    np.testing.assert_array_equal(run_c(module, *inputs)[0], expected)
    device = opencl_device()
    if device is None:
        pytest.skip("there is no OpenCL device")
    np.testing.assert_array_equal(
        OpenCLExecutable(module, device)(*inputs)[0], expected
    )
