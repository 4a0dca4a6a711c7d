"""The parser from stored tables is that of the grammar."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gingham.errors import GinghamError
from gingham.frontend import parser, parser_tables
from gingham.frontend.transformer import SyntaxBuilder

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.tile"))

TEXTS = [
    *(path.read_text(encoding="utf-8") for path in EXAMPLES),
    "expression A + B * C > 1 ? -A : f(B, 2, axis=1);",
    "polynomial 2i - 3*j + 1;",
    "contraction C[i : N] = >(A[i, k] * B[k]), k < 3 default D no_defract;",
    "function (A) -> (B) { B = A",
    "function (A) -> (B) { B = A + ; }",
    "function (A) -> (B) { B = A ? }",
    "function (A] -> (B) { B = A; }",
    "",
]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The parser whose tables lark has made."""
    monkeypatch.setattr(parser_tables, "TABLES", tmp_path / "nothing.json")
    return parser_tables.load_parser(SyntaxBuilder())


def test_the_stored_tables_are_those_of_the_grammar() -> None:
    """If not: `python -m gingham.frontend.parser_tables` writes them again."""
    import lark

    stored = json.loads(parser_tables.TABLES.read_text(encoding="utf-8"))
    made = parser_tables.make_tables()
    assert stored["grammar"] == made["grammar"]
    if stored["lark"] != lark.__version__:
        pytest.skip(f"they are from lark {stored['lark']}")
    assert stored == made


def test_tables_do_not_depend_on_the_order_of_sets() -> None:
    program = (
        "import hashlib, json\n"
        "from gingham.frontend.parser_tables import make_tables\n"
        "text = json.dumps(make_tables(), sort_keys=True)\n"
        "print(hashlib.sha256(text.encode()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(digests) == 1


@pytest.mark.parametrize("text", TEXTS)
def test_both_parsers_see_the_same(
    text: str, made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    trees: list[object] = []
    for use in (parser_tables.load_parser(SyntaxBuilder()), made):
        monkeypatch.setattr(parser, "_lark", lambda use=use: use)
        try:
            trees.append(parser.parse(text))
        except GinghamError as error:
            trees.append(str(error))
    assert trees[0] == trees[1]


@pytest.mark.parametrize("field", ["grammar", "lark"])
def test_tables_of_another_grammar_are_left_out(
    field: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = json.loads(parser_tables.TABLES.read_text(encoding="utf-8"))
    # Without tables: reading them would fail.
    path = tmp_path / "other.json"
    path.write_text(json.dumps(stored | {field: "another", "tables": {}}))
    monkeypatch.setattr(parser_tables, "TABLES", path)
    made: Any = parser_tables.load_parser(SyntaxBuilder())
    assert made.parse("polynomial i;") == parser.parse("polynomial i;")
