"""The text of `docs/passes.md`: the passes as their docstrings describe them."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

import docstrings
from docstrings import on_one_line, table
from xdsl.passes import ModulePass
from xdsl.utils.hints import type_repr

from gingham.passes import get_all_passes
from gingham.passes.pipelines import (
    PIPELINES,
    TargetOptions,
    stage_passes,
    stage_steps,
)
from gingham.targets.hardware import hardware_text

_ROOT = Path(__file__).resolve().parents[2]

_INTRODUCTION = """\
Each pass is one file, named as the pass, and can be run alone:
`tile-opt FILE -p 'stripe-tile{sizes=8,32,0},stripe-accumulate'`. Options stand in
braces, with blanks between; the values of one are separated by commas.
`tile-opt --list-passes` prints in short what this page says at length.

The passes come in the order in which the [pipelines](#pipelines) at the end first use
them. `tile-specialize` has to run before a pipeline does."""

_PIPELINES = """\
A pipeline is text that `--pass-pipeline=` accepts. `tile-opt --print-pipeline=NAME`
prints a named one, and `tile-opt --pipeline=NAME` runs it, on a program that
`tile-specialize` has given its shapes. These are there:"""

_STAGES = """\
They differ in the [hardware](hardware.md) that they are for; `--hardware=FILE` or
`--pipeline='NAME{{hardware=FILE}}'` gives another one. All have three stages, each
named after the level at which it ends, here for `{name}`:"""


_TYPE_NAMES = {
    "bool": "flag",
    "float": "number",
    "int": "integer",
    "str": "text",
    "str|Hardware": "text",
    "tuple[int, ...]": "integers",
    "tuple[str, ...]": "texts",
}


def text() -> str:
    """The whole page."""
    parts = ["# Passes", _INTRODUCTION]
    passes = get_all_passes()
    for name in sorted(passes, key=_position):
        parts += _pass(passes[name]())
    parts += ["## Pipelines", _PIPELINES, _pipelines()]
    name, options = next(iter(PIPELINES.items()))
    parts.append(_STAGES.format(name=name))
    parts += _stages(options)
    return "\n\n".join(parts) + "\n"


def _position(name: str) -> int:
    """Where a pipeline first uses the pass of this name, -1 when none does."""
    names = [
        step.name for steps in stage_steps(TargetOptions()).values() for step in steps
    ]
    return names.index(name) if name in names else -1


def _pass(pass_class: type[ModulePass]) -> Iterator[str]:
    yield f"## `{pass_class.name}`"
    module = sys.modules[pass_class.__module__]
    yield docstrings.capitalized(
        docstrings.of(module).removeprefix(f"`{pass_class.name}`: ")
    )
    # The first paragraph is the summary that `--list-passes` prints.
    _, _, details = docstrings.of(pass_class).partition("\n\n")
    if details:
        yield details
    options = list(_options(pass_class))
    if options:
        yield table(("option", "type", "default", "meaning"), options)
    path = _source(pass_class)
    yield f"Source: [{path}](../{path})."


def _source(pass_class: type[ModulePass]) -> str:
    """The file of a pass from the root of the repository, or its folder."""
    path = pass_class.__module__.removeprefix("gingham.").replace(".", "/")
    return path if (_ROOT / path).is_dir() else f"{path}.py"


def _options(pass_class: type[ModulePass]) -> Iterator[tuple[str, ...]]:
    docs = docstrings.of_attributes(pass_class)
    types = get_type_hints(pass_class)
    for field in dataclasses.fields(pass_class):
        if field.name != "name":
            yield (
                f"`{field.name.replace('_', '-')}`",
                _type_name(type_repr(types[field.name])),
                _default(field),
                on_one_line(docs.get(field.name, "")),
            )


def _type_name(text: str) -> str:
    return _TYPE_NAMES.get(text, f"`{text}`".replace("|", r"\|"))


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default is dataclasses.MISSING:
        return "required"
    return "none" if field.default in ((), None) else f"`{field.default}`"


def _pipelines() -> str:
    head = ("pipeline", "hardware", "vector bits", "vector registers")
    rows = [
        (
            f"`{name}`",
            hardware_text(options.hardware),
            str(options.vector_bits),
            str(options.hardware.vector_registers),
        )
        for name, options in PIPELINES.items()
    ]
    return table(head, rows)


def _stages(options: TargetOptions) -> Iterator[str]:
    for stage, passes in stage_passes(options).items():
        yield f"`{stage}`:"
        yield "```text\n" + passes.replace(",", ",\n") + "\n```"
