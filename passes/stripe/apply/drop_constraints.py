"""`stripe-drop-constraints`: run points beyond the end where nobody is the wiser.

What tiles leave over keeps work-items from running: a condition in the innermost loops,
which costs more than the points that it leaves out. It goes where these do no harm:

* what they compute goes to private memory, and whoever reads that has the condition, or
  reads what was set to a number after that, or hands it on to cells that nobody reads;
  or
* it is a row of a nest, and whoever reads it hands on rows as they are, up to a block
  that has the condition (see `analysis/overhangs.py`); or
* what they compute is the identity of the aggregation, since all that they load was set
  to a number when it was copied to memory of the work-group. A product of two zeros
  changes no sum. (Of a zero and a number it may: the number may be infinite.)

In the first case and the last all that they load must be in memory of the work-group,
and set; in the other, in memory of the nest.

Before, with the sum over 50 values in pieces of 16 (`%a_stage`, `%b_stage` are 0 from
the 50th on), and 100 rows in tiles of 64:

```mlir
stripe.block [%i_1 : 64, %j_1 : 64, %k_1 : 16]
    in %a_2 = %a_stage[%k_1, %i_1] : 1x1
    in %b_2 = %b_stage[%k_1, %j_1] : 1x1
    out %c_2 = %c_acc[%i_1, %j_1] : 1x1 add
    where -16 * %k - %k_1 + 49 >= 0, -64 * %i - %i_1 + 99 >= 0 { ... }
stripe.block [%e0 : 64, %e1 : 64]
    in %from = %c_acc[%e0, %e1] : 1x1
    out %to = %c[%e0, %e1] : 1x1
    where -64 * %i - %e0 + 99 >= 0 { ... }
```

After:

```mlir
stripe.block [%i_1 : 64, %j_1 : 64, %k_1 : 16]
    in %a_2 = %a_stage[%k_1, %i_1] : 1x1
    in %b_2 = %b_stage[%k_1, %j_1] : 1x1
    out %c_2 = %c_acc[%i_1, %j_1] : 1x1 add { ... }
stripe.block [%e0 : 64, %e1 : 64] ...
    where -64 * %i - %e0 + 99 >= 0 { ... }
```

At the border of an image a zero meets a weight. What comes of that is 0, and the sum as
it should be, but where a weight is infinite or NaN: then the sum is NaN. So the
condition goes, and behind the loop stands the same computation with it, from memory,
`stripe.unless_numbers`: each work-item leaves it out where its sums are numbers.

```mlir
stripe.block [%s : 3] ... out %o_1 = %o_acc[0, 0] : 8x8 add {
  ... copies, and sums without conditions ...
}
stripe.block []
    in %x_1 = %x[0] : 10
    in %w_1 = %w[0, 0] : 3x8
    out %o_acc_1 = %o_acc[0, 0] : 8x8
    attributes {stripe.unless_numbers} {
  stripe.block [%e0 : 8, %e1 : 8]
      out %cell = %o_acc_1[%e0, %e1] : 1x1 { ... set to 0 ... }
  stripe.block [%s : 3] ... out %o_1 = %o_acc_1[0, 0] : 8x8 add {
    ... sums of %x_1 and %w_1, with conditions ...
  }
}
```

It is for `stripe-stage{fills=true}` and `stripe-collect-outputs` to come before, and
`stripe-distribute` after: copies must have one loop for each axis. What is set and
still read by nobody goes. Only blocks of floating-point numbers, in which garbage does
no harm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ....dialects.aggregation import Aggregation
from ....dialects.eltwise.ops import ConstantOp
from ....dialects.index_sum import IndexSum
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp, StoreOp
from ..analysis.lanes import computes_with_floats
from ..analysis.nests import (
    absolute_access,
    all_blocks,
    is_leaf,
    is_top_level,
    nested_blocks,
    top_level_blocks,
)
from ..analysis.overhangs import droppable
from ..analysis.readers import hands_on_unread, is_unread, is_unread_where
from ..analysis.scratch import (
    Copied,
    Scratch,
    is_neutral,
    is_set_beyond,
    scratches_of,
)
from ..analysis.work_groups import wants_work_items
from ..edit.recompute import recompute_unless_numbers


@dataclass(frozen=True)
class StripeDropConstraintsPass(ModulePass):
    """Drop constraints of work-groups where points beyond the end do no harm."""

    name = "stripe-drop-constraints"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Drop constraints of the nests inside of work-groups."""
        for block in top_level_blocks(op):
            if wants_work_items(block):
                for nest in _nests(block, []):
                    _drop(nest)
                # What is computed again from memory keeps what it had.
                _drop_overhangs(block)
        for block in all_blocks(op):
            if (
                not is_top_level(block)
                and _is_fill(block)
                and is_unread(block, may_round=False)
            ):
                Rewriter.erase_op(block)


