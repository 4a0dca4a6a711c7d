"""The arrays of a kernel's work-items and work-groups."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.irdl import irdl_op_definition, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryAllocEffect
from xdsl.utils.exceptions import VerifyException

from ..building import DialectOperation
from ..stripe.attributes import MemorySpace
from .attributes import PointerType


@irdl_op_definition
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
