"""Builds one `stripe.block` over a box whose windows are single elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...affine.form import LinearForm
from ...dialects.aggregation import Aggregation
from ...dialects.eltwise.ops import FUNCTION_OPS, CastOp, ConstantOp
from ...dialects.stripe import BlockOp, LoadOp, StoreOp
from ...dialects.stripe.attributes import Direction, Refinement, ViewType
from ..locations import located

Access = tuple[LinearForm, ...]


@dataclass(frozen=True)
class Source:
    """A tensor that blocks read: a view, or one number that all its elements are."""

    element: Attribute
    shape: tuple[int, ...]
    value: SSAValue | int | float


class PointBlock:
    """A block under construction: statements are added in order, then `finish`.

    A view that is loaded twice with one access is refined and loaded once. All that is
    built has the location of `origin`.
    """

    def __init__(
        self, ranges: Sequence[int], index_names: Sequence[str], origin: Operation
    ) -> None:
        self.ranges = tuple(ranges)
        self._origin = origin
        self._body = Block(arg_types=[IndexType()] * len(self.ranges))
        for index, name in zip(self._body.args, index_names, strict=True):
            index.name_hint = name if SSAValue.is_valid_name(name) else None
        self._buffers: list[SSAValue] = []
        self._refinements: list[Refinement] = []
        self._loaded: dict[tuple[SSAValue, Access], SSAValue] = {}

    def read(self, source: Source, access: Access) -> SSAValue:
        """The element of a source at `access`, forms over the indices."""
        if isinstance(source.value, SSAValue):
            return self.load(source.value, access)
        return self.constant(source.value, source.element)

    def load(self, view: SSAValue, access: Access) -> SSAValue:
        """The element of a view at `access`."""
        known = self._loaded.get((view, access))
        if known is not None:
            return known
        window = self._refine(view, Refinement(Direction.IN, access))
        self._loaded[view, access] = self._add(LoadOp(window)).results[0]
        return self._loaded[view, access]

    def constant(self, number: int | float, element: Attribute) -> SSAValue:
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
        return self.cast(value, _view_type(view).element_type)

    def store(
        self,
        value: SSAValue,
        view: SSAValue,
        access: Access,
        aggregation: Aggregation = Aggregation.ASSIGN,
        init: int | float | None = None,
    ) -> None:
        """Aggregate a value into the element of `view` at `access`."""
        refinement = Refinement(Direction.OUT, access, aggregation, init)
        self._add(StoreOp(value, self._refine(view, refinement)))

    def finish(
        self, name: str | None, constraints: Sequence[LinearForm] = ()
    ) -> BlockOp:
        """The block; `constraints` are the forms that are >= 0 at its points."""
        block = BlockOp(
            self.ranges,
            self._buffers,
            self._refinements,
            Region(self._body),
            constraints=constraints,
            block_name=name,
        )
        return located(block, self._origin)

    def _refine(self, view: SSAValue, refinement: Refinement) -> SSAValue:
        type = _view_type(view)
        place = len(self._body.args)
        window = self._body.insert_arg(type.resized([1] * type.rank), place)
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


def _view_type(view: SSAValue) -> ViewType:
    if not isinstance(view.type, ViewType):
        raise ValueError(f"expected a view, got {view.type}")
    return view.type


def index_names(rank: int) -> list[str]:
    """Names for the indices of an element-wise block: `i0, i1, ...`."""
    return [f"i{axis}" for axis in range(rank)]


def identity_access(rank: int) -> Access:
    """The access of element `[i0, i1, ...]`."""
    return tuple(LinearForm.dimension(axis, rank) for axis in range(rank))


def broadcast_access(shape: Sequence[int], target: Sequence[int]) -> Access:
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
