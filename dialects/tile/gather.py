"""`tile.gather`: the cells of a tensor at indices that are another's elements."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FloatAttr,
    IntegerAttr,
    TensorType,
    UnrankedTensorType,
    i1,
    i64,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from ..eltwise.element_types import Kind, f32, kind
from ..eltwise.ops import ANY_ELEMENT, element_of, format_number, parse_number
from .indexing import (
    OutOfBounds,
    OutOfBoundsAttr,
    parse_choice,
    parse_integer,
    parse_types,
    print_choice,
    print_integer,
    verify_element,
    verify_indices,
    verify_shape_of,
)
from .special import verify_shape, verify_tensor
from .special_shapes import GatherMode, gathered

CUBE_COEFFICIENT = -0.75
"""The coefficient of cubic interpolation unless another is given."""

MOST_CELLS = 64
"""Between how many cells a gather interpolates at most."""


class Interpolation(StrEnum):
    """How a gather reads between cells: not at all, or by one of three rules."""

    NONE = "none"
    NEAREST = "nearest"
    LINEAR = "linear"
    CUBIC = "cubic"

    @property
    def cells(self) -> int:
        """How many cells along an axis it reads."""
        return {Interpolation.LINEAR: 2, Interpolation.CUBIC: 4}.get(self, 1)


class NearestMode(StrEnum):
    """Which integer is nearest to a float."""

    ROUND_PREFER_FLOOR = "round_prefer_floor"
    ROUND_PREFER_CEIL = "round_prefer_ceil"
    FLOOR = "floor"
    CEIL = "ceil"
    SIMPLE = "simple"


@irdl_attr_definition
class GatherModeAttr(EnumAttribute[GatherMode], SpacedOpaqueSyntaxAttribute):
    """`#tile<gather_mode nd>`."""

    name = "tile.gather_mode"


@irdl_attr_definition
class InterpolationAttr(EnumAttribute[Interpolation], SpacedOpaqueSyntaxAttribute):
    """`#tile<interpolation linear>`."""

    name = "tile.interpolation"


@irdl_attr_definition
class NearestModeAttr(EnumAttribute[NearestMode], SpacedOpaqueSyntaxAttribute):
    """`#tile<nearest_mode floor>`."""

    name = "tile.nearest_mode"


@irdl_op_definition
class GatherOp(IRDLOperation):
    """The cells of a tensor at indices that are the elements of another.

    ```mlir
    %R = tile.gather %V, %I : (tensor<9x4xf32>, tensor<5x6xsi32>) -> tensor<5x6x4xf32>
    %S = tile.gather %V, %X axis 1 interpolation linear out_of_bounds zero
        : (tensor<9x4xf32>, tensor<7xf32>) -> tensor<9x7xf32>
    ```

    Mode `normal`: the result has the axes of the values with `axis` replaced by those
    of the indices behind the first `batch_dims`, which values and indices share:
    `R[b.., o.., i.., r..] = V[b.., o.., I[b.., i..], r..]`, where `b.., o..` are the
    axes before `axis`. Mode `nd`: the last axis of the indices holds the coordinates of
    the first axes behind the batch, and `axis` has no meaning:
    `R[b.., i.., r..] = V[b.., I[b.., i.., 0], I[b.., i.., 1], .., r..]`.

    Indices are integers, or floats with an interpolation.

    An index that is out of bounds is clamped to the nearest cell of its axis; with
    `out_of_bounds zero` the value there is 0 (in mode `nd` as soon as one coordinate is
    out of bounds). Negative indices are out of bounds. To clamp to an axis of size 0 is
    an error, found by `tile-specialize`, unless the result is empty.

    With an interpolation, x an index and V(j) the cell at integer j:

    * `nearest`: V(round(x)), clamped or 0 as above, where round is given by
      `nearest_mode`: `round_prefer_floor` and `round_prefer_ceil` take the nearest
      integer, of two the lower or the higher; `floor`; `ceil`; `simple` drops the
      fraction.
    * `linear`: V(f) (1 - t) + V(f + 1) t with f = floor(x) and t = x - f.
    * `cubic`: the sum of V(f + k) w(|t - k|) for k = -1, 0, 1, 2, where w, with a the
      `cube_coefficient`, is (a + 2) s^3 - (a + 3) s^2 + 1 for s <= 1 and a s^3 - 5 a
      s^2 + 8 a s - 4 a beyond.

    Of `linear` and `cubic` each j is clamped; with `out_of_bounds zero` the value is 0
    where x is below 0 or beyond the last cell. In mode `nd` this is done along each of
    the axes: the sum over all combinations of cells, each times the product of its
    weights, of at most 64 cells. One coordinate beyond its axis makes the value 0.

    The values of `linear` and `cubic` are floats. Rounding takes place in floats, so
    that no index is too large; an index that is NaN means cell 0 (and a weight of it,
    or of an infinite one, gives NaN). Weights and sums are of the higher of both types.

    `axis` may be negative, then counted from the last, until specialization, which
    also drops the interpolation of integer indices.
    """

    name = "tile.gather"
    values = operand_def()
    indices = operand_def()
    axis = prop_def(IntegerAttr)
    batch_dims = prop_def(IntegerAttr)
    mode = prop_def(GatherModeAttr)
    interpolation = prop_def(InterpolationAttr)
    nearest_mode = prop_def(NearestModeAttr)
    cube_coefficient = prop_def(FloatAttr)
    out_of_bounds = prop_def(OutOfBoundsAttr)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(
        self,
        values: SSAValue,
        indices: SSAValue,
        type: Attribute | None = None,
        *,
        axis: int = 0,
        batch_dims: int = 0,
        mode: GatherMode = GatherMode.NORMAL,
        interpolation: Interpolation = Interpolation.NONE,
        nearest_mode: NearestMode = NearestMode.ROUND_PREFER_FLOOR,
        cube_coefficient: float = CUBE_COEFFICIENT,
        out_of_bounds: OutOfBounds = OutOfBounds.CLAMP,
    ) -> None:
        if type is None:
            type = gather_type(values.type, indices.type, mode, axis, batch_dims)
        super().__init__(
            operands=[values, indices],
            properties={
                "axis": IntegerAttr(axis, i64),
                "batch_dims": IntegerAttr(batch_dims, i64),
                "mode": GatherModeAttr(mode),
                "interpolation": InterpolationAttr(interpolation),
                "nearest_mode": NearestModeAttr(nearest_mode),
                "cube_coefficient": FloatAttr(cube_coefficient, 64),
                "out_of_bounds": OutOfBoundsAttr(out_of_bounds),
            },
            result_types=[type],
        )

    @classmethod
    def parse(cls, parser: Parser) -> GatherOp:
        """Read `%V, %I axis 1 mode nd : (<types>) -> <type>`; options have defaults."""
        start = parser.pos
        values = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        indices = parser.parse_unresolved_operand()
        axis = parse_integer(parser, "axis", 0)
        batch_dims = parse_integer(parser, "batch_dims", 0)
        mode = parse_choice(parser, "mode", GatherMode.NORMAL)
        interpolation = parse_choice(parser, "interpolation", Interpolation.NONE)
        nearest = parse_choice(parser, "nearest_mode", NearestMode.ROUND_PREFER_FLOOR)
        cube_coefficient = CUBE_COEFFICIENT
        if parser.parse_optional_keyword("cube_coefficient") is not None:
            cube_coefficient = float(parse_number(parser))
        out_of_bounds = parse_choice(parser, "out_of_bounds", OutOfBounds.CLAMP)
        attributes, operands, result = parse_types(parser, [values, indices], start)
        op = cls(
            operands[0],
            operands[1],
            result,
            axis=axis,
            batch_dims=batch_dims,
            mode=mode,
            interpolation=interpolation,
            nearest_mode=nearest,
            cube_coefficient=cube_coefficient,
            out_of_bounds=out_of_bounds,
        )
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        """Print the options that have another value than their default."""
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        print_integer(printer, "axis", self.axis)
        print_integer(printer, "batch_dims", self.batch_dims)
        print_choice(printer, "mode", self.mode.data, GatherMode.NORMAL)
        print_choice(
            printer, "interpolation", self.interpolation.data, Interpolation.NONE
        )
        print_choice(
            printer,
            "nearest_mode",
            self.nearest_mode.data,
            NearestMode.ROUND_PREFER_FLOOR,
        )
        coefficient = self.cube_coefficient.value.data
        if coefficient != CUBE_COEFFICIENT:
            printer.print_string(f" cube_coefficient {format_number(coefficient)}")
        print_choice(
            printer, "out_of_bounds", self.out_of_bounds.data, OutOfBounds.CLAMP
        )
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_function_type(self.operand_types, self.result_types)

    def verify_(self) -> None:
        """Raise VerifyException unless element types, options and shapes fit.

        Indices are integers, or floats where they are interpolated between.
        """
        for what, operand in (("values", self.values), ("indices", self.indices)):
            verify_tensor(f"the {what}", operand.type)
        verify_tensor("the result", self.result.type)
        mode, interpolation = self.mode.data, self.interpolation.data
        if mode is GatherMode.ND and self.axis.value.data:
            raise VerifyException("expected no axis in mode nd")
        values, indices = element_of(self.values.type), element_of(self.indices.type)
        verify_indices(indices, floats=interpolation is not Interpolation.NONE)
        smooth = interpolation in (Interpolation.LINEAR, Interpolation.CUBIC)
        if smooth and values != ANY_ELEMENT and kind(values) is not Kind.FLOAT:
            raise VerifyException(
                f"expected floats to interpolate between, got {self.values.type}"
            )
        verify_element(self.result, values)
        verify_shape(self._verify_result)

    def _verify_result(self) -> None:
        expected = gather_type(
            self.values.type,
            self.indices.type,
            self.mode.data,
            self.axis.value.data,
            self.batch_dims.value.data,
        )
        verify_shape_of(self.result, expected)


def gather_type(
    values: Attribute,
    indices: Attribute,
    mode: GatherMode,
    axis: int,
    batch_dims: int,
) -> Attribute:
    """The type of a gather from operands of these types, unranked where one is.

    Raises ValueError for shapes that do not fit.
    """
    element = element_of(values)
    if not isinstance(values, TensorType) or not isinstance(indices, TensorType):
        return UnrankedTensorType(element)
    index_shape = indices.get_shape()
    if mode is GatherMode.ND and index_shape[-1:] == (DYNAMIC_INDEX,):
        return UnrankedTensorType(element)
    shape = gathered(values.get_shape(), index_shape, mode, axis, batch_dims)
    return TensorType(element, shape)


def gather_signature(
    values: Attribute, indices: Attribute, interpolation: Interpolation
) -> tuple[Attribute, Interpolation]:
    """The element type that values are cast to, and the interpolation that is left.

    Takes element types. Integer indices need no interpolation; `linear` and `cubic`
    make integers f32. Raises TypeError, worded for the user, for types that are no
    indices.
    """
    if indices == i1:
        raise TypeError("expected integers as indices, got i1")
    if kind(indices) is not Kind.FLOAT:
        return values, Interpolation.NONE
    if interpolation is Interpolation.NONE:
        raise TypeError(f"expected integers as indices, got {indices}")
    smooth = interpolation is not Interpolation.NEAREST
    return (f32 if smooth and kind(values) is not Kind.FLOAT else values), interpolation
