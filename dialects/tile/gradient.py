"""`tile.gradient`: how a value of the program changes with others."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType, UnrankedTensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    operand_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..building import DialectOperation, operation_definition
from ..eltwise.element_types import Kind, is_element_type, kind
from ..eltwise.ops import ANY_ELEMENT, element_of


@operation_definition
class GradientOp(DialectOperation):
    """The gradient of a loss with respect to other tensors of the program.

    ```mlir
    %dX, %dW = tile.gradient %L, %X, %W
        : tensor<f32>, tensor<4x5xf32>, tensor<5x6xf32>
    ```

    Result i has the type of operand i + 1: the partial derivatives of `%L` with respect
    to each of its elements, zeros where the loss does not depend on it. Of a loss that
    is not 0-D it is the gradient of the sum of its elements. All tensors are of floats.
    A tensor that others are computed from may stand beside them: each is then counted
    with all that depends on it. `tile-differentiate` expands the op.
    """

    name = "tile.gradient"
    loss = operand_def()
    wrt = var_operand_def()
    gradients = var_result_def()
    traits = traits_def(Pure())

    def __init__(self, loss: SSAValue, wrt: Sequence[SSAValue]) -> None:
        super().__init__(
            operands=[loss, wrt], result_types=[[value.type for value in wrt]]
        )

    @classmethod
    def parse(cls, parser: Parser) -> GradientOp:
        """Read `%L, %X, %W : <types>`; raises ParseError without a type for each."""
        start = parser.pos
        values = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, parser.parse_type
        )
        loss, *wrt = parser.resolve_operands(values, types, start)
        op = cls(loss, wrt)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        """Print the operands and their types, which are those of the results, too."""
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list(
            [operand.type for operand in self.operands], printer.print_attribute
        )

    def verify_(self) -> None:
        """Raise VerifyException unless all are of floats and results match operands."""
        if not self.wrt:
            raise VerifyException("expected a tensor to differentiate by")
        for number, operand in enumerate(self.operands):
            what = "the loss" if number == 0 else f"operand {number}"
            _verify_float_tensor(what, operand.type)
        wrt, results = [v.type for v in self.wrt], [v.type for v in self.gradients]
        if wrt != results:
            raise VerifyException(
                "expected the results to have the types of the tensors to "
                f"differentiate by, {_listed(wrt)}, got {_listed(results)}"
            )


def _verify_float_tensor(what: str, type: Attribute) -> None:
    if not isinstance(type, TensorType | UnrankedTensorType):
        raise VerifyException(f"expected {what} to be a tensor, got {type}")
    element = element_of(type)
    if element == ANY_ELEMENT:
        return
    if not is_element_type(element) or kind(element) is not Kind.FLOAT:
        raise VerifyException(
            f"expected {what} to have floats as elements, got {element}"
        )


def _listed(types: Sequence[Attribute]) -> str:
    return ", ".join(map(str, types)) or "none"
