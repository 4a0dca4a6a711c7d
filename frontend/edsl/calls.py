"""`Call`: any function of Tile text, by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...dialects.eltwise.table import CALLS, FUNCTIONS
from ...dialects.tile.options import SpecialOptions
from ...errors import SourceLocation
from ...suggestions import did_you_mean
from ..builder import ProgramBuilder, Value
from ..index_space import Size
from ..special_builder import SpecialBuilder
from ..special_table import SPECIAL_FUNCTIONS, Arguments
from . import specials
from .dims import is_size, size_node
from .functions import as_bool, as_float, as_int, as_uint
from .graph import Call as CallNode
from .graph import Input, Node, Result
from .locations import assigned_name, error
from .special_nodes import special_call
from .tensors import Tensor, TensorDim, apply, apply_to_sizes


def Call(function: str, *operands: Any, **options: Any) -> Any:
    """The function that Tile text calls by this name: element-wise or special.

    Those that text has and Python has no function for are `mad`, `match` and
    `broadcast` of sizes, `assert_<anything>` of a condition on sizes, `simple_reduce`,
    and `builtin_softmax`, `builtin_logsoftmax` and `builtin_binary_crossentropy`.
    """
    row = SPECIAL_FUNCTIONS.get(function)
    if function in CALLS:
        _check_count(function, operands, CALLS[function].arity)
        return _element_wise(CALLS[function].name, operands)
    if function in _FUNCTIONS:
        return _FUNCTIONS[function](*operands, **options)
    if function.startswith("assert_"):
        _check_count(function, operands, 1)
        return _of_sizes(function, operands)
    if row is not None and row.gives_size:
        _check_count(function, operands, row.sizes or len(operands) or 1)
        return _of_sizes(function, operands)
    if row is not None:
        return Tensor.of(special_call(function, operands, **options))
    known = [*CALLS, *_FUNCTIONS, *SPECIAL_FUNCTIONS]
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
    "index": specials.index,
    "prng_state": specials.prng_state,
    "prng_step": specials.prng_step,
    "prng_value": specials.prng_value,
}


def _of_sizes(function: str, operands: Sequence[Any]) -> TensorDim:
    """A size that is checked wherever the inputs that it comes from are used."""
    nodes = [size_node(operand, f"an operand of '{function}'") for operand in operands]

    def build(
        builder: ProgramBuilder, values: Sequence[Value], at: SourceLocation
    ) -> Result:
        sizes = [value for value in values if isinstance(value, Size)]
        row = SPECIAL_FUNCTIONS.get(function)
        if row is None:
            return SpecialBuilder(builder).check(sizes[0], function, at)
        return row.build(Arguments(builder, (), sizes, SpecialOptions(), at))

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
