"""A view of the `stripe` dialect as a kernel sees it: a window at a place in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.ir import Attribute, SSAValue

from ...dialects.aggregation import Aggregation
from ...dialects.index_sum import IndexSum
from ...dialects.stripe.attributes import MemorySpace, ViewType
from .private_parts import PrivatePart


@dataclass(frozen=True)
class KernelView:
    """A window that begins at cell `starts` of the memory behind a pointer.

    `shape` is that of the whole memory, rows contiguous. What is stored through the
    view is aggregated by `aggregation`.
    """

    pointer: SSAValue
    shape: tuple[int, ...]
    element: Attribute
    space: MemorySpace
    starts: tuple[IndexSum, ...]
    aggregation: Aggregation = Aggregation.ASSIGN
    part: PrivatePart | None = None
    """What a work-item has of a work-group's private memory."""

    @staticmethod
    def whole(pointer: SSAValue, type: ViewType) -> KernelView:
        """The view of all the memory behind a pointer."""
        starts = (IndexSum(),) * type.rank
        return KernelView(
            pointer, type.sizes, type.element_type, type.space.data, starts
        )

    def moved(
        self,
        offsets: Sequence[IndexSum],
        aggregation: Aggregation = Aggregation.ASSIGN,
    ) -> KernelView:
        """The window that begins at `offsets` within this one."""
        pairs = zip(self.starts, offsets, strict=True)
        starts = tuple(start + offset for start, offset in pairs)
        return replace(self, starts=starts, aggregation=aggregation)

    @property
    def position(self) -> IndexSum:
        """The elements between the pointer and the window's first."""
        position, stride = IndexSum(), 1
        starts = self.starts if self.part is None else self.part.packed(self.starts)
        for start, size in reversed([*zip(starts, self.shape, strict=True)]):
            position = start * stride + position
            stride *= size
        return position

    def inside(
        self, sizes: Sequence[int], extents: Mapping[SSAValue, int]
    ) -> Iterator[IndexSum]:
        """Conditions that keep a window of these sizes within the memory.

        Those that always hold are left out.
        """
        starts = self.starts if self.part is None else self.part.packed(self.starts)
        for start, size, extent in zip(starts, sizes, self.shape, strict=True):
            low, high = start.bounds(extents.__getitem__)
            if low < 0:
                yield start
            if high > extent - size:
                yield -start + (extent - size)
