"""What a loop reads of a memory, step after step and without gaps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...affine.form import LinearForm
from ...dialects.eltwise.ops import element_of, lane_count, value_bytes
from ...dialects.opencl.control_flow import ForOp
from ...dialects.opencl.memory import LoadOp
from ...dialects.opencl.prefetch import PrefetchOp
from ...dialects.opencl.work_items import WorkItemOp
from ...dialects.stripe.attributes import MemorySpace
from ..locations import located
from .forms import space_of
from .loops import Index, copies_of, indices_around


@dataclass(frozen=True)
class Stretch:
    """Vectors of global memory, side by side, that the steps of a loop load."""

    loop: ForOp
    """An innermost one."""
    load: LoadOp
    length: int
    """The elements that a step reads."""
    around: tuple[Index, ...]
    """The indices of more than one value around the load, the loop's own the last, but
    for those of loops that are unrolled in it."""

    @cached_property
    def factors(self) -> Mapping[SSAValue, int]:
        """What each index of the load's position is multiplied by."""
        form = self.load.form.data
        terms = zip(self.load.values, form.coefficients, strict=True)
        return {value: int(factor) for value, factor in terms if factor}

    @property
    def element_bytes(self) -> int:
        """The bytes of an element, a truth value being one."""
        return value_bytes(element_of(self.load.result.type))

    def prefetches(
        self, terms: Mapping[SSAValue, int], start: int, count: int, line_bytes: int
    ) -> list[PrefetchOp]:
        """What fetches so many elements from a place on, a line of memory each."""
        step = max(line_bytes // self.element_bytes, 1)
        values, factors = [*terms], [*terms.values()]
        forms = [
            LinearForm.of(factors, start + offset) for offset in range(0, count, step)
        ]
        return [
            located(PrefetchOp(self.load.pointer, form, values), self.load)
            for form in forms
        ]


def stretches_of(loop: ForOp, numbers: Sequence[WorkItemOp]) -> Iterator[Stretch]:
    """What an innermost loop loads in each step, whatever the conditions inside.

    `numbers` are the `group_numbers` of the kernel.
    """
    copies = copies_of(loop)
    for load in _loads(loop):
        around = [i for i in indices_around(load, numbers) if i.value not in copies]
        around = [index for index in around if index.extent > 1]
        stretch = Stretch(loop, load, _length(load, copies), tuple(around))
        is_known = stretch.factors.keys() <= {*copies, *(i.value for i in around)}
        moved = stretch.factors.get(loop.index)
        if is_known and stretch.length and moved == stretch.length:
            yield stretch


def _loads(op: Operation) -> Iterator[LoadOp]:
    """The loads of global vectors in a loop and in those that are unrolled in it."""
    for inner in op.regions[0].block.ops:
        if isinstance(inner, ForOp):
            yield from _loads(inner)
        elif (
            isinstance(inner, LoadOp)
            and isinstance(inner.result.type, VectorType)
            and space_of(inner.pointer) is MemorySpace.GLOBAL
        ):
            yield inner


def _length(load: LoadOp, copies: Mapping[SSAValue, int]) -> int:
    """The elements next to each other that all copies of a load read; 0 with gaps."""
    length = lane_count(load.result.type)
    terms = zip(load.values, load.form.data.coefficients, strict=True)
    for factor, extent in sorted((f, copies[v]) for v, f in terms if f and v in copies):
        if factor != length:
            return 0
        length *= extent
    return length


def fetch(loop: ForOp, prefetches: Sequence[PrefetchOp]) -> None:
    """Put prefetches at the start of a loop."""
    for op in prefetches:
        Rewriter.insert_op(op, InsertPoint.at_start(loop.body.block))
