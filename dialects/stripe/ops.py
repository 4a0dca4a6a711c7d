"""The statements of a `stripe.block`: allocations, loads, stores, and its indices."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    ParsePropInAttrDict,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryAllocEffect, MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from ..building import DialectOperation, build, operation_definition
from ..index_number import IndexNumberOp
from ..syntax import defined_value, integer_array
from .attributes import ViewType
from .block_values import direction_of, is_block_index, is_view_of
from .layout import LayoutAttr
from .subscripts import (
    Subscript,
    access_type,
    join_subscripts,
    parse_subscripts,
    print_subscripts,
    split_subscripts,
    verify_subscripts,
)


@operation_definition
class AllocOp(DialectOperation):
    """A buffer: `%t = stripe.alloc : !stripe.view<8x32xf32, private>`.

    Rows are contiguous in the order of the axes. At the top of a function it lives as
    long as the call; inside a block, each point has its own. Its contents are undefined
    until they are written. A `layout` says which order its axes are to have:
    `stripe.alloc {layout = #stripe.layout<[1, 0]>} : !stripe.view<8x32xf32>`.
    """

    name = "stripe.alloc"
    layout = opt_prop_def(LayoutAttr)
    view = result_def(ViewType)
    traits = traits_def(MemoryAllocEffect())
    assembly_format = "attr-dict `:` type($view)"
    irdl_options = (ParsePropInAttrDict(),)

    def __init__(self, type: ViewType, name: str | None = None) -> None:
        build(self, result_types=[type])
        self.view.name_hint = name

    def verify_(self) -> None:
        """Raise VerifyException for a layout that is no order of the axes."""
        rank = self.view.type.rank
        if self.layout is not None and sorted(self.layout.order) != [*range(rank)]:
            raise VerifyException(
                f"expected a layout of the axes 0 to {rank - 1}, each once, got "
                f"{[*self.layout.order]}"
            )


@operation_definition
class IndexOp(IndexNumberOp):
    """A linear form of indices as a number: `%x = stripe.index 2 * %i + 1 : si32`.

    The indices are of the block around and of those around it. The result is an integer
    of any width, to which the form is converted as `eltwise.cast` does. With a step it
    is a vector, whose lane `n` is the form plus `n` times the step:
    `stripe.index 16 * %j step 1 : vector<16xsi32>`.
    """

    name = "stripe.index"

    def verify_(self) -> None:
        """Raise VerifyException unless the form is over indices of blocks around."""
        super().verify_()
        if not all(is_block_index(value) for value in self.values):
            raise VerifyException("expected indices of the blocks around")


@operation_definition
class LoadOp(DialectOperation):
    """The element, or the vector along the last axis, that a view of that size shows.

    `%x = stripe.load %a : !stripe.view<1x1xf32>` gives f32, a view of 1x16 elements
    gives `vector<16xf32>`.

    Subscripts choose an element of a view of any size: `stripe.load %a[%i, 0] :
    !stripe.view<64x1xf32>`. There is one for each axis, a literal or an integer value
    of the block, counted from where the window starts. With a vector type they say
    where the vector along the last axis starts: `stripe.load %a[%i, 0] :
    !stripe.view<64x16xf32> -> vector<16xf32>`. What they choose must lie in the window.
    """

    name = "stripe.load"
    view = operand_def(ViewType)
    positions = var_operand_def()
    literals = opt_prop_def(DenseArrayBase)
    result = result_def()
    traits = traits_def(MemoryReadEffect())

    def __init__(
        self,
        view: SSAValue,
        subscripts: Sequence[Subscript] | None = None,
        type: Attribute | None = None,
    ) -> None:
        values, literals = split_subscripts(subscripts)
        build(
            self,
            operands=[view, *values],
            properties={"literals": literals},
            result_types=[type or access_type(view.type, subscripts)],
        )

    @property
    def subscripts(self) -> tuple[Subscript, ...] | None:
        """The place in the view, one subscript per axis.

        None when the view shows just that element or vector.
        """
        if (literals := self.literals) is None:
            return None
        return join_subscripts(self.positions, literals)

    @classmethod
    def parse(cls, parser: Parser) -> LoadOp:
        """Read `%a[%i, 0] : <view> -> <type>`.

        Subscripts are optional; only behind them may a type stand that is not the
        view's own.
        """
        view = parser.parse_unresolved_operand()
        subscripts = parse_subscripts(parser)
        attributes = parser.parse_optional_attr_dict()
        type = _parse_view_type(parser, subscripts)
        result = None
        if subscripts and parser.parse_optional_punctuation("->") is not None:
            result = parser.parse_type()
        op = cls(parser.resolve_operand(view, type), subscripts, result)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        """Print the type of the result only where the view's does not say it."""
        printer.print_string(" ")
        _print_place(self, printer)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.view.type)
        if self.result.type != access_type(self.view.type, self.subscripts):
            printer.print_string(" -> ")
            printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        """Raise VerifyException unless the view may be read and shows such a value."""
        _verify_access(self, self.result.type, "a result")
        direction = direction_of(self.view)
        if direction is not None and not direction.reads:
            raise VerifyException("expected a view to read, got one that is 'out'")


