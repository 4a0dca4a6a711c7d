"""The special functions: shapes, chosen cells, order, random numbers, gradients."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from ...dialects.eltwise.element_types import si32
from ...dialects.tile.argsort import ArgsortOptions, SortDirection
from ...dialects.tile.gather import GatherOptions
from ...dialects.tile.options import SpecialOptions
from ...dialects.tile.scatter import ScatterOptions
from ...dialects.tile.special_shapes import normalized_axis
from ...errors import SourceLocation
from ..builder import ProgramBuilder, Value
from ..index_space import Size
from ..special_builder import SpecialBuilder
from .dims import is_integer
from .graph import Apply, Call, Input, Literal, Node, NodeResult, Result
from .locations import assigned_name, assigned_names, error
from .operands import size_nodes, tensor_node
from .size_nodes import NumberOf
from .special_nodes import option_value, special_call
from .tensors import Tensor, TensorDim

_Function = TypeVar("_Function", bound=Callable[..., Tensor])


def with_options(options: type[SpecialOptions]) -> Callable[[_Function], _Function]:
    """Have the signature of a function of any options show those that there are."""

    def decorate(function: _Function) -> _Function:
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        named = {parameter.name for parameter in own}
        further = [
            inspect.Parameter(
                option.name, inspect.Parameter.KEYWORD_ONLY, default=option.default
            )
            for option in options.options().values()
            if option.name not in named
        ]
        shown = signature.replace(parameters=[*own, *further])
        setattr(function, "__signature__", shown)
        return function

    return decorate


def reshape(x: Any, *dims: Any) -> Tensor:
    """The elements of `x` in row-major order with other sizes, as many in all."""
    return Tensor.of(special_call("reshape", [x, *dims]))


def shape(x: Any) -> Tensor:
    """The sizes of `x` as a vector of 32-bit integers."""
    return Tensor.of(special_call("shape", [x]))


@with_options(GatherOptions)
def gather(values: Any, indices: Any, axis: int = 0, **options: Any) -> Tensor:
    """The cells of `values` that `indices` choose along an axis.

    Indices that are floats need an interpolation: nearest, linear or cubic. In mode nd
    the last axis of `indices` holds the coordinates along several axes. Indices out of
    bounds are clamped, or with `out_of_bounds="zero"` give 0.
    """
    return Tensor.of(special_call("gather", [values, indices], axis=axis, **options))


@with_options(ScatterOptions)
def scatter(
    updates: Any, indices: Any, base: Any, axis: int = 0, **options: Any
) -> Tensor:
    """The `updates` put where `indices` say.

    In mode normal they are added up in a tensor of zeros that has the size of `base`
    along the axis. The modes update_slice, update_elt and update_nd overwrite cells of
    `base`. Indices out of bounds are clamped, or with `out_of_bounds="zero"` dropped.
    """
    operands = [updates, indices, base]
    return Tensor.of(special_call("scatter", operands, axis=axis, **options))


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
    if order is None:
        option = ArgsortOptions.options()["order"]
        order = str(option_value(option, direction, "direction"))
    return Tensor.of(special_call("argsort", [x], axis=axis, order=order))


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
            node.known_sizes,
        )
    sizes = size_nodes([dims])
    _check_axis("index", axis, len(sizes))
    return _special(
        lambda special, values, at: special.index_of_sizes(_as_sizes(values), axis, at),
        sizes,
        len(sizes),
        [size.known_number for size in sizes],
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
    sizes = size_nodes(dims)
    node = tensor_node(state)

    def build(
        builder: ProgramBuilder, values: Sequence[Value], at: SourceLocation
    ) -> Result:
        return SpecialBuilder(builder).prng(values[0], _as_sizes(values[1:]), at)

    names = assigned_names()
    first, second = names if len(names) == 2 else (None, None)
    both = Call(build, [node, *sizes], None)
    return (
        Tensor.of(NodeResult(both, 0, len(sizes), first)),
        Tensor.of(NodeResult(both, 1, 2, second)),
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
    hints = names if len(names) == len(wanted) else [None] * len(wanted)
    return [
        Tensor.of(NodeResult(whole, n, node.rank, hint, like=node))
        for n, (node, hint) in enumerate(zip(nodes[1:], hints, strict=True))
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
    sizes: Sequence[int | None] | None,
) -> Tensor:
    """A function that gives coordinates, of type si32."""

    def build(
        builder: ProgramBuilder, values: Sequence[Value], at: SourceLocation
    ) -> Result:
        return emit(SpecialBuilder(builder), values, at)

    return Tensor.of(
        Call(build, nodes, rank, assigned_name(), sizes=sizes, element=si32)
    )


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
