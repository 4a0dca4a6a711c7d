"""Panels: what some work-groups in a row, or steps of a loop, read again and again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import ceil, prod

from ...dialects.opencl.kernel import KernelOp
from ...dialects.opencl.prefetch import PrefetchOp
from ...targets.hardware import Hardware
from .loops import Index, accumulators, group_numbers, innermost_loops
from .stretches import Stretch, fetch, stretches_of

_MOST_USES = 32
"""Of a panel that is used more often, the first use takes a small part of the time."""

_SIDE_BY_SIDE = 2
"""Steps of which each fetches, beyond which a compiler loads first what all of them
read, and has no registers left where there are many accumulators."""

_MANY_ACCUMULATORS = 1 / 2
"""Of the vector registers: with 16 of 32, four steps take a fifth longer than two, with
14 they take less."""


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


def fetch_panels(kernel: KernelOp, hardware: Hardware) -> None:
    """Let loops fetch their share of the next panel, of those used a few times."""
    panels = [panel for panel in _panels(kernel) if panel.uses <= _MOST_USES]
    there: set[tuple[object, ...]] = set()
    for panel in _worthwhile(panels, hardware):
        loop = panel.stretch.loop
        for op in panel.prefetches(hardware.cache_line_bytes):
            key = (loop, op.pointer, op.form, *op.values)
            if key not in there:
                there.add(key)
                fetch(loop, [op])
        room = hardware.vector_registers * _MANY_ACCUMULATORS
        if loop.unroll_factor is not None and accumulators(loop) >= room:
            loop.limit_unrolling(min(loop.unroll_factor.value.data, _SIDE_BY_SIDE))


def _panels(kernel: KernelOp) -> Iterator[_Panel]:
    """The panels that innermost loops read, in loops and groups around."""
    numbers = group_numbers(kernel)
    for loop in innermost_loops(kernel):
        found = map(_Panel.of, stretches_of(loop, numbers))
        yield from (panel for panel in found if panel is not None)


def _worthwhile(panels: Sequence[_Panel], hardware: Hardware) -> list[_Panel]:
    """The panels that come from beyond a core's own caches, if the next ones fit."""
    cache = hardware.own_cache_bytes
    found = [panel for panel in panels if panel.all_bytes > cache]
    sizes = {(p.stretch.load.pointer, p.stretch.loop): p.size_bytes for p in found}
    return found if 2 * sum(sizes.values()) <= cache else []
