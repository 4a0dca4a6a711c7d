"""Decisions for lanes that are worth a look: what tuning measures."""

from __future__ import annotations

import pytest
from blocks_of_programs import PRODUCT, block_of

from gingham.dialects.stripe.binding import Binding
from gingham.passes.stripe.decide.candidates import candidates
from gingham.targets.hardware import load_hardware

GPU = load_hardware("nvidia-h200")
TRANSPOSE = "function (A[M, N]) -> (O) { O[j, i : N, M] = =(A[i, j]); }"


@pytest.mark.parametrize(
    ("program", "types"),
    [(PRODUCT, ("512x256xf32", "256x300xf32")), (TRANSPOSE, ("512x300xf32",))],
)
def test_all_candidates_share_work(program: str, types: tuple[str, ...]) -> None:
    block = block_of(program, *types)
    best = candidates(block, GPU, 6)
    assert [each.seconds for each in best] == sorted(each.seconds for each in best)
    spread = candidates(block, GPU, 6, spread_out=True)
    assert spread[0] == best[0]
    assert spread[-1].seconds > best[-1].seconds
    for candidate in (*best, *spread):
        bound = [own for loops in candidate.schedule.loops for own in loops.bind]
        assert {Binding.GROUP, Binding.LANE} & {*bound}
