"""`stripe-autotile-lean`: the cost model's nests, ranked with one more term.

Each level of tiles is another loop nest in the kernel. This pass takes ten
microseconds for it, and so prefers the simpler one of two that are almost as fast.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from gingham.dialects.stripe.schedule import set_schedule
from gingham.passes.hardware_pass import HardwarePass
from gingham.passes.stripe.analysis.nests import all_blocks, is_leaf
from gingham.passes.stripe.decide.candidate import Candidate
from gingham.passes.stripe.decide.candidates import candidates

_LEVEL_SECONDS = 1e-5


def seconds(candidate: Candidate) -> float:
    """The model's time for a nest, and the new term."""
    return candidate.seconds + len(candidate.schedule.levels) * _LEVEL_SECONDS


@dataclass(frozen=True)
class StripeAutotileLeanPass(HardwarePass):
    """Decide tiles by the cost model, with a term for each level of them."""

    name = "stripe-autotile-lean"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Write on each leaf the decision that takes the least predicted seconds."""
        hardware = self.figures
        for block in all_blocks(op):
            found = candidates(block, hardware, 64) if is_leaf(block) else []
            if found:
                set_schedule(block, min(found, key=seconds).schedule)
