"""How operations are made that kernels have thousands of."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    OperandDef,
    OptionalDef,
    VariadicDef,
    irdl_op_definition,
)
from xdsl.utils.exceptions import VerifyException

from .operands import operands_of
from .rules import Rules
from .syntax import integers

INDEX = IndexType()
"""The type of indices, which all kinds of loops have."""

_ALL_OF: Mapping[str, Callable[[Operation], tuple[Any, ...]]] = {
    "operands": operands_of,
    "results": attrgetter("results"),
    "regions": attrgetter("regions"),
}
"""The values or regions of a kind that an operation has."""


class _OperationType(ABCMeta):
    """Of a kind of operations, which has no virtual subclasses.

    Passes ask millions of times of which kind an operation is. An abstract base class
    looks for those that were registered with it, which takes three times as long.
    """

    __instancecheck__ = type.__instancecheck__


class DialectOperation(IRDLOperation, metaclass=_OperationType):
    """What the operations of our dialects are."""

    def __post_init__(self) -> None:
        """Fill in defaults, where the definition has some."""
        if _has_defaults(type(self)):
            super().__post_init__()

    def verify_more(self) -> None:
        """What its `verify_` was when its author wrote it, without the definition."""

    def __init_subclass__(cls) -> None:
        """Keep `verify_`, before `irdl_op_definition` puts another one in its place."""
        super().__init_subclass__()
        cls.verify_more = cls.__dict__.get("verify_", cls.verify_more)

    def verify(self, verify_nested_ops: bool = True) -> None:
        """Raise VerifyException unless the operation is valid, as xDSL has it."""
        rules = _rules_of(type(self))
        if rules is None or not rules.hold(self):
            super().verify(verify_nested_ops)
            return
        if verify_nested_ops:
            for region in self.regions:
                region.verify()
        try:
            self.verify_more()
        except VerifyException:
            # It has the words for that, too.
            super().verify(verify_nested_ops=False)


Kind = TypeVar("Kind", bound=IRDLOperation)


class _Group:
    """A named group of operands of an operation that says how large each of them is."""

    def __init__(self, number: int, definition: OperandDef) -> None:
        self._number = number
        self._is_optional = isinstance(definition, OptionalDef)
        self._is_sequence = isinstance(definition, VariadicDef) and (
            not self._is_optional
        )

    def __get__(
        self, op: Operation, kind: type[Operation]
    ) -> Sequence[SSAValue] | SSAValue | None:
        sizes = integers(op.properties[AttrSizedOperandSegments.attribute_name])
        start, size = sum(sizes[: self._number]), sizes[self._number]
        operands = operands_of(op)
        if self._is_sequence:
            return operands[start : start + size]
        return operands[start] if size or not self._is_optional else None


def operation_definition(kind: type[Kind]) -> type[Kind]:
    """Define an operation as `irdl_op_definition` does, with parts that are found soon.

    What xDSL does looks at the definition again each time that somebody asks for an
    operand, and unpacks the sizes of groups of operands.
    """
    irdl_op_definition(kind)
    definition = kind.get_irdl_definition()
    for part, defined in (
        ("operands", definition.operands),
        ("results", definition.results),
        ("regions", definition.regions),
    ):
        for number, (name, group) in enumerate(defined):
            if isinstance(group, VariadicDef):
                if number == len(defined) - 1 and not isinstance(group, OptionalDef):
                    setattr(kind, name, _rest(part, number))
                break
            setattr(kind, name, _single(part, number))
    if any(isinstance(each, AttrSizedOperandSegments) for each in definition.options):
        for number, (name, group) in enumerate(definition.operands):
            setattr(kind, name, _Group(number, group))
    return kind


def _single(part: str, number: int) -> property:
    """What has this number among the operands, results or regions."""
    all_of = _ALL_OF[part]
    return property(lambda op: all_of(op)[number])


def _rest(part: str, number: int) -> property:
    """All operands, results or regions from this number on."""
    all_of = _ALL_OF[part]
    return property(lambda op: all_of(op)[number:])


@cache
def _has_defaults(kind: type[IRDLOperation]) -> bool:
    definition = kind.get_irdl_definition()
    named = [*definition.properties.values(), *definition.attributes.values()]
    return any(each.default_value is not None for each in named)


@cache
def _rules_of(kind: type[IRDLOperation]) -> Rules | None:
    return Rules.of(kind.get_irdl_definition())


def build(
    op: Operation,
    *,
    operands: Sequence[SSAValue] = (),
    result_types: Sequence[Attribute] = (),
    properties: Mapping[str, Attribute | None] | None = None,
    regions: Sequence[Region] = (),
) -> None:
    """Initialize an operation from its parts in one list each.

    `IRDLOperation.__init__` sorts them into those that the definition names first,
    which takes three times as long.
    """
    given: Mapping[str, Attribute | None] = properties or {}
    Operation.__init__(
        op,
        operands=operands,
        result_types=result_types,
        properties={name: value for name, value in given.items() if value is not None},
        regions=regions,
    )
