"""Builds one `stripe.block` over a box, whose windows are elements unless told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ....affine.form import LinearForm
from ....dialects.aggregation import Aggregation
from ....dialects.eltwise.ops import FUNCTION_OPS, CastOp, ConstantOp
from ....dialects.stripe import AllocOp, BlockOp, IndexOp, LoadOp, ReshapeOp, StoreOp
from ....dialects.stripe.attributes import (
    Direction,
    MemorySpace,
    Refinement,
    ViewType,
    view_type,
)
from ....dialects.stripe.binding import Binding
from ....dialects.stripe.subscripts import Subscript
from ...locations import located

AccessMap = tuple[LinearForm, ...]


@dataclass(frozen=True)
class Coordinate:
    """Elements that are their own coordinates along an axis."""

    axis: int


@dataclass(frozen=True)
class Source:
    """A tensor that blocks read: a view, coordinates, or one number everywhere."""

    element: Attribute
    shape: tuple[int, ...]
    value: SSAValue | Coordinate | int | float


class PointBlock:
    """A block under construction: statements are added in order, then `finish`.

    A view that is loaded twice with one access is refined and loaded once. All that is
    built has the location of `origin`.
    """

    def __init__(
        self,
        ranges: Sequence[int],
        index_names: Sequence[str],
        origin: Operation,
        captures: Sequence[SSAValue] = (),
    ) -> None:
        """A block without statements.

        Forms range over its own indices, then over those of blocks around it that it
        captures.
        """
        self.ranges = tuple(ranges)
        self._origin = origin
        self._captures = tuple(captures)
        self._body = Block(arg_types=[IndexType()] * len(self.ranges))
        for index, name in zip(self._body.args, index_names, strict=True):
            index.name_hint = name if SSAValue.is_valid_name(name) else None
        self._buffers: list[SSAValue] = []
        self._refinements: list[Refinement] = []
        self._loaded: dict[tuple[SSAValue, AccessMap], SSAValue] = {}

    @property
    def indices(self) -> tuple[SSAValue, ...]:
        """The block's own indices, for nested blocks to capture."""
        return tuple(self._body.args[: len(self.ranges)])

    @property
    def zero(self) -> LinearForm:
        """The form 0 over the block's indices and captures."""
        return LinearForm.constant_of(0, len(self.ranges) + len(self._captures))

    def read(self, source: Source, access: AccessMap) -> SSAValue:
        """The element of a source at `access`, forms over the indices."""
        if isinstance(source.value, SSAValue):
            return self.load(source.value, access)
        if isinstance(source.value, Coordinate):
            return self.index(access[source.value.axis], source.element)
        return self.constant(source.value, source.element)

    def load(self, view: SSAValue, access: AccessMap) -> SSAValue:
        """The element of a view at `access`.

        Of one that has only axes of one element more or less than another, it is loaded
        from that.
        """
        view, access = _seen_through(view, access)
        known = self._loaded.get((view, access))
        if known is not None:
            return known
        window = self._refine(view, Refinement(Direction.IN, access))
        self._loaded[view, access] = self._add(LoadOp(window)).results[0]
        return self._loaded[view, access]

    def index(self, form: LinearForm, element: Attribute) -> SSAValue:
        """A form over the indices as a number."""
        values = (*self.indices, *self._captures)
        return self._add(IndexOp(form, values, element)).results[0]

    def constant(self, number: int | float, element: Attribute) -> SSAValue:
        """A number of an element type."""
        return self._add(ConstantOp(number, element)).results[0]

    def apply(
        self, function: str, operands: Sequence[SSAValue], element: Attribute
    ) -> SSAValue:
        """An element-wise function, by its name in the table."""
        op = FUNCTION_OPS[function].build_typed(operands, element)
        return self._add(op).results[0]

    def cast(self, value: SSAValue, element: Attribute) -> SSAValue:
        """The value converted; itself when it has the type."""
        if value.type == element:
            return value
        return self._add(CastOp(value, element)).results[0]

    def convert(self, value: SSAValue, view: SSAValue) -> SSAValue:
        """The value converted to the element type of a view."""
        return self.cast(value, view_type(view).element_type)

    def store(
        self,
        value: SSAValue,
        view: SSAValue,
        access: AccessMap,
        aggregation: Aggregation = Aggregation.ASSIGN,
        init: int | float | None = None,
    ) -> None:
        """Aggregate a value into the element of `view` at `access`."""
        refinement = Refinement(Direction.OUT, access, aggregation, init)
        self._add(StoreOp(value, self._refine(view, refinement)))

    def window(
        self, view: SSAValue, refinement: Refinement, sizes: Sequence[int]
    ) -> SSAValue:
        """A window of these sizes, for subscripts and nested blocks."""
        return self._refine(view, refinement, sizes)

    def allocate(
        self, shape: Sequence[int], element: Attribute, name: str | None = None
    ) -> SSAValue:
        """A private buffer of each point."""
        type = ViewType.of(shape, element, MemorySpace.PRIVATE)
        return self._add(AllocOp(type, name)).results[0]

    def load_from(
        self, window: SSAValue, subscripts: Sequence[Subscript] | None = None
    ) -> SSAValue:
        """What a window shows, or the element at a computed place of it."""
        return self._add(LoadOp(window, subscripts)).results[0]

    def store_to(
        self,
        value: SSAValue,
        window: SSAValue,
        subscripts: Sequence[Subscript] | None = None,
        condition: SSAValue | None = None,
    ) -> None:
        """Store to a window, or a computed place of it, where the condition holds."""
        self._add(StoreOp(value, window, subscripts, condition))

    def nest(self, block: BlockOp) -> None:
        """Add a block as a statement."""
        self._add(block)

    def finish(
        self,
        name: str | None,
        constraints: Sequence[LinearForm] = (),
        *,
        bindings: Sequence[Binding] | None = None,
        serial: bool = False,
    ) -> BlockOp:
        """The block; `constraints` are the forms that are >= 0 at its points."""
        block = BlockOp(
            self.ranges,
            self._buffers,
            self._refinements,
            Region(self._body),
            captures=self._captures,
            constraints=constraints,
            bindings=bindings,
            block_name=name,
            serial=serial,
        )
        return located(block, self._origin)

    def _refine(
        self,
        view: SSAValue,
        refinement: Refinement,
        sizes: Sequence[int] | None = None,
    ) -> SSAValue:
        type = view_type(view)
        place = len(self._body.args)
        window_type = type.cell if sizes is None else type.resized(sizes)
        window = self._body.insert_arg(window_type, place)
        window.name_hint = self._window_name(view.name_hint)
        self._buffers.append(view)
        self._refinements.append(refinement)
        return window

    def _window_name(self, buffer: str | None) -> str | None:
        """A window is called as its buffer, in lower case unless an index is."""
        if buffer is None:
            return None
        indices = [argument.name_hint for argument in self._body.args]
        lower = buffer.lower()
        return buffer if lower in indices[: len(self.ranges)] else lower

    def _add(self, op: Operation) -> Operation:
        self._body.add_op(op)
        return op


