"""What special operations have in common: operands, options, one result, checks.

`SpecialOp` takes tensors and options, `SizedOp` a tensor and the sizes of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

from xdsl.dialects.builtin import IndexType, TensorType, UnrankedTensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    operand_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..building import DialectOperation
from ..eltwise.ops import ANY_ELEMENT, element_of, with_element
from .options import ExcludedOption, SpecialOptions
from .size_syntax import (
    parse_sized_result,
    print_sized_result,
    verify_sizes,
)
from .special_shapes import Shape


class SpecialOp(DialectOperation):
    """An op that makes a tensor of others as options say.

    A class of these names its operands and its `OPTIONS`, and reads `options`. The
    properties are those, and the syntax

    ```mlir
    %R = tile.NAME %A, %B axis 1 mode nd : (tensor<9x4xf32>, ...) -> tensor<...>
    ```

    where options that are as by default are left out.
    """

    OPTIONS: ClassVar[type[SpecialOptions]]
    """What the op can be told."""

    result = result_def()
    traits = traits_def(Pure())

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        for name, definition in cls.OPTIONS.definitions().items():
            setattr(cls, name, definition)

    def __init__(
        self,
        operands: Sequence[SSAValue],
        options: SpecialOptions | None = None,
        type: Attribute | None = None,
    ) -> None:
        """Without a type it is inferred: ValueError for shapes that do not fit."""
        options = self.OPTIONS() if options is None else options
        if type is None:
            type = options.result_type([operand.type for operand in operands])
        super().__init__(
            operands=operands, properties=options.properties(), result_types=[type]
        )

    @classmethod
    def function(cls) -> str:
        """The name of the function that it is in programs."""
        return cls.name.removeprefix("tile.")

    @classmethod
    def operand_names(cls) -> list[str]:
        """What the operands are, in order."""
        return [name for name, _ in cls.get_irdl_definition().operands]

    @property
    def options(self) -> SpecialOptions:
        """What the op has been told."""
        return self.OPTIONS.of(self.properties)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read operands, options and types; ParseError for too few operands."""
        start = parser.pos
        values = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, parser.parse_unresolved_operand
        )
        options = cls.OPTIONS.parse(parser)
        names = cls.operand_names()
        if len(values) != len(names):
            *most, last = names
            parser.raise_error(
                f"expected {', '.join(most)} and {last}, got {len(values)} operand(s)",
                start,
                parser.pos,
            )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_function_type()
        operands = parser.resolve_operands(values, type.inputs.data, start)
        if len(type.outputs) != 1:
            parser.raise_error("expected one result type", position, parser.pos)
        op = cls(operands, options, type.outputs.data[0])
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        """Print the options that have another value than their default."""
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        self.options.print(printer)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_function_type(self.operand_types, self.result_types)

    def verify_(self) -> None:
        """Raise VerifyException unless element types, options and shapes fit."""
        for what, type in zip(self.operand_names(), self.operand_types, strict=True):
            verify_tensor(f"the {what}", type)
        verify_tensor("the result", self.result.type)
        elements = [element_of(type) for type in self.operand_types]
        try:
            self.options.check()
        except ExcludedOption as error:
            raise VerifyException(str(error)) from None
        self.verify_elements(elements)
        verify_element(self.result, self.options.element(elements))
        verify_shape(self._verify_shape)

    def verify_elements(self, elements: Sequence[Attribute]) -> None:
        """Raise VerifyException for operands of such element types."""

    def _verify_shape(self) -> None:
        expected = self.options.result_type(self.operand_types)
        result = self.result.type
        if with_element(expected, element_of(result)) != result:
            raise VerifyException(f"expected a result of type {expected}, got {result}")


class SizedOp(DialectOperation):
    """An op that makes of a tensor one with the sizes that it is given."""

    tensor = operand_def()
    sizes = var_operand_def(IndexType)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    CHECK: ClassVar[Callable[[Shape, Shape], Shape]]
    """Raises ValueError for shapes of operand and result that do not fit."""

    def __init__(
        self, tensor: SSAValue, type: TensorType, sizes: Sequence[SSAValue] = ()
    ) -> None:
        super().__init__(operands=[tensor, sizes], result_types=[type])

    @classmethod
    def function(cls) -> str:
        """The name of the function that it is in programs."""
        return cls.name.removeprefix("tile.")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the tensor, the sizes of the result in brackets, and the types."""
        tensor, type, sizes, attributes = parse_sized_result(parser)
        op = cls(tensor, type, sizes)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        """Print the tensor, the sizes of the result, and the types."""
        print_sized_result(
            printer, self.tensor, self.result.type, self.sizes, self.attributes
        )

    def verify_(self) -> None:
        """Raise VerifyException unless element types and shapes fit."""
        verify_tensor("the operand", self.tensor.type)
        verify_sizes(self.result.type, self.sizes)
        elements = element_of(self.tensor.type), self.result.type.element_type
        if elements[0] != elements[1] and ANY_ELEMENT not in elements:
            raise VerifyException(
                f"expected the result to have element type {elements[0]}, got "
                f"{elements[1]}"
            )
        if isinstance(self.tensor.type, TensorType):
            source, target = self.tensor.type.get_shape(), self.result.type.get_shape()
            verify_shape(lambda: type(self).CHECK(source, target))


def verify_tensor(what: str, type: Attribute) -> None:
    """Raise VerifyException for a type that is no tensor."""
    if not isinstance(type, TensorType | UnrankedTensorType):
        raise VerifyException(f"expected {what} to be a tensor, got {type}")


def verify_element(result: SSAValue, expected: Attribute) -> None:
    """Raise VerifyException for a result of another element type."""
    elements = element_of(result.type), expected
    if ANY_ELEMENT not in elements and elements[0] != elements[1]:
        raise VerifyException(
            f"expected the result to have element type {expected}, got {result.type}"
        )


def verify_shape(rule: Callable[[], object]) -> None:
    """Run a rule of `special_shapes`; what it objects to is an error of the op."""
    try:
        rule()
    except ValueError as error:
        raise VerifyException(str(error)) from None
