"""`stripe-count-work`: write down how much each top-level block computes and moves.

Before:

```mlir
stripe.block "C" [%i : 64, %j : 64, %k : 32]
    in %a = %A[%i, %k] : 1x1
    in %b = %B[%k, %j] : 1x1
    out %c = %C[%i, %j] : 1x1 add init 0 { ... load, load, multiply, store ... }
```

After:

```mlir
stripe.block "C" [%i : 64, %j : 64, %k : 32]
    in %a = %A[%i, %k] : 1x1
    in %b = %B[%k, %j] : 1x1
    out %c = %C[%i, %j] : 1x1 add init 0
    attributes {stripe.work = array<i64: 262144, 16384, 16384>} { ... }
```

The three numbers are operations, bytes read and bytes written, as `Work` defines them:
those of the points where all constraints hold, and of cells of the function's buffers,
each once. A block that writes a buffer before it reads it does not have that as an
input. It is for whoever judges a kernel by the time it takes.

The pass comes when it is known which blocks become kernels, before tiles, vectors and
copies hide what they compute. Blocks with the attribute keep it, so that a second run
counts what is new. Where counting points would take too long, all of the box are taken;
where several accesses of one buffer overlap in a way that is hard to count, no more
than the box around them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from ....affine.counting import Cells, count_points, reached_cells, united
from ....affine.form import LinearForm
from ....dialects.aggregation import Aggregation
from ....dialects.eltwise.ops import ElementwiseOp, lane_count, value_bytes
from ....dialects.index_sum import IndexSum
from ....dialects.stripe.attributes import view_type
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import LoadOp, StoreOp
from ....dialects.work import WORK_ATTRIBUTE, Work
from .kernels import kernel_structure
from .nests import absolute_access, root_buffer, top_level_blocks, windows_from


@dataclass(frozen=True)
class StripeCountWorkPass(ModulePass):
    """Write the work of top-level blocks into an attribute."""

    name = "stripe-count-work"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Write the work of each top-level block that has none yet.

        Equal blocks are counted once.
        """
        known: dict[object, Work] = {}
        for block in top_level_blocks(op):
            if WORK_ATTRIBUTE in block.attributes:
                continue
            key = kernel_structure(block)
            if key not in known:
                known[key] = count_work(block)
            known[key].write_to(block)


def count_work(block: BlockOp) -> Work:
    """What a top-level block computes and moves."""
    count = _Count(block)
    count.add(block, _Space((), (), (), {}))
    return Work(count.operations, count.bytes(count.read), count.bytes(count.written))


@dataclass(frozen=True)
class _Space:
    """The points of a block and those around it, by the indices of all of them."""

    values: tuple[SSAValue, ...]
    ranges: tuple[int, ...]
    where: tuple[IndexSum, ...]
    outside: dict[BlockOp, int]
    """For each block, how many of the conditions are of blocks around it."""

    def inside(self, block: BlockOp) -> _Space:
        """The points of a block that each of these points runs."""
        return _Space(
            (*self.values, *block.indices),
            (*self.ranges, *block.index_ranges),
            (*self.where, *block.where),
            {**self.outside, block: len(self.where)},
        )

    @property
    def forms(self) -> tuple[LinearForm, ...]:
        """The conditions, over all indices."""
        return tuple([each.form(self.values) for each in self.where])

    @property
    def points(self) -> int:
        """How many there are, at most."""
        count = count_points(self.ranges, self.forms)
        return prod(self.ranges) if count is None else count


@dataclass(frozen=True)
class _WindowUse:
    """The windows of a buffer that a statement accesses at all its points."""

    ranges: tuple[int, ...]
    forms: tuple[LinearForm, ...]
    access: tuple[LinearForm, ...]
    windows: tuple[int, ...]
    limit: int | None
    """The most cells it can be, where subscripts choose them."""

    def cells(self, sizes: tuple[int, ...]) -> Cells:
        """Those in a buffer of these sizes."""
        cells = reached_cells(self.ranges, self.forms, self.access, self.windows, sizes)
        if self.limit is None:
            return cells
        return Cells(min(cells.count, self.limit), cells.box, is_exact=False)


_WindowUses = dict[SSAValue, dict[_WindowUse, None]]
"""The accesses of each buffer, each once."""


@dataclass
class _Count:
    """Adds up what the statements of one kernel do, in their order."""

    block: BlockOp
    operations: int = 0
    read: _WindowUses = field(default_factory=_WindowUses)
    written: _WindowUses = field(default_factory=_WindowUses)

    def add(self, block: BlockOp, around: _Space) -> None:
        """All statements of a block."""
        space = around.inside(block)
        points = space.points
        for op in block.body.ops:
            match op:
                case BlockOp():
                    self.add(op, space)
                case LoadOp():
                    self._read(op, space, points)
                case StoreOp():
                    self._store(op, space, points)
                case ElementwiseOp() if not isinstance(op.result.type, IndexType):
                    amount = op.function.operations * lane_count(op.result.type)
                    self.operations += amount * points
                case _:
                    pass

    def _store(self, op: StoreOp, space: _Space, points: int) -> None:
        chain = [(each, each.refinement(n)) for each, n in windows_from(op.view)]
        initial = [block for block, each in chain if each.init is not None]
        if chain and chain[0][1].aggregation is not Aggregation.ASSIGN:
            self.operations += lane_count(op.value.type) * points
            if not initial:
                self._read(op, space, points)
        if initial:
            # All cells are set, also those where constraints leave no point.
            where = space.where[: space.outside[initial[-1]]]
            space = replace(space, where=where)
        self._add_access(self.written, op, space, points)

    def _read(self, op: LoadOp | StoreOp, space: _Space, points: int) -> None:
        root = root_buffer(op.view)
        if not any(root_buffer(buffer) is root for buffer in self.written):
            self._add_access(self.read, op, space, points)

    def _add_access(
        self,
        accesses: _WindowUses,
        op: LoadOp | StoreOp,
        space: _Space,
        points: int,
    ) -> None:
        place = absolute_access(op.view)
        if place.buffer not in self.block.buffers:
            return
        access = _WindowUse(
            space.ranges,
            space.forms,
            tuple(start.form(space.values) for start in place.starts),
            view_type(op.view).sizes,
            None if op.subscripts is None else points,
        )
        accesses.setdefault(place.buffer, {})[access] = None

    def bytes(self, accesses: _WindowUses) -> int:
        """Of all cells of all memories, each once."""
        cells: dict[SSAValue, int] = {}
        for buffer, own in accesses.items():
            sizes = view_type(buffer).sizes
            count = united([each.cells(sizes) for each in own], sizes).count
            root = root_buffer(buffer)
            known = cells.get(root, 0)
            # Under two shapes the cells may be the same or not.
            cells[root] = min(known + count, prod(view_type(root).sizes))
        return sum(
            count * value_bytes(view_type(root).element_type)
            for root, count in cells.items()
        )
