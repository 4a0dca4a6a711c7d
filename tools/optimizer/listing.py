"""The texts of `--list-passes`, `--show-dialects` and `--version`."""

from __future__ import annotations

import inspect
from collections.abc import Mapping

from .pass_options import describe_options
from .registry import DialectFactory, PassFactory


def list_passes(passes: Mapping[str, PassFactory]) -> str:
    """Each pass with the first sentence of its documentation and its options."""
    lines: list[str] = []
    for name, factory in sorted(passes.items()):
        pass_class = factory()
        lines.append(f"{name}: {_summary(pass_class)}")
        lines.extend(f"    {option}" for option in describe_options(pass_class))
    return "\n".join(lines)


def list_dialects(dialects: Mapping[str, DialectFactory]) -> str:
    """The names of the dialects, one a line."""
    return "\n".join(sorted(dialects))


def _summary(pass_class: type) -> str:
    """The first paragraph of a class's own documentation, as one line."""
    text = inspect.cleandoc(pass_class.__doc__ or "")
    # dataclasses make up a signature where there is no documentation.
    if not text or text.startswith(f"{pass_class.__name__}("):
        return "(no description)"
    return " ".join(text.split("\n\n")[0].split())
