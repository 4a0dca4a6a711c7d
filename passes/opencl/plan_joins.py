"""`opencl-plan-joins`: decide which launches become one.

Writes a number as `opencl.join` on the launches that become one, and why they do, or do
not, as `opencl.join_reason`; `opencl-join-launches` applies it. The IR is otherwise
unchanged:

```mlir
opencl.launch @query groups [4, 1, 1] (%X, %Q, %A)
    {opencl.join = 0, opencl.join_reason = "2 launches, 12.1 us instead of 18.3 us"}
opencl.launch @key groups [4, 1, 1] (%X, %K, %B) {opencl.join = 0}
```

Launches of a host program run one after the other, and each waits until the last group
of the one before has ended. Where they do not depend on each other, that costs the
time of a launch, and cores without work wherever a launch has fewer groups than there
are cores, or not a multiple of them. A launch joins one before it when

* it is legal: it depends on none of the launches that it moves over, their groups are
  as large, and either all of them run once or none;
* it pays: together they are predicted to take less time, by a twentieth at least.
  What fits the caches apart has to fit together;
* they have no more buffers than a kernel may have.

It asks the 256 that are nearest, so that planning takes time in proportion to them.

The time of a launch is what the clock of the cost model says of its groups, counted by
`kernel_cost` and dealt out to the cores, and of its memory traffic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heapreplace

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.ir import SSAValue

from ...dialects.opencl.attributes import WorkItemQuery
from ...dialects.opencl.functions import FunctionOp
from ...dialects.opencl.joining import JOIN_ATTRIBUTE, JOIN_REASON_ATTRIBUTE
from ...dialects.opencl.kernel import KernelOp, LaunchOp
from ...dialects.opencl.work_items import WorkItemOp
from ...targets.hardware import MOST_BUFFERS, Hardware
from ..clock import Clock
from ..dependences import Effects
from ..hardware_pass import HardwarePass
from ..kernel_pass import LaunchPass
from ..walking import operations
from .dependences import effects_of, kernel_uses
from .kernel_cost import KernelCosts, LaunchCost
from .modules import host_launches, host_programs, kernels_by_name

_MOST_DEALT = 256
"""Groups that are dealt out one by one; of more, the cores get even shares."""
_LEAST_SAVED = 0.05
"""The part of the time that has to be saved."""
_MOST_ASKED = 256
"""Launches, or what is joined of them, that a launch asks."""


@dataclass(frozen=True)
class OpenCLPlanJoinsPass(LaunchPass, HardwarePass):
    """Decide which launches run as one."""

    name = "opencl-plan-joins"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Number the launches that are to run as one, by `opencl.join`.

        Raises GinghamError for hardware that is not known.
        """
        kernels = kernels_by_name(op)
        functions = {f.sym_name.data: f for f in op.ops if isinstance(f, FunctionOp)}
        hardware = self.figures
        planner = _Planner(kernels, functions, hardware)
        for function in host_programs(op):
            planner.plan(host_launches(function))


@dataclass
class _Set:
    """Launches that will be one; most often a single one."""

    launches: list[LaunchOp]
    effects: list[Effects]
    costs: list[LaunchCost]
    seconds: float
    apart: float
    """Seconds that the launches take one after the other."""
    buffers: frozenset[SSAValue]
    reason: str = ""


