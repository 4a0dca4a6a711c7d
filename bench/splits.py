"""Where the processor time of a compilation goes, part by part, in the order of users.

Whoever watches the passes through `gingham.observation` sees one after the other on the
whole module. Here functions of the compiler are put into others that look at the clock,
so that passes run kernel by kernel and helpers build meanwhile, as they always do. What
a part asks of another one counts for that one.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from importlib import import_module
from resource import RUSAGE_CHILDREN, getrusage
from time import perf_counter, process_time
from typing import Any
from unittest.mock import patch

from xdsl.dialects.builtin import ModuleOp

from gingham.passes import get_all_passes
from gingham.passes.convert.lower_stripe_to_opencl import LowerStripeToOpenCLPass
from gingham.targets.opencl import program
from gingham.targets.opencl.builds.helpers import helpers
from gingham.targets.printer.kernel import KernelPrinter

from .measured import DRIVER

SEARCH = "search"
"""What the search for nests is called among the passes that ask for it."""
_SEARCH = import_module("gingham.passes.stripe.decide.search.search")
_OTHER = "other"


class Splits:
    """Counts processor time for the innermost part that is at work."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        """By the name of the part; `other` is what is in none."""
        self.driver_wall = 0.0
        """Seconds in the device's compiler, and waiting for helpers."""
        self._parts = [_OTHER]
        self._since = process_time()

    @contextmanager
    def within(self, part: str) -> Generator[None]:
        """Count for a part what is done meanwhile."""
        self._count()
        self._parts.append(part)
        start = perf_counter()
        try:
            yield
        finally:
            self._count()
            self._parts.pop()
            if part == DRIVER:
                self.driver_wall += perf_counter() - start

    def _count(self) -> None:
        now = process_time()
        part = self._parts[-1]
        self.seconds[part] = self.seconds.get(part, 0.0) + now - self._since
        self._since = now

    @contextmanager
    def watching(self) -> Generator[None]:
        """Let the parts of the compiler say when they are at work."""
        with ExitStack() as stack:
            for owner, name, part in _parts():
                timed = self._timed(getattr(owner, name), part)
                stack.enter_context(patch.object(owner, name, timed))
            self._since = process_time()
            yield
            self._count()

    def _timed(self, function: Callable[..., Any], part: str) -> Callable[..., Any]:
        @wraps(function)
        def timed(*arguments: Any, **named: Any) -> Any:
            with self.within(part):
                return function(*arguments, **named)

        return timed


def seconds_of_helpers() -> float:
    """Processor time of all processes that have helped to build; they end."""
    # Children count when they have ended.
    helpers.end_all()
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _parts() -> Iterator[tuple[Any, str, str]]:
    """Functions of the compiler: where each is, its name there, and its part."""
    for name, get in get_all_passes().items():
        yield get(), "apply", name
    yield LowerStripeToOpenCLPass, "lower", LowerStripeToOpenCLPass.name
    yield _SEARCH, "_search", SEARCH
    yield ModuleOp, "verify", "verify"
    yield KernelPrinter, "print", "print"
    yield program, "build_side_by_side", DRIVER
