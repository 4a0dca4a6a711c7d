"""The special operations of Tile, built through a `ProgramBuilder`.

As there, each op has the location that it is built with, and mistakes that can be seen
before sizes and types are known are `GinghamError`s; the rest `tile-specialize` finds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import Attribute, SSAValue

from ..dialects.eltwise.element_types import name_of, si32, ui32
from ..dialects.eltwise.ops import ANY_ELEMENT, element_of
from ..dialects.eltwise.table import FUNCTIONS
from ..dialects.tile.options import (
    ExcludedOption,
    Objection,
    SpecialOptions,
    WrongElement,
)
from ..dialects.tile.special import AssertOp, IndexOp, PrngOp, ShapeOp
from ..dialects.tile.special_op import SizedOp, SpecialOp
from ..dialects.tile.special_shapes import check_state, normalized_axis
from ..errors import GinghamError, SourceLocation
from .builder import ProgramBuilder, Value, static_size
from .index_space import Size

_Result = TypeVar("_Result")


class SpecialBuilder:
    """Adds special operations to the program of a builder."""

    def __init__(self, builder: ProgramBuilder) -> None:
        self.builder = builder

    def apply(
        self,
        operation: type[SpecialOp],
        operands: Sequence[Value],
        options: SpecialOptions,
        location: SourceLocation,
    ) -> SSAValue:
        """The tensor that an operation makes of others, as the options say."""
        name = operation.function()
        tensors = [self.builder.tensor(value, location) for value in operands]
        elements = [element_of(tensor.type) for tensor in tensors]
        _check(name, location, options.check)
        if ANY_ELEMENT not in elements:
            casts, options = _check(name, location, lambda: options.signature(elements))
            tensors = [
                self.builder.cast(tensor, cast, location)
                for tensor, cast in zip(tensors, casts, strict=True)
            ]
        op = _check(name, location, lambda: operation(tensors, options))
        return self.builder.add(op, location).result

    def sized(
        self,
        operation: type[SizedOp],
        value: Value,
        sizes: Sequence[Size | int],
        location: SourceLocation,
    ) -> SSAValue:
        """The tensor of these sizes that an operation makes of another."""
        tensor = self.builder.tensor(value, location)
        type = self._type(sizes, element_of(tensor.type), location)
        if isinstance(tensor.type, TensorType):
            shapes = tensor.type.get_shape(), type.get_shape()
            _check(operation.function(), location, lambda: operation.CHECK(*shapes))
        op = operation(tensor, type, _symbolic(sizes))
        return self.builder.add(op, location).result

    # Shapes and coordinates

    def shape(self, value: Value, location: SourceLocation) -> SSAValue:
        """The sizes of a tensor, a vector of si32."""
        tensor = self.builder.tensor(value, location)
        return self.builder.add(ShapeOp(tensor), location).result

    def index(self, value: Value, axis: int, location: SourceLocation) -> SSAValue:
        """The coordinate of each cell of a tensor along an axis, as si32."""
        tensor = self.builder.tensor(value, location)
        _check_axis("index", tensor, axis, location)
        op = IndexOp.like_tensor(axis, tensor)
        return self.builder.add(op, location).result

    def index_of_sizes(
        self, sizes: Sequence[Size | int], axis: int, location: SourceLocation
    ) -> SSAValue:
        """The coordinate along an axis of each cell of a tensor of these sizes."""
        type = self._type(sizes, si32, location)
        rank = len(sizes)
        _check("index", location, lambda: normalized_axis(axis, rank))
        op = IndexOp(axis, type, _symbolic(sizes))
        return self.builder.add(op, location).result

    # Random numbers

    def prng(
        self, state: Value, sizes: Sequence[Size | int], location: SourceLocation
    ) -> tuple[SSAValue, SSAValue]:
        """Random numbers of these sizes, and the state for the next ones."""
        tensor = self.builder.tensor(state, location)
        if element_of(tensor.type) not in (ANY_ELEMENT, ui32):
            raise GinghamError(
                "'prng': expected a state of type ui32, got "
                f"{name_of(element_of(tensor.type))}",
                location,
            )
        if isinstance(tensor.type, TensorType):
            shape = tensor.type.get_shape()
            _check("prng", location, lambda: check_state(shape))
        op = PrngOp(tensor, self._type(sizes, f32, location), _symbolic(sizes))
        op = self.builder.add(op, location)
        return op.result, op.new_state

    # Sizes that are checked

    def check(self, condition: Value, name: str, location: SourceLocation) -> Size:
        """The condition on sizes, which must not be 0.

        Where that depends on sizes, `tile-specialize` raises the error.
        """
        size = Size(condition) if isinstance(condition, int) else condition
        if not isinstance(size, Size):
            kind = "a tensor" if isinstance(size, SSAValue) else "a float"
            raise GinghamError(
                f"expected the condition of '{name}' to be an integer expression of "
                f"dimensions, got {kind}",
                location,
            )
        if size.value == 0:
            raise GinghamError(f"assertion failure: {name}", location)
        if isinstance(size.value, SSAValue):
            self.builder.add(AssertOp(size.value, name), location)
        return size

    def match(self, a: Size, b: Size, location: SourceLocation) -> Size:
        """A size, which must be equal to another."""
        self.check(self._sizes("cmp_eq", [a, b], location), "match", location)
        return a

    def broadcast(self, sizes: Sequence[Size], location: SourceLocation) -> Size:
        """The size that sizes broadcast to: those other than 1 are equal."""
        size, *others = sizes
        for other in others:
            size = self._broadcast(size, other, location)
        return size

    def _broadcast(self, a: Size, b: Size, location: SourceLocation) -> Size:
        is_one = self._sizes("cmp_eq", [a, Size(1)], location)
        other_is_one = self._sizes("cmp_eq", [b, Size(1)], location)
        is_equal = self._sizes("cmp_eq", [a, b], location)
        either = self._sizes("max", [is_one, other_is_one], location)
        fits = self._sizes("max", [is_equal, either], location)
        self.check(fits, "broadcast", location)
        return self._sizes("cond", [is_one, b, a], location)

    def _sizes(
        self, function: str, sizes: Sequence[Size], location: SourceLocation
    ) -> Size:
        result = self.builder.apply(FUNCTIONS[function], sizes, location)
        if not isinstance(result, Size):
            raise ValueError(f"'{function}' of sizes is no size")
        return result

    def _type(
        self,
        sizes: Sequence[Size | int],
        element: Attribute,
        location: SourceLocation,
    ) -> TensorType[Attribute]:
        extents = [
            static_size(Size(size) if isinstance(size, int) else size, location)
            for size in sizes
        ]
        return TensorType(element, extents)


def _symbolic(sizes: Sequence[Size | int]) -> list[SSAValue]:
    """The sizes that are not known yet."""
    return [
        size.value
        for size in sizes
        if isinstance(size, Size) and isinstance(size.value, SSAValue)
    ]


def _check(name: str, location: SourceLocation, rule: Callable[[], _Result]) -> _Result:
    """Run a rule on options, types or shapes; what it objects to is an error."""
    try:
        return rule()
    except ExcludedOption as error:
        message = f"'{name}' in mode {error.mode.value} has no {error.option}"
        raise GinghamError(message, location, error.hint) from None
    except (WrongElement, Objection) as error:
        raise GinghamError(f"'{name}': {error}", location, error.hint) from None
    except ValueError as error:
        raise GinghamError(f"'{name}': {error}", location) from None


def _check_axis(
    name: str, tensor: SSAValue, axis: int, location: SourceLocation
) -> None:
    if isinstance(tensor.type, TensorType):
        rank = tensor.type.get_num_dims()
        _check(name, location, lambda: normalized_axis(axis, rank))
