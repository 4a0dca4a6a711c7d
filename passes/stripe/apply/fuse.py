"""`stripe-fuse`: run blocks that share a buffer as one, point by point.

A block joins an earlier one when both have the same index ranges and constraints,
assign all that they write, and share a buffer; and where one writes what the other
accesses, both do so through the same window at the same point. So an element-wise chain
becomes one block, without the buffers that nothing else reads.

Before:

```mlir
%t = stripe.alloc : !stripe.view<64x64xf32>
stripe.block "T" [%i : 64, %j : 64]
    in %a = %A[%i, %j] : 1x1
    out %w = %t[%i, %j] : 1x1 { ... load, compute, store ... }
stripe.block "C" [%i : 64, %j : 64]
    in %r = %t[%i, %j] : 1x1
    out %c = %C[%i, %j] : 1x1 { ... load, compute, store ... }
```

After:

```mlir
stripe.block "C" [%i : 64, %j : 64]
    in %a = %A[%i, %j] : 1x1
    out %c = %C[%i, %j] : 1x1 { ... load, compute, compute, store ... }
```

Left alone: aggregations, nested blocks, serial blocks, blocks with tile sizes, and
blocks with something between them that depends on the first or that the second depends
on, blocks that use more inputs and results of the function than a kernel may have, and
what would have more than 4096 statements in one block. Reshaped views of one buffer are
different windows of it.

Then elements that a block computes at points of its own are computed at those of the
blocks that read them, which may aggregate. Before:

```mlir
%D = stripe.alloc : !stripe.view<64x64xf32>
stripe.block "D" [%p : 64, %q : 64]
    in %a = %A[%p, %q] : 1x1
    in %b = %B[%q] : 1
    out %d = %D[%p, %q] : 1x1 { ... subtract, store ... }
stripe.block "S" [%i : 64, %j : 64]
    in %d = %D[%i, %j] : 1x1
    out %s = %S[] add init 0 { ... load, multiply, store ... }
```

After:

```mlir
stripe.block "S" [%i : 64, %j : 64]
    in %a = %A[%i, %j] : 1x1
    in %b = %B[%j] : 1
    out %s = %S[] add init 0 { ... load, load, subtract, multiply, store ... }
```

It is done where it saves traffic and adds little work: every block that reads the
buffer reads each element once, and either there is one such block, or computing an
element takes at most `operations` simple operations. Of a block that writes several
buffers each is looked at by itself; what they share is repeated then, which may be as
many operations. Left alone are buffers that are returned or written in part, blocks
with constraints or subscripts, those that read across rows, so that vectors could no
longer be loaded, and inputs that a statement between overwrites. After PlaidML's Fusion
pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ....dialects.stripe.attributes import ViewType
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp
from ....dialects.stripe.reshape import ReshapeOp
from ....targets.hardware import MOST_BUFFERS
from ...dependences import Dependences, Effects
from ...locations import check_positive
from ...walking import functions
from ..analysis.effects import effects_of
from ..analysis.nests import (
    all_blocks,
    has_own_windows,
    is_leaf,
    root_buffer,
    statements,
)
from ..analysis.schedules import is_scheduled
from ..edit.dead_code import remove_dead_code
from ..edit.inline import Element, elements_of
from ..edit.join import definitions, join_blocks, outer_memories
from ..edit.scalarize import scalarize

_MOST_STATEMENTS = 4096
"""Of blocks that become one: devices' compilers take nearly the square of a kernel's
statements."""


@dataclass(frozen=True)
class StripeFusePass(ModulePass):
    """Merge blocks that share a buffer, point by point."""

    name = "stripe-fuse"

    operations: int = 2
    """Operations that may be repeated for each block that reads the buffer."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Merge blocks at the top of all functions.

        Raises GinghamError for an option that is not positive.
        """
        check_positive(op, operations=self.operations)
        for function in functions(op):
            join_same_points(function)
        for block in all_blocks(op):
            scalarize(block.body.block)
        remove_dead_code(op)
        for function in functions(op):
            compute_where_read(function, self.operations)
        remove_dead_code(op)


def join_same_points(function: FuncOp) -> None:
    """Fuse each block of a function into the nearest earlier one that takes it."""
    outer = outer_memories(function)
    groups: list[_FusedBlocks] = []
    users: dict[SSAValue, list[_FusedBlocks]] = {}
    defined: dict[Operation, int] = {}
    for position, operation in enumerate(statements(function)):
        if isinstance(operation, BlockOp):
            single = _FusedBlocks.of(operation, position, outer)
            partner = _partner(single, users)
            if partner is None:
                partner = single
                groups.append(single)
            else:
                partner.add(single)
            for buffer in single.uses:
                sharing = users.setdefault(buffer, [])
                if not any(group is partner for group in sharing):
                    sharing.append(partner)
        elif isinstance(operation, AllocOp | ReshapeOp):
            defined[operation] = position
        else:
            # No block is moved over a statement between them.
            users.clear()
    for group in groups:
        if len(group.blocks) > 1:
            fused = _fuse(group.blocks)
            _define_before(fused, group.position, defined)


def compute_where_read(function: FuncOp, operations: int) -> None:
    """Compute elements where they are read, if that costs less than to store them."""
    places = {statement: n for n, statement in enumerate(statements(function))}
    dependences = Dependences()
    for statement, place in places.items():
        dependences.add(place, effects_of(statement))

    def is_unchanged(element: Element, reader: BlockOp) -> bool:
        first, last = places[element.block], places[reader]
        return first < last and not dependences.are_written(
            element.memories, first, last
        )

    sources = [block for block in places if isinstance(block, BlockOp)]
    for element in (each for block in sources for each in elements_of(block)):
        users = {use.operation: None for use in element.buffer.uses}
        readers = [user for user in users if user is not element.block]
        blocks = [o for o in readers if isinstance(o, BlockOp) and o in places]
        if len(blocks) < len(readers) or not all(map(element.may_move_to, blocks)):
            continue
        repeated = element.work if len(readers) > 1 else element.shared_work
        if repeated <= operations and all(
            is_unchanged(element, reader) and _has_room(reader, element)
            for reader in blocks
        ):
            for reader in blocks:
                element.move_to(reader)


def _has_room(reader: BlockOp, element: Element) -> bool:
    """Whether a block with the statements of an element is not too long."""
    return len(reader.body.block.ops) + len(element.statements) <= _MOST_STATEMENTS


@dataclass
class _Use:
    """How the blocks of a group use one memory."""

    windows: set[tuple[SSAValue, object, ViewType]]
    is_own: bool
    """Whether each point has a window of its own."""

    def join(self, other: _Use) -> _Use:
        return _Use(
            self.windows | other.windows,
            self.is_own and other.is_own,
        )


@dataclass
class _FusedBlocks:
    """Blocks that will be one block, at the place of the first."""

    blocks: list[BlockOp]
    uses: dict[SSAValue, _Use]
    effects: Effects
    position: int
    is_fusible: bool
    outer: frozenset[SSAValue]
    """The memories among those used that are inputs or results of the function."""
    statements: int
    """How many the blocks have."""

    @staticmethod
    def of(block: BlockOp, position: int, outer: frozenset[SSAValue]) -> _FusedBlocks:
        """A group of one block, which is statement number `position`."""
        uses: dict[SSAValue, _Use] = {}
        refinements = zip(block.buffers, block.refinement_list, strict=True)
        for number, (buffer, refinement) in enumerate(refinements):
            use = _Use(
                {(buffer, refinement.access, block.view_type(number))},
                has_own_windows(block, number),
            )
            memory = root_buffer(buffer)
            known = uses.get(memory)
            uses[memory] = use if known is None else known.join(use)
        return _FusedBlocks(
            [block],
            uses,
            effects_of(block),
            position,
            _is_fusible(block),
            outer.intersection(uses),
            len(block.body.block.ops),
        )

    def add(self, other: _FusedBlocks) -> None:
        """Take the blocks of another group, which can join."""
        self.blocks += other.blocks
        self.statements += other.statements
        self.outer |= other.outer
        self.effects.add(other.effects)
        for buffer, use in other.uses.items():
            known = self.uses.get(buffer)
            self.uses[buffer] = use if known is None else known.join(use)

    def can_join(self, other: _FusedBlocks) -> bool:
        """Whether one block may do the work of both groups, which share a buffer."""
        first, second = other.blocks[0], self.blocks[0]
        if not (self.is_fusible and other.is_fusible):
            return False
        if self.statements + other.statements > _MOST_STATEMENTS:
            return False
        if len(self.outer | other.outer) > MOST_BUFFERS:
            return False
        same_points = (
            first.index_ranges == second.index_ranges
            and first.index_bindings == second.index_bindings
            and set(first.conditions) == set(second.conditions)
        )
        if not same_points:
            return False
        sides = self.effects.written, other.effects.written
        both = [
            use.join(other.uses[buffer])
            for buffer, use in self.uses.items()
            if buffer in other.uses and any(buffer in written for written in sides)
        ]
        return all(use.is_own and len(use.windows) == 1 for use in both)


def _partner(
    group: _FusedBlocks, users: dict[SSAValue, list[_FusedBlocks]]
) -> _FusedBlocks | None:
    """The nearest earlier group that takes `group`.

    None that it depends on is between. Those that share no buffer with it are neither.
    """
    sharing = {
        other.position: other
        for buffer in group.uses
        for other in users.get(buffer, ())
    }
    for position in sorted(sharing, reverse=True):
        other = sharing[position]
        if group.can_join(other):
            return other
        if group.effects.depends_on(other.effects):
            return None
    return None


def _is_fusible(block: BlockOp) -> bool:
    """Whether a block may be fused with any other."""
    if not is_leaf(block) or block.is_serial:
        return False
    if block.captures or is_scheduled(block):
        return False
    return all(refinement.is_plain for refinement in block.refinement_list)


def _fuse(blocks: Sequence[BlockOp]) -> BlockOp:
    """Replace blocks by one at the place of the first; it does all in order."""
    fused = join_blocks(blocks)
    first, *others = blocks
    first.replace_by(fused)
    for block in others:
        block.replace_by()
    return fused


def _define_before(
    block: BlockOp, position: int, defined: dict[Operation, int]
) -> None:
    """Move what defines the buffers of a block, statement `position`, before it.

    `defined` says at which statement each definition stands, and is kept up to date.
    """
    for buffer in block.buffers:
        for definition in reversed([*definitions(buffer)]):
            if defined[definition] > position:
                definition.detach()
                Rewriter.insert_op(definition, InsertPoint.before(block))
                defined[definition] = position