def index_names(rank: int) -> list[str]:
    """Names for the indices of an element-wise block: `i0, i1, ...`."""
    return [f"i{axis}" for axis in range(rank)]


def identity_access(rank: int) -> AccessMap:
    """The access of element `[i0, i1, ...]`."""
    return tuple(LinearForm.dimension(axis, rank) for axis in range(rank))


def broadcast_access(shape: Sequence[int], target: Sequence[int]) -> AccessMap:
    """The element of a tensor that NumPy's rule puts at each place of a larger shape.

    Axes are aligned from the last; one of size 1 is read at 0 everywhere.
    """
    rank = len(target)
    first = rank - len(shape)
    return tuple(
        LinearForm.dimension(first + axis, rank)
        if size == target[first + axis]
        else LinearForm.constant_of(0, rank)
        for axis, size in enumerate(shape)
    )


def _seen_through(view: SSAValue, access: AccessMap) -> tuple[SSAValue, AccessMap]:
    """The buffer of a view that differs in axes of one element, and an access to it."""
    while isinstance(reshape := view.owner, ReshapeOp):
        sizes, own = view_type(view).sizes, view_type(reshape.source).sizes
        moved = [form for form, size in zip(access, sizes, strict=True) if size != 1]
        if [n for n in sizes if n != 1] != [n for n in own if n != 1] or not access:
            break
        zero = LinearForm.constant_of(0, access[0].rank)
        forms = iter(moved)
        access = tuple([zero if size == 1 else next(forms) for size in own])
        view = reshape.source
    return view, access
