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
from ..dialects.tile.gather import (
    CUBE_COEFFICIENT,
    GatherOp,
    Interpolation,
    NearestMode,
    gather_signature,
)
from ..dialects.tile.indexing import OutOfBounds
from ..dialects.tile.scatter import ScatterOp, scatter_signature
from ..dialects.tile.special import (
    ArgsortOp,
    AssertOp,
    IndexOp,
    PrngOp,
    ReshapeOp,
    ShapeOp,
    SimpleReduceOp,
)
from ..dialects.tile.special_shapes import (
    GatherMode,
    ScatterMode,
    check_state,
    normalized_axis,
    reduced,
    reshaped,
)
from ..errors import GinghamError, SourceLocation
from .builder import ProgramBuilder, Value, static_size
from .index_space import Size

_Result = TypeVar("_Result")


class SpecialBuilder:
    """Adds special operations to the program of a builder."""

    def __init__(self, builder: ProgramBuilder) -> None:
        self.builder = builder

    # Shapes and coordinates

    def reshape(
        self, value: Value, sizes: Sequence[Size | int], location: SourceLocation
    ) -> SSAValue:
        """The elements of a tensor, in row-major order, in a shape of these sizes."""
        tensor = self.builder.tensor(value, location)
        type = self._type(sizes, element_of(tensor.type), location)
        _check("reshape", location, lambda: _ranked(reshaped, tensor, type))
        op = ReshapeOp(tensor, type, _symbolic(sizes))
        return self.builder.add(op, location).result

    def simple_reduce(
        self, value: Value, sizes: Sequence[Size | int], location: SourceLocation
    ) -> SSAValue:
        """The sum over the axes that broadcasting from these sizes would add."""
        tensor = self.builder.tensor(value, location)
        type = self._type(sizes, element_of(tensor.type), location)
        _check("simple_reduce", location, lambda: _ranked(reduced, tensor, type))
        op = SimpleReduceOp(tensor, type, _symbolic(sizes))
        return self.builder.add(op, location).result

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

    # Chosen cells

    def gather(
        self,
        values: Value,
        indices: Value,
        location: SourceLocation,
        *,
        axis: int = 0,
        batch_dims: int = 0,
        mode: GatherMode = GatherMode.NORMAL,
        interpolation: Interpolation = Interpolation.NONE,
        nearest_mode: NearestMode = NearestMode.ROUND_PREFER_FLOOR,
        cube_coefficient: float = CUBE_COEFFICIENT,
        out_of_bounds: OutOfBounds = OutOfBounds.CLAMP,
    ) -> SSAValue:
        """The cells of `values` at `indices`: see `tile.gather`."""
        tensors = [self.builder.tensor(v, location) for v in (values, indices)]
        elements = [element_of(tensor.type) for tensor in tensors]
        if mode is GatherMode.ND and axis:
            raise GinghamError(
                "'gather' in mode nd has no axis",
                location,
                "the last axis of the indices holds coordinates of the first axes",
            )
        if ANY_ELEMENT not in elements:
            element, interpolation = _check(
                "gather",
                location,
                lambda: gather_signature(elements[0], elements[1], interpolation),
                TypeError,
                INDICES_HINT,
            )
            tensors[0] = self.builder.cast(tensors[0], element, location)
        op = _check(
            "gather",
            location,
            lambda: GatherOp(
                tensors[0],
                tensors[1],
                axis=axis,
                batch_dims=batch_dims,
                mode=mode,
                interpolation=interpolation,
                nearest_mode=nearest_mode,
                cube_coefficient=cube_coefficient,
                out_of_bounds=out_of_bounds,
            ),
        )
        return self.builder.add(op, location).result

    def scatter(
        self,
        updates: Value,
        indices: Value,
        base: Value,
        location: SourceLocation,
        *,
        axis: int = 0,
        mode: ScatterMode = ScatterMode.NORMAL,
        out_of_bounds: OutOfBounds = OutOfBounds.CLAMP,
    ) -> SSAValue:
        """The `base` with `updates` at `indices`, or their sums: see `tile.scatter`."""
        tensors = [self.builder.tensor(v, location) for v in (updates, indices, base)]
        elements = [element_of(tensor.type) for tensor in tensors]
        if mode is ScatterMode.UPDATE_ND and axis:
            raise GinghamError(
                "'scatter' in mode update_nd has no axis",
                location,
                "the last axis of the indices holds coordinates of the first axes",
            )
        if ANY_ELEMENT not in elements:
            casts = _check(
                "scatter",
                location,
                lambda: scatter_signature(elements[0], elements[1], elements[2], mode),
                TypeError,
                INDICES_HINT,
            )
            tensors[0] = self.builder.cast(tensors[0], casts[0], location)
            tensors[2] = self.builder.cast(tensors[2], casts[1], location)
        op = _check(
            "scatter",
            location,
            lambda: ScatterOp(
                tensors[0],
                tensors[1],
                tensors[2],
                axis=axis,
                mode=mode,
                out_of_bounds=out_of_bounds,
            ),
        )
        return self.builder.add(op, location).result

    # Order and random numbers

    def argsort(
        self,
        value: Value,
        axis: int,
        location: SourceLocation,
        *,
        descending: bool = False,
    ) -> SSAValue:
        """Where the elements stand that sorting puts in order along an axis."""
        tensor = self.builder.tensor(value, location)
        _check_axis("argsort", tensor, axis, location)
        op = ArgsortOp(tensor, axis, descending)
        return self.builder.add(op, location).result

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


INDICES_HINT = (
    "convert them with as_int(X, 32), or give an interpolation such as linear to gather"
)


def _symbolic(sizes: Sequence[Size | int]) -> list[SSAValue]:
    """The sizes that are not known yet."""
    return [
        size.value
        for size in sizes
        if isinstance(size, Size) and isinstance(size.value, SSAValue)
    ]


def _check(
    name: str,
    location: SourceLocation,
    rule: Callable[[], _Result],
    objection: type[Exception] = ValueError,
    hint: str | None = None,
) -> _Result:
    """Run a rule on shapes or types; what it objects to is an error of the call."""
    try:
        return rule()
    except objection as error:
        raise GinghamError(f"'{name}': {error}", location, hint) from None


def _ranked(
    rule: Callable[[tuple[int, ...], tuple[int, ...]], object],
    tensor: SSAValue,
    type: TensorType[Attribute],
) -> None:
    """Run a rule on the shapes of operand and result, if the operand's is known."""
    if isinstance(tensor.type, TensorType):
        rule(tensor.type.get_shape(), type.get_shape())


def _check_axis(
    name: str, tensor: SSAValue, axis: int, location: SourceLocation
) -> None:
    if isinstance(tensor.type, TensorType):
        rank = tensor.type.get_num_dims()
        _check(name, location, lambda: normalized_axis(axis, rank))
