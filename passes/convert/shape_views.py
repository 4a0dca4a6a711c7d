"""Special operations that are about shapes: `reshape`, `index` and `shape`.

`tile.reshape` is the same memory as a view of another shape, and copies nothing; only a
function that returns it copies it. Coordinates have no buffer: blocks that read them
compute them from their indices. Sizes are written by one block without indices.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from ...affine.form import LinearForm
from ...dialects.eltwise.element_types import si32
from ...dialects.tile.special import IndexOp, ReshapeOp, ShapeOp
from ..stripe.edit.point_block import Coordinate, PointBlock, Source
from .tensor_buffers import TensorBuffers, block_name, static_type


def lower_reshape(op: ReshapeOp, buffers: TensorBuffers) -> None:
    """See the buffer of the operand with another shape."""
    type = static_type(op.result, op)
    source = buffers.source(op.tensor)
    value = source.value
    if isinstance(value, SSAValue | Coordinate):
        value = buffers.reshaped(buffers.view(op.tensor), type.get_shape())
    buffers.bind(op.result, Source(type.element_type, type.get_shape(), value))


def lower_index(op: IndexOp, buffers: TensorBuffers) -> None:
    """Let blocks that read the coordinates compute them."""
    shape = static_type(op.result, op).get_shape()
    source = Source(si32, shape, Coordinate(op.axis.value.data))
    buffers.bind(op.result, source)


def lower_shape(op: ShapeOp, buffers: TensorBuffers) -> None:
    """Emit the block that writes the sizes of a tensor."""
    sizes = static_type(op.tensor, op).get_shape()
    result = buffers.result(op.result, op)
    if not sizes:
        return
    block = PointBlock((), (), op)
    for axis, size in enumerate(sizes):
        number = block.constant(size, si32)
        block.store(number, result, (LinearForm.constant_of(axis, 0),))
    buffers.emit(block.finish(block_name(op)), op)
