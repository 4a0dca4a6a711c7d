"""`eltwise.shuffle`: lanes of vectors and scalars in another order."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, VectorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    opt_prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..building import DialectOperation, operation_definition
from ..syntax import integer_array, integers
from .element_types import is_element_type
from .ops import element_of


@operation_definition
class ShuffleOp(DialectOperation):
    """A vector, or a scalar, made of lanes of the operands.

    The lanes of all operands are numbered through, a scalar being one lane; those that
    are listed make the result, or without a list all of them in order:

    ```mlir
    %0 = eltwise.shuffle %a, %b [0, 2, 4, 6]
        : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
    %1 = eltwise.shuffle %x, %y : (f32, f32) -> vector<2xf32>
    %2 = eltwise.shuffle %a [3] : (vector<4xf32>) -> f32
    ```
    """

    name = "eltwise.shuffle"
    arguments = var_operand_def()
    listed = opt_prop_def(DenseArrayBase)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(
        self,
        arguments: Sequence[SSAValue],
        lanes: Sequence[int] | None = None,
        type: Attribute | None = None,
    ) -> None:
        listed = None if lanes is None else integer_array(lanes)
        count = sum(map(lane_count, arguments)) if lanes is None else len(lanes)
        if type is None:
            element = element_of(arguments[0].type)
            type = VectorType(element, [count]) if count > 1 else element
        super().__init__(
            operands=[arguments], properties={"listed": listed}, result_types=[type]
        )

    @property
    def lanes(self) -> tuple[int, ...]:
        """For each lane of the result, the number of the operands' lane."""
        if self.listed is None:
            return tuple(range(sum(map(lane_count, self.arguments))))
        return integers(self.listed)

    @property
    def sources(self) -> list[tuple[SSAValue, int]]:
        """For each lane of the result, the operand and the lane in it."""
        every = [
            (argument, lane)
            for argument in self.arguments
            for lane in range(lane_count(argument))
        ]
        return [every[lane] for lane in self.lanes]

    @classmethod
    def parse(cls, parser: Parser) -> ShuffleOp:
        """Read `%a, %b [0, 2] : (<types>) -> <type>`; the list is optional."""
        unresolved = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        lanes = parser.parse_optional_comma_separated_list(
            parser.Delimiter.SQUARE, parser.parse_integer
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        start = parser.pos
        types = parser.parse_function_type()
        operands = parser.resolve_operands(
            unresolved or (), list(types.inputs.data), start
        )
        if len(types.outputs.data) != 1:
            parser.raise_error("expected one result", start, parser.pos)
        op = cls(operands, lanes, types.outputs.data[0])
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        """Print operands, the list of lanes where there is one, and all types."""
        printer.print_string(" ")
        printer.print_list(self.arguments, printer.print_ssa_value)
        if self.listed is not None:
            printer.print_string(f" [{', '.join(map(str, integers(self.listed)))}]")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_function_type(self.operand_types, self.result_types)

    def verify_(self) -> None:
        """Raise VerifyException unless operands, lanes and result fit.

        All have one element type and one axis at most, lanes that are listed exist, and
        the result has one for each.
        """
        if not self.arguments:
            raise VerifyException("expected one operand or more")
        element = element_of(self.result.type)
        for value in (*self.arguments, self.result):
            if element_of(value.type) != element or not is_element_type(element):
                raise VerifyException(
                    f"expected scalars and vectors of {element}, got {value.type}"
                )
            is_long = isinstance(value.type, VectorType) and value.type.get_num_dims()
            if value.type != element and is_long != 1:
                raise VerifyException(
                    f"expected a scalar or a vector with one axis, got {value.type}"
                )
        lanes = self.lanes
        count = sum(map(lane_count, self.arguments))
        if any(not 0 <= lane < count for lane in lanes):
            raise VerifyException(
                f"expected lanes from 0 to below {count}, got {list(lanes)}"
            )
        if lane_count(self.result) != len(lanes):
            raise VerifyException(
                f"expected a result of {len(lanes)} lane(s), got {self.result.type}"
            )


def lane_count(value: SSAValue) -> int:
    """The number of lanes of a vector; 1 of a scalar."""
    return value.type.get_shape()[0] if isinstance(value.type, VectorType) else 1
