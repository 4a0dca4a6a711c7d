"""The memory of a kernel: its arrays, and what it reads and writes."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    UnitAttr,
    VectorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryAllocEffect, MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from ...affine.form import LinearForm
from ..building import DialectOperation, build, operation_definition
from ..eltwise.ops import element_of, value_bytes
from ..form_attribute import FormAttr
from ..stripe.attributes import MemorySpace
from ..syntax import ValueForms, compact, print_form
from .attributes import PointerType


@operation_definition
class ArrayOp(DialectOperation):
    """An array of a work-item or a work-group: `%t = opencl.array 16 : <pointer type>`.

    Its contents are undefined until they are written. `!opencl.pointer<vector<16xf32>,
    private>` is the type of an array of vectors in registers.
    """

    name = "opencl.array"
    length = prop_def(IntegerAttr)
    pointer = result_def(PointerType)
    traits = traits_def(MemoryAllocEffect())

    def __init__(self, length: int, type: PointerType) -> None:
        super().__init__(
            properties={"length": IntegerAttr(length, i64)}, result_types=[type]
        )

    @classmethod
    def parse(cls, parser: Parser) -> ArrayOp:
        """Read `16 : <pointer type>`.

        Raises ParseError for another type than a pointer's.
        """
        length = parser.parse_integer(allow_negative=False)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        start = parser.pos
        type = parser.parse_type()
        if not isinstance(type, PointerType):
            parser.raise_error(f"expected a pointer, got {type}", start, parser.pos)
        op = cls(length, type)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        """Print how many elements there are, and the type of the pointer to them."""
        printer.print_string(f" {self.length.value.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.pointer.type)

    def verify_(self) -> None:
        """Raise VerifyException for an array in global memory."""
        if self.pointer.type.space.data is MemorySpace.GLOBAL:
            raise VerifyException("expected a local or private array, got a global one")


@operation_definition
class LoadOp(DialectOperation):
    """Reads memory: `%x = opencl.load %A[16 * %i + %k] : <pointer> -> vector<16xf32>`.

    The form counts elements from the pointer. The result is an element, or a vector of
    that many elements side by side, at any alignment. With `aligned`, it lies at a
    multiple of its elements.
    """

    name = "opencl.load"
    pointer = operand_def(PointerType)
    values = var_operand_def(IndexType)
    form = prop_def(FormAttr)
    aligned = opt_prop_def(UnitAttr)
    result = result_def()
    traits = traits_def(MemoryReadEffect())

    def __init__(
        self,
        pointer: SSAValue,
        form: LinearForm,
        values: Sequence[SSAValue],
        type: Attribute,
    ) -> None:
        (position,), used = compact([form], values)
        build(
            self,
            operands=[pointer, *used],
            properties={"form": FormAttr(position)},
            result_types=[type],
        )

    @classmethod
    def parse(cls, parser: Parser) -> LoadOp:
        """Read `aligned %A[16 * %i] : <pointer> -> <type>`; `aligned` is optional."""
        aligned = parser.parse_optional_keyword("aligned") is not None
        pointer = parser.parse_unresolved_operand()
        form, values = _parse_position(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        resolved = parser.resolve_operand(pointer, parser.parse_type())
        parser.parse_punctuation("->")
        op = cls(resolved, form, values, parser.parse_type())
        op.aligned = UnitAttr() if aligned else None
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        """Print pointer and position, and both types."""
        printer.print_string(" " if self.aligned is None else " aligned ")
        _print_position(self, printer)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.pointer.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        """Raise VerifyException unless result and pointer have one element type."""
        verify_form(self.form.data, len(self.values))
        _verify_value(self.result.type, self.pointer.type)
        _verify_aligned(self, self.result.type)


@operation_definition
class StoreOp(DialectOperation):
    """Writes memory: `opencl.store %x, %C[%i] : vector<16xf32> -> <pointer>`.

    With `stream`, a vector should go to memory past the caches. With `aligned`, it lies
    at a multiple of its elements. With `asynchronous`, what was just loaded from global
    memory comes to local memory while the work-item goes on: it is there behind the
    next `opencl.barrier asynchronous`.
    """

    name = "opencl.store"
    value = operand_def()
    pointer = operand_def(PointerType)
    values = var_operand_def(IndexType)
    form = prop_def(FormAttr)
    stream = opt_prop_def(UnitAttr)
    aligned = opt_prop_def(UnitAttr)
    asynchronous = opt_prop_def(UnitAttr)
    traits = traits_def(MemoryWriteEffect())

    def __init__(
        self,
        value: SSAValue,
        pointer: SSAValue,
        form: LinearForm,
        values: Sequence[SSAValue],
    ) -> None:
        (position,), used = compact([form], values)
        build(
            self,
            operands=[value, pointer, *used],
            properties={"form": FormAttr(position)},
        )

    @classmethod
    def parse(cls, parser: Parser) -> StoreOp:
        """Read `stream aligned asynchronous %x, %C[%i] : <type> -> <pointer>`.

        The three words are optional.
        """
        streams = parser.parse_optional_keyword("stream") is not None
        aligned = parser.parse_optional_keyword("aligned") is not None
        is_asynchronous = parser.parse_optional_keyword("asynchronous") is not None
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        pointer = parser.parse_unresolved_operand()
        form, values = _parse_position(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        resolved_value = parser.resolve_operand(value, parser.parse_type())
        parser.parse_punctuation("->")
        resolved = parser.resolve_operand(pointer, parser.parse_type())
        op = cls(resolved_value, resolved, form, values)
        op.stream = UnitAttr() if streams else None
        op.aligned = UnitAttr() if aligned else None
        op.asynchronous = UnitAttr() if is_asynchronous else None
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        """Print value, pointer and position, and both types."""
        printer.print_string(" " if self.stream is None else " stream ")
        printer.print_string("" if self.aligned is None else "aligned ")
        printer.print_string("" if self.asynchronous is None else "asynchronous ")
        printer.print_ssa_value(self.value)
        printer.print_string(", ")
        _print_position(self, printer)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.value.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.pointer.type)

    def verify_(self) -> None:
        """Raise VerifyException unless value and pointer have one element type."""
        verify_form(self.form.data, len(self.values))
        _verify_value(self.value.type, self.pointer.type)
        _verify_aligned(self, self.value.type)
        if self.asynchronous is not None and not is_plain_copy(self):
            raise VerifyException(
                "expected what is stored asynchronously to be just loaded from global "
                f"memory, {_COPIED} bytes of it, and stored to local memory"
            )


_COPIED = (4, 8, 16)
"""The bytes that may be copied at once."""


def is_plain_copy(store: StoreOp) -> bool:
    """Whether a store copies words of global memory to local memory as they are.

    Where there are several at once, they lie aligned in both.
    """
    load, target = store.value.owner, store.pointer.type
    if not isinstance(load, LoadOp) or not store.value.has_one_use():
        return False
    source = load.pointer.type
    if not isinstance(source, PointerType) or not isinstance(target, PointerType):
        return False
    spaces = source.space.data, target.space.data
    is_near = load.next_op is store and spaces == (
        MemorySpace.GLOBAL,
        MemorySpace.LOCAL,
    )
    is_same = source.element_type == target.element_type
    if not is_near or not is_same or isinstance(target.element_type, VectorType):
        return False
    if target.element_type == i1 or value_bytes(store.value.type) not in _COPIED:
        return False
    is_vector = isinstance(store.value.type, VectorType)
    return not is_vector or (lies_aligned(load) and lies_aligned(store))


def lies_aligned(op: LoadOp | StoreOp) -> bool:
    """Whether an access is of a vector that always lies at a multiple of its elements.

    That is counted from the pointer.
    """
    type = op.result.type if isinstance(op, LoadOp) else op.value.type
    pointer = op.pointer.type
    is_element = isinstance(pointer, PointerType) and type == pointer.element_type
    if not isinstance(type, VectorType) or is_element:
        return False
    (lanes,) = type.get_shape()
    form = op.form.data
    return not any(number % lanes for number in (*form.coefficients, form.constant))


def _verify_aligned(op: LoadOp | StoreOp, type: Attribute) -> None:
    if op.aligned is not None and not lies_aligned(op):
        raise VerifyException(
            f"expected a vector at a multiple of its elements to be aligned, got {type}"
        )


def _parse_position(parser: Parser) -> tuple[LinearForm, list[SSAValue]]:
    forms = ValueForms(parser)
    parser.parse_punctuation("[")
    polynomial = forms.parse()
    parser.parse_punctuation("]")
    return forms.forms([polynomial])[0], forms.resolve()


def _print_position(op: LoadOp | StoreOp, printer: Printer) -> None:
    printer.print_ssa_value(op.pointer)
    with printer.in_square_brackets():
        print_form(printer, op.form.data, op.values)


def _verify_value(value: Attribute, pointer: Attribute) -> None:
    if not isinstance(pointer, PointerType):
        raise VerifyException(f"expected a pointer, got {pointer}")
    element = pointer.element_type
    if value == element:
        return
    if isinstance(element, VectorType) or element_of(value) != element:
        raise VerifyException(f"expected a value of {element}, got {value}")


def verify_form(form: LinearForm, rank: int) -> None:
    """Raise VerifyException for a form that is not over so many indices."""
    if form.rank != rank:
        raise VerifyException(f"expected a form over {rank} values, got {form.rank}")
    if not form.is_integral:
        raise VerifyException("expected integer coefficients only")
