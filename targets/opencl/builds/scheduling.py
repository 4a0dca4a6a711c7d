"""Who builds what: this process and its helpers take parts until none is left.

This process begins at once, and a helper joins when it is there, so that nothing is
lost where one takes long to start. The largest parts come first. What a helper could
not build is built here, where the compiler's words can be told.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from threading import Condition, Thread
from typing import TYPE_CHECKING

from .... import progress
from ....errors import GinghamError
from ....garbage import collect_young
from ...cores import core_count
from . import driver
from .driver import InnerProgram
from .helpers import Helper, helpers
from .parts import split
from .processes import Helpers

if TYPE_CHECKING:
    from ..handles.handle import DeviceHandle

_WORTH_STARTING = 48_000
"""Characters of source that take longer to build than a helper takes to start twice."""
_WORTH_ASKING = 12_000
"""As many for helpers that are there."""


def build_side_by_side(
    device: DeviceHandle, source: str, options: str
) -> list[InnerProgram]:
    """The programs that together have all kernels of a source.

    Raises GinghamError, with what the compiler says.
    """
    parts = split(source) if _is_worth_it(device, source) else [source]
    progress.step("building kernels")
    if len(parts) == 1:
        return [driver.build_to_keep(device, source, options)]
    return _Build(device, source, options, parts).run()


def _is_worth_it(device: DeviceHandle, source: str) -> bool:
    if core_count() == 1 or len(source) < _WORTH_ASKING:
        return False
    if not device.details.builds_whole_binaries:
        return False
    return len(source) >= _WORTH_STARTING or helpers.warm_count > 0


class _Build:
    """One source that is being built."""

    def __init__(
        self, device: DeviceHandle, source: str, options: str, parts: Sequence[str]
    ) -> None:
        self._device = device
        self._source = source
        self._options = options
        self._parts = parts
        by_size = sorted(range(len(parts)), key=lambda n: len(parts[n]), reverse=True)
        self._pending = deque(by_size)
        self._changed = Condition()
        self._in_work = 0
        """How many parts helpers are building."""
        self._binaries: dict[int, bytes] = {}

    def run(self) -> list[InnerProgram]:
        """The programs of all parts."""
        self._start_helpers()
        # Of the IR that is not needed any more, while they build.
        collect_young()
        own: dict[int, InnerProgram] = {}
        try:
            while (number := self._next()) is not None:
                self._say(len(own))
                own[number] = self._built(number)
            with self._changed:
                while self._in_work:
                    self._say(len(own))
                    self._changed.wait()
        finally:
            # Where that failed, helpers stop behind what they do now.
            self._pending.clear()
        return [
            own[number] if number in own else self._loaded(number)
            for number in range(len(self._parts))
        ]

    def _say(self, own: int) -> None:
        progress.step("building kernels", own + len(self._binaries), len(self._parts))

    def _start_helpers(self) -> None:
        only_warm = len(self._source) < _WORTH_STARTING
        for _ in range(len(self._parts) - 1):
            helper = helpers.take(warm=only_warm)
            if helper is None:
                return
            Thread(target=self._help, args=(helpers, helper), daemon=True).start()

    def _next(self) -> int | None:
        try:
            return self._pending.popleft()
        except IndexError:
            return None

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
            number = self._next()
            if number is None:
                return False
            self._in_work += 1
        try:
            self._binaries[number] = helper.build(
                self._device, self._parts[number], self._options
            )
        finally:
            with self._changed:
                self._in_work -= 1
                self._changed.notify_all()
        return True

    def _built(self, number: int) -> InnerProgram:
        part = self._parts[number]
        return driver.build_to_keep(self._device, part, self._options, self._source)

    def _loaded(self, number: int) -> InnerProgram:
        """What a helper has built; it is built here where that is of no use."""
        binary = self._binaries.get(number)
        if binary:
            with suppress(GinghamError):
                return driver.load(self._device, binary, self._options)
        return self._built(number)
