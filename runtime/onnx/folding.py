"""Nodes that are computed before the model runs, as they depend on no call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...frontend.onnx.values import TensorValue, Value
from ...limits import LARGEST_FOLDED
from .graphs import Context, free_names
from .host import CHANCE, HostNode

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnx import NodeProto

_UNFOLDED = CHANCE | {"Constant"}
"""Operators that are not computed before the model runs."""

_GROWING = frozenset(
    "ConstantOfShape Expand OneHot Pad Range Resize Tile Upsample".split()
)
"""Operators whose results may be larger than all that they are given."""


def folded(
    context: Context,
    node: NodeProto,
    inputs: Sequence[Value | None],
    expected: Mapping[str, TensorValue],
) -> Sequence[Value | None] | None:
    """The outputs where they depend on nothing that a call gives, and are small.

    `expected` has the types of outputs by their names, as far as they are known.
    """
    import numpy as np

    names = [name for name in node.output if name]
    all_known = all(name in expected for name in names)
    if all_known and all(0 in expected[name].shape for name in names):
        empty = {
            name: np.zeros(expected[name].shape, expected[name].dtype) for name in names
        }
        return [constant(empty[name]) if name else None for name in node.output]
    if node.op_type in _UNFOLDED or free_names(node):
        return None
    arrays = _known_arrays(node, inputs)
    if arrays is None:
        return None
    sizes = [array.nbytes for array in arrays.values()]
    for name in names:
        if name not in expected:
            continue
        value = expected[name]
        sizes.append(int(np.prod(value.shape, dtype=object)) * value.dtype.itemsize)
    # Behind sizes that inference did not find may be any number of elements.
    may_be_large = not all_known and node.op_type in _GROWING
    if may_be_large or max(sizes, default=0) > LARGEST_FOLDED:
        return None
    results = HostNode(node, context.opsets).run([*arrays.values()])
    if not all(hasattr(result, "dtype") for result in results):
        return None
    given = iter(results)
    return [constant(next(given)) if name else None for name in node.output]


def _known_arrays(
    node: NodeProto, inputs: Sequence[Value | None]
) -> dict[str, NDArray[Any]] | None:
    """The arrays that a node is given, by their names; None unless all are known."""
    arrays: dict[str, NDArray[Any]] = {}
    for name, value in zip(node.input, inputs, strict=True):
        if value is None:
            continue
        if not isinstance(value, TensorValue) or value.array is None:
            return None
        arrays[name] = value.array
    return arrays


def constant(array: Any) -> TensorValue:
    """An array or number of NumPy as a value."""
    import numpy as np

    array = np.asarray(array)
    return TensorValue(array.dtype, array.shape, array)
