"""The log of the setting `debug`, on the standard error stream.

1. a line for each launch;
2. the kernels of each program, too, in OpenCL C or C;
3. the IR at each stage of the pipeline, and before the first, too;
4. each pass with its time, and the IR where the pass changed it, too.

From 3 on programs are compiled though they are stored, to be seen.
"""

from __future__ import annotations

import atexit
import sys
from threading import Lock
from typing import TYPE_CHECKING

from ...errors import visible
from .records import Command, Span
from .tables import milliseconds, percentage
from .watcher import watcher

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


class DebugLog:
    """Writes down what it is told, as much as its level says."""

    def __init__(self, level: int) -> None:
        self.level = level
        self._text = ""

    @property
    def wants_passes(self) -> bool:
        """Whether the log shows IR."""
        return self.level >= 3

    def command(self, command: Command) -> None:
        """A line for what a device has done."""
        _write(line(command))

    def span(self, span: Span) -> None:
        """Nothing: times of the host are for profiles."""

    def stage(self, name: str, module: ModuleOp) -> None:
        """The IR at the end of a stage."""
        if self.level < 3:
            return
        text = str(module)
        if self.level == 3 or text != self._text:
            _write(f"// IR: {name}\n{text}\n")
        self._text = text

    def after_pass(self, name: str, seconds: float, module: ModuleOp) -> None:
        """A pass, with the IR where it is another now."""
        if self.level < 4:
            return
        text = str(module)
        if text == self._text:
            _write(f"// pass: {name}, {milliseconds(seconds)} ms, no change")
            return
        _write(f"// pass: {name}, {milliseconds(seconds)} ms\n{text}\n")
        self._text = text

    def source(self, text: str, language: str) -> None:
        """The kernels of a program, in a language."""
        if self.level >= 2:
            _write(f"// {language}\n{text.rstrip()}\n")


def line(command: Command) -> str:
    """A command in one line: what, where, how long, how fast."""
    seconds = command.seconds
    parts = [command.device, command.name, command.location or "-"]
    rates = [f"{milliseconds(seconds)} ms"]
    if command.kind == "kernel":
        rates.append(f"{command.flops / seconds * 1e-9:.1f} GFLOP/s")
        rates.append(f"{command.moved / seconds * 1e-9:.1f} GB/s")
        if command.roofline is not None:
            share = command.roofline.share(command.flops, command.moved, seconds)
            rates += [f"{percentage(share)} of the roofline"] if share else []
    else:
        rates.append(f"{command.bytes_read / seconds * 1e-9:.1f} GB/s")
    return f"gingham: {' '.join(parts)}: {', '.join(rates)}"


def _write(text: str) -> None:
    print(visible(text), file=sys.stderr, flush=True)


def set_level(level: int) -> None:
    """Let there be a log of this level, or none for 0."""
    global _log
    with _lock:
        if (0 if _log is None else _log.level) == level:
            return
        if _log is not None:
            watcher.remove(_log)
        _log = DebugLog(level) if level else None
        if _log is not None:
            watcher.add(_log)


@atexit.register
def _flush() -> None:
    """Launches that nobody has waited for are told of at the end."""
    if _log is not None:
        watcher.flush()


_lock = Lock()
_log: DebugLog | None = None
