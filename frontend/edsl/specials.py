"""The special functions: shapes, chosen cells, order, random numbers, gradients."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from functools import partial
from typing import Any, TypeVar

from xdsl.dialects.builtin import DYNAMIC_INDEX

from ...dialects.tile.gather import CUBE_COEFFICIENT
from ...dialects.tile.gather import Interpolation as InterpolationMode
from ...dialects.tile.gather import NearestMode as NearestMode
from ...dialects.tile.indexing import OutOfBounds as OutOfBoundsMode
from ...dialects.tile.special_shapes import GatherMode as GatherMode
from ...dialects.tile.special_shapes import ScatterMode as ScatterMode
from ...dialects.tile.special_shapes import (
    gathered,
    normalized_axis,
    reshaped,
    scattered,
)
from ...errors import SourceLocation
from ..builder import ProgramBuilder, Value
from ..index_space import Size
from ..special_builder import SpecialBuilder
from .dims import TensorDim, is_integer, size_node
from .graph import Apply, Call, Input, Literal, Node, NumberOf, Part, Result
from .locations import assigned_name, assigned_names, error
from .tensors import Tensor, flattened, tensor_node

_Option = TypeVar("_Option", bound=Enum)


class SortDirection(Enum):
    """The order in which `argsort` puts elements."""

    ASC = "ascending"
    DESC = "descending"


def reshape(x: Any, *dims: Any) -> Tensor:
    """The elements of `x` in row-major order with other sizes, as many in all."""
    source, sizes = tensor_node(x), _sizes(dims)
    target = [size.known_number for size in sizes]
    _check_shapes("reshape", reshaped, source.known_sizes, target)

    def emit(
        special: SpecialBuilder, values: Sequence[Value], at: SourceLocation
    ) -> Result:
        return special.reshape(values[0], _as_sizes(values[1:]), at)

    return _special(emit, [source, *sizes], len(sizes))


def shape(x: Any) -> Tensor:
    """The sizes of `x` as a vector of 32-bit integers."""
    return _special(
        lambda special, values, at: special.shape(values[0], at), [tensor_node(x)], 1
    )


def index(dims: Any, axis: int) -> Tensor:
    """The coordinate along `axis` of each cell, as 32-bit integers.

    The cells are those of a tensor, or of sizes that are given in a list.
    """
    axis = _integer(axis, "the axis")
    if isinstance(dims, Tensor):
        node = dims.node
        _check_axis("index", axis, node.rank)
        return _special(
            lambda special, values, at: special.index(values[0], axis, at),
            [node],
            node.rank,
        )
    sizes = _sizes([dims])
    _check_axis("index", axis, len(sizes))
    return _special(
        lambda special, values, at: special.index_of_sizes(_as_sizes(values), axis, at),
        sizes,
        len(sizes),
    )


def gather(
    values: Any,
    indices: Any,
    axis: int = 0,
    *,
    batch_dims: int = 0,
    mode: GatherMode | str = GatherMode.NORMAL,
    interpolation: InterpolationMode | str = InterpolationMode.NONE,
    nearest_mode: NearestMode | str = NearestMode.ROUND_PREFER_FLOOR,
    cube_coefficient: float = CUBE_COEFFICIENT,
    out_of_bounds: OutOfBoundsMode | str = OutOfBoundsMode.CLAMP,
) -> Tensor:
    """The cells of `values` that `indices` choose along an axis.

    Indices that are floats need an interpolation: nearest, linear or cubic. In mode nd
    the last axis of `indices` holds the coordinates along several axes. Indices out of
    bounds are clamped, or with `out_of_bounds="zero"` give 0.
    """
    axis = _integer(axis, "the axis")
    batch_dims = _integer(batch_dims, "batch_dims")
    kind = _option(GatherMode, mode, "mode")
    between = _option(InterpolationMode, interpolation, "interpolation")
    nearest = _option(NearestMode, nearest_mode, "nearest_mode")
    outside = _option(OutOfBoundsMode, out_of_bounds, "out_of_bounds")
    nodes = [tensor_node(values), tensor_node(indices)]
    _check_shapes(
        "gather",
        partial(gathered, mode=kind, axis=axis, batch_dims=batch_dims),
        *(node.known_sizes for node in nodes),
    )

    def emit(
        special: SpecialBuilder, values: Sequence[Value], at: SourceLocation
    ) -> Result:
        return special.gather(
            values[0],
            values[1],
            at,
            axis=axis,
            batch_dims=batch_dims,
            mode=kind,
            interpolation=between,
            nearest_mode=nearest,
            cube_coefficient=cube_coefficient,
            out_of_bounds=outside,
        )

    return _special(emit, nodes, _gathered_rank(nodes, batch_dims, kind))


def _gathered_rank(
    nodes: Sequence[Node], batch_dims: int, mode: GatherMode
) -> int | None:
    values, indices = nodes
    if values.rank is None or indices.rank is None:
        return None
    if mode is GatherMode.NORMAL:
        return values.rank + indices.rank - 1 - batch_dims
    # How many axes are chosen from is the size of the last axis of the indices.
    if not isinstance(indices, Input) or not indices.shape:
        return None
    chosen = indices.shape[-1]
    if chosen is None:
        return None
    return indices.rank - 1 + values.rank - batch_dims - chosen


def scatter(
    updates: Any,
    indices: Any,
    base: Any,
    axis: int = 0,
    *,
    mode: ScatterMode | str = ScatterMode.NORMAL,
    out_of_bounds: OutOfBoundsMode | str = OutOfBoundsMode.CLAMP,
) -> Tensor:
    """The `updates` put where `indices` say.

    In mode normal they are added up in a tensor of zeros that has the size of `base`
    along the axis. The modes update_slice, update_elt and update_nd overwrite cells of
    `base`. Indices out of bounds are clamped, or with `out_of_bounds="zero"` dropped.
    """
    axis = _integer(axis, "the axis")
    kind = _option(ScatterMode, mode, "mode")
    bounds = _option(OutOfBoundsMode, out_of_bounds, "out_of_bounds")
    nodes = [tensor_node(updates), tensor_node(indices), tensor_node(base)]
    _check_shapes(
        "scatter",
        partial(scattered, mode=kind, axis=axis),
        *(node.known_sizes for node in nodes),
    )
    rank = nodes[2].rank
    if kind is ScatterMode.NORMAL:
        ranks = nodes[0].rank, nodes[1].rank
        rank = None if None in ranks else 1 + (ranks[0] or 0) - (ranks[1] or 0)

    def emit(
        special: SpecialBuilder, values: Sequence[Value], at: SourceLocation
    ) -> Result:
        first, second, third = values
        return special.scatter(
            first, second, third, at, axis=axis, mode=kind, out_of_bounds=bounds
        )

    return _special(emit, nodes, rank)


def argsort(
    x: Any,
    axis: int = -1,
    direction: SortDirection | str = SortDirection.ASC,
    *,
    order: SortDirection | str | None = None,
) -> Tensor:
    """Where the elements stand that sorting along an axis puts in order.

    Equal elements keep their order; NaN is last in both directions. `order` is what the
    text calls the direction, and goes before it.
    """
    axis = _integer(axis, "the axis")
    name = "direction" if order is None else "order"
    chosen = _option(SortDirection, direction if order is None else order, name)
    descending = chosen is SortDirection.DESC
    node = tensor_node(x)
    _check_axis("argsort", axis, node.rank)
    return _special(
        lambda special, values, at: special.argsort(
            values[0], axis, at, descending=descending
        ),
        [node],
        node.rank,
    )


# Random numbers


class TensorTuple:
    """The results of a function that has several."""

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        self._tensors = tuple(tensors)

    def element(self, number: int) -> Tensor:
        """One of the results, from 0."""
        if not 0 <= number < len(self._tensors):
            raise error(f"expected 0 to {len(self._tensors) - 1}, got {number}")
        node = self._tensors[number].node
        node.name = node.name or assigned_name()
        return self._tensors[number]

    __getitem__ = element

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)


def element(several: Any, number: int) -> Tensor:
    """One of the results of a function that has several, from 0."""
    return several.element(number)


def prng(state: Any, *dims: Any) -> tuple[Tensor, Tensor]:
    """Random numbers from 0 to 1 of these sizes, and the state for the next ones.

    The state has type ui32 and shape [1, 3], or [3, L] for L numbers at a time.
    """
    sizes = _sizes(dims)
    node = tensor_node(state)

    def build(
        builder: ProgramBuilder, values: Sequence[Value], at: SourceLocation
    ) -> Result:
        return SpecialBuilder(builder).prng(values[0], _as_sizes(values[1:]), at)

    names = assigned_names()
    first, second = names if len(names) == 2 else (None, None)
    both = Call(build, [node, *sizes], None)
    return (
        Tensor.of(Part(both, 0, len(sizes), first)),
        Tensor.of(Part(both, 1, 2, second)),
    )


def prng_step(state: Any, *dims: Any) -> TensorTuple:
    """Random numbers and the next state, for `prng_value` and `prng_state`."""
    return TensorTuple(prng(state, *dims))


def prng_value(step: TensorTuple) -> Tensor:
    """The random numbers of a step."""
    return step.element(0)


def prng_state(step: TensorTuple) -> Tensor:
    """The state behind a step."""
    return step.element(1)


# Gradients


def gradients(loss: Any, variables: Sequence[Tensor] | Tensor) -> list[Tensor]:
    """The derivative of the sum of `loss` by each element of each variable."""
    wanted = [variables] if isinstance(variables, Tensor) else list(variables)
    nodes = [tensor_node(loss), *(tensor_node(variable) for variable in wanted)]
    names = assigned_names()

    def build(
        builder: ProgramBuilder, values: Sequence[Value], at: SourceLocation
    ) -> Result:
        return builder.gradient(values[0], values[1:], at)

    whole = Call(build, nodes, None)
    return [
        Tensor.of(
            Part(whole, n, node.rank, names[n] if len(names) == len(wanted) else None)
        )
        for n, node in enumerate(nodes[1:])
    ]


def as_dim(x: Tensor) -> TensorDim:
    """An integer input of rank 0, or what is computed of such, as a size."""
    name = assigned_name() or x.node.name
    sizes: dict[Node, Node] = {}
    pending = [x.node]
    while pending:
        node = pending[-1]
        parts: Sequence[Node] = () if node.is_size else _integers(node)
        missing = [part for part in parts if part not in sizes]
        if missing:
            pending += missing
            continue
        pending.pop()
        sizes[node] = _as_size(node, [sizes[part] for part in parts])
    return TensorDim.make(name, sizes[x.node])


def _integers(node: Node) -> Sequence[Node]:
    """What a known integer is computed from; GinghamError for what is none."""
    if isinstance(node, Apply) and node.function.fold is not None:
        return node.operands
    if isinstance(node, Input) and node.rank in (None, 0):
        return ()
    raise error(
        f"{node.describe()} is neither an input of rank 0 nor computed of such",
        "sizes are known before anything runs",
    )


def _as_size(node: Node, parts: Sequence[Node]) -> Node:
    if node.is_size:
        return node
    if isinstance(node, Apply):
        return Apply(node.function, parts, node.name)
    if isinstance(node, Input) and node.constant is not None:
        return Literal(int(node.constant))
    if isinstance(node, Input):
        return NumberOf(node)
    raise ValueError(f"{node} is no integer")


def zero() -> Tensor:
    """The number 0, which takes the type of what it is combined with."""
    return Tensor.of(Literal(0))


# What they share


def _special(
    emit: Callable[[SpecialBuilder, Sequence[Value], SourceLocation], Result],
    nodes: Sequence[Node],
    rank: int | None,
) -> Tensor:
    def build(
        builder: ProgramBuilder, values: Sequence[Value], at: SourceLocation
    ) -> Result:
        return emit(SpecialBuilder(builder), values, at)

    return Tensor.of(Call(build, nodes, rank, assigned_name()))


def _sizes(dims: Sequence[Any]) -> list[Node]:
    return [size_node(dim, "a size") for dim in flattened(dims)]


def _as_sizes(values: Sequence[Value]) -> list[Size]:
    return [value for value in values if isinstance(value, Size)]


def _integer(value: Any, what: str) -> int:
    if isinstance(value, bool) or not is_integer(value):
        raise error(f"expected {what} to be an integer, got {type(value).__name__}")
    return operator.index(value)


def _check_axis(function: str, axis: int, rank: int | None) -> None:
    if rank is None:
        return
    try:
        normalized_axis(axis, rank)
    except ValueError as reason:
        raise error(f"'{function}': {reason}") from None


def _check_shapes(
    function: str, rule: Callable[..., object], *shapes: Sequence[int | None] | None
) -> None:
    """Raise GinghamError for shapes that a rule objects to, where they are known."""
    known = [shape for shape in shapes if shape is not None]
    if len(known) < len(shapes):
        return
    try:
        rule(*(tuple(DYNAMIC_INDEX if s is None else s for s in k) for k in known))
    except ValueError as reason:
        raise error(f"'{function}': {reason}") from None


def _option(kind: type[_Option], value: _Option | str, what: str) -> _Option:
    """A member of an enumeration, or its name or value in any case."""
    if isinstance(value, kind):
        return value
    for member in kind:
        if str(value).lower() in (member.name.lower(), str(member.value)):
            return member
    names = ", ".join(str(member.value) for member in kind)
    raise error(f"expected {what} to be one of {names}, got {value!r}")
