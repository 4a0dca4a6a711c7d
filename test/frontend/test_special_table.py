"""The table of special functions: nothing of an operation is forgotten elsewhere."""

from __future__ import annotations

from pathlib import Path

from xdsl.utils.str_enum import StrEnum

from gingham.dialects.tile import Tile
from gingham.dialects.tile.special import SimpleReduceOp
from gingham.dialects.tile.special_op import SizedOp, SpecialOp
from gingham.frontend.special_calls import SPECIAL_CALLS
from gingham.frontend.special_table import SPECIAL_FUNCTIONS
from gingham.passes.convert.lower_tile_to_stripe import lower_special
from gingham.targets.reference import interpreter
from gingham.targets.reference.dispatch import prepare

PAGE = (Path(__file__).parents[2] / "docs" / "special-functions.md").read_text()
OPERATIONS = [op for op in Tile.operations if issubclass(op, SpecialOp | SizedOp)]


def test_operations_have_a_row_a_meaning_and_a_lowering() -> None:
    assert interpreter.prepare is prepare
    for operation in OPERATIONS:
        assert operation.function() in SPECIAL_FUNCTIONS
        assert operation in prepare.registry
        # This one is a contraction once its sizes are known.
        lowered = operation in lower_special.registry
        assert lowered or operation is SimpleReduceOp


def test_functions_are_on_their_page() -> None:
    for name in SPECIAL_CALLS:
        assert name in PAGE


def test_options_are_on_the_page_of_functions() -> None:
    """Those of gather as a table, the default first."""
    table = dict(
        row.split(" | ", 1) for row in PAGE.splitlines() if row.startswith("|")
    )
    for name, option in SPECIAL_FUNCTIONS["gather"].options.options().items():
        values, _ = table[f"| `{name}`"].split(" | ", 1)
        if isinstance(option.default, StrEnum):
            words = [member.value for member in type(option.default)]
            assert values == ", ".join(f"`{word}`" for word in words)
            assert words[0] == option.default.value
        else:
            assert values.startswith(f"{option.default}")
    for row in SPECIAL_FUNCTIONS.values():
        for name in row.options.options():
            assert name in PAGE
