"""`gingham.profile` and `f.profile`: measured calls as tables, traces and rooflines."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...errors import GinghamError
from .records import Command, Span
from .watcher import watcher

if TYPE_CHECKING:
    from types import TracebackType

    from xdsl.dialects.builtin import ModuleOp

    from .summary import Summary


class Profile:
    """What calls cost: those of one function, or all in a `with` block.

    Printed, it is a table of kernels, transfers and the host's time. Asking for
    anything waits for what is under way.
    """

    wants_passes = False

    def __init__(self) -> None:
        self._commands: list[Command] = []
        self._spans: list[Span] = []

    @property
    def commands(self) -> Sequence[Command]:
        """The launches and copies that have ended, in the order of their ends."""
        watcher.flush()
        return sorted(self._commands, key=lambda each: each.ended)

    @property
    def spans(self) -> Sequence[Span]:
        """What threads of the host did."""
        return sorted(self._spans, key=lambda each: (each.started, -each.ended))

    def summary(self) -> Summary:
        """The figures of the table."""
        from .summary import summarize

        return summarize(self.commands, self.spans)

    def as_json(self) -> dict[str, Any]:
        """The figures of the table for programs: what `json.dumps` takes."""
        return self.summary().as_json()

    def __str__(self) -> str:
        from .tables import render

        return render(self.summary())

    def __repr__(self) -> str:
        return f"<gingham.Profile of {len(self.commands)} commands>"

    def clear(self) -> None:
        """Forget what was measured so far."""
        watcher.flush()
        self._commands.clear()
        self._spans.clear()

    def trace(self) -> dict[str, Any]:
        """All that happened, in Chrome's format of traces, for Perfetto."""
        from .trace import chrome_trace

        return chrome_trace(self.commands, self.spans)

    def save_trace(self, path: str | os.PathLike[str]) -> None:
        """Write `trace` as JSON. Raises GinghamError where it can not be written."""
        import json

        _write(path, json.dumps(self.trace()))

    def roofline(self) -> str:
        """A picture in SVG: what each kernel reached of what the device can do.

        Raises GinghamError where no kernel ran, or kernels of devices that differ.
        """
        from .roofline_plot import plot_kernels

        return plot_kernels(self.summary().kernels)

    def save_roofline(self, path: str | os.PathLike[str]) -> None:
        """Write `roofline` as a file. Raises GinghamError where it can not be."""
        _write(path, self.roofline())

    # As a listener of the watcher.

    def command(self, command: Command) -> None:
        """Note what a device has done."""
        self._commands.append(command)

    def span(self, span: Span) -> None:
        """Note what the host has done."""
        self._spans.append(span)

    def stage(self, name: str, module: ModuleOp) -> None:
        """Do nothing: IR is for the log."""

    def after_pass(self, name: str, seconds: float, module: ModuleOp) -> None:
        """Do nothing: passes are spans, too."""

    def source(self, text: str, language: str) -> None:
        """Do nothing: sources are for the log."""


class profile:
    """Measure all calls of all functions in a block of code, in all threads.

    ```python
    with gingham.profile() as p:
        f(A, B)
    print(p)
    ```

    Gives a `Profile`, which can be asked during the block and after it.
    """

    def __init__(self) -> None:
        self._profiles: list[Profile] = []

    def __enter__(self) -> Profile:
        self._profiles.append(Profile())
        watcher.add(self._profiles[-1])
        return self._profiles[-1]

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        watcher.remove(self._profiles.pop())


def _write(path: str | os.PathLike[str], text: str) -> None:
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        name = os.fspath(path)
        raise GinghamError(f"cannot write '{name}': {error.strerror}") from error
