"""Operators that give the same elements in other shapes, orders and places."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ....errors import GinghamError
from ... import op
from ...edsl.functions import ident
from ...edsl.inputs import Constant
from ...edsl.tensors import Tensor, cast
from ..node import Node, Unsupported
from ..table import operator

_LARGEST_POSITION = 2**31 - 1


def axes_of(node: Node, position: int = 1, name: str = "axes") -> list[int] | None:
    """The axes that an input says, or the attribute of earlier versions."""
    if node.has(position):
        return node.integers(position)
    found = node.attribute(name)
    return None if found is None else [int(each) for each in found]


@operator("Constant")
def constant(node: Node) -> Any:
    """An array that the node itself has."""
    import numpy as np
    from onnx import numpy_helper

    if node.says("value"):
        return numpy_helper.to_array(node.attribute("value"))
    for name, dtype in (("float", np.float32), ("int", np.int64)):
        for plural in ("", "s"):
            if node.says(f"value_{name}{plural}"):
                return np.array(node.attribute(f"value_{name}{plural}"), dtype)
    raise Unsupported("a constant of text, or with few elements other than zero")


@operator("ConstantOfShape", known=(0,))
def filled(node: Node) -> Tensor:
    """A tensor of one number."""
    import numpy as np
    from onnx import numpy_helper

    given = node.attribute("value")
    value = np.zeros(1, np.float32) if given is None else numpy_helper.to_array(given)
    return op.full(node.integers(0), value.ravel()[0].item(), value.dtype)


@operator("Reshape", known=(1,))
def reshaped(node: Node) -> Tensor:
    """The elements in order with other sizes."""
    given = node.attribute("shape") if node.opset < 5 else node.integers(1)
    sizes = [int(size) for size in given]
    if node.attribute("allowzero", 0) and 0 in sizes:
        raise Unsupported("a size of zero")
    own = node.shape(0)
    sizes = [own[n] if size == 0 else size for n, size in enumerate(sizes)]
    if -1 in sizes:
        others = prod(size for size in sizes if size != -1)
        sizes[sizes.index(-1)] = prod(own) // max(others, 1)
    return node[0].reshape(*sizes)


@operator("Flatten")
def flattened(node: Node) -> Tensor:
    """The axes before one and those from it on as two."""
    axis, own = node.attribute("axis", 1), node.shape(0)
    axis = axis if axis >= 0 else axis + len(own)
    return node[0].reshape(prod(own[:axis]), prod(own[axis:]))


@operator("Squeeze", known=(1,))
def squeezed(node: Node) -> Tensor:
    """Without axes of size 1."""
    own, axes = node.shape(0), axes_of(node)
    if axes is None:
        axes = [axis for axis, size in enumerate(own) if size == 1]
    gone = {axis % len(own) for axis in axes}
    return node[0].reshape(*(size for n, size in enumerate(own) if n not in gone))


@operator("Unsqueeze", known=(1,))
def unsqueezed(node: Node) -> Tensor:
    """With further axes of size 1."""
    return op.unsqueeze(node[0], axes_of(node) or [])


@operator("Transpose")
def transposed(node: Node) -> Tensor:
    """The axes in another order."""
    order = node.attribute("perm") or [*range(node.rank(0))][::-1]
    if [*order] == [*range(node.rank(0))]:
        return ident(node[0])
    return op.transpose(node[0], order)


@operator("Expand", known=(1,))
def expanded(node: Node) -> Tensor:
    """The elements repeated along axes of size 1."""
    import numpy as np

    sizes = np.broadcast_shapes(node.shape(0), tuple(node.integers(1)))
    return op.broadcast_to(node[0], list(sizes))


@operator("Tile", known=(1, 2))
def tiled(node: Node) -> Tensor:
    """The whole several times along each axis."""
    if node.opset < 6:
        repeats = [1] * node.rank(0)
        repeats[node.integers(2)[0]] = node.integers(1)[0]
        return op.tile(node[0], repeats)
    return op.tile(node[0], node.integers(1))


@operator("Concat")
def joined(node: Node) -> Tensor:
    """Tensors one behind the other along an axis."""
    axis = node.attribute("axis", 1)
    parts = [node[n] for n in range(len(node.inputs)) if 0 not in node.shape(n)]
    return op.concatenate(parts, axis) if len(parts) > 1 else ident(parts[0])


@operator("Split", known=(1,))
def parts(node: Node) -> Sequence[Any]:
    """Parts of an axis."""
    axis: int = node.attribute("axis", 0) % node.rank(0)
    size: int = node.shape(0)[axis]
    sizes: list[int] = node.optional_integers(1) or node.attribute("split") or []
    if not sizes:
        count: int = node.attribute("num_outputs") or len(node.proto.output)
        step = -(-size // count)
        sizes = [min(step, size - n * step) for n in range(count)]
    starts = [sum(sizes[:n]) for n in range(len(sizes))]
    return [
        op.slice(node[0], [start], [start + size], [axis])
        if size
        else _nothing(node, axis)
        for start, size in zip(starts, sizes, strict=True)
    ]


def _nothing(node: Node, axis: int) -> Any:
    """A part without elements."""
    import numpy as np

    own = node.shape(0)
    return np.zeros((*own[:axis], 0, *own[axis + 1 :]), node.dtype(0))


@operator("Slice", known=(1, 2, 3, 4))
def sliced(node: Node) -> Tensor:
    """Elements of axes from one to another, in steps."""
    if node.opset < 10:
        starts, ends = node.attribute("starts"), node.attribute("ends")
        axes, steps = node.attribute("axes"), None
    else:
        starts, ends = node.integers(1), node.integers(2)
        axes, steps = node.optional_integers(3), node.optional_integers(4)
    axes = [*range(len(starts))] if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    return _sliced(node, starts, ends, axes, steps)


def _sliced(
    node: Node,
    starts: Sequence[int],
    ends: Sequence[int],
    axes: Sequence[int],
    steps: Sequence[int],
) -> Tensor:
    """A slice by Python's rules, which are those of ONNX."""
    own = node.shape(0)
    firsts: list[int] = []
    lasts: list[int | None] = []
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        size = own[axis % len(own)]
        # What ONNX means by an end before the first is None for Python.
        last = None if step < 0 and end < -size else end
        taken = range(*slice(start, last, step).indices(size))
        firsts.append(taken.start)
        lasts.append(None if taken.stop < 0 else taken.stop)
    return op.slice(node[0], firsts, lasts, [*axes], [*steps])


