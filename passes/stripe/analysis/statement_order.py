"""Bringing the members of groups together, group after group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp
from ....dialects.stripe.reshape import ReshapeOp
from ...dependences import Effects
from ...locations import error_at
from .effects import effects_of
from .nests import statements


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
        self._effects: dict[BlockOp, Effects] = {}

    def sorted(self, blocks: Iterable[BlockOp]) -> list[BlockOp]:
        """Blocks that were there at the beginning, in the order they are in by now."""
        return sorted(blocks, key=lambda block: self._places[block])

    def gather(self, blocks: Sequence[BlockOp]) -> None:
        """Move the statements between members that depend on one behind the last.

        The members are in order.
        """
        members = frozenset(blocks)
        following: list[BlockOp] = []
        # Of the members and of what follows, and of the latter alone.
        passed, moved = Effects(), Effects()
        statement: Operation | None = blocks[0]
        while statement is not None and statement is not blocks[-1].next_op:
            if isinstance(statement, BlockOp):
                effects = self._effects_of(statement)
                if statement in members:
                    if effects.depends_on(moved):
                        raise error_at(
                            statement,
                            "cannot fuse the block: a statement between the members "
                            "depends on one and is needed by this one",
                        )
                    passed.add(effects)
                elif effects.depends_on(passed):
                    following.append(statement)
                    passed.add(effects)
                    moved.add(effects)
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

    def _effects_of(self, block: BlockOp) -> Effects:
        """Those of a block, the same until it is part of a nest, which is another."""
        if block not in self._effects:
            self._effects[block] = effects_of(block)
        return self._effects[block]
