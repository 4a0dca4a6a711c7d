"""What `tile-flatten` says when a question about the index set is not decided."""

from __future__ import annotations

import pytest

from gingham.affine.polyhedron import Polyhedron
from gingham.dialects import make_context
from gingham.errors import GinghamError
from gingham.frontend.tile_text import parse_tile
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.flatten import TileFlattenPass
from gingham.passes.tile.specialize import specialize


def flattened(program: str, types: list[str]) -> None:
    module = specialize(parse_tile(program), [parse_argument_type(t) for t in types])
    TileFlattenPass().apply(make_context(), module)


def test_undecided_assignment(monkeypatch: pytest.MonkeyPatch) -> None:
    def give_up(*arguments: object) -> None:
        raise GinghamError("the index set is too hard")

    monkeypatch.setattr(Polyhedron, "find_collision", give_up)
    program = "function (I[N, M]) -> (O) {\n  O[n : N] = =(I[n, m]), m < 2;\n}"
    types = ["4x5xf32"]
    with pytest.raises(GinghamError, match="can not be decided") as caught:
        flattened(program, types)
    assert "assigned twice" in caught.value.message
    assert "another aggregation, such as max" in (caught.value.hint or "")
    assert str(caught.value).count(":2:3")
    # Where each cell has one point by itself there is nothing to decide.
    flattened(program.replace("m < 2", "m < 1"), types)
