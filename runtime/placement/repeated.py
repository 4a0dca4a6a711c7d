"""Calls like one before, of which few are looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ... import observation
from ..arrays.array import has_arrays

if TYPE_CHECKING:
    from .choice import Compiled

    Look = Callable[["RepeatedCall", Sequence[Any], Any], list[Any]]


class RepeatedCall:
    """Runs calls with arrays of the same shapes, types and devices.

    When it is settled which way is the fastest, a call is what it is of a function that
    is compiled for that way alone, and a count. Behind so many it is looked at one:
    what it takes, and whether another way should be tried. May be used from several
    threads: which calls are looked at does not matter.
    """

    __slots__ = ("_look", "_runner", "_unseen")

    def __init__(self, look: Look) -> None:
        """`look` runs a call that is looked at, and calls `repeat`."""
        self._look = look
        self._runner: Compiled | None = None
        self._unseen = 0

    def run(self, arrays: Sequence[Any], out: Any = None) -> list[Any]:
        """See `HostCall.run` and `Starter.run`."""
        runner, unseen = self._runner, self._unseen
        if (
            unseen > 0
            and runner is not None
            and observation.observer is None
            and (out is None or not has_arrays(out))
        ):
            self._unseen = unseen - 1
            return runner.run(arrays, out)
        return self._look(self, arrays, out)

    def repeat(self, runner: Compiled, unseen: int) -> None:
        """Run the next calls so, until one is looked at again."""
        self._runner = runner
        self._unseen = unseen
