"""The statements of kernels and functions as text."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects.eltwise.element_types import Kind, kind
from ...dialects.eltwise.ops import (
    BitcastOp,
    BroadcastOp,
    CastOp,
    ConstantOp,
    ElementwiseOp,
    element_of,
)
from ...dialects.eltwise.shuffle import ShuffleOp
from ...dialects.eltwise.table import TypeRule
from ...dialects.locations import error_at, source_location
from ...dialects.opencl.attributes import PointerType
from ...dialects.opencl.control_flow import ForOp, IfOp
from ...dialects.opencl.data_ops import IndexOp, PositionOp, WhenOp
from ...dialects.opencl.division import DivideOp
from ...dialects.opencl.functions import CallOp, ReturnOp
from ...dialects.opencl.memory import ArrayOp, LoadOp, StoreOp
from ...dialects.opencl.prefetch import PrefetchOp
from ...dialects.opencl.work_items import DelinearizeOp
from ...dialects.stripe.attributes import MemorySpace
from ...errors import GinghamError
from .expressions import (
    Expression,
    check_computed,
    index_of_number,
    shift,
    sum_of_products,
)
from .indices import IndexPrinter
from .language import Language
from .names import NameScope, comment_text
from .types import CType, c_type, memory_name

INDENT = "  "


@dataclass(frozen=True)
class PrintedArray:
    """Memory as printed; an array of one element is a variable."""

    name: str
    is_variable: bool = False


class StatementPrinter:
    """Prints the statements of one body, those of the block `entry`.

    `functions` are the names in C of what it may call.
    """

    def __init__(
        self,
        entry: Block,
        language: Language,
        index_bits: int,
        functions: Mapping[str, str],
    ) -> None:
        self._entry = entry
        self._language = language
        self._functions = functions
        self._lines: list[str] = []
        self._depth = 0
        self._scope = NameScope(names=functions.values())
        self._indices = IndexPrinter(index_bits)
        self._values: dict[SSAValue, Expression] = {}
        self._arrays: dict[SSAValue, PrintedArray] = {}
        self._place: str | None = None

    # Lines and scopes.

    def _line(self, text: str) -> None:
        self._lines.append(f"{INDENT * self._depth}{text}")

    @contextmanager
    def _nested(self) -> Generator[None]:
        """Indent, with names that are gone after it."""
        outer = self._scope
        self._scope = NameScope(outer)
        self._depth += 1
        yield
        self._depth -= 1
        self._scope = outer

    def _comment_place(self, op: Operation) -> None:
        """A comment with the source line of an op, where it is not that of the last."""
        place = source_location(op)
        if place is None:
            return
        file = place.file.replace("\\", "/").rsplit("/", 1)[-1]
        text = comment_text(f"{file}:{place.line}")
        if text != self._place:
            self._line(f"// {text}")
            self._place = text

    def _print_statements(self, block: Block) -> None:
        for op in block.ops:
            with located(op):
                self._print_op(op)

    def _print_op(self, op: Operation) -> None:
        match op:
            case DelinearizeOp():
                self._print_delinearize(op)
            case ForOp():
                self._print_for(op)
            case IfOp():
                self._print_if(op)
            case WhenOp():
                self._print_guarded(op, self._operand(op.condition).text)
            case IndexOp():
                self._print_index(op)
            case PositionOp():
                self._bind_position(op)
            case ReturnOp():
                self._line(f"return {self._operand(op.value).text};")
            case _:
                self._print_memory_op(op)

    def _print_memory_op(self, op: Operation) -> None:
        match op:
            case ArrayOp():
                self._print_array(op)
            case LoadOp():
                self._print_load(op)
            case StoreOp():
                self._print_store(op)
            case PrefetchOp():
                self._print_prefetch(op)
            case _:
                self._print_value(op)

    def _print_value(self, op: Operation) -> None:
        match op:
            case ConstantOp():
                self._bind_constant(op)
            case CastOp():
                self._print_cast(op)
            case BroadcastOp():
                self._print_broadcast(op)
            case ShuffleOp():
                self._print_shuffle(op)
            case ElementwiseOp():
                self._print_function(op)
            case BitcastOp():
                self._print_bitcast(op)
            case CallOp():
                self._print_call(op)
            case DivideOp():
                self._print_division(op)
            case _:
                raise error_at(op, f"'{op.name}' has no form in {self._language.name}")

    # Indices, loops and conditions.

    def _print_delinearize(self, op: DelinearizeOp) -> None:
        text = self._indices[op.index].text
        step = prod(op.extents)
        for number, extent in enumerate(op.extents):
            step //= max(extent, 1)
            coordinate = f"{text} / {step}" if step > 1 else text
            if number > 0:
                coordinate = f"{coordinate} % {extent}"
            self._declare_index(op, op.coordinates[number], coordinate, extent)

    def _declare_index(
        self, op: Operation, value: SSAValue, text: str, extent: int
    ) -> None:
        """Give a name to an index that runs from 0 to below `extent`."""
        name = self._scope.declare(value.name_hint, "i")
        self._indices.declare(value, name, 0, extent - 1)
        self._comment_place(op)
        self._line(f"const {self._indices.type_for(0, extent - 1)} {name} = {text};")

    def _print_for(self, op: ForOp) -> None:
        index, extent = op.index, op.steps
        self._comment_place(op)
        for line in self._language.loop_marks(op):
            self._line(line)
        outer = self._depth
        with self._nested():
            name = self._scope.declare(index.name_hint, "i")
            is_unrolled = op.unroll is not None
            self._indices.declare(index, name, 0, extent - 1, is_unrolled)
            # The index counts up to the extent itself.
            type = self._indices.type_for(0, extent)
            header = f"for ({type} {name} = 0; {name} < {extent}; ++{name}) {{"
            self._lines.append(f"{INDENT * outer}{header}")
            self._print_statements(op.body.block)
        self._line("}")

    def _print_if(self, op: IfOp) -> None:
        conditions = [
            self._indices.condition(form.data, op.values) for form in op.conditions
        ]
        condition = " && ".join(conditions)
        copy = None if op.zeros is None else op.copy
        if copy is not None and isinstance(load := copy.value.owner, LoadOp):
            self._print_copy(load, copy, condition)
            return
        self._print_guarded(op, condition)

    def _print_guarded(self, op: IfOp | WhenOp, condition: str) -> None:
        self._comment_place(op)
        self._line(f"if ({condition}) {{")
        with self._nested():
            self._print_statements(op.body.block)
        self._line("}")

    def _print_index(self, op: IndexOp) -> None:
        type = self._c_type(op.result.type)
        form = self._indices.form(op.form.data, op.values)
        if type.name == self._indices.type_of_form(op.form.data, op.values):
            value = Expression(form, type)
        else:
            value = self._language.numbers(form, type, op.lane_step)
        self._declare(op, op.result, value)

    def _bind_position(self, op: PositionOp) -> None:
        last = op.bound.value.data - 1
        is_long = self._indices.type_for(0, last) == "long"
        text = index_of_number(self._operand(op.number), is_long)
        self._indices.declare(op.result, text, 0, last)

    # Memory.

    def _print_array(self, op: ArrayOp) -> None:
        type = op.pointer.type
        length = op.length.value.data
        space = type.space.data
        if space is MemorySpace.LOCAL and op.parent is not self._entry:
            raise error_at(op, "expected a local array outside of loops and conditions")
        element = self._memory_name(type.element_type)
        name = self._scope.declare(op.pointer.name_hint, "array")
        is_variable = length <= 1
        self._arrays[op.pointer] = PrintedArray(name, is_variable)
        self._comment_place(op)
        size = "" if is_variable else f"[{length}]"
        self._line(f"{self._language.in_space(space, f'{element} {name}{size}')};")

    def _print_load(self, op: LoadOp) -> None:
        if isinstance(op.next_op, StoreOp) and op.next_op.asynchronous is not None:
            # The store copies it.
            return
        type = self._c_type(op.result.type)
        text = self._cell(op, op.result.type)
        if text is None:
            text = self._language.load(type, self._position(op), _space(op))
        # `x` of array `X`, where the program has no name for it.
        name = self._arrays[op.pointer].name.lower()
        value = self._language.from_memory(text, type)
        self._declare(op, op.result, value, name)

    def _print_copy(
        self, load: LoadOp, store: StoreOp, condition: str | None = None
    ) -> None:
        """What comes to local memory while the work-item goes on; else zeros."""
        self._comment_place(store)
        type = c_type(store.value.type)
        places = self._position(store), self._position(load)
        self._line(self._language.copy_asynchronously(type, *places, condition))

    def _print_store(self, op: StoreOp) -> None:
        load = op.value.owner
        if op.asynchronous is not None and isinstance(load, LoadOp):
            self._print_copy(load, op)
            return
        value = self._language.to_memory(self._operand(op.value))
        cell = self._cell(op, op.value.type)
        self._comment_place(op)
        if cell is not None:
            self._line(f"{cell} = {value};")
            return
        type = c_type(op.value.type)
        position, streams = self._position(op), op.stream is not None
        self._line(
            self._language.store(value, type, position, _space(op), streams=streams)
        )

    def _print_prefetch(self, op: PrefetchOp) -> None:
        scalar = self._memory_name(pointer_type(op.pointer).element_type)
        self._line(self._language.prefetch(scalar, self._position(op)))

    def _cell(self, op: LoadOp | StoreOp, type: Attribute) -> str | None:
        """The element at the op's position; None for a vector of several elements."""
        if type != pointer_type(op.pointer).element_type:
            return None
        array = self._arrays[op.pointer]
        if array.is_variable:
            return array.name
        return f"{array.name}[{self._indices.form(op.form.data, op.values)}]"

    def _position(self, op: LoadOp | StoreOp | PrefetchOp) -> str:
        """A pointer to the op's position."""
        name = self._arrays[op.pointer].name
        if op.form.data.is_constant and not op.form.data.constant:
            return name
        position = self._indices.form(op.form.data, op.values)
        # Compilers keep a constant in the address when the offset is one expression.
        return f"{name} + {f'({position})' if ' ' in position else position}"

    # Values.

    def _bind_constant(self, op: ConstantOp) -> None:
        type = self._c_type(op.result.type)
        text = self._language.literal(op.number, type)
        if isinstance(op.result.type, IndexType):
            number = int(op.number)
            self._indices.declare(op.result, text, number, number, is_unrolled=True)
        self._values[op.result] = Expression(text, type, is_atom=True)

    def _print_cast(self, op: CastOp) -> None:
        self._c_type(op.result.type)
        operand = self._operand(op.argument)
        if op.argument in self._indices:
            # No need to make it long first.
            text = self._indices[op.argument].text
            operand = Expression(text, operand.type, is_atom=True)
        target = element_of(op.result.type)
        self._declare(op, op.result, self._language.cast(operand, target))

    def _print_broadcast(self, op: BroadcastOp) -> None:
        type = self._c_type(op.result.type)
        value = self._language.broadcast(self._operand(op.argument), type)
        self._declare_shared(op, op.result, value)

    def _print_shuffle(self, op: ShuffleOp) -> None:
        lanes = [(self._operand(value), lane) for value, lane in op.sources]
        value = self._language.shuffle(lanes, self._c_type(op.result.type))
        self._declare(op, op.result, value)

    def _print_function(self, op: ElementwiseOp) -> None:
        type = self._c_type(op.result.type)
        operands = [self._operand(argument) for argument in op.arguments]
        check_computed(op.function, operands[-1].type)
        count = _shift_count(op)
        if count is not None:
            value = shift(op.function, operands[0], count)
        elif _is_float_sum(op):
            value = sum_of_products(op.function, operands, type)
        else:
            value = self._language.apply(op.function, operands, type.element)
        if _is_fused(op):
            self._values[op.result] = value
        else:
            self._declare(op, op.result, value)

    def _print_bitcast(self, op: BitcastOp) -> None:
        type = self._c_type(op.result.type)
        value = self._language.bitcast(self._operand(op.argument), type)
        self._declare_shared(op, op.result, value)

    def _print_call(self, op: CallOp) -> None:
        name = self._functions[op.callee.root_reference.data]
        arguments = ", ".join(self._operand(value).text for value in op.arguments)
        type = self._c_type(op.result.type)
        self._declare(op, op.result, Expression(f"{name}({arguments})", type))

    def _print_division(self, op: DivideOp) -> None:
        self._c_type(op.result.type)
        operand, divisor = self._operand(op.argument), self._operand(op.divisor)
        self._declare(op, op.result, self._language.divide(operand, divisor))

    def _declare_shared(
        self, op: Operation, result: SSAValue, value: Expression
    ) -> None:
        """Give a value a name, unless one operation uses it, which then contains it."""
        if _single_user(result) is not None:
            self._values[result] = value
        else:
            self._declare(op, result, value)

    def _declare(
        self,
        op: Operation,
        result: SSAValue,
        value: Expression,
        default: str = "t",
    ) -> None:
        """Give a value a name, unless it is not used or stored at once.

        A size becomes an index of unknown bounds.
        """
        user = _single_user(result)
        if result.first_use is None:
            return
        if isinstance(user, StoreOp) and user is op.next_op:
            self._values[result] = value
            return
        name = self._scope.declare(result.name_hint or default, "t")
        self._comment_place(op)
        self._line(f"const {value.type.name} {name} = {value.text};")
        self._values[result] = Expression(name, value.type, is_atom=True)
        if isinstance(result.type, IndexType):
            self._indices.declare(result, name)

    def _operand(self, value: SSAValue) -> Expression:
        if value in self._values:
            return self._values[value]
        index = self._indices[value]
        # Functions of sizes are computed in long.
        text = index.text if index.is_long else f"(long){index.text}"
        return Expression(text, CType(IndexType()), is_atom=True)

    def _c_type(self, type: Attribute) -> CType:
        """The C type of a value, noted as needed."""
        result = c_type(type)
        self._language.need_element(result.element)
        return result

    def _memory_name(self, type: Attribute) -> str:
        self._language.need_element(element_of(type))
        return memory_name(type)


