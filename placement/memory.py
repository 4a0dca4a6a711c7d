"""How much memory of each device a placement needs, with lifetimes counted.

Units run in order. A tensor takes memory of a device from when it is computed, and so
sent to where it is needed, to its last use there; inputs from the start. Inputs that
are on a device before anything runs, those that are kept there for the next run, and
results that end there take it all the time from then on. An input that a device can
use in the host's memory, where it is, takes none. What is between the kernels of
a unit takes it while that unit runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .problem import Problem, Tensor


@dataclass(frozen=True)
class Peak:
    """The most that a device holds at once."""

    size_bytes: int
    unit: int | None
    """The unit that runs then; None where it is so without any."""


def peaks(
    problem: Problem, placement: Sequence[int], order: Sequence[int]
) -> list[Peak]:
    """The peak of each device."""
    steps = {unit: step for step, unit in enumerate(order)}
    count = len(order)
    changes = [[0] * (count + 1) for _ in problem.devices]
    for tensor in problem.tensors:
        for device, first, last in lifetimes(problem, tensor, placement, steps):
            changes[device][first] += tensor.size_bytes
            changes[device][last + 1] -= tensor.size_bytes
    for unit, row in enumerate(problem.scratch_bytes):
        device, step = placement[unit], steps[unit]
        changes[device][step] += row[device]
        changes[device][step + 1] -= row[device]
    return [_peak(change, order) for change in changes]


def _peak(changes: Sequence[int], order: Sequence[int]) -> Peak:
    held = most = 0
    where: int | None = None
    for step, unit in enumerate(order):
        held += changes[step]
        if held > most:
            most, where = held, unit
    return Peak(most, where)


def lifetimes(
    problem: Problem,
    tensor: Tensor,
    placement: Sequence[int],
    steps: dict[int, int],
) -> Iterator[tuple[int, int, int]]:
    """The devices that hold a tensor, each with its first and last step there."""
    end = len(steps) - 1
    if end < 0:
        return
    born = 0 if tensor.source is None else steps[tensor.source]
    last = _last_uses(tensor, placement, steps)
    if tensor.is_kept:
        last = dict.fromkeys(last, end)
    last |= dict.fromkeys(_to_the_end(problem, tensor, placement), end)
    for device, step in last.items():
        if not problem.is_in_place(tensor, device):
            yield device, born, step


def _last_uses(
    tensor: Tensor, placement: Sequence[int], steps: dict[int, int]
) -> dict[int, int]:
    """By the devices that compute or read a tensor, the last step at which they do."""
    last: dict[int, int] = {}
    if tensor.source is not None:
        last[placement[tensor.source]] = steps[tensor.source]
    for user in tensor.users:
        device = placement[user]
        last[device] = max(last.get(device, 0), steps[user])
    return last


def _to_the_end(
    problem: Problem, tensor: Tensor, placement: Sequence[int]
) -> Iterator[int]:
    """The devices whose memory holds a tensor until the program ends."""
    if not tensor.is_kept:
        yield from (home for home in tensor.homes if home < problem.host)
    if tensor.end is not None and tensor.end < problem.host:
        yield tensor.end
    if tensor.is_result and tensor.end is None and tensor.source is not None:
        yield placement[tensor.source]


def fits(problem: Problem, placement: Sequence[int], order: Sequence[int]) -> bool:
    """Whether each device has the memory that a placement needs."""
    if not problem.is_tight:
        return True
    found = peaks(problem, placement, order)
    limits = problem.memory_bytes
    return all(p.size_bytes <= limit for p, limit in zip(found, limits, strict=True))
