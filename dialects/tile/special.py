"""Special operations of the `tile` dialect: shapes, coordinates, random numbers.

`gather`, `scatter` and `argsort` have files of their own. As parsed, types may be
unranked and sizes `?`; `tile-specialize` makes all static.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    IntegerAttr,
    StringAttr,
    TensorType,
    f32,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..building import DialectOperation, operation_definition
from ..eltwise.element_types import si32, ui32
from ..eltwise.ops import ANY_ELEMENT, element_of, with_element
from .size_syntax import (
    parse_sized_result,
    parse_sized_type,
    parse_sizes,
    print_sized_result,
    print_sizes,
    verify_sizes,
)
from .special_op import SizedOp, verify_shape, verify_tensor
from .special_shapes import check_state, normalized_axis, reduced, reshaped


@operation_definition
class ReshapeOp(SizedOp):
    """The same elements, in row-major order, in another shape.

    ```mlir
    %R = tile.reshape %X -> [%M, 4] : tensor<?x2x2xf32> -> tensor<?x4xf32>
    ```

    Both shapes have the same number of elements, which `tile-specialize` checks.
    """

    name = "tile.reshape"
    CHECK = staticmethod(reshaped)


@operation_definition
class SimpleReduceOp(SizedOp):
    """The sum over the axes that broadcasting a tensor of these sizes would add.

    ```mlir
    %R = tile.simple_reduce %X -> [%M, 1] : tensor<?x?x?xf32> -> tensor<?x1xf32>
    ```

    Axes are counted from the last. An axis of size 1 in the result is summed to one
    element, an axis that the result lacks is summed too, others have the same size.
    `tile-specialize` replaces the op by a contraction, or by `eltwise.ident` where
    there is nothing to sum.
    """

    name = "tile.simple_reduce"
    CHECK = staticmethod(reduced)


@operation_definition
class IndexOp(DialectOperation):
    """The coordinate of each cell along one axis, of type si32.

    ```mlir
    %0 = tile.index 1 like %X : tensor<*x!eltwise.any> -> tensor<*xsi32>
    %1 = tile.index 0 [%M, 4] : tensor<?x4xsi32>
    %2 = tile.index -1 : tensor<3x4xsi32>
    ```

    The result has the shape of a tensor, or the sizes given. A negative axis counts
    from the last; after specialization the axis is not negative and there are no
    operands.
    """

    name = "tile.index"
    like = opt_operand_def()
    sizes = var_operand_def(IndexType)
    axis = prop_def(IntegerAttr)
    result = result_def()
    traits = traits_def(Pure())
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        axis: int,
        type: Attribute,
        sizes: Sequence[SSAValue] = (),
        like: SSAValue | None = None,
    ) -> None:
        super().__init__(
            operands=[like, sizes],
            properties={"axis": IntegerAttr(axis, i64)},
            result_types=[type],
        )

    @classmethod
    def like_tensor(cls, axis: int, tensor: SSAValue) -> IndexOp:
        """The coordinates of the cells of a tensor."""
        return cls(axis, with_element(tensor.type, si32), like=tensor)

    @classmethod
    def parse(cls, parser: Parser) -> IndexOp:
        """Read `1 like %X : <type> -> <type>`, `0 [%M, 4] : <type>`, `2 : <type>`."""
        axis = parser.parse_integer(allow_boolean=False)
        like = None
        if parser.parse_optional_keyword("like") is not None:
            like = parser.parse_unresolved_operand()
        has_sizes = like is None and parser.parse_optional_punctuation("[") is not None
        entries = parse_sizes(parser, opened=True) if has_sizes else []
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        if like is not None:
            tensor = parser.resolve_operand(like, parser.parse_type())
            parser.parse_punctuation("->")
            op = cls(axis, parser.parse_type(), like=tensor)
        elif has_sizes:
            op = cls(axis, *parse_sized_type(parser, entries))
        else:
            op = cls(axis, parser.parse_type())
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        """Print the axis, then the tensor or the sizes that give the shape."""
        printer.print_string(f" {self.axis.value.data}")
        if self.like is not None:
            printer.print_string(" like ")
            printer.print_ssa_value(self.like)
        elif isinstance(self.result.type, TensorType) and self.sizes:
            printer.print_string(" ")
            print_sizes(printer, self.result.type, self.sizes)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        if self.like is not None:
            printer.print_attribute(self.like.type)
            printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        """Raise VerifyException unless the result is of si32 and has such an axis."""
        verify_tensor("the result", self.result.type)
        if element_of(self.result.type) != si32:
            raise VerifyException(
                f"expected a result of element type si32, got {self.result.type}"
            )
        self._verify_sizes()
        if isinstance(self.result.type, TensorType):
            rank = self.result.type.get_num_dims()
            verify_shape(lambda: normalized_axis(self.axis.value.data, rank))

    def _verify_sizes(self) -> None:
        if self.like is None:
            if not isinstance(self.result.type, TensorType):
                raise VerifyException(
                    f"expected a result of known rank, got {self.result.type}"
                )
            verify_sizes(self.result.type, self.sizes)
            return
        verify_tensor("the operand", self.like.type)
        expected = with_element(self.like.type, si32)
        if self.result.type != expected or self.sizes:
            raise VerifyException(
                f"expected no sizes and a result of type {expected}, got "
                f"{self.result.type}"
            )


@operation_definition
class ShapeOp(DialectOperation):
    """The sizes of a tensor, as a vector of si32 with one element for each axis.

    `%S = tile.shape %X : tensor<4x5xf32>` is [4, 5]. `tile-specialize` keeps the op and
    checks that each size fits si32.
    """

    name = "tile.shape"
    tensor = operand_def()
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def __init__(self, tensor: SSAValue) -> None:
        super().__init__(operands=[tensor], result_types=[_shape_type(tensor.type)])

    @classmethod
    def parse(cls, parser: Parser) -> ShapeOp:
        """Read `%X : <type>`."""
        tensor = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        op = cls(parser.resolve_operand(tensor, parser.parse_type()))
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        """Print the tensor and its type, from which that of the result follows."""
        printer.print_string(" ")
        printer.print_ssa_value(self.tensor)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.tensor.type)

    def verify_(self) -> None:
        """Raise VerifyException unless the result has an si32 for each axis."""
        verify_tensor("the operand", self.tensor.type)
        expected = _shape_type(self.tensor.type)
        if self.result.type != expected:
            raise VerifyException(
                f"expected a result of type {expected}, got {self.result.type}"
            )


def _shape_type(type: Attribute) -> TensorType[Attribute]:
    rank = type.get_num_dims() if isinstance(type, TensorType) else DYNAMIC_INDEX
    return TensorType(si32, [rank])


@operation_definition
class PrngOp(DialectOperation):
    """Random numbers, and the state to draw the next ones from.

    ```mlir
    %R, %T = tile.prng %S -> [%M, 4] : tensor<3x2048xui32> -> tensor<?x4xf32>
    ```

    The state, of type ui32, has shape [3, L], one column for each of L lanes, or [1, 3]
    for one lane. Element n of the result, in row-major order, comes from lane n mod L:
    it is (a ^ b ^ c) of the lane's state (a, b, c), converted to f32 and divided by
    2^32, so from 0 to 1, where rounding may give 1 itself. After each of its elements
    the lane steps to

        a' = ((a & 4294967294) << 12) ^ (((a << 13) ^ a) >> 19)
        b' = ((b & 4294967288) << 4) ^ (((b << 2) ^ b) >> 25)
        c' = ((c & 4294967280) << 17) ^ (((c << 3) ^ c) >> 11)

    in 32 bits without sign. A lane that gives no element stays as it is. The second
    result is the state of all lanes afterwards, in the shape of the operand. (The
    combined Tausworthe generator taus88 of L'Ecuyer, as in PlaidML.)
    """

    name = "tile.prng"
    state = operand_def()
    sizes = var_operand_def(IndexType)
    result = result_def(TensorType)
    new_state = result_def()
    traits = traits_def(Pure())

    def __init__(
        self, state: SSAValue, type: TensorType, sizes: Sequence[SSAValue] = ()
    ) -> None:
        super().__init__(
            operands=[state, sizes],
            result_types=[type, with_element(state.type, ui32)],
        )

    @classmethod
    def parse(cls, parser: Parser) -> PrngOp:
        """Read `%S -> [%M, 4] : <state type> -> <type>`."""
        state, type, sizes, attributes = parse_sized_result(parser)
        op = cls(state, type, sizes)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        """Print the state, the sizes that are asked for, and both types."""
        print_sized_result(
            printer, self.state, self.result.type, self.sizes, self.attributes
        )

    def verify_(self) -> None:
        """Raise VerifyException unless state and result have their shapes and types."""
        state = self.state.type
        verify_tensor("the state", state)
        verify_sizes(self.result.type, self.sizes)
        if element_of(state) not in (ANY_ELEMENT, ui32):
            raise VerifyException(f"expected a state of element type ui32, got {state}")
        if self.result.type.element_type != f32:
            raise VerifyException(
                f"expected a result of element type f32, got {self.result.type}"
            )
        if self.new_state.type != with_element(state, ui32):
            raise VerifyException(
                f"expected the new state to be {with_element(state, ui32)}, got "
                f"{self.new_state.type}"
            )
        if isinstance(state, TensorType):
            shape = state.get_shape()
            verify_shape(lambda: check_state(shape))


@operation_definition
class AssertOp(DialectOperation):
    """A condition on sizes that must hold: `tile.assert %c "assert_even"`.

    The condition, of type index, holds when it is not 0. `tile-specialize` raises an
    error with the name where it does not hold, and drops the op.
    """

    name = "tile.assert"
    condition = operand_def(IndexType)
    message = prop_def(StringAttr)
    assembly_format = "$condition $message attr-dict"

    def __init__(self, condition: SSAValue, message: str) -> None:
        super().__init__(
            operands=[condition], properties={"message": StringAttr(message)}
        )
