"""The ops of a kernel's body: loops, conditions, memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from xdsl.dialects.builtin import (
    ArrayAttr,
    IndexType,
    IntegerAttr,
    UnitAttr,
    VectorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    MemoryAllocEffect,
    MemoryReadEffect,
    MemoryWriteEffect,
    NoTerminator,
    RecursiveMemoryEffect,
)
from xdsl.utils.exceptions import VerifyException

from ...affine.form import LinearForm
from ..building import INDEX, DialectOperation, build, operation_definition
from ..eltwise.ops import element_of, value_bytes
from ..form_attribute import FormAttr
from ..stripe.attributes import MemorySpace
from ..syntax import ValueForms, compact, print_form
from .attributes import PointerType


@lru_cache(maxsize=1024)
def _number(value: int) -> IntegerAttr:
    return IntegerAttr(value, i64)


@operation_definition
class ForOp(DialectOperation):
    """A loop from 0 up: `opencl.for %k : 1024 { ... }`.

    Unrolled completely with `: 8 unroll`. With `: 1024 unroll 4` the device's compiler
    puts four steps side by side, and with `unroll 1` none, whatever it thinks of it. It
    makes no vectors of the steps of such a loop.
    """

    name = "opencl.for"
    extent = prop_def(IntegerAttr)
    unroll = opt_prop_def(UnitAttr)
    unroll_factor = opt_prop_def(IntegerAttr)
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())

    def __init__(
        self,
        extent: int,
        body: Region,
        *,
        unroll: bool = False,
        unroll_factor: int | None = None,
    ) -> None:
        build(
            self,
            properties={
                "extent": _number(extent),
                "unroll": UnitAttr() if unroll else None,
            },
            regions=[body],
        )
        if unroll_factor is not None:
            self.limit_unrolling(unroll_factor)

    def limit_unrolling(self, factor: int) -> None:
        """Let the device's compiler put so many steps side by side."""
        self.unroll_factor = _number(factor)

    @staticmethod
    def empty_body(name_hint: str | None = None) -> Region:
        """A region whose block has the loop's index as its argument."""
        block = Block(arg_types=[INDEX])
        block.args[0].name_hint = name_hint
        return Region(block)

    @classmethod
    def parse(cls, parser: Parser) -> ForOp:
        """Read `%k : 1024 unroll 4 { ... }`; `unroll` and its factor are optional."""
        index = parser.parse_argument(expect_type=False).resolve(IndexType())
        parser.parse_punctuation(":")
        extent = parser.parse_integer(allow_negative=False)
        unroll = parser.parse_optional_keyword("unroll") is not None
        factor = parser.parse_optional_integer(allow_negative=False) if unroll else None
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region([index])
        is_complete = unroll and factor is None
        op = cls(extent, body, unroll=is_complete, unroll_factor=factor)
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        """Print index, number of steps, how it is unrolled, and body."""
        printer.print_string(" ")
        printer.print_ssa_value(self.body.block.args[0])
        printer.print_string(f" : {self.extent.value.data}")
        if self.unroll is not None:
            printer.print_string(" unroll")
        if self.unroll_factor is not None:
            printer.print_string(f" unroll {self.unroll_factor.value.data}")
        if self.attributes:
            printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(
            self.body, print_entry_block_args=False, print_empty_block=False
        )

    def verify_(self) -> None:
        """Raise VerifyException for a body without its index, or a factor below 1."""
        if [argument.type for argument in self.body.block.args] != [INDEX]:
            raise VerifyException("expected a body with one index argument")
        if self.unroll_factor is None:
            return
        if self.unroll is not None:
            raise VerifyException("expected 'unroll' with or without a factor")
        if self.unroll_factor.value.data < 1:
            raise VerifyException("expected a factor of 1 or more")


@operation_definition
class IfOp(DialectOperation):
    """Runs its body where all conditions hold: `opencl.if %i + %k - 3 >= 0 { }`.

    With `else zero` the body copies asynchronously, and where a condition fails, the
    cells that it copies to are set to zero in the same way.
    """

    name = "opencl.if"
    values = var_operand_def(IndexType)
    conditions = prop_def(ArrayAttr[FormAttr])
    zeros = opt_prop_def(UnitAttr)
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())

    def __init__(
        self, conditions: Sequence[LinearForm], values: Sequence[SSAValue], body: Region
    ) -> None:
        forms, used = compact(conditions, values)
        build(
            self,
            operands=used,
            properties={"conditions": ArrayAttr([FormAttr(f) for f in forms])},
            regions=[body],
        )

    @classmethod
    def parse(cls, parser: Parser) -> IfOp:
        """Read `%i + %k - 3 >= 0, %i >= 0 else zero { ... }`, the words if there."""
        forms = ValueForms(parser)
        polynomials = [forms.parse()]
        _parse_at_least_zero(parser)
        while parser.parse_optional_punctuation(",") is not None:
            polynomials.append(forms.parse())
            _parse_at_least_zero(parser)
        zeros = parser.parse_optional_keyword("else") is not None
        if zeros:
            parser.parse_keyword("zero")
        attributes = parser.parse_optional_attr_dict_with_keyword()
        values = forms.resolve()
        op = cls(forms.forms(polynomials), values, parser.parse_region([]))
        op.zeros = UnitAttr() if zeros else None
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        """Print each condition as a form that is at least 0, then the body."""
        for number, condition in enumerate(self.conditions):
            printer.print_string(", " if number else " ")
            print_form(printer, condition.data, self.values)
            printer.print_string(" >= 0")
        if self.zeros is not None:
            printer.print_string(" else zero")
        if self.attributes:
            printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_empty_block=False)

    def verify_(self) -> None:
        """Raise VerifyException without a condition, or for one over other values."""
        if not self.conditions:
            raise VerifyException("expected at least one condition")
        for condition in self.conditions:
            _verify_form(condition.data, len(self.values))
        if self.zeros is not None and self.copy is None:
            raise VerifyException("expected 'else zero' of a single asynchronous copy")

    @property
    def copy(self) -> StoreOp | None:
        """The store of a body that only copies asynchronously; None of others."""
        last = self.body.block.last_op
        if not isinstance(last, StoreOp) or last.asynchronous is None:
            return None
        return last if self.body.block.first_op is last.value.owner else None


def _parse_at_least_zero(parser: Parser) -> None:
    parser.parse_punctuation(">")
    parser.parse_punctuation("=")
    start = parser.pos
    if parser.parse_integer() != 0:
        parser.raise_error("expected '>= 0'", start, parser.pos)


def _verify_form(form: LinearForm, rank: int) -> None:
    if form.rank != rank:
        raise VerifyException(f"expected a form over {rank} values, got {form.rank}")
    if not form.is_integral:
        raise VerifyException("expected integer coefficients only")


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
        super().__init__(properties={"length": _number(length)}, result_types=[type])

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
        _verify_form(self.form.data, len(self.values))
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
        _verify_form(self.form.data, len(self.values))
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
