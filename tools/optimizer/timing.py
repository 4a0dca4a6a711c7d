"""Times the phases of a compilation, for `--mlir-timing`."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

_WIDTH = 75


@dataclass
class Timer:
    """Wall time by name, in order of first appearance; phases may contain others."""

    seconds: dict[tuple[str, ...], float] = field(
        default_factory=dict[tuple[str, ...], float]
    )
    path: tuple[str, ...] = ()
    started: float = field(default_factory=time.perf_counter)

    @contextmanager
    def phase(self, name: str) -> Generator[None]:
        """Adds the time until the end of the `with` block to the row of this name."""
        outer, self.path = self.path, (*self.path, name)
        self.seconds.setdefault(self.path, 0.0)
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[self.path] += time.perf_counter() - start
            self.path = outer

    def report(self) -> str:
        """The table, as MLIR prints it."""
        total = time.perf_counter() - self.started
        top = sum(value for path, value in self.seconds.items() if len(path) == 1)
        rows = [(seconds, path) for path, seconds in self.seconds.items()]
        rows.append((total - top, ("Rest",)))
        rows.append((total, ("Total",)))
        rule = f"===-{'-' * (_WIDTH - 8)}-==="
        lines = [
            rule,
            "... Execution time report ...".center(_WIDTH).rstrip(),
            rule,
            f"  Total Execution Time: {total:.4f} seconds",
            "",
            "  ----Wall Time----  ----Name----",
        ]
        for seconds, path in rows:
            share = 100 * seconds / total if total else 0.0
            name = "  " * (len(path) - 1) + path[-1]
            lines.append(f"  {seconds:8.4f} ({share:5.1f}%)  {name}")
        return "\n".join(lines)
