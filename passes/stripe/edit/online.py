"""One walk over an index for aggregations that use each other: `stripe-walk`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ....dialects.aggregation import Aggregation
from ....dialects.eltwise.ops import ConstantOp
from ....dialects.stripe.attributes import Direction, MemorySpace, view_type
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp, LoadOp, StoreOp
from ...locations import error_at, located
from ..analysis.covariance import Term
from ..analysis.nests import nested_blocks, root_buffer
from ..analysis.recurrences import Recurrences, Walked, recurrences_of
from .blocks import retarget
from .copies import copy_block, fill_block
from .join import join_blocks
from .localize import private_users
from .row_blocks import Change, Factor, factor_block, finite_block, rescale_block
from .split import tile_block


def walk(nest: BlockOp, indices: Mapping[BlockOp, int], size: int) -> BlockOp:
    """Let one serial block inside a nest run over tiles of an index of blocks in it.

    `indices` are their numbers of the index, of which a tile has `size` values. Returns
    the serial block. Raises GinghamError where the blocks can not be walked so.
    """
    found = recurrences_of([*indices.items()], _users(nest, indices))
    if isinstance(found, str):
        raise error_at(nest, f"cannot walk over an index of these blocks: {found}")
    _check_order(nest, [*indices])
    outputs = _take_memories(nest, [*found.aggregations, *found.cells])
    found = recurrences_of([*indices.items()], [nest, *indices])
    if isinstance(found, str):
        raise ValueError(found)
    outputs = {own: outputs[own] for own in found.aggregations if own in outputs}
    return _Walk(found, size).apply(outputs)


def _users(nest: BlockOp, walked: Collection[BlockOp]) -> set[Operation]:
    """What may use the values of a walk: its blocks, the nest, and those of its kind.

    That is what uses other parts of a buffer.
    """
    users: set[Operation] = {nest, *walked}
    for buffer in nest.buffers:
        users.update(_sharing(root_buffer(buffer), nest))
    return users


def _sharing(memory: SSAValue, nest: BlockOp) -> list[BlockOp]:
    """The blocks of which each has a part of a memory, a nest among them; or none."""
    if not isinstance(memory.owner, AllocOp):
        return []
    blocks = private_users(memory.owner)
    return blocks if nest in blocks else []


def _check_order(nest: BlockOp, walked: Collection[BlockOp]) -> None:
    """Refuse blocks between those of the walk."""
    numbers = [n for n, b in enumerate(nested_blocks(nest)) if b in walked]
    for block in nested_blocks(nest)[numbers[0] : numbers[-1]]:
        if block not in walked:
            raise error_at(block, "cannot walk: it is between the blocks of a walk")


def _take_memories(
    nest: BlockOp, memories: Sequence[SSAValue]
) -> dict[SSAValue, SSAValue]:
    """Let blocks use memory inside the nest in place of these.

    Returns, for what is needed behind the nest, where the nest sees it.
    """
    shown: dict[SSAValue, tuple[int, SSAValue]] = {}
    gone: list[int] = []
    for memory in memories:
        roots = [root_buffer(buffer) for buffer in nest.buffers]
        numbers = [n for n, root in enumerate(roots) if root is memory]
        if not numbers:
            continue
        types = {nest.view_type(n) for n in numbers}
        if len(types) > 1:
            raise error_at(nest, "cannot walk: windows of one buffer differ")
        is_shown = not _sharing(memory, nest)
        private = types.pop().in_space(MemorySpace.PRIVATE)
        own = located(AllocOp(private, memory.name_hint), nest)
        Rewriter.insert_op(own, InsertPoint.at_start(nest.body.block))
        for number in numbers:
            retarget(nest.view(number), own.view)
        if is_shown:
            written = [n for n in numbers if nest.refinement(n).direction.writes]
            shown[own.view] = written[0], memory
            numbers.remove(written[0])
        gone += numbers
    unused = {root_buffer(nest.buffer(number)) for number in gone}
    nest.drop(gone)
    for memory in unused:
        if isinstance(memory.owner, AllocOp) and not [*memory.uses]:
            Rewriter.erase_op(memory.owner)
    return {
        own: nest.view(number - sum(n < number for n in gone))
        for own, (number, _) in shown.items()
    }


class _Walk:
    """What becomes of blocks that use memory of the nest around them."""

    def __init__(self, found: Recurrences, size: int) -> None:
        self._found = found
        self._size = size
        self._aggregations = found.aggregations
        self._inits = {
            memory: each.block.refinement(each.output).init or 0
            for memory, each in found.aggregations.items()
        }
        self._leaves: dict[SSAValue, BlockOp] = {}
        """The blocks inside the walk, by what they write."""

    def apply(self, outputs: Mapping[SSAValue, SSAValue]) -> BlockOp:
        """Make the walk; the serial block."""
        blocks = self._defer()
        serial = self._join(blocks)
        self._set_before(serial)
        self._keep_values(serial)
        scales = self._run(serial)
        self._rescale(serial, scales)
        self._finish(serial, outputs)
        return serial

    def _defer(self) -> list[Walked]:
        """Compute with 1 in place of what is applied when the walk is over.

        Blocks that do nothing but copy values then are left out.
        """
        kept: list[Walked] = []
        for walked in self._found.blocks:
            block = walked.block
            numbers = [
                number
                for number, buffer in enumerate(block.buffers)
                if buffer in self._found.deferred and number != walked.output
            ]
            for number in numbers:
                for use in [*block.view(number).uses]:
                    _put_one(use.operation)
            block.drop(numbers)
            output = walked.output - sum(n < walked.output for n in numbers)
            source = None if walked.aggregates else _copied(block, output)
            if source is None:
                kept.append(replace(walked, output=output))
                continue
            own = block.buffer(output)
            block.replace_by()
            own.replace_all_uses_with(source)
            Rewriter.erase_op(_allocation(own))
        return kept

    def _join(self, blocks: Sequence[Walked]) -> BlockOp:
        """A serial block over tiles of the index around the blocks."""
        outer: list[BlockOp] = []
        for walked in blocks:
            memory = walked.memory
            sizes = [0] * len(walked.block.index_ranges)
            sizes[walked.index] = self._size
            tiled = tile_block(walked.block, sizes, is_innermost=walked.aggregates)
            self._leaves[memory] = tiled.inner
            outer.append(tiled.outer)
        serial = join_blocks(outer)
        serial.properties["serial"] = UnitAttr()
        *others, last = outer
        last.replace_by(serial)
        for block in others:
            block.replace_by()
        return serial

    def _set_before(self, serial: BlockOp) -> None:
        """Let aggregations begin before the walk, which has one view of each."""
        gone: list[int] = []
        for memory, init in self._inits.items():
            fill = located(fill_block(memory, init), serial)
            Rewriter.insert_op(fill, InsertPoint.before(serial))
            first, *others = [n for n, b in enumerate(serial.buffers) if b is memory]
            plain = replace(
                serial.refinement(first),
                direction=Direction.INOUT,
                aggregation=Aggregation.ASSIGN,
                init=None,
            )
            serial.set_refinement(first, plain)
            for number in others:
                serial.view(number).replace_all_uses_with(serial.view(first))
            gone += others
        serial.drop(gone)

    def _keep_values(self, serial: BlockOp) -> None:
        """Let the values of a tile be in memory of the walk's own.

        Where a block is the last one to read values, those that it computes of them
        take their place.
        """
        values = [memory for memory in self._leaves if memory not in self._aggregations]
        gone: list[int] = []
        for memory in values:
            numbers = [n for n, buffer in enumerate(serial.buffers) if buffer is memory]
            type = serial.view_type(numbers[0])
            tile = located(AllocOp(type, memory.name_hint), serial)
            Rewriter.insert_op(tile, InsertPoint.at_start(serial.body.block))
            for number in numbers:
                serial.view(number).replace_all_uses_with(tile.view)
            gone += numbers
        serial.drop(gone)
        for memory in values:
            Rewriter.erase_op(_allocation(memory))
        for memory in values:
            _compute_in_place(self._leaves[memory])

    def _view(self, serial: BlockOp, memory: SSAValue) -> SSAValue:
        """The walk's view of an aggregation."""
        return serial.view([*serial.buffers].index(memory))

    def _run(self, serial: BlockOp) -> dict[tuple[SSAValue, Term], SSAValue]:
        """Give blocks the aggregations so far; by what these change others."""
        scales: dict[tuple[SSAValue, Term], SSAValue] = {}
        for memory in self._found.running:
            leaf, view = self._leaves[memory], self._view(serial, memory)
            private = view_type(view).in_space(MemorySpace.PRIVATE)
            old = located(AllocOp(private, f"{memory.name_hint or 'number'}_old"), leaf)
            copy = located(copy_block(view, old.view), leaf)
            Rewriter.insert_op([old, copy], InsertPoint.before(leaf))
            so_far = finite_block(view, self._inits[memory], leaf)
            for other in self._leaves.values():
                for number, buffer in enumerate(other.buffers):
                    if buffer is view and other is not leaf:
                        other.operands[number] = so_far.view
            added = so_far.operations
            for term in self._terms(memory):
                scale = factor_block(term, Change(so_far.view, old.view), leaf)
                scales[memory, term] = scale.view
                added += scale.operations
            Rewriter.insert_op(added, InsertPoint.after(leaf))
        return scales

    def _terms(self, memory: SSAValue) -> list[Term]:
        """By what aggregations change with this one, each once."""
        found = [
            term
            for walked in self._aggregations.values()
            for source, term, _ in self._found.factors(walked)
            if source is memory
        ]
        return [*dict.fromkeys(found)]

    def _rescale(
        self, serial: BlockOp, scales: Mapping[tuple[SSAValue, Term], SSAValue]
    ) -> None:
        """Make sums so far those for what others are now."""
        for memory, walked in self._aggregations.items():
            factors = [
                Factor(scales[source, term], place)
                for source, term, place in self._found.factors(walked)
                if (source, term) in scales
            ]
            if factors:
                leaf, view = self._leaves[memory], self._view(serial, memory)
                block = rescale_block(view, view, factors, leaf)
                Rewriter.insert_op(block, InsertPoint.before(leaf))

    def _finish(self, serial: BlockOp, outputs: Mapping[SSAValue, SSAValue]) -> None:
        """Apply what was deferred, and store what is needed behind the nest.

        Where nothing was aggregated 0 was used, and is not to be seen.
        """
        after: list[Operation] = []
        scales: dict[tuple[SSAValue, Term], SSAValue] = {}
        for memory, walked in self._aggregations.items():
            factors: list[Factor] = []
            for source, term, place in self._found.factors(walked):
                if (source, term) not in scales:
                    is_running = source in self._found.running
                    none = self._inits[source] if is_running else None
                    scale = factor_block(term, Change(source, None, none), serial)
                    scales[source, term] = scale.view
                    after += scale.operations
                factors.append(Factor(scales[source, term], place))
            target = outputs.get(memory, memory)
            if factors:
                after.append(rescale_block(memory, target, factors, serial))
            elif target is not memory:
                after.append(located(copy_block(memory, target), serial))
        Rewriter.insert_op(after, InsertPoint.after(serial))


