"""Who builds what: this process and its helpers take parts until none is left.

This process begins at once, and a helper joins when it is there, so that nothing is
lost where one takes long to start. The largest parts come first, and short kernels are
built together. What a helper could not build is built here, where the compiler's words
can be told.

Kernels that are known before the others go to the helpers that are there at once, while
this process makes the others (`BegunBuild.add`). The whole source is what counts: what
was begun and is not in it is forgotten.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized
from contextlib import suppress
from dataclasses import dataclass
from threading import Condition, Thread
from typing import TYPE_CHECKING

from .... import progress
from ....errors import GinghamError
from ....garbage import collect_young
from ...cores import core_count
from . import driver
from .driver import InnerProgram
from .helpers import Helper, helpers
from .inlined_vectors import moves_many_vectors
from .parts import kernel_of, merged, split
from .processes import Helpers

if TYPE_CHECKING:
    from ..handles.handle import DeviceHandle

_WORTH_STARTING = 48_000
"""Characters of source that take longer to build than a helper takes to start twice."""
_WORTH_ASKING = 12_000
"""As many for helpers that are there."""
_TOGETHER = 16_000
"""Characters of the kernels that are built together: to begin takes Intel's compiler
24 ms, as long as it takes for 1,200 characters."""
_PARTS_PER_CORE = 4
"""With fewer parts one core would wait for another in the end."""


def build_side_by_side(
    device: DeviceHandle, source: str, options: str, begun: BegunBuild | None = None
) -> list[InnerProgram]:
    """The programs that together have all kernels of a source.

    Some of them may have been `begun`. Raises GinghamError, with what the compiler
    says.
    """
    build = begun or BegunBuild(device, options)
    is_worth_it = build.has_helpers or _is_worth_it(device, source)
    parts = split(source) if is_worth_it else [source]
    progress.step("building kernels")
    try:
        if len(parts) == 1 and not build.has_helpers:
            return [driver.build_to_keep(device, source, options)]
        return build.finish(source, parts)
    finally:
        build.end()


def _is_worth_it(device: DeviceHandle, source: str) -> bool:
    if core_count() == 1 or len(source) < _WORTH_ASKING:
        return False
    if not device.details.builds_whole_binaries:
        return False
    return len(source) >= _WORTH_STARTING or helpers.warm_count > 0


@dataclass(eq=False)
class _Part:
    """Source with one kernel, or a few, and what a helper made of it."""

    source: str
    binary: bytes = b""
    is_taken: bool = False


class BegunBuild:
    """A source that is being built, though not all of its parts may be known yet."""

    def __init__(self, device: DeviceHandle, options: str) -> None:
        self._device = device
        self._options = options
        self._whole = ""
        self._early: dict[str, _Part] = {}
        """The parts that were known before the whole, by their kernels."""
        self._pending: list[_Part] = []
        self._changed = Condition()
        self._in_work = 0
        """How many parts helpers are building."""
        self._is_open = True
        """Whether there may be more parts."""
        self.has_helpers = False
        """Whether others have been asked."""

    def add(self, kernel: str, source: str) -> None:
        """Let helpers that are there build a kernel, whose source is for it alone.

        It is known again in the whole by its text, `kernel`.
        """
        if core_count() == 1 or not self._device.details.builds_whole_binaries:
            return
        with self._changed:
            part = self._early[kernel.rstrip()] = _Part(source)
            self._pending.append(part)
            self._changed.notify()
        size = sum(len(part.source) for part in self._early.values())
        if not self.has_helpers and size >= _WORTH_ASKING:
            self._start_helpers(core_count() - 1, warm=True)

    def end(self) -> None:
        """Let helpers stop behind what they do now."""
        with self._changed:
            self._is_open = False
            self._pending.clear()
            self._changed.notify_all()

    def finish(self, source: str, parts: Sequence[str]) -> list[InnerProgram]:
        """The programs of all parts of a source, which is whole now."""
        own: dict[_Part, InnerProgram] = {}
        with self._changed:
            self._whole = source
            needed = [self._early.get(kernel_of(part)) or _Part(part) for part in parts]
            for part, text in zip(needed, parts, strict=True):
                # With the lines of the whole, for what the compiler says here.
                part.source = text
            self._pending = _together([part for part in needed if not part.is_taken])
            needed = [part for part in needed if part.is_taken] + self._pending
            self._is_open = False
            self._changed.notify_all()
        if not self.has_helpers:
            self._start_helpers(len(parts) - 1, warm=len(source) < _WORTH_STARTING)
        while (part := self._next()) is not None:
            self._say(needed, own)
            own[part] = self._built(part)
        if self._in_work:
            # Of the IR that is not needed any more, while they build: meanwhile none
            # could be given another part.
            collect_young()
        with self._changed:
            while self._in_work:
                self._say(needed, own)
                self._changed.wait()
        return [own.get(part) or self._loaded(part) for part in needed]

    def _say(self, needed: Sequence[_Part], own: Sized) -> None:
        done = len(own) + sum(bool(part.binary) for part in needed)
        progress.step("building kernels", done, len(needed))

    def _start_helpers(self, most: int, *, warm: bool) -> None:
        for _ in range(most):
            helper = helpers.take(warm=warm)
            if helper is None:
                return
            self.has_helpers = True
            Thread(target=self._help, args=(helpers, helper), daemon=True).start()

    def _next(self) -> _Part | None:
        """The largest part that nobody has taken."""
        with self._changed:
            if not self._pending:
                return None
            part = max(self._pending, key=lambda part: len(part.source))
            self._pending.remove(part)
            part.is_taken = True
            return part

    def _help(self, helpers: Helpers[Helper], helper: Helper) -> None:
        """Let a helper build until nothing is left; then it is among the others again.

        That may be long after the source is built, where the helper is slow to start.
        """
        try:
            helper.warm_up(self._device)
            while self._help_with_one(helper):
                pass
        except (OSError, ValueError):
            helpers.lose(helper)
        else:
            helpers.give_back(helper)

    def _help_with_one(self, helper: Helper) -> bool:
        with self._changed:
            while self._is_open and not self._pending:
                self._changed.wait()
            part = self._next()
            if part is None:
                return False
            self._in_work += 1
        try:
            part.binary = helper.build(self._device, part.source, self._options)
        finally:
            with self._changed:
                self._in_work -= 1
                self._changed.notify_all()
        return True

    def _built(self, part: _Part) -> InnerProgram:
        source, options = part.source, self._options
        return driver.build_to_keep(self._device, source, options, self._whole)

    def _loaded(self, part: _Part) -> InnerProgram:
        """What a helper has built; it is built here where that is of no use."""
        if part.binary:
            with suppress(GinghamError):
                return driver.load(self._device, part.binary, self._options)
        return self._built(part)


def _together(parts: Sequence[_Part]) -> list[_Part]:
    """Short parts as few longer ones, that each core gets some of.

    Those with many vectors get functions of their own, and stay alone.
    """
    long, short = list[_Part](), list[str]()
    for part in parts:
        if moves_many_vectors(part.source):
            long.append(part)
        else:
            short.append(part.source)
    if len(short) < 2:
        return [*parts]
    share = sum(len(part.source) for part in parts) // (_PARTS_PER_CORE * core_count())
    return long + [_Part(source) for source in merged(short, min(share, _TOGETHER))]
