"""How operations are made that kernels have thousands of."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Mapping, Sequence

from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation


class _OperationType(ABCMeta):
    """Of a kind of operations, which has no virtual subclasses.

    Passes ask millions of times of which kind an operation is. An abstract base class
    looks for those that were registered with it, which takes three times as long.
    """

    __instancecheck__ = type.__instancecheck__


class DialectOperation(IRDLOperation, metaclass=_OperationType):
    """What the operations of our dialects are."""


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
