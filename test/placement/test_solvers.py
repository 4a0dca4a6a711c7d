"""Placements of random small graphs, against all there are."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise, product
from random import Random

import pytest

from gingham.errors import GinghamError
from gingham.placement.assignment import cheapest_assignment
from gingham.placement.cut import cheapest_cut
from gingham.placement.memory import fits, peaks
from gingham.placement.problem import Placement, Problem, Tensor
from gingham.placement.schedule import Simulator
from gingham.placement.search import Searcher
from gingham.placement.solve import solve

MANY = 10**15


def random_problem(
    random: Random, units: int, devices: int, memory: int = MANY
) -> Problem:
    """A graph of units with inputs here and there, results here and there."""
    host = devices
    seconds = [
        [random.choice([1, 2, 3, 5, 8]) * 1e-3 for _ in range(devices)]
        for _ in range(units)
    ]
    for times in seconds:
        if random.random() < 0.15:
            times[random.randrange(devices)] = math.inf
    tensors: list[Tensor] = []
    for number in range(random.randint(1, 3)):
        users = [unit for unit in range(units) if random.random() < 0.4]
        homes = random.sample(range(host + 1), random.choice([1, 1, 1, 2]))
        tensors.append(
            Tensor(
                f"I{number}",
                random.choice([0, 1000, 3000]),
                None,
                tuple(users),
                tuple(homes),
                end=random.choice([None, None, None, *range(host + 1)]),
                is_kept=random.random() < 0.2,
            )
        )
    for unit in range(units):
        users = [user for user in range(unit + 1, units) if random.random() < 0.35]
        is_result = not users or random.random() < 0.2
        end = random.choice([*range(host + 1), None]) if is_result else None
        size = random.choice([500, 1000, 4000])
        tensors.append(Tensor(f"V{unit}", size, unit, tuple(users), (), end, is_result))

    def figures(scale: float) -> tuple[tuple[float, ...], ...]:
        places = range(host + 1)
        return tuple(
            tuple(0.0 if a == b else random.choice([1, 2, 4]) * scale for b in places)
            for a in places
        )

    return Problem(
        tuple(f"d{number}" for number in range(devices)),
        tuple(map(tuple, seconds)),
        tuple(tensors),
        figures(1e-4),
        figures(1e-6),
        (memory,) * devices,
        tuple(
            tuple(a * (host + 1) + b for b in range(host + 1)) for a in range(host + 1)
        ),
        tuple(range(devices)),
    )


def all_placements(problem: Problem) -> list[Placement]:
    """Those in which each unit can run where it is, and that fit."""
    order = range(problem.count)
    return [
        placement
        for placement in product(problem.all_devices, repeat=problem.count)
        if all(
            math.isfinite(times[device])
            for times, device in zip(problem.seconds, placement, strict=True)
        )
        and fits(problem, placement, order)
    ]


@pytest.mark.parametrize("seed", range(60))
def test_the_cut_is_the_least_sum(seed: int) -> None:
    random = Random(seed)
    problem = random_problem(random, random.randint(1, 7), 2)
    least = min(map(problem.total_seconds, all_placements(problem)))
    found = problem.total_seconds(cheapest_cut(problem))
    assert found == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_the_assignment_is_the_least_sum(seed: int) -> None:
    random = Random(1000 + seed)
    problem = random_problem(random, random.randint(1, 5), random.choice([2, 3, 4]))
    least = min(map(problem.total_seconds, all_placements(problem)))
    placement = cheapest_assignment(problem)
    assert placement is not None
    assert problem.total_seconds(placement) == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize("seed", range(60))
def test_the_assignment_is_the_least_sum_that_fits(seed: int) -> None:
    random = Random(2000 + seed)
    memory = random.choice([2000, 5000, 8000, 12000])
    problem = random_problem(random, random.randint(1, 5), 2 + seed % 2, memory)
    sums = [*map(problem.total_seconds, all_placements(problem))]
    if seed % 3 == 0:
        rows = product([0, 700, 2500], repeat=len(problem.devices))
        scratch = tuple(random.choices([*rows], k=problem.count))
        # The first device works on the host's memory.
        to_first = (0.0, *problem.per_byte[-1][1:])
        problem = replace(
            problem,
            scratch_bytes=scratch,
            per_byte=(*problem.per_byte[:-1], to_first),
        )
        sums = [*map(problem.total_seconds, all_placements(problem))]
    placement = cheapest_assignment(problem)
    if not sums:
        assert placement is None
    else:
        assert placement is not None
        assert fits(problem, placement, range(problem.count))
        found = problem.total_seconds(placement)
        assert found == pytest.approx(min(sums), rel=1e-6)


def test_memory_that_a_unit_takes_while_it_runs() -> None:
    """The second unit needs 900 beside its tensors where it runs, and only then."""
    tensors = (
        Tensor("I", 100, None, (0,), (2,)),
        Tensor("V", 50, 0, (1,)),
        Tensor("W", 10, 1, (), end=2, is_result=True),
    )
    problem = replace(
        random_problem(Random(0), 2, 2),
        seconds=((1.0, 2.0), (1.0, 2.0)),
        tensors=tensors,
        memory_bytes=(500, 5000),
        scratch_bytes=((0, 0), (900, 800)),
    )
    assert [p.size_bytes for p in peaks(problem, (0, 0), (0, 1))] == [960, 0]
    assert [p.size_bytes for p in peaks(problem, (0, 1), (0, 1))] == [150, 860]
    assert [p.unit for p in peaks(problem, (0, 1), (0, 1))] == [0, 1]
    assert problem.is_tight
    assert solve(problem).chosen.placement == (0, 1)
    with pytest.raises(GinghamError, match="'d0' has 500 bytes, and everything there"):
        solve(replace(problem, memory_bytes=(500, 500)))


def test_the_placement_of_a_small_program_ends_first() -> None:
    for seed in range(60):
        random = Random(3000 + seed)
        problem = random_problem(random, random.randint(2, 6), 2 + seed % 2)
        searcher = Searcher(problem)
        found = [searcher.candidate("", each) for each in all_placements(problem)]
        best = min(one.seconds for one in found if one is not None)
        solution = solve(problem, margin=0)
        assert solution.chosen.seconds == pytest.approx(best)
        assert solution.schedule.seconds == solution.chosen.seconds


def test_moves_come_near_the_best_placement() -> None:
    """Of larger programs not all placements are tried; of these here they could be."""
    ratios: list[float] = []
    for seed in range(80):
        random = Random(4000 + seed)
        problem = random_problem(random, random.randint(2, 7), 2 + seed % 2)
        searcher = Searcher(problem)
        singles = [
            searcher.candidate("", searcher.single(n)) for n in problem.all_devices
        ]
        heft = searcher.candidate("", searcher.earliest_finish())
        starts = [one for one in [*singles, heft] if one is not None]
        found = min(searcher.improved(one).seconds for one in starts)
        assert found <= min(one.seconds for one in starts)
        ratios.append(found / min(one.seconds for one in searcher.exhaustive()))
    assert max(ratios) < 1.35
    assert sum(ratios) / len(ratios) < 1.02


def test_several_devices_have_to_save_the_margin() -> None:
    for seed in range(40):
        problem = random_problem(Random(6000 + seed), 5, 2)
        best = min(one.seconds for one in solve(problem, 0).singles if one is not None)
        free, careful = solve(problem, 0), solve(problem, 0.3)
        assert free.chosen.seconds <= best
        assert careful.chosen.seconds in (best, free.chosen.seconds)
        is_better = free.chosen.seconds <= 0.7 * best
        assert (careful.chosen.seconds == free.chosen.seconds) == (
            is_better or free.chosen.seconds == best
        )


def test_equal_times_are_taken_with_fewer_devices() -> None:
    problem = random_problem(Random(2), 4, 2)
    free = replace(
        problem,
        seconds=((1e-3, 1e-3),) * 4,
        tensors=(
            Tensor("I", 0, None, (0,), (2,)),
            *(Tensor(f"V{n}", 0, n, (n + 1,)) for n in range(3)),
        ),
        latencies=((0.0,) * 3,) * 3,
    )
    assert len({*solve(free).chosen.placement}) == 1


def test_branches_that_need_nothing_of_each_other_run_at_the_same_time() -> None:
    """A cut, which adds up all times, would put both on one device."""
    tensors = [Tensor(f"V{n}", 100, n, (n + 1,)) for n in (0, 1, 3, 4)]
    tensors[1] = replace(tensors[1], users=(6,))
    tensors += [Tensor("V5", 100, 5, (6,)), Tensor("Y", 100, 6, (), end=2)]
    problem = replace(
        random_problem(Random(3), 7, 2),
        seconds=((1e-3, 1.1e-3),) * 7,
        tensors=tuple(tensors),
        latencies=((1e-5,) * 3,) * 3,
        per_byte=((0.0,) * 3,) * 3,
    )
    solution = solve(problem)
    assert solution.cut is not None
    assert {*solution.cut.placement} == {0}
    assert len({*solution.chosen.placement}) == 2
    assert solution.chosen.seconds < 0.75 * solution.cut.seconds


def test_small_parts_are_not_worth_starting() -> None:
    """Of work that takes as long as the host takes to start it nothing is divided."""
    apart = 0
    for seed in range(30):
        problem = random_problem(Random(8000 + seed), 6, 2)
        if not all(math.isfinite(s) for times in problem.seconds for s in times):
            continue
        apart += len({*solve(problem, 0).chosen.placement}) > 1
        slow = solve(replace(problem, start_seconds=0.05), 0)
        assert len({*slow.chosen.placement}) == 1
        # One device has one part only, which is always started.
        single = replace(problem, start_seconds=0.05)
        assert Simulator(single).seconds((0,) * 6, range(6)) == Simulator(
            problem
        ).seconds((0,) * 6, range(6))
    assert apart > 3


def test_devices_that_are_one_processor_take_turns() -> None:
    for seed in range(20):
        problem = replace(random_problem(Random(seed), 6, 2), queues=(0, 0))
        solution = solve(problem)
        runs = sorted(solution.schedule.runs, key=lambda run: run.start)
        assert all(a.end <= b.start for a, b in pairwise(runs))


def test_schedules_respect_what_units_and_links_can_do() -> None:
    for seed in range(40):
        problem = random_problem(Random(7000 + seed), 8, 3)
        schedule = solve(problem).schedule
        runs = {run.unit: run for run in schedule.runs}
        assert len(runs) == problem.count
        for device in problem.all_devices:
            own = sorted(r.start for r in schedule.runs if r.device == device)
            ends = sorted(r.end for r in schedule.runs if r.device == device)
            assert all(end <= start for end, start in zip(ends, own[1:], strict=False))
        for transfer in schedule.transfers:
            tensor = problem.tensors[transfer.tensor]
            if tensor.source is not None:
                assert transfer.start >= runs[tensor.source].end
            for user in tensor.users:
                if runs[user].device == transfer.target:
                    assert runs[user].start >= transfer.end
        for tensor in problem.tensors:
            for user in tensor.users:
                if tensor.source is not None:
                    assert runs[user].start >= runs[tensor.source].end


@pytest.mark.parametrize("seed", range(20))
def test_the_same_problem_has_the_same_placement(seed: int) -> None:
    problems = [random_problem(Random(seed), 9, 2 + seed % 2) for _ in range(2)]
    first, second = map(solve, problems)
    assert first == second


def test_nothing_that_fits_is_an_error() -> None:
    problem = random_problem(Random(1), 6, 2, memory=100)
    with pytest.raises(GinghamError, match="no placement fits the memory") as error:
        solve(problem)
    assert "'d0' has 100 bytes, and everything there takes" in str(error.value)
