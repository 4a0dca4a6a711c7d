"""`tile.prng` as blocks: lanes run in parallel, the steps of a lane in order.

The first block makes all the steps that every lane makes. Its points are groups of
lanes, each of which keeps the state of its lanes in private memory:

```mlir
stripe.block "R" [%group : 8]
    in %s = %S[0, 256 * %group] : 3x256
    out %t = %T[0, 256 * %group] : 3x256
    out %r = %R[256 * %group] : 18688 {
  %state = stripe.alloc : !stripe.view<3x256xui32, private>
  stripe.block [%word : 3, %lane : 256] ...  // the state from %s
  stripe.block serial [%step : 10]
      inout %now = %state[0, 0] : 3x256
      out %row = %r[2048 * %step] : 256 {
    stripe.block [%lane : 256] ...  // steps, and writes to %row
  }
  stripe.block [%word : 3, %lane : 256] ...  // the state to %t
}
```

The second makes the last step of the first lanes, where the last row of the result is
not whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from ...affine.form import LinearForm
from ...dialects.eltwise.element_types import ui32
from ...dialects.stripe import BlockOp
from ...dialects.stripe.attributes import Direction, Refinement
from ...dialects.stripe.binding import Binding
from ...dialects.tile.special import PrngOp
from ..stripe.edit.point_block import PointBlock, Source, identity_access
from .tensor_buffers import TensorBuffers, block_name, name_after, static_type

_STEPS = ((4294967294, 12, 13, 19), (4294967288, 4, 2, 25), (4294967280, 17, 3, 11))
"""For each word of a state: a mask, and the shifts left, left and right of a step."""

_WORDS = len(_STEPS)


def lower_prng(op: PrngOp, buffers: TensorBuffers) -> None:
    """Emit the blocks that write random numbers and the state behind them."""
    shape = static_type(op.result, op).get_shape()
    state_shape = static_type(op.state, op).get_shape()
    lanes = prod(state_shape) // _WORDS
    state = buffers.reshaped(buffers.view(op.state), (_WORDS, lanes))
    result = buffers.result(op.result, op)
    new_state = buffers.result(op.new_state, op)
    _Prng(
        op,
        buffers,
        lanes,
        prod(shape),
        state,
        buffers.reshaped(new_state, (_WORDS, lanes)),
        buffers.reshaped(result, (prod(shape),)),
    ).lower()


@dataclass(frozen=True)
class _Prng:
    op: PrngOp
    buffers: TensorBuffers
    lanes: int
    count: int
    state: SSAValue
    new_state: SSAValue
    result: SSAValue

    def lower(self) -> None:
        op, buffers = self.op, self.buffers
        if self.lanes == 0:
            return
        steps, rest = divmod(self.count, self.lanes)
        if steps:
            buffers.emit(self._groups(steps), op)
        else:
            source = Source(ui32, (_WORDS, self.lanes), self.state)
            name = name_after(op.new_state, "copy")
            buffers.fill(self.new_state, source, name, op)
        if rest:
            block = PointBlock((rest,), ["lane"], op)
            (lane,) = identity_access(1)
            place = lane + steps * self.lanes
            self._step(block, self.new_state, self.result, lane, (place,))
            buffers.emit(block.finish(name_after(op.result, "rest")), op)

    @property
    def _width(self) -> int:
        """The lanes of a group, a divisor of all."""
        return max(n for n in range(1, self.buffers.items + 1) if self.lanes % n == 0)

    @property
    def _is_in_rows(self) -> bool:
        """Whether the last step of all lanes is a whole one."""
        return self.count % self.lanes == 0

    def _groups(self, steps: int) -> BlockOp:
        """All lanes make that many steps."""
        width = self._width
        block = PointBlock((self.lanes // width,), ["group"], self.op)
        zero = LinearForm.constant_of(0, 1)
        first = LinearForm.dimension(0, 1, width)
        sizes = (_WORDS, width)
        old = block.window(self.state, Refinement(Direction.IN, (zero, first)), sizes)
        new = block.window(
            self.new_state, Refinement(Direction.OUT, (zero, first)), sizes
        )
        if self._is_in_rows:
            # Each step's numbers are a row, so that groups have columns of their own.
            rows = self.buffers.reshaped(self.result, (steps, self.lanes))
            columns = Refinement(Direction.OUT, (zero, first))
            result = block.window(rows, columns, (steps, width))
        else:
            reach = (steps - 1) * self.lanes + width
            numbers = Refinement(Direction.OUT, (first,))
            result = block.window(self.result, numbers, (reach,))
        state = block.allocate(sizes, ui32, "state")
        block.nest(self._copy(old, state, width))
        block.nest(self._serial(state, result, steps, width))
        block.nest(self._copy(state, new, width))
        # Groups write columns of their own, though their windows reach over others'.
        return block.finish(block_name(self.op), bindings=[Binding.GRID])

    def _copy(self, source: SSAValue, target: SSAValue, width: int) -> BlockOp:
        block = PointBlock((_WORDS, width), ["word", "lane"], self.op)
        access = identity_access(2)
        block.store(block.load(source, access), target, access)
        return block.finish(None)

    def _serial(
        self, state: SSAValue, result: SSAValue, steps: int, width: int
    ) -> BlockOp:
        """The steps of one group, one after the other."""
        block = PointBlock((steps,), ["step"], self.op)
        zero = LinearForm.constant_of(0, 1)
        now = block.window(
            state, Refinement(Direction.INOUT, (zero, zero)), (_WORDS, width)
        )
        inner = PointBlock((width,), ["lane"], self.op)
        (lane,) = identity_access(1)
        place: tuple[LinearForm, ...] = (lane,)
        if self._is_in_rows:
            (step,) = identity_access(1)
            refinement = Refinement(Direction.OUT, (step, zero))
            row = block.window(result, refinement, (1, width))
            place = (zero, lane)
        else:
            first = LinearForm.dimension(0, 1, self.lanes)
            row = block.window(result, Refinement(Direction.OUT, (first,)), (width,))
        self._step(inner, now, row, lane, place)
        block.nest(inner.finish(None))
        return block.finish(None, serial=True)

    def _step(
        self,
        block: PointBlock,
        state: SSAValue,
        result: SSAValue,
        lane: LinearForm,
        place: tuple[LinearForm, ...],
    ) -> None:
        """One step of a lane, in place, and its number."""
        total: SSAValue | None = None
        for word, (mask, up, first, down) in enumerate(_STEPS):
            access = (LinearForm.constant_of(word, lane.rank), lane)
            window = block.window(state, Refinement(Direction.INOUT, access), (1, 1))
            old = block.load_from(window)
            left = _bits(block, "bit_left", _bits(block, "bit_and", old, mask), up)
            mixed = _bits(block, "bit_left", old, first)
            mixed = block.apply("bit_xor", [mixed, old], ui32)
            right = _bits(block, "bit_right", mixed, down)
            new = block.apply("bit_xor", [left, right], ui32)
            block.store_to(new, window)
            total = old if total is None else block.apply("bit_xor", [total, old], ui32)
        if total is None:
            raise ValueError("expected a state of some words")
        number = block.cast(total, f32)
        scale = block.constant(2.0**-32, f32)
        number = block.apply("mul", [number, scale], f32)
        block.store(number, result, place)


def _bits(block: PointBlock, function: str, value: SSAValue, number: int) -> SSAValue:
    return block.apply(function, [value, block.constant(number, ui32)], ui32)
