"""How much a block or a launch computes and moves: `stripe.work`.

The attribute says what the program asks for, whatever loops, vectors and copies the
passes make of it. It stands on blocks that become kernels and then on their launches:
launches of one kernel may do different amounts of work.

* `flops`: what an element-wise function computes is one operation for each element,
  and so is an aggregation; a multiply-add is two. Functions that only give one of their
  operands (`cond`, `ident`), conversions and the arithmetic of indices are none.
* `read` and `written`: the bytes of the cells of buffers that are accessed, each cell
  once. Where subscripts choose cells, as many as can be chosen.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.ir import Operation

from .syntax import integer_array, integers

WORK_ATTRIBUTE = "stripe.work"
"""On top-level blocks and launches: `array<i64: flops, read, written>`."""


@dataclass(frozen=True)
class Work:
    """What is computed and moved."""

    flops: int = 0
    """Operations on numbers."""
    bytes_read: int = 0
    bytes_written: int = 0

    def write_to(self, op: Operation) -> None:
        """Let an operation carry it."""
        numbers = [self.flops, self.bytes_read, self.bytes_written]
        op.attributes[WORK_ATTRIBUTE] = integer_array(numbers)


def work_of(op: Operation) -> Work | None:
    """What an operation carries; None where nobody has counted."""
    attribute = op.attributes.get(WORK_ATTRIBUTE)
    if not isinstance(attribute, DenseArrayBase):
        return None
    if not isinstance(attribute.elt_type, IntegerType) or len(attribute) != 3:
        return None
    return Work(*integers(attribute))


def keep_work(target: Operation, source: Operation) -> None:
    """Let an operation carry what another one does."""
    if WORK_ATTRIBUTE in source.attributes:
        target.attributes[WORK_ATTRIBUTE] = source.attributes[WORK_ATTRIBUTE]
