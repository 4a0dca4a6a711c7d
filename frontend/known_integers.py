"""Tensors that are known integers: sizes, integer inputs, and what is computed of them.

`P = K / 2` of an input without axes is a tensor like any other. Where `P` is a size,
the input has to be bound to an integer, and the same expression is built once more of
sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from xdsl.dialects.builtin import IndexType, TensorType
from xdsl.ir import BlockArgument, Operation, SSAValue

from ..dialects.eltwise.element_types import Kind, kind
from ..dialects.eltwise.ops import (
    ANY_ELEMENT,
    CastOp,
    ConstantOp,
    ElementwiseOp,
    element_of,
)
from ..dialects.eltwise.table import Function
from ..dialects.tile import FromIndexOp
from ..dialects.tile.ops import ToIndexOp
from ..errors import SourceLocation
from .index_space import Size

_Op = TypeVar("_Op", bound=Operation)


class Builder(Protocol):
    """What adds ops to a program."""

    def add(self, op: _Op, location: SourceLocation) -> _Op:
        """Append an op that comes from this place."""
        ...

    def apply(
        self, function: Function, operands: Sequence[Size], location: SourceLocation
    ) -> object:
        """An element-wise function of sizes."""
        ...

    def name(self, value: Size, name: str) -> None:
        """Call the op that computes a size by a name of the program."""
        ...


class KnownIntegers:
    """The sizes that tensors of one program stand for."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._sizes: dict[SSAValue, Size] = {}
        self._others: set[SSAValue] = set()

    def size(self, tensor: SSAValue, location: SourceLocation) -> Size | None:
        """The size that a tensor stands for; None where it is no known integer."""
        missing = self._missing(tensor)
        if missing is None:
            self._others.add(tensor)
            return None
        for value in missing:
            size = self._made(value, location)
            if value.name_hint:
                self._builder.name(size, value.name_hint)
            self._sizes[value] = size
        return self._sizes[tensor]

    def _missing(self, tensor: SSAValue) -> list[SSAValue] | None:
        """What a tensor is computed from and has no size yet, operands first.

        None where part of it is no integer.
        """
        order: dict[SSAValue, None] = {}
        pending = [tensor]
        while pending:
            value = pending[-1]
            if value in self._others or not _may_be_integer(value):
                return None
            above = [
                operand
                for operand in _operands(value)
                if operand not in self._sizes and operand not in order
            ]
            if above:
                pending += above
                continue
            pending.pop()
            if value not in self._sizes:
                order[value] = None
        return list(order)

    def _made(self, value: SSAValue, location: SourceLocation) -> Size:
        if isinstance(value, BlockArgument):
            return Size(self._builder.add(ToIndexOp(value), location).size)
        owner = value.owner
        if isinstance(owner, FromIndexOp):
            return Size(owner.size)
        if isinstance(owner, CastOp):
            return Size(owner.argument, is_condition=True)
        if isinstance(owner, ConstantOp):
            return Size(int(owner.number))
        if isinstance(owner, ElementwiseOp):
            operands = [self._sizes[operand] for operand in owner.arguments]
            size = self._builder.apply(owner.function, operands, location)
            if isinstance(size, Size):
                return size
        raise ValueError(f"{value} is no known integer")


def _may_be_integer(value: SSAValue) -> bool:
    """Whether it is a known integer if its operands are."""
    if isinstance(value, BlockArgument):
        return _may_be_number(value)
    owner = value.owner
    if isinstance(owner, ElementwiseOp):
        return owner.function.fold is not None
    if isinstance(owner, ConstantOp):
        return isinstance(owner.number, int) and element_of(value.type) == ANY_ELEMENT
    # A condition on sizes becomes a truth value by a cast.
    is_size = isinstance(owner, CastOp) and owner.argument.type == IndexType()
    return isinstance(owner, FromIndexOp) or is_size


def _may_be_number(value: BlockArgument) -> bool:
    """Whether an input may be bound to an integer, as far as its type is known."""
    if isinstance(value.type, TensorType) and value.type.get_shape():
        return False
    element = element_of(value.type)
    return element == ANY_ELEMENT or kind(element) in (Kind.SIGNED, Kind.UNSIGNED)


def _operands(value: SSAValue) -> Sequence[SSAValue]:
    owner = value.owner
    return owner.arguments if isinstance(owner, ElementwiseOp) else ()
