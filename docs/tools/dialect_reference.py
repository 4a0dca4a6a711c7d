"""The text of `docs/dialects.md`: the dialects as their docstrings describe them."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any, cast, get_args

import docstrings
from docstrings import on_one_line, table
from xdsl.dialects.builtin import ArrayOfConstraint
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Data, Operation, TypeAttribute
from xdsl.irdl import (
    AttrConstraint,
    BaseAttr,
    IRDLOperation,
    OptionalDef,
    RangeConstraint,
    RangeLengthConstraint,
    RangeOf,
    VariadicDef,
)

from gingham.dialects import get_all_dialects
from gingham.dialects.eltwise.ops import ElementwiseOp
from gingham.dialects.eltwise.table import FUNCTIONS
from gingham.dialects.stripe.schedule import PARTS, Schedule

_INTRODUCTION = """\
A program passes through three dialects: `tile` has tensors and contractions, `stripe`
blocks of points over buffers, `opencl` kernels and their launches. The fourth,
`eltwise`, has the functions of single elements; the others use it, on whole tensors, on
elements and on vectors. At every level the entry is one `func.func @main`.

All operations have the custom syntax of the examples here and the generic syntax of
MLIR, which `tile-opt --print-op-generic` prints. `tile-opt` reads both."""

_EFFECTS = {
    "Pure": "none",
    "MemoryAllocEffect": "allocates memory",
    "MemoryReadEffect": "reads memory",
    "MemoryWriteEffect": "writes memory",
    "RecursiveMemoryEffect": "those of its body",
}

_PLAIN_NAMES = {
    "array": "integers",
    "integer": "integer",
    "string": "text",
    "symbol_ref": "symbol",
    "unit": "flag",
}
"""What names of builtin attributes are called here."""

_HIDDEN = "operandSegmentSizes"
"""A property that only says how the list of operands is divided."""


def text() -> str:
    """The whole page."""
    parts = ["# Dialects", _INTRODUCTION]
    for name, factory in get_all_dialects().items():
        dialect = factory()
        package = import_module(f"gingham.dialects.{name}")
        summary = docstrings.of(package).removeprefix(f"The `{name}` dialect: ")
        parts += [f"## The `{name}` dialect", docstrings.capitalized(summary)]
        for operation in dialect.operations:
            if not issubclass(operation, ElementwiseOp):
                parts += _operation(operation)
        if name == "eltwise":
            parts += _functions()
        for attribute in dialect.attributes:
            parts += _attribute(attribute)
    return _named_as_in_ir("\n\n".join(parts) + "\n")


def _named_as_in_ir(text: str) -> str:
    """The text with names of Python classes replaced by those that IR has for them."""
    for factory in get_all_dialects().values():
        dialect = factory()
        names = {op.__name__: op.name for op in dialect.operations}
        for attribute in dialect.attributes:
            held = _held_class(attribute)
            if held is not None:
                names[held.__name__] = f"#{attribute.name}"
        for python, name in names.items():
            text = text.replace(f"`{python}`", f"`{name}`")
    return text


def _operation(operation: type[Operation]) -> Iterator[str]:
    yield f"### `{operation.name}`"
    yield docstrings.of(operation)
    if issubclass(operation, IRDLOperation):
        rows = list(_parts(operation))
        if rows:
            yield table(("part", "name", "type"), rows)
        traits = sorted(type(trait).__name__ for trait in operation.traits)
        effects = [_EFFECTS[trait] for trait in traits if trait in _EFFECTS]
        if effects:
            yield f"Effects: {', '.join(effects)}."


def _parts(operation: type[IRDLOperation]) -> Iterator[tuple[str, str, str]]:
    definition = operation.get_irdl_definition()
    for name, operand in definition.operands:
        yield _part("operand", operand), f"`{name}`", _constraint(operand.constr)
    for name, result in definition.results:
        yield _part("result", result), f"`{name}`", _constraint(result.constr)
    for name, prop in definition.properties.items():
        if name != _HIDDEN:
            yield _part("property", prop), f"`{name}`", _constraint(prop.constr)
    for name, region in definition.regions:
        yield _part("region", region), f"`{name}`", "one block"


def _part(noun: str, definition: object) -> str:
    """What a part is, and how often it occurs."""
    if isinstance(definition, OptionalDef):
        return f"optional {noun}"
    return f"{noun}s" if isinstance(definition, VariadicDef) else noun


def _constraint(constraint: AttrConstraint | RangeConstraint) -> str:
    """The attributes or types that a constraint accepts, in words."""
    match constraint:
        case RangeLengthConstraint():
            return _constraint(constraint.constraint)
        case RangeOf():
            return _constraint(constraint.constr)
        case ArrayOfConstraint():
            return f"array of {_constraint(constraint.elem_range_constraint)}"
        case BaseAttr():
            name = constraint.attr.name
            return _PLAIN_NAMES.get(name, f"`{name}`")
        case _:
            return "any"


def _attribute(attribute: type[Attribute]) -> Iterator[str]:
    sigil = "!" if issubclass(attribute, TypeAttribute) else "#"
    yield f"### `{sigil}{attribute.name}`"
    yield docstrings.capitalized(
        docstrings.of(attribute).removeprefix(f"`{sigil}{attribute.name}`: ")
    )
    held = _held_class(attribute)
    if held is None:
        return
    if issubclass(attribute, EnumAttribute):
        yield _values(held)
    elif held.__module__.startswith("gingham.dialects"):
        yield docstrings.of(held)
    if held is Schedule:
        for word, kind in PARTS.items():
            yield f"#### `{word}`"
            yield docstrings.of(kind)


def _held_class(attribute: type[Attribute]) -> type | None:
    """The class of Python values that an attribute wraps, if it does."""
    if not issubclass(attribute, Data):
        return None
    for base in getattr(attribute, "__orig_bases__", ()):
        for argument in get_args(base):
            if isinstance(argument, type):
                return argument
    return None


def _values(enumeration: type) -> str:
    """The values of an enumeration, with what the source says of each."""
    docs = docstrings.of_attributes(enumeration)
    members = cast("Any", enumeration)
    if not docs:
        return f"Values: {', '.join(f'`{member.value}`' for member in members)}."
    return table(
        ("value", "meaning"),
        [(f"`{m.value}`", on_one_line(docs.get(m.name, ""))) for m in members],
    )


def _functions() -> Iterator[str]:
    yield "### Element-wise functions"
    yield docstrings.of(ElementwiseOp)
    names = ", ".join(f"`eltwise.{name}`" for name in FUNCTIONS)
    yield f"[The table of functions](functions.md) says what each means: {names}."
