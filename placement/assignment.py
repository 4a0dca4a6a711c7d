"""The placement with the least sum of all times on any number of devices.

An assignment with the products that transfers make of it linearized, solved by the
mixed-integer solver HiGHS of SciPy. The variables are

* for each unit and device, whether the unit is there: one device for each unit;
* for each tensor and device, whether the tensor is needed there at a step or later, for
  the steps at which it is used: 1 where a unit is that uses it then or later;
* for each tensor that a unit computes and two different places, whether it is copied
  from the one to the other: at least 1 where it is computed here and needed there.

Only the first are required to be whole: the others then are by themselves. What a
device holds at a step is a sum of the second, bounded by its memory.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from ..errors import GinghamError
from .problem import Placement, Problem, Tensor

_NODES = 10_000
"""Where the solver gives up proving that what it has found is the best."""


def load_scipy() -> tuple[Any, Any]:
    """SciPy's modules `optimize` and `sparse`; it is optional.

    Raises GinghamError without it.
    """
    try:
        optimize, sparse = map(import_module, ("scipy.optimize", "scipy.sparse"))
    except ImportError as error:
        raise GinghamError(
            "placement on more than two devices, or in limited memory, needs the "
            "package scipy",
            hint="pip install 'gingham[placement]'",
        ) from error
    return optimize, sparse


def cheapest_assignment(problem: Problem) -> Placement | None:
    """The placement with the least sum of times and transfers.

    It stays within the memory of each device when units run in their order. None where
    there is none.
    """
    optimize, sparse = load_scipy()
    program = _LinearProgram(problem)
    program.build()
    if not problem.count:
        return ()
    rows = sparse.csr_array(
        (program.values, (program.rows, program.columns)),
        shape=(len(program.low), len(program.costs)),
    )
    result = optimize.milp(
        program.costs,
        integrality=program.is_whole,
        bounds=optimize.Bounds(0, program.most),
        constraints=optimize.LinearConstraint(rows, program.low, program.high),
        options={"node_limit": _NODES},
    )
    if result.x is None:
        return None
    devices = range(len(problem.devices))
    return tuple(
        max(devices, key=lambda device: result.x[program.at(unit, device)])
        for unit in range(problem.count)
    )


class _LinearProgram:
    """A linear program, as what the solver takes."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.costs: list[float] = []
        self.is_whole: list[int] = []
        self.most: list[float] = []
        self.rows: list[int] = []
        self.columns: list[int] = []
        self.values: list[float] = []
        self.low: list[float] = []
        self.high: list[float] = []
        finite = [s for times in problem.seconds for s in times if math.isfinite(s)]
        self._scale = 1 / max([*finite, 1e-12])

    def at(self, unit: int, device: int) -> int:
        """The variable that says whether a unit is on a device."""
        return unit * len(self.problem.devices) + device

    def build(self) -> None:
        """All variables and all rows."""
        for unit, times in enumerate(self.problem.seconds):
            for seconds in times:
                allowed = math.isfinite(seconds)
                self._variable(seconds if allowed else 0.0, 1.0 * allowed, 1)
            places = range(len(times))
            self._row({self.at(unit, device): 1.0 for device in places}, 1.0, 1.0)
        needed = [self._needed(tensor) for tensor in self.problem.tensors]
        for number, tensor in enumerate(self.problem.tensors):
            self._transfers(number, tensor, needed[number])
        if self.problem.is_tight:
            self._memory(needed)

    def _variable(self, seconds: float, most: float = 1.0, whole: int = 0) -> int:
        self.costs.append(seconds * self._scale)
        self.most.append(most)
        self.is_whole.append(whole)
        return len(self.costs) - 1

    def _row(self, parts: Mapping[int, float], low: float, high: float) -> None:
        for column, value in parts.items():
            self.rows.append(len(self.low))
            self.columns.append(column)
            self.values.append(value)
        self.low.append(low)
        self.high.append(high)

    def _needed(self, tensor: Tensor) -> list[dict[int, int]]:
        """For each device, variables by the steps at which a tensor is used.

        Each says whether the tensor is needed there then or later.
        """
        found: list[dict[int, int]] = []
        for device in range(len(self.problem.devices)):
            steps: dict[int, int] = {}
            later: int | None = None
            for user in sorted({*tensor.users}, reverse=True):
                own = self._variable(0.0)
                self._row({own: 1.0, self.at(user, device): -1.0}, 0.0, math.inf)
                if later is not None:
                    self._row({own: 1.0, later: -1.0}, 0.0, math.inf)
                steps[user] = later = own
            found.append(dict(reversed(steps.items())))
        return found

    def _transfers(
        self, number: int, tensor: Tensor, needed: list[dict[int, int]]
    ) -> None:
        problem = self.problem
        for target in range(problem.host + 1):
            steps = needed[target] if target < problem.host else {}
            first = next(iter(steps.values()), None)
            if tensor.source is None:
                if first is not None and target != tensor.end:
                    seconds = problem.arrivals[number][target][0]
                    self.costs[first] += seconds * self._scale
                continue
            if first is None and target != tensor.end:
                continue
            for source in range(len(problem.devices)):
                seconds = problem.moves[number][source][target]
                if source == target or not seconds:
                    continue
                made = self.at(tensor.source, source)
                if target == tensor.end or first is None:
                    self.costs[made] += seconds * self._scale
                    continue
                copied = self._variable(seconds)
                self._row({copied: 1.0, made: -1.0, first: -1.0}, -1.0, math.inf)

    def _memory(self, needed: list[list[dict[int, int]]]) -> None:
        """A row for each device and step: what it holds then."""
        problem = self.problem
        for device, limit in enumerate(problem.memory_bytes):
            for step in range(problem.count):
                parts: dict[int, float] = {}
                fixed = 0
                for tensor, places in zip(problem.tensors, needed, strict=True):
                    held = self._held(tensor, places[device], device, step)
                    if held is None:
                        fixed += tensor.size_bytes
                        continue
                    for variable in held:
                        known = parts.get(variable, 0.0)
                        parts[variable] = known + tensor.size_bytes / limit
                if problem.scratch_bytes:
                    scratch = problem.scratch_bytes[step][device]
                    own = self.at(step, device)
                    parts[own] = parts.get(own, 0.0) + scratch / limit
                if fixed > limit or sum(parts.values()) > 1 - fixed / limit:
                    self._row(parts, -math.inf, 1 - fixed / limit)

    def _held(
        self, tensor: Tensor, needed: Mapping[int, int], device: int, step: int
    ) -> list[int] | None:
        """The variable that says whether a device holds a tensor at a step.

        An empty list where it does not for sure, None where it does for sure.
        """
        source = tensor.source
        born = 0 if source is None else source
        if step < born or self.problem.is_in_place(tensor, device):
            return []
        if (device in tensor.homes and not tensor.is_kept) or device == tensor.end:
            return None
        if tensor.is_kept:
            return [*needed.values()][:1]
        stays = tensor.is_result and tensor.end is None
        if source is not None and (step == born or stays):
            # What is needed on the device where it is computed is there once.
            return [self._present(source, device, needed, step)]
        return (
            [next(v for at, v in needed.items() if at >= step)]
            if any(at >= step for at in needed)
            else []
        )

    def _present(
        self, source: int, device: int, needed: Mapping[int, int], step: int
    ) -> int:
        """Whether a tensor is on a device: computed there, or needed from a step on."""
        own = self._variable(0.0)
        self._row({own: 1.0, self.at(source, device): -1.0}, 0.0, math.inf)
        later = next((v for at, v in needed.items() if at >= step), None)
        if later is not None:
            self._row({own: 1.0, later: -1.0}, 0.0, math.inf)
        return own