def _drop_overhangs(nest: BlockOp) -> None:
    """Drop what keeps from rows beyond an end that nothing else depends on."""
    for block, dropped in list(droppable(nest)):
        block.drop_where(dropped)


def _nests(block: BlockOp, around: list[BlockOp]) -> Iterator[list[BlockOp]]:
    """The innermost blocks, each behind the blocks that only it is in."""
    inner = nested_blocks(block)
    if not inner:
        yield [*around, block]
        return
    outer = [*around, block] if len(inner) == 1 else []
    for each in inner:
        yield from _nests(each, outer)


def _drop(nest: Sequence[BlockOp]) -> None:
    leaf = nest[-1]
    if leaf.is_serial or not is_leaf(leaf) or not computes_with_floats(leaf):
        return
    scratches = scratches_of(leaf)
    if scratches is None:
        return

    def is_harmless(condition: IndexSum) -> bool:
        return _is_unseen(leaf, condition) or is_neutral(leaf, condition, scratches)

    if _assumes_numbers(nest, scratches, is_harmless):
        return
    for block in nest:
        block.drop_where(*filter(is_harmless, block.where))


def _assumes_numbers(
    nest: Sequence[BlockOp],
    scratches: Mapping[SSAValue, Scratch],
    is_harmless: Callable[[IndexSum], bool],
) -> bool:
    """Drop what keeps infinities out, too; what becomes NaN is computed again behind.

    False where that cannot be, or need not.
    """
    leaf, loop = nest[-1], nest[0].parent_op()
    if not isinstance(loop, BlockOp) or is_top_level(loop):
        return False
    blocks = (loop, *nest)
    needed = [c for block in blocks for c in block.where if not is_harmless(c)]
    copies = {v: each for v, each in scratches.items() if isinstance(each, Copied)}
    if len(copies) < len(scratches):
        return False
    if any(each.copy.parent_op() is not loop for each in copies.values()):
        return False
    fill = _fill_of(loop)
    if fill is None or not needed:
        return False
    if not all(is_neutral(leaf, each, scratches, or_nan=True) for each in needed):
        return False
    recompute_unless_numbers(loop, nest, fill, copies)
    for block in blocks:
        block.set_constraints([])
    return True


def _fill_of(loop: BlockOp) -> BlockOp | None:
    """What sets the private memory that a loop adds to, where it does nothing else."""
    written = loop.written
    if len(written) != 1 or len({*loop.buffers}) < len(loop.buffers):
        return None
    buffer = loop.buffer(written[0])
    if not isinstance(buffer.owner, AllocOp):
        return None
    others = [use.operation for use in buffer.uses if use.operation is not loop]
    blocks = [each for each in others if isinstance(each, BlockOp)]
    before = [each for each in blocks if each.is_before_in_block(loop)]
    is_set_once = len(before) == 1 and _is_fill(before[0])
    adds = loop.refinement(written[0]).aggregation is Aggregation.ADD
    return before[0] if adds and is_set_once and len(blocks) == len(others) else None


def _is_fill(block: BlockOp) -> bool:
    """Whether a block sets scratch of a work-group to a number."""
    statements = [*block.body.block.ops]
    if len(statements) != 2 or len(block.buffers) != 1:
        return False
    first, last = statements
    is_constant = isinstance(first, ConstantOp) and isinstance(last, StoreOp)
    is_nested = not is_top_level(block)
    return is_nested and is_constant and isinstance(block.buffers[0].owner, AllocOp)


def _is_unseen(leaf: BlockOp, condition: IndexSum) -> bool:
    """Whether what is computed where a condition fails is never read, or set before."""
    accesses = [absolute_access(leaf.view(number)) for number in leaf.written]
    return all(
        is_unread_where(access, condition, is_set_beyond, hands_on_unread)
        for access in accesses
    )