@operator("Pad", known=(1, 2, 3))
def padded(node: Node) -> Tensor:
    """Elements before and behind those of axes."""
    if node.opset < 11:
        pads = node.attribute("pads" if node.says("pads") else "paddings")
        value, axes = node.attribute("value", 0.0), None
    else:
        pads = node.integers(1)
        value = node.array(2).item() if node.has(2) else 0
        axes = node.optional_integers(3)
    count = len(pads) // 2
    pairs = [*zip(pads[:count], pads[count:], strict=True)]
    return op.pad(node[0], pairs, node.attribute("mode", "constant"), value, axes)


def positions(node: Node, number: int) -> Any:
    """Positions as integers of 32 bits, which those of a tensor fit in."""
    if prod(node.shape(0)) > _LARGEST_POSITION:
        raise Unsupported("positions beyond 32 bits")
    if node.is_known(number):
        return Constant(node.array(number).astype("int32"))
    is_int32 = node.dtype(number).name == "int32"
    return node[number] if is_int32 else cast(node[number], "int32")


@operator("Gather")
def taken(node: Node) -> Tensor:
    """The cells at positions on an axis."""
    axis = node.attribute("axis", 0)
    if node.is_known(1) and not node.shape(1):
        return op.select_index(node[0], int(node.array(1)), axis)
    return op.take(node[0], positions(node, 1), axis)


@operator("GatherElements")
def taken_along(node: Node) -> Tensor:
    """For each position the element at it along an axis."""
    return op.take_along_axis(node[0], positions(node, 1), node.attribute("axis", 0))


@operator("GatherND")
def taken_nd(node: Node) -> Tensor:
    """The cells at positions on several axes."""
    return op.gather_nd(node[0], positions(node, 1), node.attribute("batch_dims", 0))


@operator("ScatterElements", "Scatter")
def put_along(node: Node) -> Tensor:
    """Updates at positions along an axis."""
    axis, reduction = node.attribute("axis", 0), node.attribute("reduction", "none")
    if 0 in node.shape(2):
        return ident(node[0])
    return op.scatter_elements(node[0], positions(node, 1), node[2], axis, reduction)


@operator("ScatterND")
def put_nd(node: Node) -> Tensor:
    """Updates at positions on several axes."""
    if 0 in node.shape(2):
        return ident(node[0])
    reduction = node.attribute("reduction", "none")
    return op.scatter_nd(node[0], positions(node, 1), node[2], reduction)


