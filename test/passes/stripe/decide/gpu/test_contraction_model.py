"""The model of contractions on lanes ranks what was measured on an H100."""

from __future__ import annotations

import pytest

from gingham.passes.stripe.decide.model.gpu import Model
from gingham.passes.stripe.decide.model.tiling import Tiling
from gingham.targets.hardware import load_hardware

HARDWARE = load_hardware("nvidia-h200")
WIDE = (1, 4)


def tiling(cells: tuple[int, int], tile: tuple[int, int], depth: int) -> Tiling:
    """Lanes of 4 by 8, each with so many cells, of a tile of a group."""
    rows, columns = cells
    return Tiling(
        (rows, 4, tile[0] // (4 * rows)),
        (columns, 8, tile[1] // (8 * columns)),
        (depth,),
    )


SMALL, LARGE = tiling((4, 4), (64, 64), 32), tiling((8, 8), (64, 128), 16)


def seconds(
    way: Tiling, sides: int, length: int, widths: tuple[int, int] = WIDE, parts: int = 1
) -> float:
    """The predicted time of a square product with a sum of so many values."""
    groups = -(-sides // way.row_count) * -(-sides // way.column_count)
    steps = -(-length // (parts * way.depth))
    moved = 4.0 * (way.row_count + way.column_count) * way.depth
    model = Model(HARDWARE, widths)
    return model.estimate(way, groups * parts, steps, moved).seconds


def test_more_cells_of_a_lane_are_worth_more_where_all_cores_are_busy() -> None:
    # 4304 and 2920 us.
    assert seconds(SMALL, 4096, 4096) > 1.2 * seconds(LARGE, 4096, 4096)


def test_few_sub_groups_wait_for_what_they_load() -> None:
    # 25.6 and 14.7 us for a product of 512 and one of four parts.
    assert seconds(SMALL, 512, 512) > seconds(LARGE, 512, 512, parts=4)


@pytest.mark.parametrize("size", [512, 4096])
def test_single_numbers_take_longer_to_copy_than_vectors(size: int) -> None:
    assert seconds(LARGE, size, size, (1, 1)) > 1.02 * seconds(LARGE, size, size)
