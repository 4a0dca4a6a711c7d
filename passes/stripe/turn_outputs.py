"""`stripe-turn-outputs`: aggregate with another axis last, where vectors run better.

Vectors run along the last axis of an output. Where that axis is short, or inputs are in
its way, another index may be much better: of a convolution of images with channels
first, the channels of the result. Then the block writes into a scratch buffer whose
last axis that index is, and a second block copies the cells to where they belong.

Before:

```mlir
stripe.block "O" [%co : 64, %y : 29, %ci : 64, %k : 3]
    in %i = %I[%ci, 2 * %y + %k] : 1x1
    in %w = %K[%co, %ci, %k] : 1x1x1
    out %o = %O[%co, %y] : 1x1 add init 0 { ... }
```

After:

```mlir
%O_turned = stripe.alloc : !stripe.view<29x64xf32>
stripe.block "O" [%co : 64, %y : 29, %ci : 64, %k : 3]
    in %i = %I[%ci, 2 * %y + %k] : 1x1
    in %w = %K[%co, %ci, %k] : 1x1x1
    out %o = %O_turned[%y, %co] : 1x1 add init 0 { ... }
stripe.block "O" [%co : 64, %y : 29]
    in %turned = %O_turned[%y, %co] : 1x1
    out %o = %O[%co, %y] : 1x1 { ... }
```

The scratch has an axis for each index of the output, so that its cells are dense
wherever the output's are. The cost model decides, with the time of the copy; it is only
asked where there are no long rows of whole vectors in the output, and no longer ones
will come by `stripe-merge-indices`, and where the block takes `worth` percent of the
time that its arithmetic would take in whole vectors. Top-level blocks that aggregate
numbers into cells of their own are looked at; those with tiles already, with subscripts
or with constraints on the index in question are left alone, and the rows that
`stripe-split-reduction` cuts.

It is done before blocks are fused, so that what follows reads the scratch: with a bias
added and negative numbers cut off, the second block does that and copies at once, and
`stripe-plan-fusion` makes one nest of both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...affine.form import LinearForm
from ...dialects.stripe.attributes import (
    Direction,
    MemorySpace,
    Refinement,
    ViewType,
    view_type,
)
from ...dialects.stripe.block import BlockOp
from ...dialects.stripe.ops import AllocOp, LoadOp, StoreOp
from ...targets.hardware import Hardware, hardware_with
from ..locations import located
from .blocks.loop_order import permute_indices
from .blocks.nests import top_level_blocks
from .cost import best, problem_of
from .cost.copying import copy_seconds
from .cost.problem import Problem
from .fusion.facts import carried_indices
from .merge_indices import may_merge
from .split_reduction import aggregates_plainly, is_of_rows
from .vectors.varying import may_step

_LONG = 4
"""Of so many vectors what is left over of the last is little."""


@dataclass(frozen=True)
class StripeTurnOutputsPass(ModulePass):
    """Aggregate into scratch with another axis last, where vectors run better there."""

    name = "stripe-turn-outputs"

    hardware: str = "cpu-avx512"
    """The description of the device: a name or the path of a file."""
    bits: int = 0
    """The width of the device's vectors in bits; 0 is as the hardware says."""
    registers: int = 0
    """The number of vector registers; 0 is as the hardware says."""
    worth: int = 150
    """The time of blocks that are looked at, in percent of that of their arithmetic."""
    parallelism: int = 32
    """Rows with fewer cells than these are left to `stripe-split-reduction`."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        hardware = hardware_with(
            self.hardware, vector_bits=self.bits, vector_registers=self.registers
        )
        for block in list(top_level_blocks(op)):
            if aggregates_plainly(block) and not is_of_rows(block, self.parallelism):
                found = self.better(block, hardware)
                if found is not None:
                    _put(block, found)

    def better(self, block: BlockOp, hardware: Hardware) -> _Turned | None:
        """A faster way to compute a block; None where it is best as it is."""
        problem = problem_of(block, hardware.vector_bits)
        if len(problem.outputs) != 1 or problem.lanes < 2 or not problem.aggregates:
            return None
        orders = list(_orders(block, problem))
        if not orders or _has_whole_vectors(problem) or _grows(block, problem):
            return None
        now = best(problem, hardware).seconds
        if now < self.worth / 100 * _arithmetic(problem, hardware):
            return None
        fastest = None
        for order in orders:
            turned = _Turned.of(block, order)
            inner = problem_of(turned.block, hardware.vector_bits)
            copied = copy_seconds(inner, hardware)
            launch = hardware.launch_microseconds * 1e-6
            if _arithmetic(inner, hardware) + launch + copied >= now:
                continue
            seconds = best(inner, hardware).seconds + copied
            if seconds < now:
                now, fastest = seconds, turned
        return fastest


def _grows(block: BlockOp, problem: Problem) -> bool:
    """Whether `stripe-merge-indices` will make longer rows of the output."""
    fast = problem.vector
    others = range(len(problem.ranges))
    return fast is not None and any(
        slow != fast and may_merge(block, slow, fast) for slow in others
    )


def _has_whole_vectors(problem: Problem) -> bool:
    """Whether vectors along the output as it is are as good as any."""
    index = problem.vector
    if index is None or problem.ranges[index] < _LONG * problem.lanes:
        return False
    is_constrained = any(index in form for form in problem.constrained)
    return not is_constrained and not any(
        problem.blocked[access.number] for access in problem.inputs
    )


def _arithmetic(problem: Problem, hardware: Hardware) -> float:
    """The time of a block's operations if all were of whole vectors."""
    whole = problem.points * problem.operations / problem.lanes
    rate = hardware.multiply_adds_per_cycle * hardware.clock_gigahertz * 1e9
    return whole / rate / hardware.cores


