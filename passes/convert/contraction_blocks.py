"""The blocks of one flat contraction: what is filled, aggregated and selected.

A cell of the result is the aggregation of exactly its valid points, and the default (or
0) without any. The aggregating block sets every cell that it reaches over its whole box
to the identity first, so what else is needed depends on two questions:

* Does the box reach every cell of the result? If not, a block before it fills in the
  default. What assigns to some cells of an axis, one by one, gets a box that reaches
  all of them, and constraints: a padded image is one block.
* Has every cell that is reached a valid point? If not, and the identity is not what a
  cell without one must hold, a second output marks the cells that were seen, and a
  block behind selects between the aggregated value and the default.

In f16 and bf16 sums and products accumulate in f32, and a last block converts.
Operands of these types whose elements are used many times are converted by a block of
their own before, instead of at every use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from xdsl.dialects.builtin import bf16, f16, f32, i1
from xdsl.ir import Attribute, SSAValue

from ...dialects.aggregation import Aggregation, Combination
from ...dialects.stripe import BlockOp
from ...dialects.tile import ContractOp
from ..reuse import is_reused
from ..stripe.edit.point_block import PointBlock, Source, identity_access, index_names
from .contraction_box import ContractionBox

Allocate = Callable[[Sequence[int], Attribute, str], SSAValue]
"""Makes a buffer of a shape and element type, with a suffix to the result's name."""

_ARITHMETIC = {Combination.ADD, Combination.MUL}


