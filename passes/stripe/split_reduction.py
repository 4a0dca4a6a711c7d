"""`stripe-split-reduction`: aggregate along rows by vectors, in two steps.

A block whose outputs do not depend on the index that steps through its inputs one by
one can not be computed by vectors as it stands: all values of that index meet on one
cell. It becomes two: the first aggregates every `lanes`-th value on a cell of its own,
along which vectors run, the second aggregates those cells. With few output cells the
other indices that only aggregate get cells of their own too, so that the first block
can run in parallel.

Before:

```mlir
stripe.block "S" [%i : 64, %k : 4096]
    in %x = %X[%i, %k] : 1x1
    out %s = %S[%i] : 1 add init 0 { ... }
```

After, with `lanes=32`:

```mlir
%S_parts = stripe.alloc : !stripe.view<64x32xf32>
stripe.block "S" [%i : 64, %k : 128, %lane : 32]
    in %x = %X[%i, 32 * %k + %lane] : 1x1
    out %s = %S_parts[%i, %lane] : 1x1 add init 0 { ... }
stripe.block "S" [%i : 64, %lane : 32]
    in %part = %S_parts[%i, %lane] : 1x1
    out %s = %S[%i] : 1 add init 0 { ... }
```

Where `lanes` does not divide the range, a third block adds what is left over. Left
alone are short ranges, blocks with a constraint on that index, with several outputs,
with subscripts, or with a vectorizable index that does not aggregate, and serial ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...affine.form import LinearForm
from ...dialects.stripe.attributes import Direction, Refinement, ViewType
from ...dialects.stripe.block import BlockOp
from ...dialects.stripe.ops import AllocOp, LoadOp, StoreOp
from ..locations import check_positive
from .nests import (
    ValueForm,
    compute_indices,
    is_leaf,
    is_number,
    is_subscripted,
    move_statements,
    output_indices,
    owns_cells,
    reduction_indices,
    replace_forms,
    top_level_blocks,
)
from .partition_edges import split_block
from .tile import TILE_ATTRIBUTE
from .vectorize import unit_steps, vector_index


@dataclass(frozen=True)
class StripeSplitReductionPass(ModulePass):
    """Let vectors aggregate along rows, and many cells share long aggregations."""

    name = "stripe-split-reduction"

    lanes: int = 64
    """How many cells take turns along the row: several vectors."""
    rounds: int = 4
    """How many values each of them must get at least."""
    parallelism: int = 64
    """With fewer output cells than these, other indices get cells of their own."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        check_positive(op, lanes=self.lanes)
        for block in top_level_blocks(op):
            index = row_index(block)
            if index is None or TILE_ATTRIBUTE in block.attributes:
                continue
            extent = block.index_ranges[index]
            if extent < self.lanes * self.rounds:
                continue
            rest = extent % self.lanes
            if rest:
                _accumulate(split_block(block, index, extent - rest))
            self._split(block, index)

    def _split(self, block: BlockOp, index: int) -> None:
        kept = output_indices(block)
        cells = prod(block.index_ranges[i] for i in kept)
        promoted: list[int] = []
        for candidate in sorted(reduction_indices(block) - {index}):
            if cells < self.parallelism:
                promoted.append(candidate)
                cells *= block.index_ranges[candidate]
        split_reduction(block, index, promoted, self.lanes)


def row_index(block: BlockOp) -> int | None:
    """The aggregating index that steps through all inputs one by one, if any."""
    outputs = [r for r in block.refinement_list if r.direction.writes]
    if not is_leaf(block) or block.captures or len(outputs) != 1:
        return None
    if block.is_serial or any(map(is_subscripted, block.views)):
        return None
    if not all(is_number(block.view_type(n)) for n in range(len(block.refinements))):
        return None
    (output,) = outputs
    number = block.refinement_list.index(output)
    element = block.view_type(number).element_type
    if output.init is None or output.init != output.aggregation.identity(element):
        return None
    if vector_index(block) is not None or not owns_cells(block, number):
        return None
    rank = len(block.index_ranges)
    candidates = reduction_indices(block)
    for refinement in block.refinement_list:
        if refinement.direction is Direction.IN:
            used = {index for form in refinement.access for index in form.support}
            steps = unit_steps(refinement, rank)
            candidates = {c for c in candidates if c in steps or c not in used}
    read = {
        index
        for refinement in block.refinement_list
        for form in refinement.access
        for index in form.support
    }
    for form in block.conditions:
        candidates = {c for c in candidates if not form.coefficients[c]}
    return max(candidates & read, key=lambda c: block.index_ranges[c], default=None)


