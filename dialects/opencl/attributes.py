"""Types of the `opencl` dialect: buffers of the host, pointers of a kernel."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, IntAttr
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import (
    Attribute,
    ParametrizedAttribute,
    SpacedOpaqueSyntaxAttribute,
    TypeAttribute,
)
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from ..eltwise.element_types import is_element_type
from ..eltwise.ops import element_of
from ..stripe.attributes import MemorySpace, MemorySpaceAttr

VECTOR_LENGTHS = (2, 3, 4, 8, 16)
"""The lengths of vectors that OpenCL C has."""


@irdl_attr_definition
class BufferType(ParametrizedAttribute, TypeAttribute):
    """Device memory as the host sees it, rows contiguous: `!opencl.buffer<4x5xf32>`."""

    name = "opencl.buffer"
    shape: ArrayAttr[IntAttr]
    element_type: Attribute

    @staticmethod
    def of(shape: Sequence[int], element_type: Attribute) -> BufferType:
        """The type of a buffer with these sizes in elements, outermost first."""
        return BufferType(ArrayAttr([IntAttr(size) for size in shape]), element_type)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of elements along each axis, outermost first."""
        return tuple(size.data for size in self.shape)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read `<4x5xf32>`."""
        with parser.in_angle_brackets():
            shape, element_type = parser.parse_ranked_shape()
        return (ArrayAttr([IntAttr(size) for size in shape]), element_type)

    def print_parameters(self, printer: Printer) -> None:
        """Print `<4x5xf32>`."""
        with printer.in_angle_brackets():
            printer.print_string("".join(f"{size}x" for size in self.sizes))
            printer.print_attribute(self.element_type)

    def verify(self) -> None:
        """Raise VerifyException for an open size, or elements that are no numbers."""
        if any(size < 0 for size in self.sizes):
            raise VerifyException("expected sizes of a buffer to be known")
        if not is_element_type(self.element_type):
            raise VerifyException(
                f"expected elements such as f32 or si32, got {self.element_type}"
            )


@irdl_attr_definition
class PointerType(ParametrizedAttribute, TypeAttribute):
    """Memory as a kernel sees it: `!opencl.pointer<f32, global>`.

    Private and local arrays may hold vectors: `!opencl.pointer<vector<16xf32>,
    private>`.
    """

    name = "opencl.pointer"
    element_type: Attribute
    space: MemorySpaceAttr

    @staticmethod
    def of(element_type: Attribute, space: MemorySpace) -> PointerType:
        """The type of pointers to elements, or vectors, in a memory space."""
        return PointerType(element_type, MemorySpaceAttr(space))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read `<f32, global>`."""
        with parser.in_angle_brackets():
            element_type = parser.parse_type()
            parser.parse_punctuation(",")
            space = parser.parse_str_enum(MemorySpace)
        return (element_type, MemorySpaceAttr(space))

    def print_parameters(self, printer: Printer) -> None:
        """Print `<f32, global>`."""
        with printer.in_angle_brackets():
            printer.print_attribute(self.element_type)
            printer.print_string(f", {self.space.data.value}")

    def verify(self) -> None:
        """Raise VerifyException for elements that are no numbers or vectors of them."""
        if not is_element_type(element_of(self.element_type)):
            raise VerifyException(
                f"expected elements such as f32 or si32, got {self.element_type}"
            )


class WorkItemQuery(StrEnum):
    """What a work-item knows of its place along one dimension of the launch."""

    GROUP_ID = "group_id"
    LOCAL_ID = "local_id"
    GLOBAL_ID = "global_id"
    GLOBAL_OFFSET = "global_offset"
    """Where global identities begin: 0 in every launch, which compilers do not know."""


@irdl_attr_definition
class WorkItemQueryAttr(EnumAttribute[WorkItemQuery], SpacedOpaqueSyntaxAttribute):
    """A query as an attribute: `#opencl<query group_id>`."""

    name = "opencl.query"
