"""When everything runs and ends under a placement: a simulation.

Each device has one queue, in which its units run in a given order as soon as what they
read is there; devices that are one processor share a queue. Each pair of places has a
link of its own that copies one tensor after the other, while devices compute: inputs at
once, results of units as soon as they are computed, each once to every place that needs
it. What goes through the host waits for the slower one of both links only. On several
devices the host starts one part of the program after the other, which takes its time:
units of a device are one part as long as data has changed devices equally often on the
way to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .problem import Placement, Problem


@dataclass(frozen=True)
class ScheduledUnit:
    """A unit on its device, in seconds from the start of the program."""

    unit: int
    device: int
    start: float
    end: float


@dataclass(frozen=True)
class Transfer:
    """A tensor on its way from one place to another."""

    tensor: int
    source: int
    target: int
    start: float
    end: float


@dataclass(frozen=True)
class Schedule:
    """What happens when."""

    runs: tuple[ScheduledUnit, ...]
    """In the order in which they are put into the queues."""
    transfers: tuple[Transfer, ...]
    seconds: float
    """Until the last result is where it has to be."""


class Simulator:
    """Simulates placements of one problem; fast enough to try thousands."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._places = problem.host + 1
        self._users = [tensor.users for tensor in problem.tensors]
        # What every place has at once takes part in nothing.
        moving = {
            number
            for number, ways in enumerate(problem.arrivals)
            if not ways or any(seconds for seconds, _ in ways)
        }
        self._used = [
            [number for number in used if number in moving] for used in problem.used
        ]
        self._inputs = [
            (number, tensor.users, tensor.end)
            for number, tensor in enumerate(problem.tensors)
            if tensor.source is None and number in moving
        ]
        self._ends = [tensor.end for tensor in problem.tensors]
        sources = [tensor.source for tensor in problem.tensors]
        self._needs = [
            [own for number in used if (own := sources[number]) is not None]
            for used in problem.used
        ]

    def seconds(self, placement: Sequence[int], order: Sequence[int]) -> float:
        """The end of the schedule alone."""
        return self._simulate(placement, order, None, None)

    def schedule(self, placement: Placement, order: Sequence[int]) -> Schedule:
        """All of it."""
        runs: list[ScheduledUnit] = []
        transfers: list[Transfer] = []
        seconds = self._simulate(placement, order, runs, transfers)
        return Schedule(tuple(runs), tuple(transfers), seconds)

    def _simulate(
        self,
        placement: Sequence[int],
        order: Sequence[int],
        runs: list[ScheduledUnit] | None,
        transfers: list[Transfer] | None,
    ) -> float:
        problem = self.problem
        places = self._places
        links = [0.0] * (places * places)
        channels = problem.channels
        there: list[dict[int, float]] = [{} for _ in problem.tensors]
        last = self._send_inputs(placement, links, there, transfers)
        free = [0.0] * places
        queues = problem.queues
        used, made = self._used, problem.made
        seconds, moves = problem.seconds, problem.moves
        begun = self._begun(placement, order)
        for unit in order:
            device = placement[unit]
            start = max(free[queues[device]], begun[unit])
            for tensor in used[unit]:
                arrival = there[tensor][device]
                if arrival > start:
                    start = arrival
            end = start + seconds[unit][device]
            free[queues[device]] = end
            if runs is not None:
                runs.append(ScheduledUnit(unit, device, start, end))
            for tensor in made[unit]:
                own = there[tensor]
                own[device] = end
                targets = [placement[user] for user in self._users[tensor]]
                final = self._ends[tensor]
                if final is not None:
                    targets.append(final)
                for target in targets:
                    if target in own:
                        continue
                    link = channels[device][target]
                    begin = links[link] if links[link] > end else end
                    took = moves[tensor][device][target]
                    own[target] = links[link] = arrival = begin + took
                    last = arrival if arrival > last else last
                    if transfers is not None and took:
                        found = Transfer(tensor, device, target, begin, arrival)
                        transfers.append(found)
        return max(last, *free)

    def _begun(self, placement: Sequence[int], order: Sequence[int]) -> list[float]:
        """For each unit when the host has started the part that it is in."""
        begun = [0.0] * len(placement)
        took = self.problem.start_seconds
        if not took or len({*placement}) < 2:
            return begun
        levels = [0] * len(placement)
        parts: dict[tuple[int, int], float] = {}
        for unit in order:
            device = placement[unit]
            level = 0
            for other in self._needs[unit]:
                own = levels[other] + (placement[other] != device)
                if own > level:
                    level = own
            levels[unit] = level
            part = device, level
            if part not in parts:
                parts[part] = took * (len(parts) + 1)
            begun[unit] = parts[part]
        return begun

    def _send_inputs(
        self,
        placement: Sequence[int],
        links: list[float],
        there: list[dict[int, float]],
        transfers: list[Transfer] | None,
    ) -> float:
        """Copy inputs, in the order of the units that need them first."""
        arrivals = self.problem.arrivals
        channels = self.problem.channels
        last = 0.0
        for tensor, users, final in self._inputs:
            own = there[tensor]
            targets = [placement[user] for user in users]
            if final is not None:
                targets.append(final)
            for target in targets:
                if target in own:
                    continue
                took, source = arrivals[tensor][target]
                if not took:
                    own[target] = 0.0
                    continue
                link = channels[source][target]
                begin = links[link]
                own[target] = links[link] = arrival = begin + took
                last = arrival if arrival > last else last
                if transfers is not None:
                    transfers.append(Transfer(tensor, source, target, begin, arrival))
        return last
