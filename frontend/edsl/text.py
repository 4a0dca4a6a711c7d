"""Tile functions in text as functions of tensors: nodes that emit their statements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, UnrankedTensorType

from ...dialects.eltwise.ops import ANY_ELEMENT
from ..builder import ProgramBuilder, Value
from ..index_space import Size
from ..tile_text import TileFunction
from .graph import Emitting, Literal, Node, Part, Result, SizeSymbol
from .locations import error
from .tensors import Tensor, tensor_node


class TextCall(Node):
    """A Tile function that is applied to tensors, sizes and numbers."""

    def __init__(self, function: TileFunction, operands: Sequence[Node]) -> None:
        super().__init__(operands, None)
        self.function = function
        # The dimensions of one application have nothing to do with those of another.
        self._symbols: dict[str, SizeSymbol] = {}

    def emit(self, to: Emitting) -> Result:
        operands = [to.value(operand) for operand in self.operands]
        return self.function.apply(
            to.builder, operands, lambda name: to.size_name(self._symbol(name))
        )

    def _symbol(self, name: str) -> SizeSymbol:
        return self._symbols.setdefault(name, SizeSymbol(name))


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

    Raises GinghamError for a wrong number of inputs, and for what does not fit the
    function already by its number of axes.
    """
    if len(inputs) != len(function.input_names):
        raise error(
            f"the function has {len(function.input_names)} input(s) "
            f"({', '.join(function.input_names)}), got {len(inputs)}"
        )
    nodes = [tensor_node(value) for value in inputs]
    whole = TextCall(function, nodes)
    ranks = _ranks(function, nodes, whole)
    return [
        Tensor.of(Part(whole, n, rank, name))
        for n, (name, rank) in enumerate(zip(function.output_names, ranks, strict=True))
    ]


def _ranks(
    function: TileFunction, operands: Sequence[Node], whole: Node
) -> list[int | None]:
    """The number of axes of each output, found out by a program of this call alone."""
    builder = ProgramBuilder()
    values: list[Value] = []
    for number, node in enumerate(operands):
        if isinstance(node, Literal):
            given = node.number
            values.append(given if isinstance(given, float) else Size(int(given)))
            continue
        type = (
            UnrankedTensorType(ANY_ELEMENT)
            if node.rank is None
            else TensorType(ANY_ELEMENT, [DYNAMIC_INDEX] * node.rank)
        )
        values.append(builder.add_input(f"I{number}", None, whole.location, type))
    ranks: list[int | None] = []
    for value in function.apply(builder, values, str):
        result = builder.tensor(value, whole.location).type
        known = isinstance(result, TensorType)
        ranks.append(result.get_num_dims() if known else None)
    return ranks
