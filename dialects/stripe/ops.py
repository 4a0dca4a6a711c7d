"""The statements of a `stripe.block`: allocations, loads and stores."""

from __future__ import annotations

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryAllocEffect, MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from .attributes import Direction, ViewType
from .block import direction_of, is_view_of


@irdl_op_definition
class AllocOp(IRDLOperation):
    """A buffer: `%t = stripe.alloc : !stripe.view<8x32xf32, private>`.

    Rows are contiguous in the order of the axes. At the top of a function it lives as
    long as the call; inside a block, each point has its own. Its contents are undefined
    until they are written.
    """

    name = "stripe.alloc"
    view = result_def(ViewType)
    traits = traits_def(MemoryAllocEffect())
    assembly_format = "attr-dict `:` type($view)"

    def __init__(self, type: ViewType) -> None:
        super().__init__(result_types=[type])


@irdl_op_definition
class LoadOp(IRDLOperation):
    """The element, or the vector along the last axis, that a view of that size shows.

    `%x = stripe.load %a : !stripe.view<1x1xf32>` gives f32, a view of 1x16 elements
    gives `vector<16xf32>`.
    """

    name = "stripe.load"
    view = operand_def(ViewType)
    result = result_def()
    traits = traits_def(MemoryReadEffect())

    def __init__(self, view: SSAValue) -> None:
        super().__init__(operands=[view], result_types=[_value_type(view.type)])

    @classmethod
    def parse(cls, parser: Parser) -> LoadOp:
        view, attributes = _parse_view(parser)
        op = cls(view)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        _print_view(self, self.view, printer)

    def verify_(self) -> None:
        expected = _value_type(self.view.type)
        if self.result.type != expected:
            raise VerifyException(
                f"expected a result of type {expected}, got {self.result.type}"
            )
        _verify_view(self, self.view)
        if direction_of(self.view) is Direction.OUT:
            raise VerifyException("expected a view to read, got one that is 'out'")


@irdl_op_definition
class StoreOp(IRDLOperation):
    """Writes a value through a view: `stripe.store %x, %c : !stripe.view<1x1xf32>`.

    The value is aggregated into the cells as the view's refinement says; through an
    allocation it is assigned.
    """

    name = "stripe.store"
    value = operand_def()
    view = operand_def(ViewType)
    traits = traits_def(MemoryWriteEffect())

    def __init__(self, value: SSAValue, view: SSAValue) -> None:
        super().__init__(operands=[value, view])

    @classmethod
    def parse(cls, parser: Parser) -> StoreOp:
        unresolved = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        view, attributes = _parse_view(parser)
        op = cls(parser.resolve_operand(unresolved, _value_type(view.type)), view)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(",")
        _print_view(self, self.view, printer)

    def verify_(self) -> None:
        expected = _value_type(self.view.type)
        if self.value.type != expected:
            raise VerifyException(
                f"expected a value of type {expected}, got {self.value.type}"
            )
        _verify_view(self, self.view)
        if direction_of(self.view) is Direction.IN:
            raise VerifyException("expected a view to write, got one that is 'in'")


def _value_type(view: Attribute) -> Attribute:
    if not isinstance(view, ViewType):
        raise VerifyException(f"expected a view, got {view}")
    value = view.value_type
    if value is None:
        raise VerifyException(
            f"expected a view of one element or one vector, got {view}"
        )
    return value


def _verify_view(op: LoadOp | StoreOp, view: SSAValue) -> None:
    if not is_view_of(view, op.parent):
        raise VerifyException(
            "expected a view of the block around, got one from further out"
        )


def _parse_view(parser: Parser) -> tuple[SSAValue, dict[str, Attribute]]:
    unresolved = parser.parse_unresolved_operand()
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    start = parser.pos
    type = parser.parse_type()
    if not isinstance(type, ViewType) or type.value_type is None:
        parser.raise_error(
            f"expected a view of one element or one vector, got {type}",
            start,
            parser.pos,
        )
    return parser.resolve_operand(unresolved, type), attributes


def _print_view(op: LoadOp | StoreOp, view: SSAValue, printer: Printer) -> None:
    printer.print_string(" ")
    printer.print_ssa_value(view)
    printer.print_op_attributes(op.attributes)
    printer.print_string(" : ")
    printer.print_attribute(view.type)