def _shift_count(op: ElementwiseOp) -> int | None:
    """The bits that an op shifts by, if that is a number for which C has a shift."""
    count = op.arguments[-1].owner
    if op.function.rule is not TypeRule.SHIFT or not isinstance(count, ConstantOp):
        return None
    number = int(count.number)
    return number if 0 <= number < c_type(op.result.type).bits else None


def _is_fused(op: ElementwiseOp) -> bool:
    """Whether a product is printed within the sum that uses it.

    Compilers make one instruction of both only within one expression.
    """
    if op.function.name != "mul" or kind(element_of(op.result.type)) is not Kind.FLOAT:
        return False
    user = _single_user(op.result)
    return (
        isinstance(user, ElementwiseOp)
        and _is_float_sum(user)
        and user.parent is op.parent
    )


def _is_float_sum(op: ElementwiseOp) -> bool:
    if op.function.name not in ("add", "sub"):
        return False
    return kind(element_of(op.result.type)) is Kind.FLOAT


def _single_user(value: SSAValue) -> Operation | None:
    """The op that uses a value, once and as the only one."""
    uses = list(value.uses)
    return uses[0].operation if len(uses) == 1 else None


def _space(op: LoadOp | StoreOp) -> MemorySpace | None:
    """The memory of a vector that lies aligned."""
    return None if op.aligned is None else pointer_type(op.pointer).space.data


def pointer_type(value: SSAValue) -> PointerType:
    """The type of a pointer; raises GinghamError for a value that is none."""
    if not isinstance(value.type, PointerType):
        raise GinghamError(f"expected a pointer, got {value.type}")
    return value.type


@contextmanager
def located(op: Operation) -> Generator[None]:
    """Give errors without a location that of an op."""
    try:
        yield
    except GinghamError as error:
        if error.location is not None:
            raise
        raise error_at(op, error.message, error.hint) from None
