"""`tile.gather`: the cells of a tensor at indices that are another's elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Annotated, ClassVar, Self

from xdsl.dialects.builtin import DYNAMIC_INDEX, i1
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition, operand_def
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from ..building import operation_definition
from ..eltwise.element_types import Kind, f32, kind
from ..eltwise.ops import ANY_ELEMENT
from .indexing import (
    OutOfBounds,
    OutOfBoundsAttr,
    check_axis_of_mode,
    check_cells,
    verify_indices,
)
from .options import Objection, SpecialOptions, WrongElement
from .special_op import SpecialOp
from .special_shapes import GatherMode, Shape, gathered

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


@dataclass(frozen=True)
class GatherOptions(SpecialOptions):
    """What a gather can be told: see `tile.gather`."""

    axis: int = 0
    _: KW_ONLY
    batch_dims: int = 0
    mode: Annotated[GatherMode, GatherModeAttr] = GatherMode.NORMAL
    interpolation: Annotated[Interpolation, InterpolationAttr] = Interpolation.NONE
    nearest_mode: Annotated[NearestMode, NearestModeAttr] = (
        NearestMode.ROUND_PREFER_FLOOR
    )
    cube_coefficient: float = -0.75
    out_of_bounds: Annotated[OutOfBounds, OutOfBoundsAttr] = OutOfBounds.CLAMP

    def check(self) -> None:
        """Raise ExcludedOption for an axis in mode `nd`."""
        check_axis_of_mode(self.axis, self.mode, GatherMode.ND)

    def signature(
        self, elements: Sequence[Attribute], weak: Sequence[bool] = ()
    ) -> tuple[Sequence[Attribute], Self]:
        """Integers as indices need no interpolation; what lies between is a float."""
        values, indices = elements
        is_float = kind(indices) is Kind.FLOAT
        if indices == i1 or (is_float and self.interpolation is Interpolation.NONE):
            hint = "convert them with as_int(X, 32)"
            if self.mode is GatherMode.NORMAL:
                hint += ", or say how to interpolate: interpolation=linear"
            raise WrongElement(f"expected integers as indices, got {indices}", 1, hint)
        if not is_float:
            return elements, replace(self, interpolation=Interpolation.NONE)
        is_smooth = self.interpolation is not Interpolation.NEAREST
        if is_smooth and kind(values) is not Kind.FLOAT:
            values = f32
        return [values, indices], self

    def shape(self, shapes: Sequence[Shape], names: Sequence[str]) -> Shape | None:
        """That of the values with other axes; None for unknown coordinates."""
        values, indices = shapes
        if self.mode is GatherMode.ND and indices[-1:] == (DYNAMIC_INDEX,):
            return None
        return gathered(values, indices, self.mode, self.axis, self.batch_dims)

    def specialized(self, shapes: Sequence[Shape], names: Sequence[str]) -> Self:
        """The axis from 0, where there are cells to choose, and not too many."""
        values, indices = shapes
        result = gathered(values, indices, self.mode, self.axis, self.batch_dims)
        if self.mode is GatherMode.ND:
            chosen = values[self.batch_dims : self.batch_dims + indices[-1]]
            self._check_neighbours(len(chosen))
            check_cells(self.out_of_bounds, chosen, result, names[0])
            return self
        axis = self.axis % len(values)
        check_cells(self.out_of_bounds, values[axis : axis + 1], result, names[0])
        return replace(self, axis=axis)

    def _check_neighbours(self, depth: int) -> None:
        cells = self.interpolation.cells**depth
        if cells > MOST_CELLS:
            raise Objection(
                f"{self.interpolation.value} interpolation along {depth} axes is "
                f"between {cells} cells, and at most {MOST_CELLS} are possible",
                "gather along some of the axes first",
            )


@operation_definition
class GatherOp(SpecialOp):
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
    OPTIONS: ClassVar = GatherOptions
    values = operand_def()
    indices = operand_def()

    @property
    def options(self) -> GatherOptions:
        """What is read, and how."""
        return GatherOptions.of(self.properties)

    def verify_elements(self, elements: Sequence[Attribute]) -> None:
        """Indices are integers, or floats where they are interpolated between."""
        values, indices = elements
        interpolation = self.options.interpolation
        verify_indices(indices, floats=interpolation is not Interpolation.NONE)
        smooth = interpolation in (Interpolation.LINEAR, Interpolation.CUBIC)
        if smooth and values != ANY_ELEMENT and kind(values) is not Kind.FLOAT:
            raise VerifyException(
                f"expected floats to interpolate between, got {self.values.type}"
            )
