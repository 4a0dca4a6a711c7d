"""The ops of a function while gradients are expanded: their order, and equal ones.

Every new op gets a number by what it computes: an op that equals one which stands
before the gradient, in the program or from another gradient, is that one. So gradients
of gradients grow by what is new in them, and not by what they have in common.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ....dialects.eltwise.ops import ElementwiseOp
from ....limits import MOST_OPERATIONS
from ...locations import error_at

_Place = tuple[int, int]
"""The number of an op of the program, and that of a new op behind it."""

_Key = tuple[object, ...]


class KnownOperations:
    """The ops of one block in order, to which new ones are added before others."""

    def __init__(self, block: Block) -> None:
        self._places: dict[Operation, _Place] = {}
        self._last: dict[int, int] = {}
        self._known: dict[_Key, Operation] = {}
        for number, op in enumerate(block.ops):
            self._places[op] = (number, 0)
            # Of equal ops the first one is before most others.
            self._known.setdefault(_key(op), op)

    def insert(self, op: Operation, anchor: Operation) -> Operation:
        """Add an op before `anchor`; or the equal one that stands before it already.

        Raises GinghamError, at the anchor, for one too many.
        """
        key = _key(op)
        known = self._known.get(key)
        if known is not None and self._places[known] < self._places[anchor]:
            op.erase()
            return known
        if len(self._places) == MOST_OPERATIONS:
            raise error_at(
                anchor,
                f"expected at most {MOST_OPERATIONS} operations in a program with its "
                "gradients",
                "a gradient of a gradient is several times as long as what it is of",
            )
        Rewriter.insert_op(op, InsertPoint.before(anchor))
        before = self._places[anchor][0] - 1
        self._last[before] = self._last.get(before, 0) + 1
        self._places[op] = before, self._last[before]
        self._known[key] = op
        return op

    def leading_to(self, value: SSAValue) -> list[Operation]:
        """The ops that a value is computed by, itself included, in order."""
        found: set[Operation] = set()
        pending = [value]
        while pending:
            op = pending.pop().owner
            if isinstance(op, Operation) and op not in found:
                found.add(op)
                pending += op.operands
        return sorted(found, key=self._places.__getitem__)

    def has_derivatives(self, operations: Sequence[Operation]) -> bool:
        """Whether some of these ops were added for a gradient."""
        return any(self._places[op][1] > 0 for op in operations)


def _key(op: Operation) -> _Key:
    """What an op computes: equal for ops with equal results."""
    if op.regions or not op.results:
        return (op,)
    operands = op.operands
    if isinstance(op, ElementwiseOp) and op.function.name in ("add", "mul"):
        # In any order they give the same.
        operands = tuple(sorted(operands, key=id))
    return (
        op.name,
        operands,
        tuple(op.result_types),
        *_entries(op.properties),
        None,
        *_entries(op.attributes),
    )


def _entries(attributes: dict[str, Attribute]) -> Iterator[tuple[str, Attribute]]:
    yield from sorted(attributes.items(), key=lambda entry: entry[0])
