"""Functions of Tile that are made of others: PlaidML's built-in definitions."""

from __future__ import annotations

from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from ..affine.polynomial import Polynomial
from ..dialects.aggregation import Aggregation, Combination
from ..dialects.eltwise.table import FUNCTIONS
from ..errors import SourceLocation
from .builder import Operand, ProgramBuilder, Value
from .index_space import IndexSpace, Size


class CompositeBuilder:
    """Adds functions that are made of several ops to the program of a builder."""

    def __init__(self, builder: ProgramBuilder) -> None:
        self.builder = builder

    def multiply_add(
        self, a: Value, b: Value, c: Value, location: SourceLocation
    ) -> Value:
        """`a * b + c`, each rounded."""
        product = self._apply("mul", location, a, b)
        return self._apply("add", location, product, c)

    def as_bool(self, value: Value, location: SourceLocation) -> SSAValue:
        """Whether each element is other than 0."""
        return self.builder.cast(value, i1, location)

    def softmax(self, value: Value, rows: Size, location: SourceLocation) -> Value:
        """`exp(x)` over its sum along axis 1, of a tensor with two axes.

        The greatest of a row is subtracted first, so that no `exp` overflows.
        """
        shifted = self._shifted(value, rows, location)
        power = self._apply("exp", location, shifted)
        total = self._along_rows(Aggregation.ADD, power, rows, location)
        return self._apply("div", location, power, total)

    def log_softmax(self, value: Value, rows: Size, location: SourceLocation) -> Value:
        """The logarithm of `softmax`, computed without it."""
        shifted = self._shifted(value, rows, location)
        power = self._apply("exp", location, shifted)
        total = self._along_rows(Aggregation.ADD, power, rows, location)
        logarithm = self._apply("log", location, total)
        return self._apply("sub", location, shifted, logarithm)

    def binary_crossentropy(
        self, output: Value, target: Value, location: SourceLocation
    ) -> Value:
        """`-T * log(O) - (1 - T) * log(1 - O)` for outputs O and targets T."""
        first = self._log_product(target, output, location)
        second = self._log_product(
            self._apply("sub", location, 1, target),
            self._apply("sub", location, 1, output),
            location,
        )
        return self._apply("sub", location, self._apply("neg", location, first), second)

    def loss_over(self, value: Value, count: Value, location: SourceLocation) -> Value:
        """A value that has the gradient of its mean over so many elements.

        What is made of it afterwards, be it that mean or any other multiple, has no
        influence on the gradient.
        """
        slope = self._apply("div", location, 1.0, count)
        return self._apply("replace_grad", location, value, slope)

    def _log_product(
        self, factor: Value, argument: Value, location: SourceLocation
    ) -> Value:
        logarithm = self._apply("log", location, argument)
        return self._apply("mul", location, factor, logarithm)

    def _shifted(self, value: Value, rows: Size, location: SourceLocation) -> Value:
        greatest = self._along_rows(Aggregation.MAX, value, rows, location)
        return self._apply("sub", location, value, greatest)

    def _along_rows(
        self,
        aggregation: Aggregation,
        value: Value,
        rows: Size,
        location: SourceLocation,
    ) -> SSAValue:
        """`R[i, 0 : rows, 1] = aggregation(value[i, j])`."""
        space = IndexSpace()
        i, j = (space.index(name, location) for name in "ij")
        return self.builder.contract(
            aggregation,
            Combination.NONE,
            space,
            [i, Polynomial.constant(0)],
            [rows, Size(1)],
            [Operand(value, (i, j), "X", location)],
            location,
        )

    def _apply(
        self, function: str, location: SourceLocation, *operands: Value
    ) -> Value:
        return self.builder.apply(FUNCTIONS[function], operands, location)
