"""What operations do, as a key: equal for those that do the same, and for no others."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation, SSAValue

from ..dialects.operands import operands_of
from .walking import operations


def structure(root: Operation, is_ignored: Callable[[str], bool]) -> object:
    """An operation with all that is in it, without names of values and locations.

    Attributes and properties of these names are ignored. What is used from outside
    tells nothing but where it is the same.
    """
    numbers: dict[SSAValue, int] = {}
    return tuple([_statement(op, numbers, is_ignored) for op in operations(root)])


def _statement(
    op: Operation, numbers: dict[SSAValue, int], is_ignored: Callable[[str], bool]
) -> object:
    """An operation with values by numbers, and how deep what follows is inside."""
    operands = tuple([numbers.setdefault(v, len(numbers)) for v in operands_of(op)])
    arguments = [v for region in op.regions for b in region.blocks for v in b.args]
    defined = (*op.results, *arguments)
    for value in defined:
        numbers[value] = len(numbers)
    parts = tuple([len(block.ops) for region in op.regions for block in region.blocks])
    types = tuple([value.type for value in defined])
    attributes = frozenset(
        (name, attribute)
        for name, attribute in (*op.properties.items(), *op.attributes.items())
        if not is_ignored(name)
    )
    return op.name, operands, types, parts, attributes
