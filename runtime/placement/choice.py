"""`Choice`: the ways to run a program in one situation, compiled, and what is known.

The situation is what a program is placed for: the types of its inputs, where they are,
and where results have to be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any

from ...errors import GinghamError
from ...placement.build import ANYWHERE
from ...targets.hardware.machine import HOST
from ..arrays.array import Array, has_arrays
from ..outputs import given_targets
from .plan import places_of
from .ways import PLACED, Ways

if TYPE_CHECKING:
    from ...placement.search import Candidate
    from ..arguments import AnyArray, Binding
    from ..calls import Ready
    from ..device import Device
    from .execution import MovingStarter, PlacedRunner
    from .plan import Plan
    from .samples import Sampler

    Situation = tuple[Binding, tuple[tuple[str, ...], ...], tuple[str, ...]]
    """Inputs, where they are, and where results have to be."""
    Compiled = PlacedRunner | MovingStarter | Ready


class Choice:
    """How a program may run in one situation; may be used from several threads."""

    def __init__(
        self,
        situation: Situation,
        make_plan: Callable[[str | None], Plan],
        known: Callable[[Mapping[str, Plan]], Mapping[str, float]],
    ) -> None:
        """A choice for one situation.

        `make_plan` decides, or puts all on one device; `known` is what was measured
        before of ways. Raises GinghamError where no placement is possible.
        """
        self.situation = situation
        self.ways = Ways()
        self.is_measured = False
        """Whether all ways that are worth it were measured by a call of their own."""
        self.corrections = 0
        """So often runs have changed what is decided."""
        self.lock = Lock()
        """Held while a way is compiled."""
        self.compiled: dict[tuple[str, bool], Compiled] = {}
        """By way, and whether all arrays are of devices that take part."""
        self.samplers: dict[str, Sampler] = {}
        self._plans: dict[str, Plan] = {}
        self._homes: list[Device] = []
        """Where the way that is used leaves results."""
        self._known = known
        self.decide(make_plan)

    def decide(self, make_plan: Callable[[str | None], Plan]) -> None:
        """Decide by what is known now of the times of units.

        Of each way that stays what it was, what was measured stays. Raises GinghamError
        where no placement is possible; then nothing has changed.
        """
        plan = make_plan(None)
        ways = _ways_of(plan)
        chosen = plan.decision.solution.chosen
        before = self._plans
        plans = {
            name: plan
            if way.placement == chosen.placement
            else before.get(name) or make_plan(name)
            for name, way in ways.items()
        }
        for name in plans:
            if name in before and _devices(plans[name]) != _devices(before[name]):
                self._forget(name)
        # A call that has chosen a way just now may still run it.
        self._plans = before | plans
        predicted = {name: way.seconds for name, way in ways.items()}
        self.ways.predict(predicted, self._known(plans))

    def _forget(self, name: str) -> None:
        self.ways.forget(name)
        self.samplers.pop(name, None)
        for key in [key for key in self.compiled if key[0] == name]:
            del self.compiled[key]

    @property
    def plans(self) -> Mapping[str, Plan]:
        """The plan of each way."""
        return self._plans

    @property
    def plan(self) -> Plan:
        """That of the fastest way, as far as it is known."""
        return self._plans[self.ways.best]

    def skip(self, name: str) -> int:
        """How many calls behind one this way may run like it, with nobody looking."""
        sampler = self.samplers.get(name)
        if name != self.ways.best or not (sampler is None or sampler.is_over):
            return 0
        return self.ways.skip()

    def at_home(self, name: str, results: Sequence[Array]) -> list[Array]:
        """Results of a call run this way, where the way that is used has them.

        They may be inputs of further calls: what is only tried must not make these what
        the program was not placed for.
        """
        if name == self.ways.best:
            self._homes = [each.device for each in results]
        if not self._homes:
            return [*results]
        with suppress(GinghamError):
            pairs = zip(results, self._homes, strict=True)
            return [each.to(home) for each, home in pairs]
        return [*results]

    def refresh(self) -> None:
        """Read constant inputs anew at the next call: see `Function.refresh`."""
        for each in [*self.compiled.values()]:
            each.refresh()


def situation_of(
    binding: Binding,
    arrays: Sequence[AnyArray],
    out: Any,
    count: int,
    devices: Sequence[str],
) -> Situation:
    """That of a call with these inputs and `out`, of a program with `count` results."""
    where = tuple(
        places_of(each.device.name if isinstance(each, Array) else None, devices)
        for each in arrays
    )
    starts = has_arrays(arrays) or has_arrays(out)
    ends = [ANYWHERE if starts else HOST] * count
    for number, target in enumerate(given_targets(out)[:count]):
        if isinstance(target, Array):
            (ends[number],) = places_of(target.device.name, devices)
    return binding, where, tuple(ends)


def _devices(plan: Plan) -> list[str]:
    return plan.decision.devices


def _ways_of(plan: Plan) -> dict[str, Candidate]:
    """Each placement of interest once: on each device all of it, and as decided."""
    solution = plan.decision.solution
    names = plan.decision.posed.problem.devices
    named = [*zip(names, solution.singles, strict=True), (PLACED, solution.chosen)]
    found: dict[tuple[int, ...], tuple[str, Candidate]] = {}
    for name, candidate in named:
        if candidate is not None:
            found.setdefault(candidate.placement, (name, candidate))
    return dict(found.values())
