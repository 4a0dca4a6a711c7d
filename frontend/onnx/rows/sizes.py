"""Operators whose results depend on sizes alone, or on values that sizes depend on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....errors import GinghamError
from ..node import Node
from ..table import operator
from ..tensors import check_sizes

if TYPE_CHECKING:
    from numpy.typing import NDArray


@operator("Shape")
def shape(node: Node) -> NDArray[Any]:
    """The sizes of a tensor, or some of them."""
    import numpy as np

    sizes = node.shape(0)
    return np.array(sizes[_start(node) : _end(node)], np.int64)


def _start(node: Node) -> int:
    return node.attribute("start", 0)


def _end(node: Node) -> int | None:
    return node.attribute("end")


@operator("Size")
def size(node: Node) -> NDArray[Any]:
    """How many elements a tensor has."""
    import numpy as np

    return np.array(np.prod(node.shape(0), dtype=np.int64), np.int64)


@operator("Range", known=(0, 1, 2))
def steps(node: Node) -> NDArray[Any]:
    """Numbers from one to another in steps."""
    import numpy as np

    start, limit, delta = (node.array(position).ravel()[0] for position in range(3))
    if not float(delta):
        raise GinghamError("the step is 0")
    count = max(int(np.ceil((float(limit) - float(start)) / float(delta))), 0)
    check_sizes((count,), node.dtype(0).itemsize, str(node))
    numbers = np.arange(count, dtype=np.float64 if node.is_float(0) else np.int64)
    return (start + numbers * delta).astype(node.dtype(0))
