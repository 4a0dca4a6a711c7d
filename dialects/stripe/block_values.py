"""What values are to blocks: indices, windows, memory of their own.

A block's body has its indices as arguments and then its windows.
"""

from __future__ import annotations

from abc import abstractmethod

from xdsl.ir import Block, BlockArgument, SSAValue

from ..building import DialectOperation
from .attributes import Direction, Refinement
from .reshape import ReshapeOp


class IndexedOperation(DialectOperation):
    """What `stripe.block` is to those who ask for the place of a value."""

    @property
    @abstractmethod
    def index_ranges(self) -> tuple[int, ...]:
        """The number of values of each index."""

    @abstractmethod
    def refinement(self, number: int) -> Refinement:
        """The refinement of window `number`."""


def argument_place(value: SSAValue) -> tuple[IndexedOperation, int] | None:
    """The block whose body has a value as its argument, and which one."""
    block = value.block.parent_op() if isinstance(value, BlockArgument) else None
    if not isinstance(block, IndexedOperation) or not isinstance(value, BlockArgument):
        return None
    return block, value.index


def is_block_index(value: SSAValue) -> bool:
    """Whether a value is an index of a block."""
    place = argument_place(value)
    return place is not None and place[1] < len(place[0].index_ranges)


def index_range(index: SSAValue) -> int:
    """The number of values of a block's index."""
    place = argument_place(index)
    if place is None:
        raise ValueError("expected the index of a block")
    block, number = place
    return block.index_ranges[number]


def is_view_of(view: SSAValue, statements: Block | None) -> bool:
    """Whether a view is an argument of these statements or allocated by one of them.

    Statements reach views from further out through refinements only.
    """
    owner = view.owner
    return statements is None or statements is (
        owner if isinstance(owner, Block) else owner.parent
    )


def direction_of(view: SSAValue) -> Direction | None:
    """How the enclosing block may use a view; None for an allocation: in any way."""
    while isinstance(view.owner, ReshapeOp):
        view = view.owner.source
    place = argument_place(view)
    if place is not None:
        block, number = place
        return block.refinement(number - len(block.index_ranges)).direction
    # An argument of the function: an input.
    return Direction.IN if isinstance(view, BlockArgument) else None
