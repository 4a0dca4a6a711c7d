"""The parser of Tile from tables made beforehand: 5 ms, where making them takes 40.

`tile.tables.json` has the tables with the grammar and the version of lark that they are
from. Where one of these is another, they are made anew, so that a changed grammar works
at once; `python -m gingham.frontend.parser_tables` then writes the file again, and a
test says when that was forgotten.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from lark import Lark, Transformer

_GRAMMAR = Path(__file__).with_name("tile.lark")
TABLES = Path(__file__).with_name("tile.tables.json")


def load_parser(transformer: Transformer[Any, Any]) -> Lark:
    """The parser of the grammar; the transformer is applied while it parses."""
    import lark

    grammar = _grammar()
    stored = _stored()
    if stored.get("grammar") != grammar or stored.get("lark") != lark.__version__:
        return _made(grammar, transformer)
    parser = lark.Lark.__new__(lark.Lark)
    # `Lark.load` would un-pickle a file; this is what it then calls.
    cast(Any, parser)._load(_with_numbers(stored["tables"]), transformer=transformer)
    return parser


def make_tables() -> dict[str, Any]:
    """What `TABLES` has to contain, for the lark that is installed."""
    import lark
    from lark.grammar import Rule
    from lark.lexer import TerminalDef

    grammar = _grammar()
    parser: Any = _made(grammar, None)
    data, memo = parser.memo_serialize([TerminalDef, Rule])
    # Texts as keys, as they are in a file.
    tables = json.loads(json.dumps({"data": data, "memo": memo}))
    table = tables["data"]["parser"]["parser"]
    tables["data"]["parser"]["parser"] = _numbered_alike(table)
    return {"grammar": grammar, "lark": lark.__version__, "tables": tables}


def _grammar() -> str:
    return _GRAMMAR.read_text(encoding="utf-8")


def _stored() -> dict[str, Any]:
    try:
        return json.loads(TABLES.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}


def _made(grammar: str, transformer: Transformer[Any, Any] | None) -> Lark:
    from lark import Lark

    return Lark(
        grammar,
        parser="lalr",
        lexer="contextual",
        transformer=transformer,
        maybe_placeholders=False,
    )


def _with_numbers(tables: dict[str, Any]) -> dict[str, Any]:
    """The tables with numbers as keys, which JSON has made texts."""
    table = tables["data"]["parser"]["parser"]
    table["tokens"] = _numbers(table["tokens"])
    table["states"] = {
        state: _numbers(actions) for state, actions in _numbers(table["states"]).items()
    }
    tables["memo"] = _numbers(tables["memo"])
    return tables


def _numbers(table: dict[str, Any]) -> dict[int, Any]:
    return {int(key): value for key, value in table.items()}


def _numbered_alike(table: dict[str, Any]) -> dict[str, Any]:
    """The states in the order in which they are met, and the tokens by name.

    lark numbers both as its sets happen to be ordered, which differs between runs.
    """
    names = sorted(table["tokens"].values())
    token = {old: names.index(name) for old, name in table["tokens"].items()}
    actions = {
        int(state): sorted((token[old], action) for old, action in of_state.items())
        for state, of_state in table["states"].items()
    }
    order = [*table["start_states"].values()]
    for state in order:
        for _, (is_reduction, target) in actions[state]:
            if not is_reduction and target not in order:
                order.append(target)
    number = {state: new for new, state in enumerate(order)}

    def renumbered(is_reduction: int, target: Any) -> list[Any]:
        return [is_reduction, target if is_reduction else number[target]]

    return {
        "tokens": {str(new): name for new, name in enumerate(names)},
        "states": {
            str(number[state]): {
                str(each): renumbered(*action) for each, action in actions[state]
            }
            for state in order
        },
        "start_states": {k: number[s] for k, s in table["start_states"].items()},
        "end_states": {k: number[s] for k, s in table["end_states"].items()},
    }


def main() -> None:
    """Write the file."""
    text = json.dumps(make_tables(), separators=(",", ":"), sort_keys=True)
    TABLES.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
