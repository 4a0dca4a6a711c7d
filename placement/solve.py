"""The placement of a problem: the best of all candidates, and what the others cost.

A placement on several devices is taken only where it is predicted to end earlier by a
margin than everything on the best single device: times are predictions, and one device
has no transfers that could be slower than expected.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..errors import GinghamError
from .assignment import cheapest_assignment
from .cut import cheapest_cut
from .memory import fits, peaks
from .problem import Placement, Problem
from .schedule import Schedule
from .search import Candidate, Searcher

MARGIN = 0.02
"""The part of the best single device's time that another placement has to save."""
_IMPROVED = 3
"""Candidates that local search starts from."""


@dataclass(frozen=True)
class Solution:
    """A placement, with what it was chosen from."""

    chosen: Candidate
    schedule: Schedule
    singles: tuple[Candidate | None, ...]
    """For each device everything there, as far as it can be; None where it does not
    fit its memory."""
    cut: Candidate | None
    """The placement with the least sum of times and transfers."""
    reason: str


def solve(problem: Problem, margin: float = MARGIN) -> Solution:
    """The placement that ends first.

    Raises GinghamError where no placement is possible, and where an optional package
    is needed that is not there.
    """
    searcher = Searcher(problem)
    singles = [_single(searcher, device) for device in range(len(problem.devices))]
    fitting = [one for one in singles if one is not None]
    others: list[Candidate] = []
    cut: Candidate | None = None
    if len(problem.devices) > 1 and problem.count:
        cut = _cut(problem, searcher)
        heft = searcher.candidate("earliest finish", searcher.earliest_finish())
        others = [one for one in (cut, heft) if one is not None]
        others += _searched(searcher, [*fitting, *others])
    single = min(fitting, key=_preference, default=None)
    best = min([*fitting, *others], key=_preference, default=None)
    if best is None:
        raise _too_large(problem, searcher)
    chosen, reason = _decide(problem, best, single, margin)
    schedule = searcher.simulator.schedule(chosen.placement, chosen.order)
    return Solution(chosen, schedule, tuple(singles), cut, reason)


def _single(searcher: Searcher, device: int) -> Candidate | None:
    """Everything on one device, but what is forced elsewhere or impossible there."""
    name, placement = searcher.problem.devices[device], searcher.single(device)
    is_all = all(each == device for each in placement)
    words = "all" if is_all else "all that can be"
    return searcher.candidate(f"{words} on {name}", placement)


def _cut(problem: Problem, searcher: Searcher) -> Candidate | None:
    """The cheapest placement by the sum of times, within the memory of devices."""
    if len(problem.devices) == 2:
        placement = cheapest_cut(problem)
        if fits(problem, placement, searcher.program_order):
            return searcher.candidate("a minimum cut", placement)
    found = cheapest_assignment(problem)
    return None if found is None else searcher.candidate("an assignment", found)


def _searched(searcher: Searcher, known: list[Candidate]) -> list[Candidate]:
    """What is found by trying: all placements of a small program, or moves."""
    if searcher.is_small:
        best = min(searcher.exhaustive(), key=_preference, default=None)
        return [] if best is None else [best]
    starts = _different(sorted(known, key=_preference))
    return [searcher.improved(one) for one in starts[:_IMPROVED]]


def _different(candidates: list[Candidate]) -> list[Candidate]:
    found: dict[Placement, Candidate] = {}
    for one in candidates:
        found.setdefault(one.placement, one)
    return [*found.values()]


def _preference(candidate: Candidate) -> tuple[float, int]:
    """Earlier ends first; of equal ones, fewer devices."""
    return round(candidate.seconds, 12), len({*candidate.placement})


def _decide(
    problem: Problem, best: Candidate, single: Candidate | None, margin: float
) -> tuple[Candidate, str]:
    """The candidate to take, and why."""
    if single is None:
        return best, f"no device has the memory for all; found by {best.origin}"
    names = problem.devices
    if best.placement == single.placement:
        if len(names) == 1:
            return single, "there is one device"
        return single, f"{single.origin}, as nothing found ends earlier"
    saved = 1 - best.seconds / single.seconds if single.seconds else 0.0
    if saved < margin:
        return single, (
            f"{single.origin}, as several devices would save {100 * saved:.1f} %, less "
            f"than the margin of {100 * margin:g} %"
        )
    earlier = f"{100 * saved:.1f} % earlier than {single.origin}"
    return best, f"{earlier}; found by {best.origin}"


def _too_large(problem: Problem, searcher: Searcher) -> GinghamError:
    """What needs how much memory, and where it would be too much."""
    unlimited = replace(problem, memory_bytes=(2**63,) * len(problem.devices))
    needs: list[str] = []
    for device, name in enumerate(problem.devices):
        placement = searcher.single(device)
        peak = peaks(unlimited, placement, searcher.program_order)[device]
        limit = problem.memory_bytes[device]
        needs.append(
            f"'{name}' has {size_text(limit)}, and everything there takes "
            f"{size_text(peak.size_bytes)}{_while(problem, peak.unit)}"
        )
    return GinghamError(
        f"no placement fits the memory of the devices: {'; '.join(needs)}",
        hint="smaller inputs, another device, or a larger memory_bytes in the machine",
    )


def _while(problem: Problem, unit: int | None) -> str:
    """What a unit computes, in words."""
    names = (
        [] if unit is None else [problem.tensors[n].name for n in problem.made[unit]]
    )
    return f" while {names[-1]} is computed" if names else ""


def size_text(size: float) -> str:
    """A number of bytes for people: `2.1 MB`."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size:.0f} bytes"
