"""How the work-items of a group walk over neighbouring chunks of a row.

An item of a running aggregation walks over a chunk, and its neighbour over the next
one: at each step, items access places that are a chunk apart, each in a line of memory
of its own. So a group copies all of its chunks into local memory as they lie, walks
there, and copies what comes of it back. Chunks lie one cell further apart there than
they are long, so that the items' places are in different banks.

```mlir
stripe.block "O" [%c : 4]
    in %i = %I[4096 * %c] : 4096
    in %start = %O_starts[64 * %c] : 64
    out %o = %O[4096 * %c] : 4096 {
  %i_chunks = stripe.alloc : !stripe.view<4160xf32, local>
  stripe.block [%e0 : 64, %e1 : 64]
      in %from = %i[64 * %e0 + %e1] : 1
      out %to = %i_chunks[65 * %e0 + %e1] : 1 { ... copy ... }
  %o_chunks = stripe.alloc : !stripe.view<4160xf32, local>
  stripe.block [%c_1 : 64 group]
      in %i_1 = %i_chunks[65 * %c_1] : 64
      in %start_1 = %start[%c_1] : 1
      out %o_1 = %o_chunks[65 * %c_1] : 64 { ... walk ... }
  stripe.block [%e0 : 64, %e1 : 64]
      in %from = %o_chunks[65 * %e0 + %e1] : 1
      out %to = %o[64 * %e0 + %e1] : 1 { ... copy ... }
}
```
"""

from __future__ import annotations

from math import prod

from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from .....dialects.aggregation import Aggregation
from .....dialects.index_sum import IndexSum
from .....dialects.stripe.attributes import Direction, MemorySpace, view_type
from .....dialects.stripe.binding import Binding
from .....dialects.stripe.block import BlockOp
from .....dialects.stripe.ops import AllocOp, StoreOp
from .....targets.hardware import Hardware
from ....locations import located
from ...analysis.nests import is_injective, is_number, nested_blocks
from ...analysis.schedules import is_scheduled
from ...edit.blocks import retarget
from ...edit.copies import chunks_copy
from ...edit.group_reduction import spread_cells
from ...edit.split import tile_block


def share_walks(nest: BlockOp, hardware: Hardware) -> bool:
    """Let work-items walk over neighbouring chunks; False where a block does not."""
    found = _chunk_index(nest)
    if found is None:
        return False
    index, numbers, length = found
    count = min(hardware.lanes.walking_items, nest.index_ranges[index])
    pitch = length + 1
    cells = sum(nest.view_type(n).bytes // length * pitch for n in numbers)
    while count > 1 and count * cells > hardware.local_memory_bytes:
        count //= 2
    if count < hardware.items_at_once or length > hardware.work_group_limit:
        return False
    sizes = [1] * len(nest.index_ranges)
    sizes[index] = count
    walk, _ = tile_block(nest, sizes)
    group = walk.parent_op()
    if not isinstance(group, BlockOp):
        raise ValueError("tiling gave no outer block")
    walk.set_bindings([Binding.GROUP])
    for number in numbers:
        _stage(group, walk, number, (count, length))
    return True


def _chunk_index(nest: BlockOp) -> tuple[int, list[int], int] | None:
    """The index of the chunks, the windows that show these, and their length."""
    leaves = nested_blocks(nest)
    is_plain = not nest.conditions and not nest.is_serial and not is_scheduled(nest)
    if not is_plain or not any(leaf.is_serial for leaf in leaves):
        return None
    numbers: list[int] = []
    indices: set[int] = set()
    lengths: set[int] = set()
    for number, refinement in enumerate(nest.refinement_list):
        *outer, length = nest.view_type(number).sizes or (1,)
        if refinement.aggregation is not Aggregation.ASSIGN or prod(outer) != 1:
            return None
        if refinement.direction.writes and not is_injective(nest, number):
            return None
        if length == 1:
            continue
        form = refinement.access[-1]
        chunks = [n for n in form.support if abs(form.coefficients[n]) == length]
        others = {n for each in refinement.access[:-1] for n in each.support}
        if [*form.support] != chunks or others & {*chunks}:
            return None
        if refinement.direction is not Direction.IN and not _is_filled(nest, number):
            return None
        numbers.append(number)
        indices |= {*chunks}
        lengths.add(length)
    if len(indices) != 1 or len(lengths) != 1:
        return None
    return indices.pop(), numbers, lengths.pop()


def _is_filled(nest: BlockOp, number: int) -> bool:
    """Whether a walk stores each cell of an output, and nothing reads any."""
    uses = [*nest.view(number).uses]
    leaf = uses[0].operation if len(uses) == 1 else None
    if not isinstance(leaf, BlockOp) or leaf.conditions or len(leaf.index_ranges) != 1:
        return False
    window, use = leaf.view(uses[0].index), leaf.refinement(uses[0].index)
    if {use.direction, nest.refinement(number).direction} != {Direction.OUT}:
        return False
    stores = [each.operation for each in window.uses]
    if not isinstance(stores[0], StoreOp) or len(stores) > 1 or stores[0].subscripts:
        return False
    length = nest.view_type(number).sizes[-1]
    is_whole = leaf.index_ranges == (length,) and is_number(view_type(window))
    steps = [abs(form.coefficients[0]) for form in use.access]
    is_stored = stores[0].condition is None
    return is_whole and is_stored and steps == [0] * (len(steps) - 1) + [1]


def _stage(group: BlockOp, walk: BlockOp, number: int, chunks: tuple[int, int]) -> None:
    """Let items walk over chunks of a buffer in local memory."""
    count, length = chunks
    view = group.view(number)
    *outer, _ = view_type(view).sizes
    pitch = length + 1
    type = view_type(view).resized([*outer, count * pitch])
    local = located(AllocOp(type.in_space(MemorySpace.LOCAL)), group)
    local.view.name_hint = f"{view.name_hint or 'row'}_chunks"
    retarget(view, local.view)
    accesses = [[*access] for access in walk.accesses]
    place = accesses[number][-1]
    terms = tuple([(value, n // length * pitch) for value, n in place.terms])
    accesses[number][-1] = IndexSum(terms, place.constant // length * pitch)
    walk.rewrite(accesses, walk.where)
    Rewriter.insert_op(local, InsertPoint.at_start(group.body.block))
    pitches = (length, pitch)
    if walk.refinement(number).direction.writes:
        copy = chunks_copy(local.view, view, chunks, pitches[::-1])
        Rewriter.insert_op(located(copy, group), InsertPoint.after(walk))
    else:
        copy = chunks_copy(view, local.view, chunks, pitches)
        Rewriter.insert_op(located(copy, group), InsertPoint.after(local))
    # The last group may have fewer chunks; walks from the end have them from there.
    (chunk,) = walk.indices
    copied = IndexSum.value(copy.indices[len(outer)])
    if place.coefficient(chunk) < 0:
        copied = -copied + place.constant // length
    own: dict[SSAValue, IndexSum] = {chunk: copied}
    copy.add_where(*(condition.substitute(own) for condition in walk.where))
    spread_cells(copy, f"{length} work-items copy chunks", whole=len(outer))