@operation_definition
class StoreOp(DialectOperation):
    """Writes a value through a view: `stripe.store %x, %c : !stripe.view<1x1xf32>`.

    The value is aggregated into the cells as the view's refinement says; through an
    allocation it is assigned. Subscripts choose where in a larger view, as for
    `stripe.load`: `stripe.store %x, %c[%i, 0] : !stripe.view<64x1xf32>`, or `: vector<
    16xf32> -> !stripe.view<64x16xf32>` for a vector.

    With a condition, a value of type i1, nothing is stored where it is false, and there
    the subscripts may be anything: `stripe.store %x, %c[%i] if %keep :
    !stripe.view<64xf32>`.
    """

    name = "stripe.store"
    value = operand_def()
    view = operand_def(ViewType)
    positions = var_operand_def()
    condition = opt_operand_def()
    literals = opt_prop_def(DenseArrayBase)
    traits = traits_def(MemoryWriteEffect())
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        value: SSAValue,
        view: SSAValue,
        subscripts: Sequence[Subscript] | None = None,
        condition: SSAValue | None = None,
    ) -> None:
        values, literals = split_subscripts(subscripts)
        conditions = [] if condition is None else [condition]
        segments = [1, 1, len(values), len(conditions)]
        build(
            self,
            operands=[value, view, *values, *conditions],
            properties={
                "literals": literals,
                "operandSegmentSizes": integer_array(segments, bits=32),
            },
        )

    @property
    def subscripts(self) -> tuple[Subscript, ...] | None:
        """The place in the view: see `LoadOp.subscripts`."""
        if (literals := self.literals) is None:
            return None
        return join_subscripts(self.positions, literals)

    @classmethod
    def parse(cls, parser: Parser) -> StoreOp:
        """Read `%x, %c[%i] if %keep : <type> -> <view>`.

        Subscripts, condition and the value's type are optional.
        """
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        view = parser.parse_unresolved_operand()
        subscripts = parse_subscripts(parser)
        condition = None
        if parser.parse_optional_keyword("if") is not None:
            condition = parser.resolve_operand(parser.parse_unresolved_operand(), i1)
        attributes = parser.parse_optional_attr_dict()
        if subscripts:
            stored = defined_value(parser, value)
            type = _parse_stored_type(parser, stored.type, subscripts)
        else:
            type = _parse_view_type(parser, subscripts)
            stored = parser.resolve_operand(value, access_type(type, subscripts))
        op = cls(stored, parser.resolve_operand(view, type), subscripts, condition)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        """Print the type of the value only where the view's does not say it."""
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(", ")
        _print_place(self, printer)
        if self.condition is not None:
            printer.print_string(" if ")
            printer.print_ssa_value(self.condition)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        if self.value.type != access_type(self.view.type, self.subscripts):
            printer.print_attribute(self.value.type)
            printer.print_string(" -> ")
        printer.print_attribute(self.view.type)

    def verify_(self) -> None:
        """Raise VerifyException unless the view may be written with such a value."""
        _verify_access(self, self.value.type, "a value")
        direction = direction_of(self.view)
        if direction is not None and not direction.writes:
            raise VerifyException("expected a view to write, got one that is 'in'")
        if self.condition is not None and self.condition.type != i1:
            raise VerifyException(
                f"expected a condition of type i1, got {self.condition.type}"
            )


def _print_place(op: LoadOp | StoreOp, printer: Printer) -> None:
    printer.print_ssa_value(op.view)
    print_subscripts(printer, op.subscripts)


def _parse_view_type(
    parser: Parser, subscripts: Sequence[Subscript] | None
) -> Attribute:
    parser.parse_punctuation(":")
    start = parser.pos
    type = parser.parse_type()
    try:
        access_type(type, subscripts)
    except VerifyException as error:
        parser.raise_error(str(error), start, parser.pos)
    return type


def _parse_stored_type(
    parser: Parser, stored: Attribute, subscripts: Sequence[Subscript]
) -> Attribute:
    """Parse `: view`, or `: value -> view` where the value is not an element."""
    parser.parse_punctuation(":")
    start = parser.pos
    type = parser.parse_type()
    if not isinstance(type, ViewType):
        if type != stored:
            parser.raise_error(
                f"expected the type of the value, {stored}, got {type}",
                start,
                parser.pos,
            )
        parser.parse_punctuation("->")
        return parser.parse_type()
    if stored != access_type(type, subscripts):
        parser.raise_error(
            f"expected a value of type {type.element_type}, got {stored}",
            start,
            parser.pos,
        )
    return type


def _verify_access(op: LoadOp | StoreOp, value: Attribute, what: str) -> None:
    if not is_view_of(op.view, op.parent):
        raise VerifyException(
            "expected a view of the block around, got one from further out"
        )
    expected = access_type(op.view.type, op.subscripts)
    subscripts = op.subscripts
    if subscripts is None:
        if value != expected:
            raise VerifyException(f"expected {what} of type {expected}, got {value}")
        return
    verify_subscripts(op.view.type, subscripts, value, what)
