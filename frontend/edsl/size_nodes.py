"""Nodes that are sizes of tensors, or numbers among inputs, and checks of them."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.eltwise.table import FUNCTIONS
from ...dialects.tile.ops import ToIndexOp
from ..index_space import Size
from ..special_builder import SpecialBuilder
from .graph import Emitting, Input, Node, Result, SizeSymbol


class Sizes(Node):
    """Names for all sizes of a tensor."""

    def __init__(self, tensor: Node, symbols: Sequence[SizeSymbol]) -> None:
        super().__init__([tensor])
        self.symbols = tuple(symbols)

    def emit(self, to: Emitting) -> Result:
        """The `tile.sizes` that names and checks all sizes of the tensor."""
        names = [to.size_name(symbol) for symbol in self.symbols]
        tensor = to.builder.tensor(to.value(self.operands[0]), self.location)
        return to.builder.name_sizes(tensor, names, self.location)


class SizeOf(Node):
    """One of the sizes that a `Sizes` names."""

    def __init__(self, sizes: Sizes, axis: int) -> None:
        super().__init__([sizes], name=sizes.symbols[axis].name)
        self.symbol = sizes.symbols[axis]
        self.axis = axis

    @property
    def is_size(self) -> bool:
        """True."""
        return True

    @property
    def known_number(self) -> int | None:
        """The size, where the tensor's shape is known in Python."""
        sizes = self.tensor.known_sizes
        return None if sizes is None else sizes[self.axis]

    @property
    def tensor(self) -> Node:
        """The tensor whose size it is."""
        return self.operands[0].operands[0]

    def emit(self, to: Emitting) -> Result:
        """The size by its name, which a `Sizes` before it has made known."""
        return to.builder.sizes[to.size_name(self.symbol)]


class NumberOf(Node):
    """An input of rank 0 as a size: the integer that it is bound to."""

    def __init__(self, tensor: Input) -> None:
        super().__init__([tensor], name=tensor.name)

    @property
    def is_size(self) -> bool:
        """True."""
        return True

    @property
    def input(self) -> Node:
        """The input that has to be an integer."""
        return self.operands[0]

    def emit(self, to: Emitting) -> Result:
        """The `tile.to_index` of the input."""
        tensor = to.builder.tensor(to.value(self.input), self.location)
        return Size(to.builder.add(ToIndexOp(tensor), self.location).size)


class SizeCheck(Node):
    """The condition that the size of an axis is a number or a computed size."""

    def __init__(self, size: SizeOf, wanted: Node) -> None:
        super().__init__([size, wanted])
        self._tensor = size.tensor
        self._axis = size.axis

    def emit(self, to: Emitting) -> Result:
        """A check that fails, when sizes are bound, with the name of the tensor."""
        sizes = [to.value(operand) for operand in self.operands]
        is_equal = to.builder.apply(FUNCTIONS["cmp_eq"], sizes, self.location)
        what = f"bind_dims of axis {self._axis} of {self._tensor.describe()}"
        return SpecialBuilder(to.builder).check(is_equal, what, self.location)
