"""`tile.scatter`: updates of the cells that indices name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Annotated, ClassVar, Self

from xdsl.dialects.builtin import DYNAMIC_INDEX, i1
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition, operand_def
from xdsl.utils.exceptions import VerifyException

from ..building import operation_definition
from ..eltwise.element_types import Kind, kind, promote, promote_weak, si32
from ..eltwise.ops import ANY_ELEMENT
from .indexing import (
    OutOfBounds,
    OutOfBoundsAttr,
    check_axis_of_mode,
    check_cells,
    verify_indices,
)
from .options import SpecialOptions, WrongElement
from .special_op import SpecialOp
from .special_shapes import ScatterMode, Shape, scattered


@irdl_attr_definition
class ScatterModeAttr(EnumAttribute[ScatterMode], SpacedOpaqueSyntaxAttribute):
    """`#tile<scatter_mode update_nd>`."""

    name = "tile.scatter_mode"


@dataclass(frozen=True)
class ScatterOptions(SpecialOptions):
    """What a scatter can be told: see `tile.scatter`."""

    axis: int = 0
    _: KW_ONLY
    mode: Annotated[ScatterMode, ScatterModeAttr] = ScatterMode.NORMAL
    out_of_bounds: Annotated[OutOfBounds, OutOfBoundsAttr] = OutOfBounds.CLAMP

    def check(self) -> None:
        """Raise ExcludedOption for an axis in mode `update_nd`."""
        check_axis_of_mode(self.axis, self.mode, ScatterMode.UPDATE_ND)

    def signature(
        self, elements: Sequence[Attribute], weak: Sequence[bool] = (False,) * 3
    ) -> tuple[Sequence[Attribute], Self]:
        """Truth values are counted; in the `update` modes both have the higher type."""
        updates, indices, base = elements
        if indices == i1 or kind(indices) is Kind.FLOAT:
            message = f"expected integers as indices, got {indices}"
            raise WrongElement(message, 1, "convert them with as_int(X, 32)")
        if self.mode is ScatterMode.NORMAL:
            return [si32 if updates == i1 else updates, indices, base], self
        pairs = [(updates, weak[0]), (base, weak[2])]
        common = promote_weak(
            [t for t, w in pairs if not w], [t for t, w in pairs if w]
        )
        return [common, indices, common], self

    def element(self, elements: Sequence[Attribute]) -> Attribute:
        """That of the updates, in the `update` modes that of the base too."""
        updates, _, base = elements
        if self.mode is ScatterMode.NORMAL:
            return updates
        return (
            ANY_ELEMENT if ANY_ELEMENT in (updates, base) else promote([updates, base])
        )

    def shape(self, shapes: Sequence[Shape], names: Sequence[str]) -> Shape | None:
        """That of the base, with sums that of the updates with other axes."""
        updates, indices, base = shapes
        if self.mode is ScatterMode.UPDATE_ND and indices[-1:] == (DYNAMIC_INDEX,):
            return base
        return scattered(updates, indices, base, self.mode, self.axis)

    def rank(self, ranks: Sequence[int | None]) -> int | None:
        """Of sums it follows from updates and indices, else from the base."""
        updates, indices, base = ranks
        if self.mode is not ScatterMode.NORMAL:
            return base
        return None if updates is None or indices is None else 1 + updates - indices

    def specialized(self, shapes: Sequence[Shape], names: Sequence[str]) -> Self:
        """The same with the axis counted from 0, where there are cells to choose."""
        updates, indices, base = shapes
        result = scattered(updates, indices, base, self.mode, self.axis)
        if self.mode is ScatterMode.UPDATE_ND:
            check_cells(self.out_of_bounds, result[: indices[-1]], updates, names[2])
            return self
        axis = self.axis % len(result)
        check_cells(self.out_of_bounds, result[axis : axis + 1], updates, names[2])
        return replace(self, axis=axis)


@operation_definition
class ScatterOp(SpecialOp):
    """A tensor with the cells that indices name set to, or increased by, updates.

    ```mlir
    %R = tile.scatter %U, %I, %B
        : (tensor<5x4xf32>, tensor<5xsi32>, tensor<9x4xf32>) -> tensor<9x4xf32>
    %S = tile.scatter %U, %I, %B axis 1 mode update_elt out_of_bounds zero
        : (tensor<2x3xf32>, tensor<2x3xsi32>, tensor<2x9xf32>) -> tensor<2x9xf32>
    ```

    The operands are the updates U, the indices I (integers) and the base B.

    * `normal`: the sums of the updates for each cell, 0 where there are none:
      `R[o.., I[i..], r..] += U[o.., i.., r..]`, where `o..` are `axis` axes. Of the
      base only the size of `axis` counts, which is the result's there. (With axis 0 as
      PlaidML's scatter, and the gradient of `tile.gather`.)
    * `update_slice`: the base with `R[o.., I[i..], r..] = U[o.., i.., r..]`.
    * `update_elt`: the base with `R[p.., I[p.., q, r..], r..] = U[p.., q, r..]`, where
      updates and indices have one shape, beside `axis` nowhere larger than the base's.
    * `update_nd`: the base with `R[I[i.., 0], I[i.., 1], .., r..] = U[i.., r..]`; the
      last axis of the indices holds coordinates, and `axis` has no meaning.

    Of several updates of one cell the sum counts, added up as a contraction adds, and
    in the other modes the last one in row-major order. (The modes are those of ONNX
    `ScatterElements` and `ScatterND` and of OpenVINO `ScatterUpdate`, apart from
    negative indices.)

    An index that is out of bounds is clamped to the nearest cell of its axis; with
    `out_of_bounds zero` its update is dropped. Negative indices are out of bounds.

    The result has the element type of the updates, in the `update` modes that of the
    base too; sums of i1 are counts, of type si32. `axis` may be negative, then counted
    from the last axis of the result, until specialization.
    """

    name = "tile.scatter"
    OPTIONS: ClassVar = ScatterOptions
    updates = operand_def()
    indices = operand_def()
    base = operand_def()

    @property
    def options(self) -> ScatterOptions:
        """What is written, and how."""
        return ScatterOptions.of(self.properties)

    def verify_elements(self, elements: Sequence[Attribute]) -> None:
        """Indices are integers; what is overwritten has the type of the base."""
        updates, indices, base = elements
        verify_indices(indices)
        is_sum = self.options.mode is ScatterMode.NORMAL
        if is_sum and updates == i1:
            raise VerifyException("expected updates of si32 to count, got i1")
        if not is_sum and updates != base and ANY_ELEMENT not in (updates, base):
            raise VerifyException(
                f"expected updates and base to have one element type, got {updates} "
                f"and {base}"
            )
