"""`tile.gather` as a block over its result, which loads at computed places.

```mlir
stripe.block "R" [%i0 : 5, %i1 : 4]
    in %i = %I[%i0] : 1
    in %v = %V[0, %i1] : 9x1
    out %r = %R[%i0, %i1] : 1x1 {
  %0 = stripe.load %i : !stripe.view<1xsi32>
  %1, %2 = ...  // clamped to 0..8
  %3 = stripe.load %v[%2, 0] : !stripe.view<9x1xf32>
  stripe.store %3, %r : !stripe.view<1x1xf32>
}
```

Such a block fuses with element-wise ones over the same points.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...affine.form import LinearForm
from ...dialects.tile.gather import GatherOp, Interpolation
from ...dialects.tile.indexing import OutOfBounds
from ...dialects.tile.special_shapes import GatherMode
from ..locations import error_at
from ..stripe.edit.point_block import PointBlock, Source, identity_access, index_names
from .places import Coordinates, computed_window, place_of, read_window
from .tensor_buffers import TensorBuffers, block_name, static_type


def lower_gather(op: GatherOp, buffers: TensorBuffers) -> None:
    """Emit the block of a gather with integer indices."""
    if op.options.interpolation is not Interpolation.NONE:
        raise error_at(
            op,
            "a gather that interpolates has no form in the stripe dialect",
            "run tile-expand-gather first",
        )
    shape = static_type(op.result, op).get_shape()
    sizes = static_type(op.values, op).get_shape()
    values = buffers.view(op.values)
    result = buffers.result(op.result, op)
    if 0 in shape:
        return
    is_zero = op.options.out_of_bounds is OutOfBounds.ZERO
    indices = buffers.source(op.indices)
    if 0 in sizes:
        # There is no cell to clamp to, so every index is out of bounds.
        zero = Source(static_type(op.result, op).element_type, shape, 0)
        buffers.fill(result, zero, block_name(op), op)
        return
    block = PointBlock(shape, index_names(len(shape)), op)
    coordinates, access = _accesses(op, indices, len(sizes), len(shape))
    place = place_of(block, coordinates, sizes, check=is_zero)
    starts, window_sizes = computed_window(access, sizes, len(shape))
    window = read_window(block, values, starts, window_sizes)
    value = block.load_from(window, place.subscripts)
    if place.inside is not None:
        zero = block.constant(0, value.type)
        value = block.apply("cond", [place.inside, value, zero], value.type)
    block.store(value, result, identity_access(len(shape)))
    buffers.emit(block.finish(block_name(op)), op)


def _accesses(
    op: GatherOp, indices: Source, values_rank: int, rank: int
) -> tuple[Coordinates, dict[int, LinearForm]]:
    """The coordinates of the computed axes, and the accesses of all others.

    Forms are over the axes of the result, of which there are `rank`.
    """
    batch = op.options.batch_dims
    if op.options.mode is GatherMode.ND:
        depth, lead = indices.shape[-1], len(indices.shape) - 1
        own = _dimensions(range(lead), rank)
        axes = {
            batch + number: (*own, LinearForm.constant_of(number, rank))
            for number in range(depth)
        }
        behind = range(batch + depth, values_rank)
        access = {axis: lead - batch - depth + axis for axis in behind}
        access |= {axis: axis for axis in range(batch)}
    else:
        axis = op.options.axis
        inner = len(indices.shape) - batch
        axes = {axis: _dimensions([*range(batch), *range(axis, axis + inner)], rank)}
        access = {before: before for before in range(axis)}
        access |= {
            behind: behind + inner - 1 for behind in range(axis + 1, values_rank)
        }
    forms = {
        axis: LinearForm.dimension(number, rank) for axis, number in access.items()
    }
    return Coordinates(indices, axes), forms


def _dimensions(numbers: Sequence[int], rank: int) -> tuple[LinearForm, ...]:
    return tuple(LinearForm.dimension(number, rank) for number in numbers)
