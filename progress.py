"""What takes longer than a second is shown while it lasts, on a terminal.

```python
with progress.working("Compiling product"):
    progress.step("stripe-tile")  # what this thread does now, said anywhere
    progress.step("building kernels", 3, 12)  # of which there is so much
```

There is a line for each of these, of all threads, below what is printed; it is gone
when the work has ended or failed. Standard error has to be a terminal, and nothing is
shown where the setting `progress` is off or the variable `CI` is set.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from threading import Lock, Timer, local
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

SECONDS = 1.0
"""How long work takes before it is shown."""
_MOST_SHOWN = 8
_BAR_WIDTH = 24
_LOOKS_PER_SECOND = 8


class _Task:
    """Work that is being done."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.step = ""
        self.done = 0
        self.total: int | None = None
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return time.monotonic() - self._started


@contextmanager
def working(what: str) -> Generator[None]:
    """Show work while it is done, if it takes long."""
    if not _has_terminal():
        yield
        return
    task = _Task(what)
    outer = getattr(_of_thread, "task", None)
    _of_thread.task = task
    _display.add(task)
    try:
        yield
    finally:
        _of_thread.task = outer
        _display.remove(task)


def step(what: str, done: int = 0, total: int | None = None) -> None:
    """Say which part of its work this thread does now, and how much of that is done."""
    task: _Task | None = getattr(_of_thread, "task", None)
    if task is not None:
        task.step, task.done, task.total = what, done, total


_of_thread = local()


def _has_terminal() -> bool:
    stream = sys.stderr
    try:
        is_terminal = stream is not None and stream.isatty()
    except ValueError:  # It is closed.
        return False
    if not is_terminal or os.environ.get("CI"):
        return False
    from .settings import find

    return find("progress").value


class _Display:
    """The lines of all tasks; for several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._tasks: list[_Task] = []
        self._timer: Timer | None = None
        self._live: Live | None = None

    def add(self, task: _Task) -> None:
        """Show a task when it has taken a second."""
        with self._lock:
            self._tasks.append(task)
            if self._timer is None:
                self._start_timer(SECONDS)

    def remove(self, task: _Task) -> None:
        """Show it no longer; its line is gone when this returns."""
        with self._lock:
            # In a process forked meanwhile there is none.
            self._tasks = [each for each in self._tasks if each is not task]
            if self._tasks:
                return
            if self._timer is not None:
                self._timer.cancel()
            live, self._timer, self._live = self._live, None, None
            if live is not None:
                live.stop()

    def _start_timer(self, seconds: float) -> None:
        self._timer = Timer(seconds, self._show)
        self._timer.daemon = True
        self._timer.start()

    def _show(self) -> None:
        # Imported before the lock is taken, for which short tasks would wait.
        from rich.console import Console
        from rich.live import Live

        with self._lock:
            if self._live is not None or not self._tasks:
                return
            left = SECONDS - max(task.seconds for task in self._tasks)
            if left > 0:
                self._start_timer(left)
                return
            console = Console(stderr=True)
            if not console.is_interactive:
                return
            self._live = Live(
                get_renderable=self._table,
                console=console,
                refresh_per_second=_LOOKS_PER_SECOND,
                transient=True,
                # What is printed there may go to a file.
                redirect_stdout=False,
            )
            self._live.start()

    def _table(self) -> Table:
        """A row for each task: what and how long, how much, which step."""
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        from .errors import visible

        table = Table.grid(padding=(0, 1))
        for _ in range(4):
            table.add_column(no_wrap=True)
        for task in self._shown():
            total = task.total
            table.add_row(
                Text(f"{task.seconds:.0f} s", "cyan"),
                Text(visible(task.what), overflow="ellipsis"),
                ""
                if total is None
                else ProgressBar(total=total, completed=task.done, width=_BAR_WIDTH),
                Text(visible(task.step), "dim", overflow="ellipsis"),
            )
        return table

    def _shown(self) -> Sequence[_Task]:
        return [task for task in [*self._tasks] if task.seconds > SECONDS][:_MOST_SHOWN]


_display = _Display()


def _start_anew() -> None:
    """A process that was forked has none of the threads that did the work."""
    global _display
    _display = _Display()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)