def _accumulate(block: BlockOp) -> None:
    """Let a block add to what its output holds already."""
    refinements = [replace(r, init=None) for r in block.refinement_list]
    replace_forms(block, refinements, block.conditions, block.captures)


def split_reduction(
    block: BlockOp, index: int, promoted: list[int], lanes: int
) -> None:
    """Replace a block by one over partial cells and one that aggregates them.

    `index`, whose range `lanes` divides, is split; those in `promoted` have cells of
    their own in the partial buffer.
    """
    number = next(
        n for n, r in enumerate(block.refinement_list) if r.direction is Direction.OUT
    )
    output = block.refinement(number)
    buffer_type = block.buffers[number].type
    if not isinstance(buffer_type, ViewType):
        raise ValueError(f"expected a view, got {buffer_type}")
    ranges = block.index_ranges
    extra = [ranges[i] for i in promoted]
    parts = AllocOp(
        ViewType.of([*buffer_type.sizes, *extra, lanes], buffer_type.element_type)
    )
    parts.view.name_hint = f"{block.buffers[number].name_hint or 'out'}_parts"
    parts.location = block.location
    first = _partial_block(block, index, promoted, lanes, number, parts)
    second = _final_block(block, promoted, lanes, output, number, parts)
    parent = block.parent
    if parent is None:
        raise ValueError("the block is not in a function")
    for operation in (parts, first, second):
        operation.location = block.location
        parent.insert_op_before(operation, block)
    block.detach()
    block.erase()


def _partial_block(
    block: BlockOp,
    index: int,
    promoted: list[int],
    lanes: int,
    number: int,
    parts: AllocOp,
) -> BlockOp:
    rank = len(block.index_ranges)
    width = rank + 1
    replacements = [LinearForm.dimension(i, width) for i in range(rank)]
    lane = LinearForm.dimension(rank, width)
    replacements[index] = replacements[index] * lanes + lane
    refinements = [
        replace(r, access=tuple(f.substitute(replacements) for f in r.access))
        for r in block.refinement_list
    ]
    cells = [LinearForm.dimension(i, width) for i in promoted]
    output = refinements[number]
    refinements[number] = replace(output, access=(*output.access, *cells, lane))
    types = [block.view_type(n) for n in range(len(refinements))]
    types[number] = parts.view.type.resized([1] * parts.view.type.rank)
    ranges = list(block.index_ranges)
    ranges[index] //= lanes
    body = BlockOp.empty_body(
        [*(i.name_hint for i in block.indices), "lane"],
        [(t, v.name_hint) for t, v in zip(types, block.views, strict=True)],
    )
    arguments = body.block.args
    value = ValueForm(LinearForm.of([lanes, 1]), (arguments[index], arguments[rank]))
    compute_indices(block.body.block, {block.indices[index]: value})
    for old, new in zip(block.indices, arguments[:rank], strict=True):
        old.replace_all_uses_with(new)
    for old, new in zip(block.views, arguments[width:], strict=True):
        old.replace_all_uses_with(new)
    move_statements(block.body.block, body.block)
    buffers = list(block.buffers)
    buffers[number] = parts.view
    return BlockOp(
        [*ranges, lanes],
        buffers,
        refinements,
        body,
        constraints=[form.substitute(replacements) for form in block.conditions],
        levels=[*block.index_levels, block.index_levels[index]],
        block_name=None if block.block_name is None else block.block_name.data,
    )


def _final_block(
    block: BlockOp,
    promoted: list[int],
    lanes: int,
    output: Refinement,
    number: int,
    parts: AllocOp,
) -> BlockOp:
    kept = [*sorted(output_indices(block)), *promoted]
    width = len(kept) + 1
    positions = {index: position for position, index in enumerate(kept)}
    access = tuple(form.remap(positions, width) for form in output.access)
    cells = [
        LinearForm.dimension(n, width) for n in range(width - 1 - len(promoted), width)
    ]
    part = parts.view.type.resized([1] * parts.view.type.rank)
    body = BlockOp.empty_body(
        [*(block.indices[i].name_hint for i in kept), "lane"],
        [(part, "part"), (block.view_type(number), block.view(number).name_hint)],
    )
    *_, source, target = body.block.args
    load = LoadOp(source)
    store = StoreOp(load.result, target)
    for operation in (load, store):
        operation.location = block.location
    body.block.add_ops([load, store])
    return BlockOp(
        [*(block.index_ranges[i] for i in kept), lanes],
        [parts.view, block.buffers[number]],
        [
            Refinement(Direction.IN, (*access, *cells)),
            Refinement(Direction.OUT, access, output.aggregation, output.init),
        ],
        body,
        block_name=None if block.block_name is None else block.block_name.data,
    )
