"""What the values of a block became in a kernel, and where the kernel grows."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects.eltwise.ops import ConstantOp
from ...dialects.index_sum import IndexSum
from ...dialects.opencl.control_flow import ForOp
from ...dialects.stripe.block import BlockOp
from ..locations import error_at, located
from .known_conditions import KnownConditions
from .opencl_view import KernelView


@dataclass(frozen=True)
class Cursor:
    """Where ops are added, and what is known to hold there."""

    block: Block
    known: KnownConditions

    def emit(self, op: Operation, origin: Operation) -> None:
        """Add an op that has the location of `origin`."""
        self.block.add_op(located(op, origin))


@dataclass
class KernelScope:
    """What each value of a block became, while its kernel is built."""

    entry: Block = field(default_factory=Block)
    """The body of the kernel."""
    group_size: tuple[int, ...] = (1, 1, 1)
    """Work-items of a work-group along the three dimensions."""
    is_uniform: bool = False
    """Whether all work-items of a group of several run what is lowered now."""
    in_subgroup: bool = False
    """Whether only those of one sub-group do."""
    items: set[SSAValue] = field(default_factory=set[SSAValue])
    """The index values that differ between the work-items of a group."""
    extents: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    """For each index value of the kernel, that it is from 0 to below this."""
    indices: dict[SSAValue, IndexSum] = field(default_factory=dict[SSAValue, IndexSum])
    views: dict[SSAValue, KernelView] = field(
        default_factory=dict[SSAValue, KernelView]
    )
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    def bind(self, index: SSAValue, value: SSAValue, extent: int) -> None:
        """Let an index of a block be an index value of the kernel."""
        value.name_hint = index.name_hint
        self.extents[value] = extent
        self.indices[index] = IndexSum.value(value)

    def open_loop(
        self, op: BlockOp, index: SSAValue, extent: int, unroll: bool, cursor: Cursor
    ) -> Cursor:
        """Open a loop over an index; a single value needs none."""
        if extent == 1:
            self.indices[index] = IndexSum()
            return cursor
        body, value = self.open_for(op, index.name_hint, extent, unroll, cursor)
        self.bind(index, value, extent)
        return body

    def open_for(
        self,
        op: BlockOp,
        name: str | None,
        extent: int,
        unroll: bool,
        cursor: Cursor,
    ) -> tuple[Cursor, SSAValue]:
        """A loop, and the value that counts."""
        region = ForOp.empty_body(name)
        body = region.block
        body.args[0].location = op.location
        self.extents[body.args[0]] = extent
        cursor.emit(ForOp(extent, region, unroll=unroll), op)
        return Cursor(body, cursor.known), body.args[0]

    def operand(self, value: SSAValue, op: Operation, cursor: Cursor) -> SSAValue:
        """What a value of a block became; a number for an index without a loop."""
        if value in self.values:
            return self.values[value]
        index = self.indices.get(value)
        if index is None:
            raise error_at(op, f"'{op.name}' uses a value from outside of its kernel")
        if index.single_value is not None:
            return index.single_value
        constant = ConstantOp(index.constant, IndexType())
        cursor.emit(constant, op)
        return constant.result


def nested(cursor: Cursor) -> tuple[Region, Cursor]:
    """The region of an op that is to be added at a cursor, and the place in it."""
    region = Region(Block())
    return region, Cursor(region.block, cursor.known)
