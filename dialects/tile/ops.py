"""The ops of the `tile` dialect beside the contraction: sizes and shapes."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    IndexType,
    StringAttr,
    TensorType,
    UnrankedTensorType,
)
from xdsl.ir import BlockArgument, SSAValue
from xdsl.irdl import (
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..building import DialectOperation, operation_definition


@operation_definition
class SizesOp(DialectOperation):
    """The named sizes of an input, one result per axis.

    `%M, %K = tile.sizes %A ["M", "K"] : tensor<?x?x!eltwise.any>`. A name that occurs
    twice in a function stands for one number: `tile-specialize` checks that the shapes
    agree and names the size and both values when they do not. The op stays when its
    results are unused, since it also says what shapes are legal.
    """

    name = "tile.sizes"
    tensor = operand_def(TensorType)
    names = prop_def(ArrayAttr[StringAttr])
    sizes = var_result_def(IndexType)

    def __init__(self, tensor: SSAValue, names: Sequence[str]) -> None:
        super().__init__(
            operands=[tensor],
            properties={"names": ArrayAttr([StringAttr(name) for name in names])},
            result_types=[[IndexType()] * len(names)],
        )
        for name, size in zip(names, self.sizes, strict=True):
            # A name of Tile text may end in ', one of Python may have any letters.
            if name.isascii() and size.is_valid_name(name):
                size.name_hint = name

    @classmethod
    def parse(cls, parser: Parser) -> SizesOp:
        """Read `%A ["M", "K"] : <type>`."""
        tensor = parser.parse_unresolved_operand()
        names = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, parser.parse_str_literal
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        op = cls(parser.resolve_operand(tensor, parser.parse_type()), names)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        """Print the tensor, the names of its sizes, and its type."""
        printer.print_string(" ")
        printer.print_ssa_value(self.tensor)
        printer.print_string(" ")
        with printer.in_square_brackets():
            printer.print_list(
                self.names, lambda name: printer.print_string_literal(name.data)
            )
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.tensor.type)

    def verify_(self) -> None:
        """Raise VerifyException unless each axis has one name and one result."""
        tensor = self.tensor.type
        if not isinstance(tensor, TensorType):
            raise VerifyException(f"expected a tensor of known rank, got {tensor}")
        rank = tensor.get_num_dims()
        if not len(self.names) == len(self.sizes) == rank:
            raise VerifyException(
                f"expected one name and one result for each of the {rank} axes, got "
                f"{len(self.names)} name(s) and {len(self.sizes)} result(s)"
            )


@operation_definition
class FromIndexOp(DialectOperation):
    """A size used as a value: a weak integer of rank 0.

    `%0 = tile.from_index %N : tensor<!eltwise.any>`. `tile-specialize` makes it a
    constant.
    """

    name = "tile.from_index"
    size = operand_def(IndexType)
    result = result_def(TensorType)
    traits = traits_def(Pure())
    assembly_format = "$size attr-dict `:` type($result)"

    def __init__(self, size: SSAValue, type: TensorType) -> None:
        super().__init__(operands=[size], result_types=[type])

    def verify_(self) -> None:
        """Raise VerifyException unless the result is 0-D."""
        if self.result.type.get_shape():
            raise VerifyException(
                f"expected a result of rank 0, got {self.result.type}"
            )


@operation_definition
class ToIndexOp(DialectOperation):
    """An input used as a size: its value, which must be given before anything runs.

    `%1 = tile.to_index %K : tensor<*x!eltwise.any>`. `tile-specialize` replaces it by
    the number that the argument is bound to: `tile-specialize{arguments="si32=3"}`.
    """

    name = "tile.to_index"
    tensor = operand_def(TensorType | UnrankedTensorType)
    size = result_def(IndexType)
    traits = traits_def(Pure())
    assembly_format = "$tensor attr-dict `:` type($tensor)"

    def __init__(self, tensor: SSAValue) -> None:
        super().__init__(operands=[tensor], result_types=[IndexType()])

    def verify_(self) -> None:
        """Raise VerifyException for what is no argument of the function."""
        if not isinstance(self.tensor, BlockArgument):
            raise VerifyException("expected an argument of the function")
