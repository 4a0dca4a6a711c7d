"""What runs where, for people: programs, steps of the host, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .parts import HostStep, Part

if TYPE_CHECKING:
    from ..function import Function

_MOST_SHOWN = 8


class Report:
    """The parts of a model for some inputs; printed, a list of them."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = parts

    @property
    def programs(self) -> list[Function]:
        """The programs in order."""
        return [part.function for part in self._parts if part.function is not None]

    @property
    def host_steps(self) -> list[HostStep]:
        """What the host runs, in order."""
        return [part.host for part in self._parts if part.host is not None]

    def __str__(self) -> str:
        lines: list[str] = []
        for part in self._parts:
            if part.function is not None:
                lines.append(f"program of {len(part.nodes)} nodes: {_listed(part.nodes)}")
            if part.host is not None:
                lines.append(f"host: {part.host.label}: {part.host.reason}")
        return "\n".join(lines) or "nothing depends on the inputs"


def _listed(nodes: Sequence[str]) -> str:
    """Nodes with their names; of many the first and the last."""
    if len(nodes) <= _MOST_SHOWN:
        return ", ".join(nodes)
    half = _MOST_SHOWN // 2
    return f"{', '.join(nodes[:half])} ... {', '.join(nodes[-half:])}"
