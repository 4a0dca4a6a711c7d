"""Devices that are no devices of a driver: they work on the arrays of this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NoReturn

from ..errors import GinghamError


class HostDevice:
    """What such devices have in common: nothing is counted, found out or divided."""

    name: ClassVar[str]
    has_buffers = False
    is_probed = True
    memory_budget_bytes = None
    known_fault = None

    def trust(self) -> None:
        """Do nothing: whether it works is found out soon enough."""

    def split(self, counts: Sequence[int]) -> NoReturn:
        """Raises GinghamError: it has no parts."""
        raise self._undivided()

    def part_named(self, text: str) -> NoReturn:
        """Raises GinghamError: it has no parts."""
        raise self._undivided()

    def _undivided(self) -> GinghamError:
        return GinghamError(f"device '{self.name}' can not be divided into parts")
