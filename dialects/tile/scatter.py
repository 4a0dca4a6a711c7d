"""`tile.scatter`: updates of the cells that indices name."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
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

from ..eltwise.element_types import Kind, kind, promote, promote_weak, si32
from ..eltwise.ops import ANY_ELEMENT, element_of
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
from .special_shapes import ScatterMode, scattered


@irdl_attr_definition
class ScatterModeAttr(EnumAttribute[ScatterMode], SpacedOpaqueSyntaxAttribute):
    """`#tile<scatter_mode update_nd>`."""

    name = "tile.scatter_mode"


@irdl_op_definition
class ScatterOp(IRDLOperation):
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
    updates = operand_def()
    indices = operand_def()
    base = operand_def()
    axis = prop_def(IntegerAttr)
    mode = prop_def(ScatterModeAttr)
    out_of_bounds = prop_def(OutOfBoundsAttr)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(
        self,
        updates: SSAValue,
        indices: SSAValue,
        base: SSAValue,
        type: Attribute | None = None,
        *,
        axis: int = 0,
        mode: ScatterMode = ScatterMode.NORMAL,
        out_of_bounds: OutOfBounds = OutOfBounds.CLAMP,
    ) -> None:
        if type is None:
            type = scatter_type(updates.type, indices.type, base.type, mode, axis)
        super().__init__(
            operands=[updates, indices, base],
            properties={
                "axis": IntegerAttr(axis, i64),
                "mode": ScatterModeAttr(mode),
                "out_of_bounds": OutOfBoundsAttr(out_of_bounds),
            },
            result_types=[type],
        )

    @classmethod
    def parse(cls, parser: Parser) -> ScatterOp:
        """Read `%U, %I, %B axis 1 mode update_nd : (<types>) -> <type>`.

        Options have defaults. Raises ParseError for other than three operands.
        """
        start = parser.pos
        values = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, parser.parse_unresolved_operand
        )
        axis = parse_integer(parser, "axis", 0)
        mode = parse_choice(parser, "mode", ScatterMode.NORMAL)
        out_of_bounds = parse_choice(parser, "out_of_bounds", OutOfBounds.CLAMP)
        if len(values) != 3:
            parser.raise_error(
                f"expected updates, indices and base, got {len(values)} operand(s)",
                start,
                parser.pos,
            )
        attributes, operands, result = parse_types(parser, values, start)
        op = cls(
            operands[0],
            operands[1],
            operands[2],
            result,
            axis=axis,
            mode=mode,
            out_of_bounds=out_of_bounds,
        )
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        """Print the options that have another value than their default."""
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        print_integer(printer, "axis", self.axis)
        print_choice(printer, "mode", self.mode.data, ScatterMode.NORMAL)
        print_choice(
            printer, "out_of_bounds", self.out_of_bounds.data, OutOfBounds.CLAMP
        )
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_function_type(self.operand_types, self.result_types)

    def verify_(self) -> None:
        """Raise VerifyException unless element types, options and shapes fit."""
        for what, operand in (
            ("updates", self.updates),
            ("indices", self.indices),
            ("base", self.base),
        ):
            verify_tensor(f"the {what}", operand.type)
        verify_tensor("the result", self.result.type)
        verify_indices(element_of(self.indices.type))
        updates, base = element_of(self.updates.type), element_of(self.base.type)
        is_sum = self.mode.data is ScatterMode.NORMAL
        if is_sum and updates == i1:
            raise VerifyException("expected updates of si32 to count, got i1")
        if not is_sum and updates != base and ANY_ELEMENT not in (updates, base):
            raise VerifyException(
                f"expected updates and base to have one element type, got {updates} "
                f"and {base}"
            )
        if self.mode.data is ScatterMode.UPDATE_ND and self.axis.value.data:
            raise VerifyException("expected no axis in mode update_nd")
        verify_element(self.result, updates)
        verify_shape(self._verify_result)

    def _verify_result(self) -> None:
        expected = scatter_type(
            self.updates.type,
            self.indices.type,
            self.base.type,
            self.mode.data,
            self.axis.value.data,
        )
        verify_shape_of(self.result, expected)


def scatter_type(
    updates: Attribute,
    indices: Attribute,
    base: Attribute,
    mode: ScatterMode,
    axis: int,
) -> Attribute:
    """The type of a scatter of operands of these types, unranked where one is.

    Raises ValueError for shapes that do not fit.
    """
    elements = {element_of(updates)}
    if mode is not ScatterMode.NORMAL:
        elements.add(element_of(base))
    element = ANY_ELEMENT if ANY_ELEMENT in elements else promote(elements)
    if not (
        isinstance(updates, TensorType)
        and isinstance(indices, TensorType)
        and isinstance(base, TensorType)
    ):
        return UnrankedTensorType(element)
    index_shape, base_shape = indices.get_shape(), base.get_shape()
    if mode is ScatterMode.UPDATE_ND and index_shape[-1:] == (DYNAMIC_INDEX,):
        return TensorType(element, base_shape)
    shape = scattered(updates.get_shape(), index_shape, base_shape, mode, axis)
    return TensorType(element, shape)


def scatter_signature(
    updates: Attribute,
    indices: Attribute,
    base: Attribute,
    mode: ScatterMode,
    weak: Sequence[bool] = (False, False),
) -> tuple[Attribute, Attribute]:
    """The element types that updates and base are cast to.

    Takes element types; `weak` says which of updates and base is a literal. Raises
    TypeError, worded for the user, for types that are no indices.
    """
    if indices == i1 or kind(indices) is Kind.FLOAT:
        raise TypeError(f"expected integers as indices, got {indices}")
    if mode is ScatterMode.NORMAL:
        return (si32 if updates == i1 else updates), base
    pairs = list(zip((updates, base), weak, strict=True))
    common = promote_weak([t for t, w in pairs if not w], [t for t, w in pairs if w])
    return common, common
