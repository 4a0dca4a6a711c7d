"""`Call`: any function of Tile text, by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...dialects.eltwise.table import CALLS, FUNCTIONS
from ...errors import SourceLocation
from ...suggestions import did_you_mean
from ..builder import ProgramBuilder, Value
from ..composite_builder import CompositeBuilder
from ..index_space import Size
from ..special_builder import SpecialBuilder
from . import specials
from .dims import TensorDim, apply_to_sizes, is_size, size_node
from .functions import as_bool, as_float, as_int, as_uint
from .graph import Call as CallNode
from .graph import Input, Node, Result
from .locations import assigned_name, error
from .tensors import Tensor, apply, tensor_node


def Call(function: str, *operands: Any) -> Any:
    """The function that Tile text calls by this name: element-wise or special.

    Those that text has and Python has no function for are `mad`, `match` and
    `broadcast` of sizes, `assert_<anything>` of a condition on sizes, `simple_reduce`,
    and `builtin_softmax`, `builtin_logsoftmax` and `builtin_binary_crossentropy`.
    """
    if function in CALLS:
        _check_count(function, operands, CALLS[function].arity)
        return _element_wise(CALLS[function].name, operands)
    if function in _FUNCTIONS:
        return _FUNCTIONS[function](*operands)
    if function in _COMPOSITES:
        return _composite(function, operands)
    if function in _OF_SIZES:
        _check_count(function, operands, _OF_SIZES[function] or len(operands) or 1)
        return _of_sizes(function, operands)
    if function.startswith("assert_"):
        _check_count(function, operands, 1)
        return _of_sizes(function, operands)
    known = [*CALLS, *_FUNCTIONS, *_COMPOSITES, *_OF_SIZES]
    raise error(
        f"unknown function '{function}'",
        did_you_mean(function, known)
        or "docs/functions.md and docs/special-functions.md list the functions",
    )


def _check_count(function: str, operands: Sequence[Any], count: int) -> None:
    if len(operands) != count:
        raise error(f"'{function}' takes {count} operands, got {len(operands)}")


def _element_wise(function: str, operands: Sequence[Any]) -> Any:
    has_sizes = any(isinstance(operand, TensorDim) for operand in operands)
    if has_sizes and all(map(is_size, operands)) and FUNCTIONS[function].fold:
        return apply_to_sizes(function, *operands)
    return apply(function, *operands)


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "as_bool": as_bool,
    "as_float": as_float,
    "as_int": as_int,
    "as_uint": as_uint,
    "argsort": specials.argsort,
    "element": specials.element,
    "gather": specials.gather,
    "index": specials.index,
    "prng_state": specials.prng_state,
    "prng_step": specials.prng_step,
    "prng_value": specials.prng_value,
    "reshape": specials.reshape,
    "scatter": specials.scatter,
    "shape": specials.shape,
}

_Composite = Callable[[ProgramBuilder, Sequence[Value], SourceLocation], Result]


def _simple_reduce(
    builder: ProgramBuilder, values: Sequence[Value], at: SourceLocation
) -> Result:
    sizes = [value for value in values[1:] if isinstance(value, Size)]
    return SpecialBuilder(builder).simple_reduce(values[0], sizes, at)


def _rows(
    method: Callable[[CompositeBuilder, Value, Size, SourceLocation], Value],
) -> _Composite:
    """A function of a tensor with two axes, and its sizes."""

    def build(
        builder: ProgramBuilder, values: Sequence[Value], at: SourceLocation
    ) -> Result:
        tensor, rows, _ = values
        if not isinstance(rows, Size):
            raise error("expected the number of rows to be a size", None, at)
        return method(CompositeBuilder(builder), tensor, rows, at)

    return build


_COMPOSITES: Mapping[str, tuple[int | None, _Composite]] = {
    "mad": (3, lambda b, x, at: CompositeBuilder(b).multiply_add(x[0], x[1], x[2], at)),
    "simple_reduce": (None, _simple_reduce),
    "builtin_softmax": (3, _rows(CompositeBuilder.softmax)),
    "builtin_logsoftmax": (3, _rows(CompositeBuilder.log_softmax)),
    "builtin_binary_crossentropy": (
        3,
        lambda b, x, at: CompositeBuilder(b).binary_crossentropy(x[0], x[1], at),
    ),
}
"""The number of operands and what makes the ops; the result has the first's rank."""


def _composite(function: str, operands: Sequence[Any]) -> Tensor:
    count, build = _COMPOSITES[function]
    if count is not None:
        _check_count(function, operands, count)
    nodes = [tensor_node(operand) for operand in operands]
    rank = nodes[0].rank if count is not None else len(nodes) - 1
    return Tensor.of(CallNode(build, nodes, rank, assigned_name()))


_OF_SIZES: Mapping[str, int | None] = {"broadcast": None, "match": 2}
"""The number of operands; None for one or more."""


def _of_sizes(function: str, operands: Sequence[Any]) -> TensorDim:
    """A size that is checked wherever the inputs that it comes from are used."""
    nodes = [size_node(operand, f"an operand of '{function}'") for operand in operands]

    def build(
        builder: ProgramBuilder, values: Sequence[Value], at: SourceLocation
    ) -> Result:
        special = SpecialBuilder(builder)
        sizes = [value for value in values if isinstance(value, Size)]
        if function == "match":
            return special.match(sizes[0], sizes[1], at)
        if function == "broadcast":
            return special.broadcast(sizes, at)
        return special.check(sizes[0], function, at)

    name = assigned_name()
    node = CheckedSize(function, build, nodes, name)
    for given in _inputs(node):
        given.checks.append(node)
    return TensorDim.make(name, node)


class CheckedSize(CallNode):
    """A function of sizes that also says which sizes are legal."""

    def __init__(
        self,
        function: str,
        build: Callable[[ProgramBuilder, list[Value], SourceLocation], Result],
        operands: Sequence[Node],
        name: str | None,
    ) -> None:
        super().__init__(build, operands, 0, name)
        self._function = function

    @property
    def is_size(self) -> bool:
        """True: what it gives can stand where a size is asked for."""
        return True

    def fold(self, *sizes: int) -> int:
        """Its value, for sizes that are legal."""
        if self._function == "broadcast":
            return next((size for size in sizes if size != 1), 1)
        return sizes[0]


def _inputs(node: Node) -> list[Input]:
    """The inputs that a size comes from."""
    found: dict[Node, None] = {}
    pending = [node]
    while pending:
        for operand in pending.pop().operands:
            if operand not in found:
                found[operand] = None
                pending.append(operand)
    return [operand for operand in found if isinstance(operand, Input)]
