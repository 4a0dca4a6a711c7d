"""What runs where, for people: programs, steps of the host, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .parts import HostStep, Part

if TYPE_CHECKING:
    from numpy.typing import NDArray

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

    def texts(self, text: Callable[[Function, Sequence[NDArray[Any]]], Any]) -> str:
        """What a function tells of each program and arrays for it, one by one.

        Between programs stands what the host runs.
        """
        lines: list[str] = []
        for part in self._parts:
            if part.function is not None:
                lines.append(str(text(part.function, _stand_ins(part))).rstrip())
            if part.host is not None:
                lines.append(f"// host: {part.host.label}: {part.host.reason}")
        return "\n".join(lines)

    def __str__(self) -> str:
        lines: list[str] = []
        for part in self._parts:
            if part.function is not None:
                lines.append(
                    f"program of {len(part.nodes)} nodes: {_listed(part.nodes)}"
                )
            if part.host is not None:
                lines.append(f"host: {part.host.label}: {part.host.reason}")
        return "\n".join(lines) or "nothing depends on the inputs"


class ModelExplanation:
    """What runs where, and what was decided for each program; printed, a text."""

    def __init__(self, report: Report, count: int) -> None:
        self._report = report
        self._count = count

    def __str__(self) -> str:
        decisions = self._report.texts(
            lambda program, given: program.explain(*given, count=self._count)
        )
        return f"{self._report}\n\n{decisions}"

    def as_json(self) -> dict[str, Any]:
        """The same for programs."""
        explained: list[Any] = []

        def note(program: Function, given: Sequence[NDArray[Any]]) -> str:
            explained.append(program.explain(*given, count=self._count).as_json())
            return ""

        self._report.texts(note)
        steps = self._report.host_steps
        return {
            "programs": explained,
            "host": [{"node": each.label, "reason": each.reason} for each in steps],
        }


def _stand_ins(part: Part) -> list[NDArray[Any]]:
    """Arrays of the types of a program's inputs, which take no memory."""
    import numpy as np

    return [
        np.broadcast_to(np.zeros((), dtype), shape) for shape, dtype in part.input_types
    ]


def _listed(nodes: Sequence[str]) -> str:
    """Nodes with their names; of many the first and the last."""
    if len(nodes) <= _MOST_SHOWN:
        return ", ".join(nodes)
    half = _MOST_SHOWN // 2
    return f"{', '.join(nodes[:half])} ... {', '.join(nodes[-half:])}"
