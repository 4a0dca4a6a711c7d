"""A graph as a function of arrays, which is walked once for inputs of some types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from threading import RLock
from typing import TYPE_CHECKING, Any

from ...garbage import rare_collections
from ..function import Function
from ..options import CompileOptions
from ..profiling.starting import measured
from .given import as_value
from .graphs import GraphSource
from .kept_plans import KeptPlans, Plan, plan_of
from .parts import Environment, Key, Part, found, type_key
from .planner import Planner
from .warning import warn_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..parsed import ParsedProgram
    from ..profiling.profile import Profile


class Session:
    """What has been found out about a graph, for all calls so far.

    May be used from several threads.
    """

    def __init__(
        self,
        source: GraphSource,
        options: CompileOptions,
        profile: Profile | None = None,
        *,
        keeps_plans: bool = False,
    ) -> None:
        """What is found out may be kept on disk, for other processes."""
        self.source = source
        self._plans = KeptPlans(source) if keeps_plans else None
        self._options = replace(options, profile=False)
        self._profile = profile
        self._roots: dict[Key, Part] = {}
        self._lock = RLock()
        self._warned: set[str] = set()

    def run(self, inputs: Sequence[Any]) -> list[Any]:
        """The outputs for inputs in order."""
        arrays = [as_value(value) for value in inputs]
        root = self._roots.get(_key(arrays))
        if root is not None:
            results = self._follow(root, arrays, [])
            if results is not None:
                return results
        with self._lock:
            return self._walk(arrays)

    def path(self, inputs: Sequence[Any]) -> list[Part]:
        """The parts that such inputs go through, which are run once."""
        arrays = [as_value(value) for value in inputs]
        self.run(arrays)
        path: list[Part] = []
        self._follow(self._roots[_key(arrays)], arrays, path)
        return path

    @rare_collections()
    def _walk(self, arrays: Sequence[Any]) -> list[Any]:
        types = _key(arrays)
        root = self._roots.setdefault(types, Part())
        plans = None if root.continuations else self._plans
        kept = None if plans is None else plans.load(types)
        if kept is not None:
            root.continuations[root.key({})] = self._part(kept, arrays)
            return self._follow(root, arrays, []) or []
        planner = Planner(self, root, arrays)
        results = planner.run()
        plan = plan_of(planner.parts, planner.programs)
        if plans is not None and plan is not None:
            plans.save(types, plan, planner.looked_at)
        new = [step for step in planner.host_steps if step.label not in self._warned]
        self._warned.update(step.label for step in new)
        if new:
            warn_of(new)
        return results

    def _part(self, plan: Plan, arrays: Sequence[Any]) -> Part:
        """What runs a plan for such inputs."""
        given = [arrays[slot] for slot in plan.inputs]
        return Part(
            self.function(plan.program, plan.constants),
            plan.inputs,
            plan.outputs,
            [(tuple(each.shape), each.dtype) for each in given],
            plan.nodes,
            results=plan.results,
        )

    def inner(self, source: GraphSource) -> Session:
        """A session for a graph in a node."""
        return Session(source, self._options, self._profile)

    def function(
        self, program: ParsedProgram, captured: Sequence[NDArray[Any]]
    ) -> Function:
        """A program as a function on the device of the session."""
        function = Function(program, self._options, captured)
        if self._profile is not None:
            measured(function, self._profile)
        return function

    def _follow(
        self, part: Part | None, arrays: Sequence[Any], path: list[Part]
    ) -> list[Any] | None:
        """The outputs by what is known; None where it is not known how to go on."""
        environment: Environment = dict(enumerate(arrays))
        while part is not None:
            path.append(part)
            part.run(environment)
            if part.results is not None:
                return self.results(part, environment)
            part = part.continuations.get(part.key(environment))
        return None

    def results(self, part: Part, environment: Environment) -> list[Any]:
        """The outputs of the graph, behind its last part."""
        return [found(source, environment) for source in part.results or ()]


def _key(arrays: Sequence[Any]) -> Key:
    return tuple(type_key(array) for array in arrays)
