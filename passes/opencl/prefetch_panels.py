"""`opencl-prefetch-panels`: fetch what the next work-groups read while these compute.

Of a product with few rows, some work-groups in a row read the same part of an operand:
a panel. The first of them waits for every line of it to come from memory, the others
find it in a cache of the core. So each of them fetches its share of the next panel.

Before:

```mlir
%g = opencl.work_item group_id 0 below 128
%h, %b = opencl.delinearize %g into [16, 8]
opencl.for %n : 512 {
  opencl.for %w : 2 unroll {
    %x = opencl.load %W[16384 * %h + 32 * %n + 16 * %w]
        : !opencl.pointer<f32, global> -> vector<16xf32>
    ...
  }
}
```

Eight groups read 512 times 32 numbers. After:

```mlir
%g = opencl.work_item group_id 0 below 128
%h, %b = opencl.delinearize %g into [16, 8]
opencl.for %n : 512 {
  opencl.prefetch %W[16384 * %h + 2048 * %b + 4 * %n + 16384]
  opencl.for %w : 2 unroll {
    %x = opencl.load %W[16384 * %h + 32 * %n + 16 * %w]
        : !opencl.pointer<f32, global> -> vector<16xf32>
    ...
  }
}
```

The steps of an innermost loop must read one stretch of memory without gaps, and the
loops that a panel is read in must be inside of those, or of the numbers of the group,
that it is used again for: at least 2 times, and at most `uses`. Beyond that the first
use takes too small a part of the time. All panels of a kernel, and the next ones, must
fit the last cache that a core has for itself, and what they are parts of must not: it
would be there anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import ceil, prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, VectorType
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...affine.form import LinearForm
from ...dialects.opencl.attributes import PointerType, WorkItemQuery
from ...dialects.opencl.data_ops import WhenOp
from ...dialects.opencl.kernel import KernelOp
from ...dialects.opencl.ops import ForOp, IfOp, LoadOp
from ...dialects.opencl.prefetch import PrefetchOp
from ...dialects.opencl.work_items import DelinearizeOp, WorkItemOp
from ...dialects.stripe.attributes import MemorySpace
from ...targets.hardware import Hardware, load_hardware
from ..locations import check_positive, located
from .stretches import element_bytes, factors_of, side_by_side


@dataclass(frozen=True)
class _Index:
    """An index that runs from 0, in a loop or over the work-groups."""

    value: SSAValue
    extent: int


@dataclass(frozen=True)
class _Panel:
    """What a loop's loads read again in the next steps of outer indices."""

    loop: ForOp
    load: LoadOp
    length: int
    """The elements that one step of the loop reads, side by side."""
    inner: tuple[_Index, ...]
    """The indices within a panel, that of the loop the last."""
    again: tuple[_Index, ...]
    """Those for which it is read again, the outermost first."""
    outer: tuple[_Index, ...]
    """Those that choose the panel, that of the next one the last."""

    @property
    def size_bytes(self) -> int:
        """The bytes of a panel."""
        return (
            self.length * element_bytes(self.load) * prod(i.extent for i in self.inner)
        )

    @property
    def all_bytes(self) -> int:
        """The bytes of all panels."""
        return self.size_bytes * prod(index.extent for index in self.outer)

    def prefetches(self, line_bytes: int) -> list[PrefetchOp]:
        """What each step of the loop fetches of the next panel."""
        factors = factors_of(self.load)
        share = ceil(self.length / prod(index.extent for index in self.again))
        terms = {index.value: factors[index.value] for index in self.outer}
        stretch = share * prod(i.extent for i in (self.inner[-1], *self.again))
        for index in self.again:
            stretch //= index.extent
            terms[index.value] = stretch
        terms |= {index.value: factors[index.value] for index in self.inner[:-1]}
        terms[self.inner[-1].value] = share
        start = int(self.load.form.data.constant) + factors[self.outer[-1].value]
        return [
            located(
                PrefetchOp(
                    self.load.pointer,
                    LinearForm.of([*terms.values()], start + offset),
                    [*terms],
                ),
                self.load,
            )
            for offset in range(0, share, line_bytes // element_bytes(self.load))
        ]


@dataclass(frozen=True)
class OpenCLPrefetchPanelsPass(ModulePass):
    """Fetch the next panel of an operand while work-groups use this one."""

    name = "opencl-prefetch-panels"

    hardware: str = "cpu-avx512"
    """The description of the device: a name or the path of a file."""
    uses: int = 32
    """How often a panel is used at most."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Insert prefetches where the hardware's figures say that they pay.

        Kernels whose work-groups have several work-items are left alone. Raises
        GinghamError for hardware that is not known.
        """
        check_positive(op, uses=self.uses)
        hardware = load_hardware(self.hardware)
        for kernel in op.ops:
            if isinstance(kernel, KernelOp) and prod(kernel.group_size) == 1:
                panels = [*_panels(kernel.body.block, (), self.uses)]
                _fetch(_worthwhile(panels, hardware), hardware.cache_line_bytes)


def _fetch(panels: Sequence[_Panel], line_bytes: int) -> None:
    """Put the prefetches of panels at the start of their loops, each once."""
    there: set[tuple[object, ...]] = set()
    for panel in panels:
        block = panel.loop.body.block
        for op in panel.prefetches(line_bytes):
            key = (block, op.pointer, op.form, *op.values)
            if key not in there:
                there.add(key)
                Rewriter.insert_op(op, InsertPoint.at_start(block))


def _worthwhile(panels: Sequence[_Panel], hardware: Hardware) -> list[_Panel]:
    """The panels that come from beyond a core's own caches, if the next ones fit."""
    cache = hardware.own_cache_bytes
    found = [panel for panel in panels if panel.all_bytes > cache]
    sizes = {(panel.load.pointer, panel.loop): panel.size_bytes for panel in found}
    return found if 2 * sum(sizes.values()) <= cache else []


def _panels(block: Block, around: tuple[_Index, ...], uses: int) -> Iterator[_Panel]:
    """The panels that innermost loops in a block read, in loops and groups around."""
    for op in block.ops:
        if isinstance(op, WorkItemOp) and op.query.data is WorkItemQuery.GROUP_ID:
            around = (*around, *_coordinates(op))
        elif isinstance(op, IfOp | WhenOp):
            yield from _panels(op.body.block, around, uses)
        elif isinstance(op, ForOp) and op.unroll is None:
            body = op.body.block
            inside = (*around, _Index(body.args[0], op.extent.value.data))
            if any(isinstance(o, ForOp) and o.unroll is None for o in body.walk()):
                yield from _panels(body, inside, uses)
            else:
                loads = _loads(body, {})
                found = [_panel(op, *load, inside) for load in loads]
                yield from (p for p in found if p is not None and _uses(p) <= uses)


def _uses(panel: _Panel) -> int:
    return prod(index.extent for index in panel.again)


def _coordinates(op: WorkItemOp) -> list[_Index]:
    """The indices that the number of a work-group is taken apart into."""
    users = [use.operation for use in op.result.uses]
    if users and all(isinstance(user, DelinearizeOp) for user in users):
        return [
            _Index(value, extent)
            for user in users[:1]
            if isinstance(user, DelinearizeOp)
            for value, extent in zip(user.coordinates, user.extents, strict=True)
        ]
    return [_Index(op.result, op.bound.value.data)]


def _loads(
    block: Block, unrolled: Mapping[SSAValue, int]
) -> Iterator[tuple[LoadOp, Mapping[SSAValue, int]]]:
    """Loads of global vectors, and the extents of the unrolled loops around each."""
    for op in block.ops:
        if isinstance(op, ForOp):
            body = op.body.block
            yield from _loads(body, {**unrolled, body.args[0]: op.extent.value.data})
        elif isinstance(op, LoadOp) and isinstance(op.result.type, VectorType):
            pointer = op.pointer.type
            if (
                isinstance(pointer, PointerType)
                and pointer.space.data is MemorySpace.GLOBAL
            ):
                yield op, unrolled


def _panel(
    loop: ForOp,
    load: LoadOp,
    unrolled: Mapping[SSAValue, int],
    around: Sequence[_Index],
) -> _Panel | None:
    """The panel that a load of an innermost loop reads; None if there is none."""
    factors = factors_of(load)
    indices = [index for index in around if index.extent > 1]
    if not set(factors) <= {*unrolled, *(index.value for index in indices)}:
        return None
    length = side_by_side(load, unrolled)
    if length is None or factors.get(loop.body.block.args[0]) != length:
        return None
    inward = indices[::-1]
    inner = [*takewhile(lambda index: index.value in factors, inward)]
    rest = inward[len(inner) :]
    again = [*takewhile(lambda index: index.value not in factors, rest)]
    outer = [i for i in rest[len(again) :] if i.value in factors]
    if not again or not outer:
        return None
    inner, again, outer = inner[::-1], again[::-1], outer[::-1]
    return _Panel(loop, load, length, tuple(inner), tuple(again), tuple(outer))
