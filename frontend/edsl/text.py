"""Tile functions in text as functions of tensors: nodes that emit their statements.

What a function gives is found out where it is applied, by a program of that call alone:
a tensor, a size that further functions may take as a size, or a tuple.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    TensorType,
    UnrankedTensorType,
)
from xdsl.ir import Attribute

from ...dialects.eltwise.ops import ANY_ELEMENT
from ...errors import SourceLocation
from ..builder import ProgramBuilder
from ..index_space import Size
from ..tile_text import TileFunction
from ..tuples import AnyValue, Tuple
from .graph import Emitting, Literal, Node, NodeResult, Result, SizeSymbol
from .locations import error
from .operands import tensor_node
from .tensors import Tensor


@dataclass(frozen=True)
class TupleForm:
    """What the parts of a tuple are."""

    parts: tuple[Form, ...]
    is_random: bool


Form: TypeAlias = (
    TensorType[Attribute]
    | UnrankedTensorType[Attribute]
    | IndexType
    | int
    | float
    | TupleForm
)
"""What is known of a value: a tensor's type, `index` for a size, or a number."""


class TextCall(Node):
    """A Tile function that is applied to tensors, sizes and numbers."""

    def __init__(self, function: TileFunction, operands: Sequence[Node]) -> None:
        super().__init__(operands, None)
        self.function = function
        # The dimensions of one application have nothing to do with those of another.
        self._symbols: dict[str, SizeSymbol] = {}

    def emit(self, to: Emitting) -> Result:
        """The statements of the function, in the place of the call."""
        operands = [to.any_value(operand) for operand in self.operands]
        return self.function.apply(
            to.builder, operands, lambda name: to.size_name(self._symbol(name))
        )

    def _symbol(self, name: str) -> SizeSymbol:
        return self._symbols.setdefault(name, SizeSymbol(name))


class TextResult(NodeResult):
    """An output of a Tile function."""

    def __init__(self, whole: TextCall, number: int, form: Form) -> None:
        name = whole.function.output_names[number]
        super().__init__(whole, number, _rank(form), name)
        self.form = form

    @property
    def is_size(self) -> bool:
        """Whether the output was computed from sizes alone."""
        return isinstance(self.form, IndexType | int)

    def check_tensor(self) -> None:
        """Raise GinghamError where the output is several tensors at once."""
        if isinstance(self.form, TupleForm):
            description = Tuple((), self.form.is_random)
            raise error(
                f"expected a tensor, {self.describe()} is {description.description}",
                description.hint,
            )


def texts_of(nodes: Sequence[Node]) -> dict[str, str]:
    """The texts of all functions that these nodes need, by the names of their files.

    A name that two texts share is left out, as locations do not tell them apart.
    """
    found: dict[str, set[str]] = {}
    reached = set(nodes)
    pending = list(reached)
    while pending:
        node = pending.pop()
        if isinstance(node, TextCall):
            source = node.function.source
            found.setdefault(source.file, set()).add(source.text)
        pending += set(node.operands) - reached
        reached.update(node.operands)
    return {file: texts.pop() for file, texts in found.items() if len(texts) == 1}


def apply_text(function: TileFunction, inputs: Sequence[Any]) -> list[Tensor]:
    """The outputs of a Tile function for these inputs, as tensors of a program.

    Inputs are what can be used like tensors, and tuples that other functions gave.
    Raises GinghamError for a wrong number of inputs, and for what does not fit the
    function already by its number of axes.
    """
    if len(inputs) != len(function.input_names):
        raise error(
            f"the function has {len(function.input_names)} input(s) "
            f"({', '.join(function.input_names)}), got {len(inputs)}"
        )
    nodes = [
        value.node if isinstance(value, Tensor) else tensor_node(value)
        for value in inputs
    ]
    whole = TextCall(function, nodes)
    builder = ProgramBuilder()
    values = [_stand_in(builder, _form(node), whole.location) for node in nodes]
    results = function.apply(builder, values, str)
    return [
        Tensor.of(TextResult(whole, number, _form_of(builder, result, whole.location)))
        for number, result in enumerate(results)
    ]


def _form(node: Node) -> Form:
    """What is known of a value of the graph."""
    if isinstance(node, TextResult):
        return node.form
    if isinstance(node, Literal):
        return node.number
    if node.is_size:
        return IndexType()
    return _tensor_form(node.rank)


def _tensor_form(rank: int | None) -> Form:
    if rank is None:
        return UnrankedTensorType(ANY_ELEMENT)
    return TensorType(ANY_ELEMENT, [DYNAMIC_INDEX] * rank)


def _rank(form: Form) -> int | None:
    if isinstance(form, TensorType):
        return form.get_num_dims()
    return None if isinstance(form, UnrankedTensorType) else 0


def _form_of(builder: ProgramBuilder, value: AnyValue, at: SourceLocation) -> Form:
    """What a value of such a program is."""
    if isinstance(value, Tuple):
        parts = tuple(_form_of(builder, part, at) for part in value.elements)
        return TupleForm(parts, value.is_random)
    if isinstance(value, Size):
        return value.value if isinstance(value.value, int) else IndexType()
    if isinstance(value, int | float):
        return value
    type = builder.tensor(value, at).type
    return _tensor_form(type.get_num_dims() if isinstance(type, TensorType) else None)


def _stand_in(builder: ProgramBuilder, form: Form, at: SourceLocation) -> AnyValue:
    """A value of this form, about which no more is known."""
    if isinstance(form, TupleForm):
        parts = tuple(_stand_in(builder, part, at) for part in form.parts)
        return Tuple(parts, form.is_random)
    if isinstance(form, float):
        return form
    if isinstance(form, int):
        return Size(int(form))
    type = TensorType(ANY_ELEMENT, []) if isinstance(form, IndexType) else form
    value = builder.add_input("I", None, at, type)
    if not isinstance(form, IndexType):
        return value
    size = builder.number(value, at)
    return value if size is None else size