class ContractionLowering:
    """Lowers one contraction: `emit` takes its blocks in order."""

    def __init__(
        self,
        op: ContractOp,
        inputs: Sequence[Source],
        default: Source | None,
        name: str | None,
        allocate: Allocate,
        emit: Callable[[BlockOp], None],
    ) -> None:
        self._op = op
        self._inputs = inputs
        self._name = name
        self._allocate = allocate
        self._emit = emit
        self._box = ContractionBox.of(op)
        self._aggregation = op.aggregation.data
        self._combination = op.combination.data
        self._element = op.result.type.element_type
        self._default = default or Source(self._element, self._box.shape, 0)
        self._has_default = default is not None

    def lower(self) -> SSAValue:
        """The view that holds the result when the blocks have run."""
        result = self._allocate(self._box.shape, self._element, "")
        if self._box.is_empty:
            if 0 not in self._box.shape:
                self._copy(self._default, result, "fill")
        elif self._aggregation is Aggregation.ASSIGN:
            self._assign(result)
        elif self._needs_seen:
            self._aggregate_seen(result)
        else:
            self._aggregate(result)
        return result

    def _widen_inputs(self) -> None:
        """Convert the operands that would be converted again and again."""
        if self._combination not in _ARITHMETIC:
            return
        points = prod(self._box.ranges)
        wide: dict[SSAValue, Source] = {}
        for source in self._inputs:
            view = source.value
            is_narrow = source.element in (f16, bf16) and self._accumulator == f32
            many = is_reused(points, prod(source.shape))
            if not (is_narrow and many and isinstance(view, SSAValue)):
                continue
            if view not in wide:
                wide[view] = self._widened(source, len(wide))
        self._inputs = [
            wide.get(source.value, source)
            if isinstance(source.value, SSAValue)
            else source
            for source in self._inputs
        ]

    def _widened(self, source: Source, number: int) -> Source:
        suffix = f"wide_{number}"
        target = self._allocate(source.shape, f32, suffix)
        block = PointBlock(source.shape, index_names(len(source.shape)), self._op)
        access = identity_access(len(source.shape))
        value = block.cast(block.read(source, access), f32)
        block.store(value, target, access)
        self._emit(block.finish(self._block_name(suffix)))
        return Source(f32, source.shape, target)

    @property
    def _accumulator(self) -> Attribute:
        """The element type in which values are aggregated."""
        inexact = self._combination in _ARITHMETIC or self._aggregation in (
            Aggregation.ADD,
            Aggregation.MUL,
        )
        return f32 if inexact and self._element in (f16, bf16) else self._element

    @property
    def _identity(self) -> int | float:
        return self._aggregation.identity(self._accumulator)

    @property
    def _needs_seen(self) -> bool:
        """Whether the identity could be left in a cell without a point, wrongly."""
        is_wrong = self._has_default or self._identity != 0
        return is_wrong and not self._box.every_reached_cell_has_a_point

    def _assign(self, result: SSAValue) -> None:
        self._box = box = self._box.over_whole_axes()
        if box.reaches_every_cell and box.every_reached_cell_has_a_point:
            self._main_block(result, None)
        elif box.reaches_every_cell and not self._has_default:
            self._main_block(result, 0)
        else:
            self._copy(self._default, result, "fill")
            self._main_block(result, None)

    def _aggregate(self, result: SSAValue) -> None:
        """Every cell that the box reaches has a point, or is 0 without one."""
        widens = self._accumulator != self._element
        target = result
        if widens:
            target = self._allocate(self._box.shape, self._accumulator, "sum")
        if not self._box.reaches_every_cell:
            self._copy(self._default, target, "fill")
        self._main_block(target, self._identity)
        if widens:
            source = Source(self._accumulator, self._box.shape, target)
            self._copy(source, result, "cast")

    def _aggregate_seen(self, result: SSAValue) -> None:
        shape = self._box.shape
        target = self._allocate(shape, self._accumulator, "value")
        seen = self._allocate(shape, i1, "seen")
        if not self._box.reaches_every_cell:
            self._copy(Source(self._accumulator, shape, 0), target, "fill")
            self._copy(Source(i1, shape, 0), seen, "unseen")
        self._main_block(target, self._identity, seen)
        block = self._cell_block()
        access = identity_access(len(shape))
        is_seen = block.load(seen, access)
        value = block.cast(block.load(target, access), self._element)
        default = block.read(self._default, access)
        chosen = block.apply("cond", [is_seen, value, default], self._element)
        block.store(chosen, result, access)
        self._emit(block.finish(self._block_name("select")))

    def _main_block(
        self, target: SSAValue, init: int | float | None, seen: SSAValue | None = None
    ) -> None:
        """The block over the whole box, which combines and aggregates."""
        box = self._box
        self._widen_inputs()
        block = PointBlock(box.ranges, box.names, self._op)
        value = block.convert(self._combine(block), target)
        block.store(value, target, box.output, self._aggregation, init)
        if seen is not None:
            yes = block.constant(1, i1)
            block.store(yes, seen, box.output, Aggregation.MAX, 0)
        self._emit(block.finish(self._name, box.constraints))

    def _combine(self, block: PointBlock) -> SSAValue:
        """The combined operands at a point."""
        operands = [
            block.read(source, access)
            for source, access in zip(self._inputs, self._box.inputs, strict=True)
        ]
        if self._combination in _ARITHMETIC:
            operands = [block.cast(value, self._accumulator) for value in operands]
        match self._combination:
            case Combination.NONE:
                return operands[0]
            case Combination.COND:
                equal = block.apply("cmp_eq", operands[:2], i1)
                zero = block.constant(0, operands[2].type)
                branches = [equal, operands[2], zero]
                return block.apply("cond", branches, operands[2].type)
            case Combination.EQ:
                return block.apply("cmp_eq", operands, i1)
            case Combination.ADD | Combination.MUL:
                function = self._combination.value
                return block.apply(function, operands, self._accumulator)

    def _copy(self, source: Source, target: SSAValue, suffix: str) -> None:
        """A block that writes a source to a buffer, converted to its type."""
        block = self._cell_block()
        access = identity_access(len(self._box.shape))
        value = block.read(source, access)
        block.store(block.convert(value, target), target, access)
        self._emit(block.finish(self._block_name(suffix)))

    def _cell_block(self) -> PointBlock:
        """An empty block over the cells of the result."""
        shape = self._box.shape
        return PointBlock(shape, index_names(len(shape)), self._op)

    def _block_name(self, suffix: str) -> str:
        return suffix if self._name is None else f"{self._name}_{suffix}"