class _Planner:
    """Plans the launches of host programs of one module."""

    def __init__(
        self,
        kernels: dict[str, KernelOp],
        functions: dict[str, FunctionOp],
        hardware: Hardware,
    ) -> None:
        self._kernels = kernels
        self._uses = kernel_uses(kernels)
        self._counting = {n for n, k in kernels.items() if _asks_for_global_id(k)}
        """The kernels whose work-items count over the whole launch."""
        self._costs = KernelCosts(kernels, functions, hardware)
        self._hardware = hardware
        self._clock = Clock(hardware)

    def plan(self, launches: Sequence[LaunchOp]) -> None:
        """Write the decisions for the launches of one host program."""
        sets: list[_Set] = []
        for launch in launches:
            if 0 not in launch.group_counts:
                self._add(sets, launch)
        number = 0
        for each in sets:
            first, *others = each.launches
            if each.reason:
                first.attributes[JOIN_REASON_ATTRIBUTE] = StringAttr(each.reason)
            if others:
                for launch in each.launches:
                    launch.attributes[JOIN_ATTRIBUTE] = IntegerAttr(number, i64)
                number += 1

    def _add(self, sets: list[_Set], launch: LaunchOp) -> None:
        """Let a launch join the earlier ones where that saves most, or be alone."""
        effects = effects_of(launch, self._uses)
        cost = self._costs.of(launch)
        seconds = self._seconds([cost])
        buffers = frozenset(launch.buffers)
        alone = _Set([launch], [effects], [cost], seconds, seconds, buffers)
        best: tuple[float, int, _Set] | None = None
        for number in reversed(range(len(sets))[-_MOST_ASKED:]):
            earlier = sets[number]
            if any(effects.depends_on(other) for other in earlier.effects):
                break
            joined = self._joined(earlier, alone)
            if isinstance(joined, str):
                alone.reason = alone.reason or joined
                continue
            saved = earlier.seconds + alone.seconds - joined.seconds
            # The earliest leaves most to join for what depends on it.
            if best is None or saved >= best[0]:
                best = saved, number, joined
        if best is None:
            sets.append(alone)
        else:
            _, number, joined = best
            sets[number] = joined

    def _joined(self, first: _Set, second: _Set) -> _Set | str:
        """Both as one, or why not."""
        one, other = first.launches[0], second.launches[0]
        names = [launch.kernel_name for launch in (one, other)]
        kernels = [self._kernels[name] for name in names]
        name = f"not with @{names[0]}"
        if kernels[0].group_size != kernels[1].group_size or one.once != other.once:
            return f"{name}: they run in other ways"
        if not self._counting.isdisjoint(names):
            return f"{name}: work-items count over the whole launch"
        buffers = first.buffers | second.buffers
        if len(buffers) > MOST_BUFFERS:
            return f"{name}: a kernel has at most {MOST_BUFFERS} buffers"
        costs = [*first.costs, *second.costs]
        if self._crowds(costs):
            return f"{name}: both do not fit the last cache"
        seconds = self._seconds(costs)
        separate = first.seconds + second.seconds
        if seconds > (1 - _LEAST_SAVED) * separate:
            return f"{name}: {seconds * 1e6:.1f} us, apart {separate * 1e6:.1f} us"
        launches = [*first.launches, *second.launches]
        effects = [*first.effects, *second.effects]
        apart = first.apart + second.apart
        reason = (
            f"{len(launches)} launches, {seconds * 1e6:.1f} us instead of "
            f"{apart * 1e6:.1f} us"
        )
        return _Set(launches, effects, costs, seconds, apart, buffers, reason)

    def _crowds(self, costs: Sequence[LaunchCost]) -> bool:
        """Whether each of some launches fits the last cache, and not all together."""
        size = self._hardware.caches[-1].size_bytes
        moved = [cost.traffic_bytes for cost in costs]
        return max(moved) <= size < sum(moved)

    def _seconds(self, costs: Sequence[LaunchCost]) -> float:
        """The time of one launch of all the groups of several."""
        groups = sum(cost.groups for cost in costs)
        moved = self._clock.handed_on(sum(cost.traffic_bytes for cost in costs))
        longest = _longest_share(costs, self._hardware.cores)
        busy = self._clock.overlapped(longest, [{1.0: moved}])
        return self._clock.launch + self._clock.starts(groups) + busy


def _longest_share(costs: Sequence[LaunchCost], cores: int) -> float:
    """When the last of the cores has ended, where each takes the next group."""
    if sum(cost.groups for cost in costs) > _MOST_DEALT:
        total = sum(cost.groups * cost.group_seconds for cost in costs)
        return total / cores
    longest = [cost.group_seconds for cost in costs for _ in range(cost.groups)]
    busy = [0.0] * min(cores, len(longest))
    heapify(busy)
    for seconds in sorted(longest, reverse=True):
        heapreplace(busy, busy[0] + seconds)
    return max(busy)


def _asks_for_global_id(kernel: KernelOp) -> bool:
    return any(
        isinstance(op, WorkItemOp) and op.query.data is WorkItemQuery.GLOBAL_ID
        for op in operations(kernel)
    )
