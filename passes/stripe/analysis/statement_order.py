"""Bringing the members of groups together, group after group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp
from ....dialects.stripe.reshape import ReshapeOp
from ...locations import error_at
from .nests import root_buffer, statements


class StatementOrder:
    """The order of a function's statements, while some are moved.

    What is moved for one group may be a member of another one, whose members are then
    in another order than before.
    """

    def __init__(self, function: FuncOp) -> None:
        self._places: dict[Operation, tuple[int, ...]] = {
            statement: (number,)
            for number, statement in enumerate(statements(function))
        }
        """Compared like words: what is moved behind a statement continues its place."""
        self._memories: dict[BlockOp, list[tuple[SSAValue, bool]]] = {}

    def sorted(self, blocks: Iterable[BlockOp]) -> list[BlockOp]:
        """Blocks that were there at the beginning, in the order they are in by now."""
        return sorted(blocks, key=lambda block: self._places[block])

    def replace(self, block: BlockOp, other: BlockOp) -> None:
        """Note that another block stands where a block was."""
        self._places[other] = self._places.pop(block)

    def gather(self, blocks: Sequence[BlockOp]) -> None:
        """Move the statements between members that depend on one behind the last.

        The members are in order.
        """
        members = frozenset(blocks)
        following: list[BlockOp] = []
        # Of the members and of what follows, and of the latter alone.
        passed, moved = _Uses(), _Uses()
        statement: Operation | None = blocks[0]
        while statement is not None and statement is not blocks[-1].next_op:
            if isinstance(statement, BlockOp):
                uses = self._uses_of(statement)
                if statement in members:
                    if moved.precede(uses):
                        raise error_at(
                            statement,
                            "cannot fuse the block: a statement between the members "
                            "depends on one and is needed by this one",
                        )
                    passed.add(uses)
                elif passed.precede(uses):
                    following.append(statement)
                    passed.add(uses)
                    moved.add(uses)
            elif not isinstance(statement, AllocOp | ReshapeOp):
                raise error_at(statement, "cannot fuse blocks over this statement")
            statement = statement.next_op
        self._move_behind(blocks[-1], following)

    def _move_behind(self, last: BlockOp, following: Sequence[BlockOp]) -> None:
        parent = last.parent
        if parent is None:
            raise ValueError("the block is not in a function")
        behind: Operation = last
        for number, statement in enumerate(following):
            statement.detach()
            parent.insert_op_after(statement, behind)
            behind = statement
            self._places[statement] = (*self._places[last], number)

    def _uses_of(self, block: BlockOp) -> list[tuple[SSAValue, bool]]:
        """The memories that a block uses, and whether it writes them.

        They are the same until it is part of a nest, which is another block.
        """
        if block not in self._memories:
            pairs = zip(block.buffers, block.refinement_list, strict=True)
            self._memories[block] = [
                (root_buffer(buffer), refinement.direction.writes)
                for buffer, refinement in pairs
            ]
        return self._memories[block]


class _Uses:
    """What some blocks use and write."""

    def __init__(self) -> None:
        self._used: set[SSAValue] = set()
        self._written: set[SSAValue] = set()

    def add(self, uses: Iterable[tuple[SSAValue, bool]]) -> None:
        for memory, writes in uses:
            self._used.add(memory)
            if writes:
                self._written.add(memory)

    def precede(self, uses: Iterable[tuple[SSAValue, bool]]) -> bool:
        """Whether the order of these and of a block with other uses matters."""
        return any(
            memory in (self._used if writes else self._written)
            for memory, writes in uses
        )
