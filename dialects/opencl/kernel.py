"""Kernels and the host ops that allocate buffers and launch kernels."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
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
    IsolatedFromAbove,
    MemoryAllocEffect,
    NoTerminator,
    SymbolOpInterface,
    SymbolTable,
    SymbolUserOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from ..building import DialectOperation, operation_definition
from ..syntax import integer_array, integers, parse_arguments
from .attributes import BufferType, PointerType


@operation_definition
class KernelOp(DialectOperation):
    """A function that every work-item of a launch runs.

    ```mlir
    opencl.kernel @scale(%A : !opencl.pointer<f32, global>,
                         %B : !opencl.pointer<f32, global>) group [1, 1, 1] {
      %i = opencl.work_item group_id 0 below 64
      %x = opencl.load %A[%i] : !opencl.pointer<f32, global> -> f32
      opencl.store %x, %B[%i] : f32 -> !opencl.pointer<f32, global>
    }
    ```

    Arguments are global pointers to different buffers, which never overlap. `group` is
    the number of work-items of a work-group along the three dimensions.
    """

    name = "opencl.kernel"
    sym_name = prop_def(StringAttr)
    group = prop_def(DenseArrayBase)
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), NoTerminator(), SymbolOpInterface())

    def __init__(self, name: str, group: Sequence[int], body: Region) -> None:
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "group": integer_array(group),
            },
            regions=[body],
        )

    @staticmethod
    def empty_body(arguments: Sequence[tuple[PointerType, str | None]]) -> Region:
        """A region whose block has these pointers, with name hints, as arguments."""
        block = Block(arg_types=[type for type, _ in arguments])
        for argument, (_, hint) in zip(block.args, arguments, strict=True):
            argument.name_hint = hint
        return Region(block)

    @property
    def group_size(self) -> tuple[int, ...]:
        """Work-items of a work-group along each dimension."""
        return integers(self.group)

    @classmethod
    def parse(cls, parser: Parser) -> KernelOp:
        """Read `@name(%A : <pointer>) group [1, 1, 1] { ... }`."""
        name = parser.parse_symbol_name().data
        arguments = parse_arguments(parser)
        parser.parse_keyword("group")
        group = parse_integers(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = cls(name, group, parser.parse_region(arguments))
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        """Print name, arguments, the work-items of a group, and body."""
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        with printer.in_parens():
            printer.print_list(self.body.block.args, printer.print_block_argument)
        printer.print_string(f" group {list(self.group_size)}")
        if self.attributes:
            printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(
            self.body, print_entry_block_args=False, print_empty_block=False
        )

    def verify_(self) -> None:
        """Raise VerifyException unless sizes are three and arguments pointers."""
        if len(self.group_size) != 3 or any(size < 1 for size in self.group_size):
            raise VerifyException(
                f"expected three group sizes of 1 or more, got {list(self.group_size)}"
            )
        for number, argument in enumerate(self.body.block.args):
            if not isinstance(argument.type, PointerType):
                raise VerifyException(
                    f"expected argument {number} to be a pointer, got {argument.type}"
                )


def parse_integers(parser: Parser) -> list[int]:
    """Parse `[1, 2, 3]`."""
    return parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, parser.parse_integer
    )


@operation_definition
class AllocateOp(DialectOperation):
    """A buffer of the device: `%C = opencl.allocate : !opencl.buffer<64x64xf32>`.

    It lives until the host program ends, or, when returned, as long as the result.

    `opencl.allocate at 4096 : <type>` is a place in the one arena that all buffers with
    places share, so many bytes from its start. What buffers allocated before held in
    the same bytes is undefined from here on.
    """

    name = "opencl.allocate"
    offset = opt_prop_def(IntegerAttr)
    buffer = result_def(BufferType)
    traits = traits_def(MemoryAllocEffect())

    def __init__(self, type: BufferType, offset: int | None = None) -> None:
        place = None if offset is None else IntegerAttr(offset, i64)
        super().__init__(properties={"offset": place}, result_types=[type])

    @property
    def place(self) -> int | None:
        """The first byte in the arena; None for memory of its own."""
        return None if self.offset is None else self.offset.value.data

    @classmethod
    def parse(cls, parser: Parser) -> AllocateOp:
        """Read `at 4096 : <buffer type>`, where `at` with its bytes is optional.

        Raises ParseError for another type than a buffer's.
        """
        offset = None
        if parser.parse_optional_keyword("at") is not None:
            offset = parser.parse_integer(allow_negative=False)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        start = parser.pos
        type = parser.parse_type()
        if not isinstance(type, BufferType):
            parser.raise_error(f"expected a buffer, got {type}", start, parser.pos)
        op = cls(type, offset)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        """Print the place in the arena, in bytes, if there is one, and the type."""
        if self.place is not None:
            printer.print_string(f" at {self.place}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.buffer.type)

    def verify_(self) -> None:
        """Raise VerifyException for a place before the arena."""
        if self.place is not None and self.place < 0:
            raise VerifyException(f"expected a place of 0 or more, got {self.place}")


class LaunchOpSymbolUse(SymbolUserOpInterface):
    """A launch names a kernel that takes its buffers."""

    def verify(self, op: Operation) -> None:
        """Raise VerifyException unless the module has a kernel for these buffers."""
        if not isinstance(op, LaunchOp):
            return
        kernel = SymbolTable.lookup_symbol(op, op.kernel)
        if not isinstance(kernel, KernelOp):
            raise VerifyException(f"expected {op.kernel} to be an opencl.kernel")
        arguments = kernel.body.block.args
        if len(arguments) != len(op.buffers):
            raise VerifyException(
                f"expected {len(arguments)} buffer(s) for {op.kernel}, got "
                f"{len(op.buffers)}"
            )
        for number, (buffer, argument) in enumerate(
            zip(op.buffers, arguments, strict=True)
        ):
            want, got = argument.type, buffer.type
            if (
                isinstance(got, BufferType)
                and isinstance(want, PointerType)
                and got.element_type != want.element_type
            ):
                raise VerifyException(
                    f"expected buffer {number} to hold {want.element_type}, got "
                    f"{got.element_type}"
                )


@operation_definition
class LaunchOp(DialectOperation):
    """Runs a kernel: `opencl.launch @scale groups [64, 1, 1] (%A, %B) : <types>`.

    `groups` counts the work-groups along the three dimensions. Launches of a host
    program take effect in order.

    `opencl.launch once @pack ...` depends on constant inputs only: it runs when they
    are first given, and what it writes is kept for all calls with the same ones.
    """

    name = "opencl.launch"
    kernel = prop_def(SymbolRefAttr)
    groups = prop_def(DenseArrayBase)
    once = opt_prop_def(UnitAttr)
    buffers = var_operand_def(BufferType)
    traits = traits_def(LaunchOpSymbolUse())

    def __init__(
        self,
        kernel: str,
        groups: Sequence[int],
        buffers: Sequence[SSAValue],
        *,
        once: bool = False,
    ) -> None:
        super().__init__(
            operands=[buffers],
            properties={
                "kernel": SymbolRefAttr(kernel),
                "groups": integer_array(groups),
                "once": UnitAttr() if once else None,
            },
        )

    @property
    def kernel_name(self) -> str:
        """The symbol of the kernel."""
        return self.kernel.root_reference.data

    @property
    def group_counts(self) -> tuple[int, ...]:
        """Work-groups along each dimension."""
        return integers(self.groups)

    @classmethod
    def parse(cls, parser: Parser) -> LaunchOp:
        """Read `once @kernel groups [64, 1, 1] (%A) : <types>`; `once` is optional."""
        once = parser.parse_optional_keyword("once") is not None
        kernel = parser.parse_symbol_name().data
        parser.parse_keyword("groups")
        groups = parse_integers(parser)
        buffers = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict()
        types: list[Attribute] = []
        start = parser.pos
        if buffers:
            parser.parse_punctuation(":")
            types = parser.parse_comma_separated_list(
                parser.Delimiter.NONE, parser.parse_type
            )
        operands = parser.resolve_operands(buffers, types, start)
        op = cls(kernel, groups, operands, once=once)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        """Print the types of the buffers only where there are buffers."""
        printer.print_string(" " if self.once is None else " once ")
        printer.print_symbol_name(self.kernel_name)
        printer.print_string(f" groups {list(self.group_counts)} ")
        printer.print_operands(self.buffers)
        printer.print_op_attributes(self.attributes)
        if self.buffers:
            printer.print_string(" : ")
            printer.print_list(
                self.buffers, lambda value: printer.print_attribute(value.type)
            )

    def verify_(self) -> None:
        """Raise VerifyException unless groups are counted along three dimensions."""
        if len(self.group_counts) != 3 or any(n < 0 for n in self.group_counts):
            raise VerifyException(
                f"expected three group counts, got {list(self.group_counts)}"
            )
