"""What planning fusion asks of the cost model grows as the program does, and nests do
not."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from stripe_programs import run
from xdsl.dialects.func import FuncOp

from gingham.dialects.eltwise.ops import FUNCTION_OPS
from gingham.dialects.stripe.block import BlockOp
from gingham.dialects.stripe.fusion import Fusion
from gingham.dialects.stripe.schedule import schedule_of
from gingham.frontend.tile_text import parse_tile
from gingham.passes.pipelines import TargetOptions, stage_passes
from gingham.passes.stripe.analysis.shared_indices import Member
from gingham.passes.stripe.apply import fuse
from gingham.passes.stripe.decide.fusion.cost import FusionCost
from gingham.passes.stripe.decide.fusion.tiling import GroupCost
from gingham.passes.stripe.decide.plan_fusion import plan_function
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.specialize import specialize

OPTIONS = TargetOptions()


class CountingCost(FusionCost):
    """Counts the members of all groups that it was asked about."""

    asked = 0
    largest = 0

    def of(self, members: Sequence[Member]) -> GroupCost | None:
        self.asked += len(members)
        self.largest = max(self.largest, len(members))
        return super().of(members)


def lowered(statement: str, count: int, end: str) -> FuncOp:
    """A chain of so many statements as it is before a pass."""
    lines = [
        statement.format(new=f"T{n + 1}", old=f"T{n}" if n else "X")
        for n in range(count)
    ]
    body = "\n  ".join(lines)
    text = f"function (X[N, M], W[K, M]) -> (T{count}) {{\n  {body}\n}}"
    types = [parse_argument_type("16x16xf32")] * 2
    module = specialize(parse_tile(text), types)
    run(module, stage_passes(OPTIONS)["tile"])
    passes = stage_passes(OPTIONS)["stripe"]
    run(module, passes[: passes.index(end)].rstrip(","))
    (function,) = (op for op in module.ops if isinstance(op, FuncOp))
    return function


def planned(statement: str, count: int) -> tuple[FuncOp, CountingCost]:
    """A chain of so many statements, and the cost model after it has planned them."""
    function = lowered(statement, count, "stripe-plan-fusion")
    cost = CountingCost(OPTIONS.hardware)
    plan_function(function, cost)
    return function, cost


ELEMENTS = "{new} = tanh({old});"
PRODUCTS = "{new}[i, j : 16, 16] = +({old}[i, k] * W[k, j]);"
ROWS = "S{new}[i, 0 : 16, 1] = >({old}[i, j]); {new} = {old} / S{new};"


@pytest.mark.parametrize("statement", [PRODUCTS, ROWS], ids=["products", "rows"])
def test_twice_the_program_asks_twice_as_much(statement: str) -> None:
    (_, small), (_, large) = planned(statement, 64), planned(statement, 128)
    assert 1.8 * small.asked < large.asked < 2.5 * small.asked


def test_full_groups_join_as_wholes() -> None:
    _, cost = planned(ROWS, 64)
    assert cost.largest >= 64


def test_nests_take_a_limited_time_to_build() -> None:
    """Of equal products each nest but the last has as many as are built in 0.6 s."""
    function, _ = planned(PRODUCTS, 128)
    blocks = [op for op in function.walk() if isinstance(op, BlockOp)]
    parts = [schedule_of(block).part(Fusion) for block in blocks]
    groups = [part.group if part is not None else None for part in parts]
    starts = [n for n, group in enumerate(groups) if n == 0 or group != groups[n - 1]]
    sizes = [end - start for start, end in pairwise([*starts, len(groups)])]
    assert len(sizes) > 2
    assert max(sizes) > 16
    assert all(size == max(sizes) for size in sizes[:-1])
    first = parts[starts[1]]
    assert first is not None
    assert "s to compile" in first.reason


def test_long_chains_of_elements_become_several_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fuse, "_MOST_STATEMENTS", 9)
    function = lowered(ELEMENTS, 7, "stripe-plan-fusion")
    blocks = [op for op in function.body.block.ops if isinstance(op, BlockOp)]
    counts = [
        sum(isinstance(op, FUNCTION_OPS["tanh"]) for op in block.walk())
        for block in blocks
    ]
    assert counts == [6, 1]
