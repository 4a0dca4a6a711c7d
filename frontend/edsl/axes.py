"""The sizes of the axes of a tensor: what names them, and what they have to be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .dims import Dimension, size_node
from .dtypes import TensorShape, element_type
from .graph import Input, Node, SizeSymbol
from .locations import error, names_of_several
from .operands import flattened
from .size_nodes import SizeCheck, SizeOf, Sizes


def bind_sizes(node: Node, wanted: Sequence[Any]) -> None:
    """Have the sizes of a tensor be these: see `Tensor.bind_dims`."""
    _learn_rank(node, len(wanted))
    check_rank(node, len(wanted))
    existing = named_sizes(node)
    symbols = [SizeSymbol(None) for _ in wanted]
    if existing is not None:
        symbols = list(existing.symbols)
    first: dict[Dimension, int] = {}
    _check_known(node, wanted)
    for axis, dim in enumerate(wanted):
        if not isinstance(dim, Dimension):
            continue
        if dim.is_bound:
            symbols[axis] = _symbol(dim) or symbols[axis]
        elif dim in first:
            symbols[axis] = symbols[first[dim]]
        else:
            first[dim] = axis
            symbols[axis].name = symbols[axis].name or dim.name
    sizes = existing
    if sizes is None or symbols != list(sizes.symbols):
        sizes = Sizes(node, symbols)
        node.checks.append(sizes)
    for dim, axis in first.items():
        dim.bind(SizeOf(sizes, axis))
    for axis, dim in enumerate(wanted):
        if dim is not None and not _is_named(dim):
            _require(node, sizes, axis, dim)


def _require(node: Node, sizes: Sizes, axis: int, size: Any) -> None:
    """Have the size of an axis compared with a number or a computed size."""
    wanted = size_node(size, f"the size of axis {axis}")
    node.checks.append(SizeCheck(SizeOf(sizes, axis), wanted))


def input_node(dtype: Any, dims: Any, name: str | None) -> Input:
    """The input that `Placeholder` describes."""
    if isinstance(dtype, TensorShape):
        dtype, dims = dtype.dtype, dtype.sizes
    if isinstance(dims, str):
        dims = [Dimension(axis) for axis in names_of_several(dims)]
    element = None if dtype is None else element_type(dtype)
    if dims is None:
        return Input(None, element, name)
    sizes = flattened([dims])
    node = Input([_extent(size) for size in sizes], element, name)
    named = [size if isinstance(size, Dimension) else None for size in sizes]
    if any(size is not None for size in named):
        bind_sizes(node, named)
    return node


def _extent(size: object) -> int | None:
    if size is None or isinstance(size, Dimension):
        return None
    if not isinstance(size, int) or isinstance(size, bool):
        raise error(
            f"expected a size to be an integer, None or a TensorDim, got "
            f"{type(size).__name__}"
        )
    if size < 0:
        raise error(f"a size is negative: {size}")
    return size or None


def check_rank(
    node: Node, count: int, noun: str = "size", plural: str = "sizes"
) -> None:
    """Raise GinghamError when a tensor has another number of axes."""
    if node.rank is None or node.rank == count:
        return
    axes = "1 axis" if node.rank == 1 else f"{node.rank} axes"
    raise error(
        f"{node.describe()} has {axes}, got {count} {noun if count == 1 else plural}",
        f"it is made at {node.location}",
    )


def named_sizes(node: Node) -> Sizes | None:
    """What names the sizes of a tensor, if something does."""
    return next((check for check in node.checks if isinstance(check, Sizes)), None)


def _symbol(dim: Dimension) -> SizeSymbol | None:
    """The name of a size that is that of an axis; None for a computed one."""
    return dim.node.symbol if isinstance(dim.node, SizeOf) else None


def _is_named(dim: object) -> bool:
    return isinstance(dim, Dimension) and _symbol(dim) is not None


def known_rank(node: Node) -> int:
    """The number of axes. Raises GinghamError where it is not known."""
    if node.rank is None:
        raise error(
            f"the number of axes of {node.describe()} is not known here",
            "bind_dims of the input that it comes from says what it is",
        )
    return node.rank


def _learn_rank(node: Node, rank: int) -> None:
    """An input of any rank has the rank that bind_dims says."""
    if isinstance(node, Input) and node.shape is None:
        node.rank, node.shape = rank, (None,) * rank
    known_rank(node)


def _check_known(node: Node, wanted: Sequence[Any]) -> None:
    """Compare sizes with what they have to be, where both are known already."""
    numbers: dict[Dimension, int | None] = {}
    for axis, (known, dim) in enumerate(
        zip(node.known_sizes or (), wanted, strict=True)
    ):
        if dim is None:
            continue
        number, name = None, ""
        if not isinstance(dim, Dimension):
            number = size_node(dim, f"the size of axis {axis}").known_number
        elif dim.is_bound:
            number, name = dim.node.known_number, dim.name
        else:
            number, name = numbers.setdefault(dim, known), dim.name
        if None in (known, number) or known == number:
            continue
        what = f"{name} = {number}" if name else f"{number}"
        raise error(f"axis {axis} of {node.describe()} has size {known}, not {what}")
