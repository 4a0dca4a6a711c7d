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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import ceil, prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...dialects.opencl.kernel import KernelOp
from ...dialects.opencl.prefetch import PrefetchOp
from ...targets.hardware import Hardware
from ..hardware_pass import HardwarePass
from ..locations import check_positive
from .loops import Index, innermost_loops
from .stretches import Stretch, fetch, stretches_of


@dataclass(frozen=True)
class _Panel:
    """What a loop's loads read again in the next steps of outer indices."""

    stretch: Stretch
    inner: tuple[Index, ...]
    """The indices within a panel, that of the loop the last."""
    again: tuple[Index, ...]
    """Those for which it is read again, the outermost first."""
    outer: tuple[Index, ...]
    """Those that choose the panel, that of the next one the last."""

    @staticmethod
    def of(stretch: Stretch) -> _Panel | None:
        """The panel that the steps of a loop are in; None if there is none."""
        factors = stretch.factors
        inward = stretch.around[::-1]
        inner = [*takewhile(lambda index: index.value in factors, inward)]
        rest = inward[len(inner) :]
        again = [*takewhile(lambda index: index.value not in factors, rest)]
        outer = [i for i in rest[len(again) :] if i.value in factors]
        if not again or not outer:
            return None
        parts = (tuple(part[::-1]) for part in (inner, again, outer))
        return _Panel(stretch, *parts)

    @property
    def uses(self) -> int:
        """How often it is read."""
        return _count(self.again)

    @property
    def size_bytes(self) -> int:
        """The bytes of a panel."""
        stretch = self.stretch
        return stretch.length * stretch.element_bytes * _count(self.inner)

    @property
    def all_bytes(self) -> int:
        """The bytes of all panels."""
        return self.size_bytes * _count(self.outer)

    def prefetches(self, line_bytes: int) -> list[PrefetchOp]:
        """What each step of the loop fetches of the next panel."""
        stretch = self.stretch
        factors = stretch.factors
        share = ceil(stretch.length / self.uses)
        terms = {index.value: factors[index.value] for index in self.outer}
        part = share * self.inner[-1].extent * self.uses
        for index in self.again:
            part //= index.extent
            terms[index.value] = part
        terms |= {index.value: factors[index.value] for index in self.inner[:-1]}
        terms[self.inner[-1].value] = share
        constant = int(stretch.load.form.data.constant)
        start = constant + factors[self.outer[-1].value]
        return stretch.prefetches(terms, start, share, line_bytes)


def _count(indices: Sequence[Index]) -> int:
    return prod(index.extent for index in indices)


@dataclass(frozen=True)
class OpenCLPrefetchPanelsPass(HardwarePass):
    """Fetch the next panel of an operand while work-groups use this one."""

    name = "opencl-prefetch-panels"

    uses: int = 32
    """How often a panel is used at most."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Insert prefetches where the hardware's figures say that they pay.

        Kernels whose work-groups have several work-items are left alone. Raises
        GinghamError for hardware that is not known.
        """
        check_positive(op, uses=self.uses)
        hardware = self.figures
        for kernel in op.ops:
            if isinstance(kernel, KernelOp) and prod(kernel.group_size) == 1:
                panels = [p for p in _panels(kernel) if p.uses <= self.uses]
                _fetch(_worthwhile(panels, hardware), hardware.cache_line_bytes)


def _panels(kernel: KernelOp) -> Iterator[_Panel]:
    """The panels that innermost loops read, in loops and groups around."""
    for loop in innermost_loops(kernel):
        found = map(_Panel.of, stretches_of(loop))
        yield from (panel for panel in found if panel is not None)


def _worthwhile(panels: Sequence[_Panel], hardware: Hardware) -> list[_Panel]:
    """The panels that come from beyond a core's own caches, if the next ones fit."""
    cache = hardware.own_cache_bytes
    found = [panel for panel in panels if panel.all_bytes > cache]
    sizes = {(p.stretch.load.pointer, p.stretch.loop): p.size_bytes for p in found}
    return found if 2 * sum(sizes.values()) <= cache else []


def _fetch(panels: Sequence[_Panel], line_bytes: int) -> None:
    """Put the prefetches of panels at the start of their loops, each once."""
    there: set[tuple[object, ...]] = set()
    for panel in panels:
        loop = panel.stretch.loop
        for op in panel.prefetches(line_bytes):
            key = (loop, op.pointer, op.form, *op.values)
            if key not in there:
                there.add(key)
                fetch(loop, [op])
