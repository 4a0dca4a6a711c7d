"""Placements that end early: what a cut cannot see, found by looking at schedules.

A minimum cut adds up all times, as if nothing ran at the same time. What counts is when
the last result is there. So several placements are simulated:

* everything on one device, for each of them;
* the cheapest cut;
* HEFT: units in the order of their upward ranks, each where it would end first
  (H. Topcuoglu et al., Performance-Effective and Low-Complexity Task Scheduling for
  Heterogeneous Computing, IEEE TPDS 13(3), 2002);
* and what moving units, chains and pairs of them makes of the best of these; or of a
  small program every placement there is.

The number of simulations is limited by the size of the problem, not by time, so that
the same problem has the same placement everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product

from .memory import fits
from .problem import Placement, Problem
from .schedule import Simulator

_WORK = 120_000
"""Units and tensors that local search simulates at most, all together."""
_GAIN = 1e-9
"""A move has to save more than this part of the time."""


@dataclass(frozen=True)
class Candidate:
    """A placement with an order of its units, and when it ends."""

    origin: str
    """How it was found, for people."""
    placement: Placement
    order: tuple[int, ...]
    seconds: float


class Searcher:
    """Finds placements of one problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.simulator = Simulator(problem)
        size = problem.count + len(problem.tensors)
        self._left = _WORK // max(size, 1)

    @cached_property
    def program_order(self) -> tuple[int, ...]:
        """All units in the order in which the program has them."""
        return tuple(range(self.problem.count))

    @cached_property
    def mean_seconds(self) -> list[float]:
        """The time of each unit, over the devices that can run it."""
        means: list[float] = []
        for times in self.problem.seconds:
            finite = [seconds for seconds in times if math.isfinite(seconds)]
            means.append(sum(finite) / max(len(finite), 1))
        return means

    @cached_property
    def ranks(self) -> list[float]:
        """For each unit the time from its start to the end, over the longest way."""
        problem = self.problem
        devices = range(len(problem.devices))
        pairs = max(len(devices) ** 2, 1)
        ranks = [0.0] * problem.count
        for unit in reversed(range(problem.count)):
            longest = 0.0
            for number in problem.made[unit]:
                moves = problem.moves[number]
                mean = sum(moves[a][b] for a in devices for b in devices) / pairs
                for user in problem.tensors[number].users:
                    longest = max(longest, mean + ranks[user])
            ranks[unit] = self.mean_seconds[unit] + longest
        return ranks

    @cached_property
    def rank_order(self) -> tuple[int, ...]:
        """The units that the most depends on first."""
        return tuple(sorted(self.program_order, key=lambda unit: -self.ranks[unit]))

    def candidate(self, origin: str, placement: Sequence[int]) -> Candidate | None:
        """A placement in the better one of both orders; None where it does not fit."""
        problem = self.problem
        chosen = tuple(placement)
        pairs = zip(problem.seconds, chosen, strict=True)
        if not all(math.isfinite(times[device]) for times, device in pairs):
            return None
        found: list[Candidate] = []
        orders = [self.program_order]
        if len({*chosen}) > 1:
            orders.append(self.rank_order)
        for order in orders:
            if fits(problem, chosen, order):
                seconds = self.simulator.seconds(chosen, order)
                found.append(Candidate(origin, chosen, order, seconds))
        return min(found, key=lambda one: one.seconds, default=None)

    def single(self, device: int) -> Placement:
        """Everything that can run there on one device, the rest where it is fastest."""
        return tuple(
            device
            if math.isfinite(times[device])
            else min(self.problem.all_devices, key=times.__getitem__)
            for times in self.problem.seconds
        )

    def earliest_finish(self) -> Placement:
        """HEFT: each unit where it ends first, given those placed before it."""
        problem = self.problem
        free = [0.0] * (problem.host + 1)
        there: list[dict[int, float]] = [{} for _ in problem.tensors]
        placement = [0] * problem.count
        for unit in self.rank_order:
            best = (math.inf, 0)
            for device in problem.all_devices:
                start = free[problem.queues[device]]
                for number in problem.used[unit]:
                    start = max(start, self._arrival(number, device, there))
                best = min(best, (start + problem.seconds[unit][device], device))
            end, device = best
            placement[unit] = device
            free[problem.queues[device]] = end
            for number in problem.made[unit]:
                there[number][device] = end
        return tuple(placement)

    def _arrival(
        self, number: int, device: int, there: list[dict[int, float]]
    ) -> float:
        """When a tensor can be on a device."""
        ways = self.problem.arrivals[number]
        if ways:
            return ways[device][0]
        ((source, ready),) = there[number].items()
        return ready + self.problem.moves[number][source][device]

    def improved(self, start: Candidate) -> Candidate:
        """A placement that no move makes better, or as far as the work goes."""
        best = start
        moves = self._moves
        unsuccessful = position = 0
        while unsuccessful < len(moves) and self._left > 0:
            placement = list(best.placement)
            for unit, device in moves[position]:
                placement[unit] = device
            position = (position + 1) % len(moves)
            unsuccessful += 1
            changed = tuple(placement)
            if changed == best.placement or not fits(self.problem, changed, best.order):
                continue
            self._left -= 1
            seconds = self.simulator.seconds(changed, best.order)
            if seconds < best.seconds * (1 - _GAIN):
                origin = f"moves from {start.origin}"
                best = Candidate(origin, changed, best.order, seconds)
                unsuccessful = 0
        return best

    @property
    def is_small(self) -> bool:
        """Whether all placements can be simulated."""
        problem = self.problem
        size = problem.count + len(problem.tensors)
        return len(problem.devices) ** problem.count * size <= _WORK

    def exhaustive(self) -> Iterator[Candidate]:
        """Every placement that is possible, where there are few."""
        for placement in product(self.problem.all_devices, repeat=self.problem.count):
            found = self.candidate("a look at all placements", placement)
            if found is not None:
                yield found

    @cached_property
    def _moves(self) -> list[tuple[tuple[int, int], ...]]:
        """Units with the devices they go to.

        They are chains, single ones, and pairs of those that exchange a tensor or read
        the same one.
        """
        times = self.problem.seconds
        devices = self.problem.all_devices
        found: dict[tuple[tuple[int, int], ...], None] = {}
        groups = [*self._chains(), *((unit,) for unit in self.program_order)]
        groups += self._readers()
        for group, device in product(groups, devices):
            able = [unit for unit in group if math.isfinite(times[unit][device])]
            found[tuple((unit, device) for unit in able)] = None
        for (first, second), a, b in product(self._pairs(), devices, devices):
            if math.isfinite(times[first][a]) and math.isfinite(times[second][b]):
                found[(first, a), (second, b)] = None
        found.pop((), None)
        return [*found]

    def _readers(self) -> list[tuple[int, ...]]:
        """The units that read one tensor, with the one that computes it."""
        found: dict[tuple[int, ...], None] = {}
        for tensor in self.problem.tensors:
            own = () if tensor.source is None else (tensor.source,)
            group = tuple(sorted({*own, *tensor.users}))
            if len(group) > 2:
                found[group] = None
        return [*found]

    def _pairs(self) -> list[tuple[int, int]]:
        """Units that exchange a tensor, and neighbours among those that read one."""
        found: dict[tuple[int, int], None] = {}
        for tensor in self.problem.tensors:
            users = sorted({*tensor.users})
            if tensor.source is not None:
                found |= {(tensor.source, user): None for user in users}
            found |= {pair: None for pair in pairwise(users)}
        return [*found]

    def _chains(self) -> list[tuple[int, ...]]:
        """Chains of units: branches of a graph, mostly.

        Each is the only user of what the one before computes, and needs nothing else
        that is computed.
        """
        problem = self.problem
        users = [
            {user for number in problem.made[unit] for user in self._users(number)}
            for unit in self.program_order
        ]
        needed: list[set[int]] = [set() for _ in self.program_order]
        for unit, found in enumerate(users):
            for user in found:
                needed[user].add(unit)
        chains: list[list[int]] = []
        place: list[list[int]] = []
        for unit in self.program_order:
            before = [*needed[unit]]
            if len(before) == 1 and len(users[before[0]]) == 1:
                place.append(place[before[0]])
            else:
                place.append([])
                chains.append(place[unit])
            place[unit].append(unit)
        return [tuple(chain) for chain in chains]

    def _users(self, number: int) -> tuple[int, ...]:
        return self.problem.tensors[number].users
