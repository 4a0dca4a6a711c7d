"""What planning fusion asks of the cost model grows as the program does."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from stripe_programs import run
from xdsl.dialects.func import FuncOp

from gingham.frontend.tile_text import parse_tile
from gingham.passes.pipelines import TargetOptions, stage_passes
from gingham.passes.stripe.fusion.cost import FusionCost
from gingham.passes.stripe.fusion.shared_indices import Member
from gingham.passes.stripe.fusion.tiling import GroupCost
from gingham.passes.stripe.plan_fusion import plan_function
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


def planned(statement: str, count: int) -> CountingCost:
    """The cost model after it has planned a chain of so many statements."""
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
    run(module, passes[: passes.index("stripe-plan-fusion")].rstrip(","))
    (function,) = (op for op in module.ops if isinstance(op, FuncOp))
    cost = CountingCost(OPTIONS.hardware)
    plan_function(function, cost)
    return cost


@pytest.mark.parametrize(
    "statement",
    [
        "{new}[i, j : 16, 16] = +({old}[i, k] * W[k, j]);",
        "S{new}[i, 0 : 16, 1] = >({old}[i, j]); {new} = {old} / S{new};",
    ],
    ids=["products", "rows"],
)
def test_twice_the_program_asks_twice_as_much(statement: str) -> None:
    small, large = planned(statement, 64), planned(statement, 128)
    assert small.largest >= 64, "full groups are to join as wholes"
    assert 1.8 * small.asked < large.asked < 2.5 * small.asked
