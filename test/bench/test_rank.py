"""`bench.rank`: its programs, and what it says of measurements."""

from __future__ import annotations

from pathlib import Path

import pytest

from gingham.bench.rank import spearman
from gingham.bench.rank_cases import LISTS
from gingham.frontend.tile_text import parse_tile
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.specialize import specialize


@pytest.mark.parametrize("name", LISTS)
def test_programs_have_the_shapes_of_their_inputs(name: str) -> None:
    names = [each.name for each in LISTS[name]]
    assert len({*names}) == len(names)
    for each in LISTS[name]:
        module = parse_tile(each.text, each.name)
        types = [f"{shape.partition('=')[2]}xf32" for shape in each.shapes]
        specialize(module, [*map(parse_argument_type, types)]).verify()


def test_correlation_of_ranks() -> None:
    assert spearman([1, 2, 3, 4], [10, 20, 21, 900]) == 1
    assert spearman([1, 2, 3, 4], [4, 3, 2, 1]) == -1
    # Of 1, 1, 2 the ranks are 0.5, 0.5, 2.
    assert spearman([1, 1, 2], [1, 2, 3]) == pytest.approx(3**0.5 / 2)


def test_plot_has_a_field_for_each_program(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from gingham.bench.plot import plot_ranking

    times = (1e-6, 2e-6, 5e-6)
    path = tmp_path / "ranks.svg"
    plot_ranking([(f"program {n}", times, times[::-1]) for n in range(5)], str(path))
    drawn = path.read_text()
    assert drawn.count('id="axes_') == 5
