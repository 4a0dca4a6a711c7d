"""Types and attributes of the `stripe` dialect: views and refinements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod

from xdsl.dialects.builtin import ArrayAttr, IntAttr, VectorType
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import (
    Attribute,
    Data,
    ParametrizedAttribute,
    SpacedOpaqueSyntaxAttribute,
    SSAValue,
    TypeAttribute,
)
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from ...affine.form import LinearForm
from ..aggregation import Aggregation
from ..eltwise.element_types import is_element_type, vector_of
from ..eltwise.ops import element_of, value_bytes
from ..form_attribute import format_numbered_form, parse_numbered_form
from ..syntax import parse_optional_enum

KERNEL_ATTRIBUTE = "stripe.kernel"
"""On top-level blocks: those with the same number are the same kernel."""

UNLESS_NUMBERS_ATTRIBUTE = "stripe.unless_numbers"
"""On blocks that compute again what is there already, if it is right: a work-item may
leave out its part of one where all cells of what the block writes there are numbers."""


class MemorySpace(StrEnum):
    """Where a buffer lives: device memory, a work-group's, or one work-item's."""

    GLOBAL = "global"
    LOCAL = "local"
    PRIVATE = "private"


@irdl_attr_definition
class MemorySpaceAttr(EnumAttribute[MemorySpace], SpacedOpaqueSyntaxAttribute):
    """A memory space as an attribute: `#stripe<space private>`."""

    name = "stripe.space"


@irdl_attr_definition
class ViewType(ParametrizedAttribute, TypeAttribute):
    """A rectangular window of a buffer: `!stripe.view<8x32xf32, private>`.

    The sizes are those of the window; the strides belong to the buffer it was cut from.
    An element is a number or, in buffers that are only used by whole vectors, a vector.
    The memory space is global unless it is named.
    """

    name = "stripe.view"
    shape: ArrayAttr[IntAttr]
    element_type: Attribute
    space: MemorySpaceAttr

    @staticmethod
    def of(
        shape: Sequence[int],
        element_type: Attribute,
        space: MemorySpace = MemorySpace.GLOBAL,
    ) -> ViewType:
        """The type of a window with these sizes in elements, outermost first."""
        return _view_type(tuple(shape), element_type, space)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of elements along each axis, outermost first."""
        return tuple([size.data for size in self.shape.data])

    @property
    def rank(self) -> int:
        """How many axes there are."""
        return len(self.shape)

    @property
    def bytes(self) -> int:
        """What the elements of a window of this type take."""
        return prod(self.sizes) * value_bytes(self.element_type)

    def resized(self, shape: Sequence[int]) -> ViewType:
        """A window of other sizes in the same buffer."""
        return _view_type(tuple(shape), self.element_type, self.space.data)

    @property
    def cell(self) -> ViewType:
        """A window of one element in the same buffer."""
        return self.resized([1] * self.rank)

    def in_space(self, space: MemorySpace) -> ViewType:
        """A window of the same sizes in other memory."""
        return _view_type(self.sizes, self.element_type, space)

    @property
    def value_type(self) -> Attribute | None:
        """The type of what one load gives, or None when the window is too large.

        A window of one element gives the element; one of `n` elements along its last
        axis gives `vector<n x element>`.
        """
        *outer, last = self.sizes or (1,)
        if any(size != 1 for size in outer):
            return None
        if last == 1:
            return self.element_type
        if isinstance(self.element_type, VectorType):
            return None
        return vector_of(self.element_type, last)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read `<8x32xf32, private>`; without a memory space it is global."""
        with parser.in_angle_brackets():
            shape, element_type = parser.parse_ranked_shape()
            space = MemorySpace.GLOBAL
            if parser.parse_optional_punctuation(",") is not None:
                space = parser.parse_str_enum(MemorySpace)
        sizes = ArrayAttr([IntAttr(size) for size in shape])
        return (sizes, element_type, MemorySpaceAttr(space))

    def print_parameters(self, printer: Printer) -> None:
        """Print `<8x32xf32, private>`, global memory by its absence."""
        with printer.in_angle_brackets():
            printer.print_string("".join(f"{size}x" for size in self.sizes))
            printer.print_attribute(self.element_type)
            if self.space.data is not MemorySpace.GLOBAL:
                printer.print_string(f", {self.space.data.value}")

    def verify(self) -> None:
        """Raise VerifyException for an open size, or elements that are no numbers."""
        if any(size < 0 for size in self.sizes):
            raise VerifyException("expected sizes of a view to be known")
        if not is_element_type(element_of(self.element_type)):
            raise VerifyException(
                f"expected elements such as f32 or si32, got {self.element_type}"
            )


def view_type(view: SSAValue) -> ViewType:
    """The type of a value that is a view. Raises ValueError for another one."""
    if not isinstance(view.type, ViewType):
        raise ValueError(f"expected a view, got {view.type}")
    return view.type


@lru_cache(maxsize=1024)
def _view_type(
    shape: tuple[int, ...], element_type: Attribute, space: MemorySpace
) -> ViewType:
    sizes = ArrayAttr([IntAttr(size) for size in shape])
    return ViewType(sizes, element_type, MemorySpaceAttr(space))


class Direction(StrEnum):
    """Whether a block reads its refinement, writes it, or does both in place."""

    IN = "in"
    OUT = "out"
    INOUT = "inout"

    @property
    def reads(self) -> bool:
        """Whether statements may load through the window."""
        return self is not Direction.OUT

    @property
    def writes(self) -> bool:
        """Whether statements may store through the window."""
        return self is not Direction.IN

    def permits(self, inner: Direction) -> bool:
        """Whether a window of such a view may have the direction `inner`."""
        return self is Direction.INOUT or self is inner


@dataclass(frozen=True)
class Refinement:
    """How a block cuts a window for each of its points out of an outer view.

    `access` has one integer form per axis of the outer view: where the window starts.
    The forms range over the block's indices, then the outer indices that it captures.

    Stores through an `out` refinement are aggregated into the cells; an `inout` one,
    which is loaded from as well, is plainly assigned. With `init` (of an `out`), every
    cell that lies in the window of some value of the indices (whether or not the
    block's constraints hold there) and within the buffer is set to that number before
    the first point runs.
    """

    direction: Direction
    access: tuple[LinearForm, ...]
    aggregation: Aggregation = Aggregation.ASSIGN
    init: int | float | None = None

    @property
    def is_plain(self) -> bool:
        """Whether stores just put a value in place of what is there."""
        return self.aggregation is Aggregation.ASSIGN and self.init is None

    def format_suffix(self) -> str:
        """Aggregation and initial value as in the syntax: ` add init 0`."""
        text = ""
        if self.aggregation is not Aggregation.ASSIGN:
            text += f" {self.aggregation.value}"
        if self.init is not None:
            text += f" init {format_number(self.init)}"
        return text


def format_number(number: int | float) -> str:
    """A number as the MLIR lexer reads it: digits on both sides of a point."""
    text = repr(number)
    if isinstance(number, float) and "e" in text and "." not in text:
        text = text.replace("e", ".0e")
    return text


def parse_suffix(parser: AttrParser) -> tuple[Aggregation, int | float | None]:
    """Parse an optional aggregation and an optional `init` with its number."""
    aggregation = parse_optional_enum(parser, Aggregation) or Aggregation.ASSIGN
    if parser.parse_optional_keyword("init") is None:
        return aggregation, None
    return aggregation, parse_number(parser)


def parse_number(parser: AttrParser) -> int | float:
    """Parse an integer, a float, `inf` or `nan`, with an optional sign."""
    sign = -1 if parser.parse_optional_punctuation("-") is not None else 1
    for name in ("inf", "nan"):
        if parser.parse_optional_keyword(name) is not None:
            return sign * float(name)
    return sign * parser.parse_number(allow_boolean=False)


@irdl_attr_definition
class RefinementAttr(Data[Refinement]):
    """A refinement as an attribute: `#stripe.refinement<3 : out [d0, d1] add init 0>`.

    The number before the colon counts the indices and captures of the block.
    """

    name = "stripe.refinement"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Refinement:
        """Read `<3 : out [d0, d1] add init 0>`."""
        with parser.in_angle_brackets():
            rank = parser.parse_integer(allow_negative=False)
            parser.parse_punctuation(":")
            direction = parser.parse_str_enum(Direction)
            access = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: parse_numbered_form(parser, rank)
            )
            return Refinement(direction, tuple(access), *parse_suffix(parser))

    def print_parameter(self, printer: Printer) -> None:
        """Print direction, access and aggregation behind the number of dimensions."""
        refinement = self.data
        rank = refinement.access[0].rank if refinement.access else 0
        forms = ", ".join(format_numbered_form(form) for form in refinement.access)
        with printer.in_angle_brackets():
            printer.print_string(
                f"{rank} : {refinement.direction.value} [{forms}]"
                f"{refinement.format_suffix()}"
            )