def _orders(block: BlockOp, problem: Problem) -> Iterator[tuple[int, ...]]:
    """Orders of the output's indices with another index of whole vectors last."""
    for last in problem.parallel:
        is_free = last != problem.vector and problem.ranges[last] >= problem.lanes
        if is_free and may_step(block, last):
            if not any(last in form for form in problem.constrained):
                yield (*(n for n in problem.parallel if n != last), last)


@dataclass(frozen=True)
class _Turned:
    """What takes the place of a block: scratch, a block that fills it, and a copy."""

    scratch: AllocOp
    block: BlockOp
    copy: BlockOp

    @staticmethod
    def of(block: BlockOp, order: Sequence[int]) -> _Turned:
        """With scratch that has an axis for each index of `order`."""
        (number,) = (n for n, r in enumerate(block.refinement_list) if _writes(r))
        sizes = [block.index_ranges[index] for index in order]
        element = block.view_type(number).element_type
        scratch = AllocOp(ViewType.of(sizes, element, MemorySpace.GLOBAL))
        scratch.view.name_hint = f"{block.buffer(number).name_hint or 'out'}_turned"
        copy = _copy(block, number, scratch, order)
        return _Turned(scratch, _filling(block, number, scratch, order), copy)


def _writes(refinement: Refinement) -> bool:
    return refinement.direction.writes


def turn_output(block: BlockOp, order: Sequence[int]) -> None:
    """Let a block with one output write scratch with axes in an order, and copy it."""
    _put(block, _Turned.of(block, order))


def _put(block: BlockOp, turned: _Turned) -> None:
    new = (turned.scratch, turned.block, turned.copy)
    block.replace_by(*(located(operation, block) for operation in new))


def _filling(
    block: BlockOp, number: int, scratch: AllocOp, order: Sequence[int]
) -> BlockOp:
    """The block with its output in scratch.

    The index of vectors is the last of the output's, so that in a tile the vectors that
    a number meets follow each other; and the longest loop that aggregates is the
    innermost one, so that it is entered rarely.
    """
    turned = block.clone()
    rank = len(turned.form_values)
    access = tuple(LinearForm.dimension(index, rank) for index in order)
    refinements = [*turned.refinement_list]
    refinements[number] = replace(refinements[number], access=access)
    turned.operands[number] = scratch.view
    Rewriter.replace_value_with_new_type(
        turned.view(number), scratch.view.type.resized([1] * len(order))
    )
    turned.set_refinements(refinements)
    ranges = turned.index_ranges
    inner = [index for index in range(len(ranges)) if index not in order]
    longest = max(inner, key=lambda index: (ranges[index], index), default=None)
    inner.sort(key=lambda index: index == longest)
    permute_indices(turned, [*order, *inner])
    return turned


def _copy(
    block: BlockOp, number: int, scratch: AllocOp, order: Sequence[int]
) -> BlockOp:
    """The block that copies the cells of the scratch to where they belong.

    Where an index of its own steps through each axis of the output, it has the indices
    of an element-wise block over the output, so that `stripe-fuse` joins it with those.
    """
    output, buffer = block.refinement(number), block.buffer(number)
    kept = _axis_indices(block, number)
    kept = kept if {*order} <= {*kept} else sorted(order)
    places = {index: place for place, index in enumerate(kept) if index is not None}
    width = len(kept)
    source = tuple(LinearForm.dimension(places[index], width) for index in order)
    target = tuple(
        LinearForm.dimension(axis, width)
        if None in kept and not form.support
        else form.remap(places, width)
        for axis, form in enumerate(output.access)
    )
    hint = block.view(number).name_hint
    one = scratch.view.type.resized([1] * len(order))
    body = BlockOp.empty_body(
        [None if n is None else block.indices[n].name_hint for n in kept],
        [(one, "turned"), (block.view_type(number), hint)],
    )
    *_, read, written = body.block.args
    load = LoadOp(read)
    body.block.add_ops([load, StoreOp(load.result, written)])
    ranges = [1 if n is None else block.index_ranges[n] for n in kept]
    return BlockOp(
        ranges,
        [scratch.view, buffer],
        [Refinement(Direction.IN, source), Refinement(Direction.OUT, target)],
        body,
        constraints=_inside(target, ranges, buffer),
        block_name=None if block.block_name is None else block.block_name.data,
    )


def _axis_indices(block: BlockOp, number: int) -> Sequence[int | None]:
    """The index of each axis of an output, None for axes of one cell.

    Empty where an axis is not stepped through from end to end by an index of its own.
    """
    carried = carried_indices(block, number)
    sizes = view_type(block.buffer(number)).sizes
    found = [carried.get(axis) for axis in range(len(sizes))]
    steps = [1 if index is None else block.index_ranges[index] for index in found]
    return found if steps == [*sizes] else []


def _inside(
    access: Sequence[LinearForm], ranges: Sequence[int], buffer: SSAValue
) -> list[LinearForm]:
    """The constraints that keep places within a buffer, where they may leave it."""
    found: list[LinearForm] = []
    for form, size in zip(access, view_type(buffer).sizes, strict=True):
        least, most = form.bounds(ranges)
        found += [form] if least < 0 else []
        found += [-form + (size - 1)] if most >= size else []
    return found
