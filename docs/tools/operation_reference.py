"""The reference in `docs/operations.md`: all operations by their docstrings.

What stands above the mark is written by hand.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import docstrings
from docstrings import on_one_line, table

from gingham.frontend import op

MARK = "<!-- From here on written by docs/tools/generate.py from frontend/op/. -->"

_ORDER = (
    "shapes joining slicing padding blocks creation choice elementwise reductions "
    "accumulation products activations classification convolution pooling "
    "adaptive_pooling normalization attention recurrent resizing sampling patches "
    "indexing sorting detection losses distances random"
).split()
"""The modules as they are read; others come behind them."""


def text(page: Path) -> str:
    """The page, with the reference below the mark. ValueError where it has no mark."""
    above, mark, _ = page.read_text(encoding="utf-8").partition(MARK)
    if not mark:
        raise ValueError(f"{page} has no line '{MARK}'")
    parts = [f"{above}{MARK}", "## Reference"]
    for module in _modules():
        parts += [
            f"### {_heading(module)}",
            table(("operation", "meaning"), _rows(module)),
        ]
    return "\n\n".join(parts) + "\n"


def _modules() -> list[ModuleType]:
    """The modules with operations, in the order of the page."""
    names = {
        path.stem
        for path in Path(inspect.getfile(op)).parent.glob("*.py")
        if "__all__" in path.read_text(encoding="utf-8") and path.stem != "__init__"
    }
    ordered = [*_ORDER, *sorted(names - {*_ORDER})]
    return [importlib.import_module(f"{op.__name__}.{name}") for name in ordered]


def _heading(module: ModuleType) -> str:
    first, *_ = docstrings.of(module).splitlines()
    return first.partition(":")[0].rstrip(".")


def _rows(module: ModuleType) -> list[tuple[str, ...]]:
    """An operation a row, with all of its names."""
    names: dict[object, list[str]] = {}
    for name in vars(module)["__all__"]:
        names.setdefault(getattr(module, name), []).append(name)
    return [
        (", ".join(_uses(function, own)), _meaning(function))
        for function, own in names.items()
    ]


def _uses(function: object, names: list[str]) -> Iterator[str]:
    """How the operation is called by each name; once with its arguments."""
    own = getattr(function, "__name__", names[0])
    for name in sorted(names, key=lambda name: name != own):
        yield f"`{name}{_signature(function)}`" if name == own else f"`{name}`"


def _signature(function: object) -> str:
    if not callable(function):
        return ""
    signature = inspect.signature(function)
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in signature.parameters.values()
    ]
    plain = signature.replace(
        parameters=parameters, return_annotation=inspect.Signature.empty
    )
    return on_one_line(str(plain))


def _meaning(function: object) -> str:
    return on_one_line(docstrings.of(function))