@operator("TensorScatter")
def put_in_cache(node: Node) -> Tensor:
    """Updates behind each other on an axis, from a place on that each batch has."""
    axis: int = node.attribute("axis", -2) % node.rank(0)
    own = node.shape(0)
    count = node.shape(1)[axis]
    place = op.arange(own[axis], dtype="int32").reshape(
        *(own[n] if n == axis else 1 for n in range(len(own)))
    )
    if node.has(2):
        starts = positions(node, 2).reshape(own[0], *[1] * (len(own) - 1))
        place = place - starts
    if node.attribute("mode", "linear") == "circular":
        place = op.mod(place, own[axis])
    is_new = op.where(place < 0, False, place < count)
    inside = op.where(is_new, place, 0)
    updates = op.take_along_axis(node[1], op.broadcast_to(inside, own), axis)
    return op.where(is_new, updates, node[0])


@operator("Compress", known=(1,))
def chosen(node: Node) -> Tensor:
    """The cells for which a condition holds, which is known."""
    import numpy as np

    (places,) = np.nonzero(node.array(1))
    axis = node.attribute("axis")
    if not len(places):
        raise Unsupported("none is chosen")
    flat = node[0].reshape(prod(node.shape(0))) if axis is None else node[0]
    return op.take(flat, Constant(places.astype(np.int32)), axis or 0)


@operator("OneHot", known=(1, 2))
def one_hot(node: Node) -> Tensor:
    """A value where positions say, and another elsewhere."""
    depth = node.integers(1)[0]
    off, on = node.array(2)
    places = node[0] if node.dtype(0).kind in "iu" else cast(node[0], "int64")
    axis = node.attribute("axis", -1) % (node.rank(0) + 1)
    sizes = [*node.shape(0)]
    sizes.insert(axis, 1)
    steps = op.arange(depth, dtype="int32").reshape(
        *(depth if n == axis else 1 for n in range(len(sizes)))
    )
    wanted = op.where(places < 0, places + depth, places).reshape(*sizes)
    return op.where(steps == wanted, Constant(on), Constant(off))


@operator("EyeLike")
def diagonal(node: Node) -> Tensor:
    """Ones on a diagonal."""
    rows, columns = node.shape(0)
    return op.eye(rows, columns, node.attribute("k", 0), node.output().dtype)


@operator("Trilu", known=(1,))
def triangle(node: Node) -> Tensor:
    """Zeros on one side of a diagonal."""
    k = node.integers(1)[0] if node.has(1) else 0
    is_upper = node.attribute("upper", 1)
    return (op.triu if is_upper else op.tril)(node[0], k)


@operator("DepthToSpace")
def spread(node: Node) -> Tensor:
    """Channels as blocks of an image."""
    size, channels = node.attribute("blocksize"), node.shape(0)[1]
    if size < 1 or channels % (size * size):
        raise GinghamError(f"{channels} channels are no blocks of {size} by {size}")
    return op.depth_to_space(node[0], size, node.attribute("mode", "DCR"))


@operator("SpaceToDepth")
def gathered(node: Node) -> Tensor:
    """Blocks of an image as channels."""
    if node.attribute("mode", "DCR") != "DCR":
        return _in_order_of_channels(node)
    return op.space_to_depth(node[0], node.attribute("blocksize"))


def _in_order_of_channels(node: Node) -> Tensor:
    """Blocks as channels, those of one channel side by side."""
    size = node.attribute("blocksize")
    batch, channels, height, width = node.shape(0)
    blocks = node[0].reshape(batch, channels, height // size, size, width // size, size)
    return op.transpose(blocks, [0, 1, 3, 5, 2, 4]).reshape(
        batch, channels * size * size, height // size, width // size
    )


@operator("ReverseSequence")
def reversed_rows(node: Node) -> Tensor:
    """The first elements of each row in the opposite order."""
    time, batch = node.attribute("time_axis", 0), node.attribute("batch_axis", 1)
    rank, own = node.rank(0), node.shape(0)
    lengths = positions(node, 1).reshape(
        *(own[batch] if axis == batch else 1 for axis in range(rank))
    )
    steps = op.arange(own[time], dtype="int32").reshape(
        *(own[time] if axis == time else 1 for axis in range(rank))
    )
    from_end = op.where(steps < lengths, lengths - 1 - steps, steps)
    return op.take_along_axis(node[0], op.broadcast_to(from_end, own), time)
