"""Levels of tiles of any sizes, in a buffer that goes on where the points end."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from stripe_programs import CONTEXT, run

from gingham.dialects.stripe.attributes import MemorySpace
from gingham.dialects.stripe.block import BlockOp
from gingham.dialects.stripe.schedule import Schedule, set_schedule
from gingham.dialects.stripe.staging import Staging
from gingham.targets.reference import interpret
from gingham.tools.optimizer.located_parser import parse_mlir
from gingham.tools.optimizer.sources import Sources

ROWS, COLUMNS, DEPTH = 13, 11, 4
PRODUCT = f"""
func.func @main(%A : !stripe.view<{ROWS}x{DEPTH}xf32>,
    %B : !stripe.view<{DEPTH}x{COLUMNS}xf32>) -> !stripe.view<20x17xf32> {{
  %C = stripe.alloc : !stripe.view<20x17xf32>
  stripe.block "Z" [%i : 20, %j : 17]
      out %c = %C[%i, %j] : 1x1 {{
    %x = eltwise.constant 7 : f32
    stripe.store %x, %c : !stripe.view<1x1xf32>
  }}
  stripe.block "C" [%i : {ROWS}, %j : {COLUMNS}, %k : {DEPTH}]
      in %a = %A[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      out %c = %C[%i + 2, %j + 3] : 1x1 add init 0 {{
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %y = stripe.load %b : !stripe.view<1x1xf32>
    %z = eltwise.mul %x, %y : f32
    stripe.store %z, %c : !stripe.view<1x1xf32>
  }}
  func.return %C : !stripe.view<20x17xf32>
}}
"""
WORK_GROUP = """
  stripe.block []
      in %a_0 = %A[0, 0] : {a}
      in %b_0 = %B[0, 0] : {b}
      out %c_0 = %C[0, 0] : 20x17 {{
{block}  }}
"""
"""A work-group around the product, in which edges may overlap the interior."""


def in_work_group(program: str) -> str:
    """The product of a program inside of a block of its own."""
    start, end = program.index('  stripe.block "C"'), program.index("  func.return")
    block = program[start:end]
    for name in "ABC":
        block = block.replace(f"%{name}[", f"%{name.lower()}_0[")
    shapes = {"a": f"{ROWS}x{DEPTH}", "b": f"{DEPTH}x{COLUMNS}"}
    around = WORK_GROUP.format(block=block, **shapes)
    return program[:start] + around + program[end:]


@st.composite
def schedules(draw: st.DrawFn) -> Schedule:
    """Up to three levels of any sizes, the sum in parts in the last, and copies."""
    count = draw(st.integers(1, 3))
    levels = [
        (
            draw(st.integers(0, ROWS)),
            draw(st.integers(0, COLUMNS)),
            draw(st.integers(0, DEPTH)) if level == count - 1 else 0,
        )
        for level in range(count)
    ]
    orders = draw(st.sampled_from([(), ((1, 0),)]))
    stages: list[Staging] = []
    for number in draw(st.sampled_from([(), (0,), (1,), (0, 1)])):
        before = draw(st.integers(0, count))
        window = draw(st.integers(before, count))
        space = MemorySpace.PRIVATE if before else MemorySpace.GLOBAL
        stages.append(Staging(number, before, window, (1, 0), space))
    return Schedule.of(levels, orders, stages)


@given(schedule=schedules(), program=st.sampled_from([PRODUCT, in_work_group(PRODUCT)]))
@settings(max_examples=60, deadline=None)
def test_no_tile_sets_what_no_point_reaches(schedule: Schedule, program: str) -> None:
    if program != PRODUCT:
        # Copies for all work-groups are not made inside of one.
        stages = schedule.stages
        inside = tuple(each for each in stages if each.space is MemorySpace.PRIVATE)
        schedule = replace(schedule, stages=inside)
    module = parse_mlir(CONTEXT, program, "product.mlir", Sources())
    random = np.random.default_rng(0)
    inputs = [
        random.integers(-4, 5, shape).astype(np.float32)
        for shape in ((ROWS, DEPTH), (DEPTH, COLUMNS))
    ]
    expected = np.full((20, 17), 7, np.float32)
    expected[2 : 2 + ROWS, 3 : 3 + COLUMNS] = inputs[0] @ inputs[1]
    *_, block = (op for op in module.walk() if isinstance(op, BlockOp))
    set_schedule(block, schedule)
    for passes in (
        "stripe-partition-edges{bits=128}",
        "stripe-tile",
        "stripe-stage",
        "stripe-accumulate",
        "stripe-shift-inwards{bits=128}",
        "stripe-separate{bits=128}",
    ):
        run(module, passes)
        module.verify()
        (found,) = interpret(module, inputs)
        np.testing.assert_array_equal(found, expected)