def _allocation(memory: SSAValue) -> AllocOp:
    """The statement that allocates a memory."""
    if not isinstance(memory.owner, AllocOp):
        raise ValueError("expected memory that is allocated")
    return memory.owner


def _put_one(load: Operation) -> None:
    """Put 1 in place of a number that is loaded; its products are the other factor."""
    value = load.results[0]
    for use in [*value.uses]:
        user = use.operation
        if user.name == "eltwise.mul" or (
            user.name == "eltwise.div" and use.index == 1
        ):
            user.results[0].replace_all_uses_with(user.operands[1 - use.index])
            Rewriter.erase_op(user)
    if [*value.uses]:
        one = located(ConstantOp(1, value.type), load)
        Rewriter.insert_op(one, InsertPoint.before(load))
        value.replace_all_uses_with(one.result)
    Rewriter.erase_op(load)


def _copied(block: BlockOp, output: int) -> SSAValue | None:
    """The buffer whose cells a block copies to the same places of another."""
    loads = [op for op in block.body.block.ops if isinstance(op, LoadOp)]
    stores = [op for op in block.body.block.ops if isinstance(op, StoreOp)]
    if len(loads) != 1 or len(stores) != 1 or block.conditions:
        return None
    number = block.views.index(loads[0].view)
    is_same = (
        stores[0].operands[0] is loads[0].results[0]
        and block.refinement(number).access == block.refinement(output).access
        and block.buffer(number).type == block.buffer(output).type
        and isinstance(block.buffer(number).owner, AllocOp)
    )
    return block.buffer(number) if is_same else None


def _compute_in_place(block: BlockOp) -> None:
    """Let a block write where it is the last to read, cell by cell."""
    (output,) = block.written
    target = block.buffer(output)
    is_plain = block.refinement(output).aggregation is Aggregation.ASSIGN
    for number, source in enumerate(block.buffers):
        if number == output or not is_plain or source.type != target.type:
            continue
        is_same = block.refinement(number).access == block.refinement(output).access
        users = [use.operation for use in source.uses]
        is_last = all(user is block or user.is_before_in_block(block) for user in users)
        is_own = isinstance(source.owner, AllocOp) and users.count(block) == 1
        if is_same and is_last and is_own and source.owner.parent is block.parent:
            target.replace_all_uses_with(source)
            Rewriter.erase_op(_allocation(target))
            return
