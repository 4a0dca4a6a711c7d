"""How operations are built that kernels have thousands of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Attribute, Operation, Region, SSAValue


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
