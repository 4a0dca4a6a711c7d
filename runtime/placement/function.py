"""`gingham.compile(..., device=["intel.0", "nvidia.0"])`: several devices at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext, suppress
from threading import Lock
from typing import TYPE_CHECKING, Any

from ...errors import GinghamError
from ...passes.tile.placement.build import ANYWHERE
from ...targets.hardware.machine import HOST
from ..arguments import AnyArray, Binding, binding_of
from ..arrays.array import Array, has_arrays
from ..arrays.starter import Starter
from ..cache.parsed import ParsedProgram
from ..function import Function, chosen_device, make_context
from ..outputs import check_overlap, given_targets, output_arrays, output_targets
from .database import database
from .execution import PlacedRunner, Step
from .links import device_text
from .load import is_calm
from .names import checked_places, resolved_places
from .plan import Plan, Request, machine_for, make_plan, places_of
from .samples import Sample, Sampler
from .segment_function import SegmentFunction, output_types_of
from .times import measure_units
from .verdict import (
    PLACED,
    as_text,
    from_text,
    measured_seconds,
    verdict_key,
    winner,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from xdsl.dialects.builtin import ModuleOp

    from ...passes.tile.placement.decide import Decision
    from ...passes.tile.placement.explanation import PlacementExplanation
    from ..devices import Device
    from ..program import Program
    from ..runner import Runner

    Situation = tuple[Binding, tuple[tuple[str, ...], ...], tuple[str, ...]]
    """What a program is placed for: inputs, where they are, where results have to be.
    """


_MOST_CORRECTIONS = 3
"""So often runs change the decision for a situation: no two need alternate for ever."""


class PlacedFunction(Function):
    """A Tile program whose operations run on several devices.

    For inputs of certain shapes, where they are, and where results have to be, it is
    decided once which device runs what: where the whole is predicted to end first. A
    program that runs on one of the devices alone is called as if it were compiled for
    that one.
    """

    def __init__(
        self,
        program: ModuleOp | ParsedProgram,
        devices: Sequence[Device],
        text: str | None,
        places: Mapping[str, str] | None = None,
        constants: Mapping[str, NDArray[Any]] | None = None,
        constant_inputs: Collection[str | int] = (),
        tuned: bool = True,
        fast_math: bool = False,
        measure: bool = False,
        check: bool | None = None,
    ) -> None:
        """`places` has the device of tensors that the program computes, by name."""
        super().__init__(
            program,
            devices[0],
            text,
            constants,
            constant_inputs=constant_inputs,
            tuned=tuned,
            fast_math=fast_math,
            check=check,
        )
        self.devices = tuple(devices)
        """Where it may run."""
        self._places = checked_places(places, [device.name for device in devices])
        if self._places:
            names = self._program.outline.inputs
            self._places = resolved_places(self._program.module, names, self._places)
        self._measures = measure
        self._placing = Lock()
        self._flats: dict[Binding, ModuleOp] = {}
        self._starters_of_segments: dict[tuple[str, str], Starter] = {}
        self._plans: dict[Situation, Plan] = {}
        self._placed: dict[tuple[Situation, bool], PlacedRunner | Runner | Starter] = {}
        self._measured_ones: set[Situation] = set()
        self._corrected: Counter[Situation] = Counter()
        self._samplers: dict[object, tuple[Situation, Sampler]] = {}
        self._wholes = {
            device.name: Function(
                program,
                device,
                text,
                constants,
                constant_inputs=constant_inputs,
                tuned=tuned,
                fast_math=fast_math,
                check=check,
            )
            for device in devices
        }

    def run(self, arrays: Sequence[AnyArray], out: Any = None) -> list[Any]:
        """The outputs for inputs that are arrays already, in order."""
        arrays = [*arrays, *self._constants]
        return self._run(self._runner_for(arrays, out), arrays, out)

    def prepare(self, arrays: Sequence[AnyArray]) -> None:
        """Decide and compile for arrays of these shapes, types and devices."""
        self._runner_for([*arrays, *self._constants], None)

    def refresh(self) -> None:
        """Read constant inputs anew at the next call: see `Function.refresh`."""
        for whole in self._wholes.values():
            whole.refresh()
        with self._placing:
            runners = [*self._placed.values()]
        for runner in runners:
            if isinstance(runner, PlacedRunner):
                runner.refresh()

    def plan(self, *inputs: Any, **named: Any) -> Plan:
        """Which device runs what for inputs of these shapes, where they are."""
        return self._plan(self._situation(self._arguments(inputs, named), None))

    def source(self, *inputs: Any, **named: Any) -> str:
        """The OpenCL C of the kernels of each segment, as they are started."""
        plan = self.plan(*inputs, **named)
        parts: list[str] = []
        for number in plan.order:
            function = self._segment_function(plan, number)
            if not function.device.is_reference:
                parts.append(f"// {function.device.name}\n{function.own_source()}")
        return "\n".join(parts)

    def placed_ir(self, *inputs: Any, **named: Any) -> str:
        """The `tile` IR with the device of each operation, as it was decided."""
        return str(self.plan(*inputs, **named).module)

    def explain_placement(self, *inputs: Any, **named: Any) -> PlacementExplanation:
        """Why each operation runs where it does: a table when printed.

        `as_json()` and `html()` give the same for programs and as a picture.
        """
        return self.decision(*inputs, **named).explain()

    def decision(self, *inputs: Any, **named: Any) -> Decision:
        """What was decided, with all that it was decided by."""
        return self.plan(*inputs, **named).decision

    def measure_placement(
        self, *inputs: Any, again: bool = False, **named: Any
    ) -> dict[str, float]:
        """Measure, and decide by that: seconds of a call, placed and on each device.

        First the units of the program are measured on each device, then the whole
        program for these inputs: placed as that tells, and on each device alone. The
        fastest way is used from then on. Times are kept for further programs and
        processes; what is known is measured `again` only when asked for. Empty where
        one device was better by its units alone.
        """
        arrays = self._arguments(inputs, named)
        situation = self._situation(arrays, None)
        with self._placing:
            self._plans.clear()
            self._placed.clear()
            self._shortcuts.clear()
            self._samplers = {}
        return self._measured(situation, arrays, again)

    def _arguments(
        self, inputs: Sequence[Any], named: Mapping[str, Any]
    ) -> list[AnyArray]:
        from ..arguments import bind

        return [*bind(self.input_names, inputs, named), *self._constants]

    def _remember(self, inputs: Sequence[Any], arrays: Sequence[AnyArray]) -> None:
        if not self._sizes:
            runner = self._runner_for([*arrays, *self._constants], None)
            self._shortcuts.remember(inputs, arrays, runner)

    def _run(
        self, runner: PlacedRunner | Runner | Starter, arrays: Sequence[Any], out: Any
    ) -> list[Any]:
        if out is not None and isinstance(runner, Starter):
            # It was found by the inputs alone.
            runner = self._runner_for(arrays, out)
        sampled = self._samplers.get(runner)
        if sampled is None:
            return self._run_once(runner, arrays, out, None)
        situation, sampler = sampled
        is_waited_for = not (has_arrays(arrays) or has_arrays(out))
        results = sampler.run(
            is_waited_for, lambda each: self._run_once(runner, arrays, out, each)
        )
        if sampler.has_news and sampler.correct():
            with self._placing:
                self._corrected[situation] += 1
            self._decide_again(situation, runner, arrays)
        elif sampler.load_is_other():
            self._decide_again(situation, runner, arrays)
        return results

    def _run_once(
        self,
        runner: PlacedRunner | Runner | Starter,
        arrays: Sequence[Any],
        out: Any,
        sample: Sample | None,
    ) -> list[Any]:
        if not isinstance(runner, PlacedRunner):
            with nullcontext() if sample is None else sample.part(0):
                return super()._run(runner, arrays, out)
        try:
            if has_arrays(arrays) or has_arrays(out):
                targets = self._fitting(runner, arrays, out)
                return runner.start(arrays, targets, sample)
            if out is None:
                return runner.run(arrays, None, sample)
            names, types = self.output_names, runner.output_types
            outputs = output_arrays(names, types, out, arrays)
            return runner.run(arrays, outputs, sample)
        except GinghamError as error:
            self._show_line(error)
            raise

    def _decide_again(
        self, situation: Situation, runner: object, arrays: Sequence[AnyArray]
    ) -> None:
        """Decide by what is known now for further calls, unless that can not run."""
        with self._placing:
            self._samplers = {
                known: each for known, each in self._samplers.items() if known != runner
            }
            before = self._plans.pop(situation, None)
        try:
            self._compiled_plan(self._plan(situation), situation, arrays)
        except GinghamError:
            with self._placing:
                if before is not None:
                    self._plans[situation] = before
            return
        with self._placing:
            self._placed = {
                key: each for key, each in self._placed.items() if key[0] != situation
            }
            self._shortcuts.clear()

    def _fitting(
        self, runner: PlacedRunner, arrays: Sequence[Any], out: Any
    ) -> list[Array | None] | None:
        """The arrays for the results, each on whatever device, which fit."""
        if out is None:
            return None
        used = [each for each in arrays if isinstance(each, Array)]
        names, types = self.output_names, runner.output_types
        targets = output_targets(names, types, out, used, None)
        constants = [arrays[position] for position in self._constant_positions]
        hosts = [each for each in constants if not isinstance(each, Array)]
        for name, target in zip(names, targets, strict=True):
            if target is not None and target.host is not None:
                check_overlap(
                    f"'out' for result '{name}'", target.host, hosts, "an input"
                )
        return targets

    def _situation(self, arrays: Sequence[AnyArray], out: Any) -> Situation:
        names = [device.name for device in self.devices]
        where = tuple(
            places_of(each.device.name if isinstance(each, Array) else None, names)
            for each in arrays
        )
        is_waited_for = not (has_arrays(arrays) or has_arrays(out))
        ends = [HOST if is_waited_for else ANYWHERE] * len(self.output_names)
        for number, target in enumerate(given_targets(out)[: len(ends)]):
            if isinstance(target, Array):
                (ends[number],) = places_of(target.device.name, names)
        return binding_of(arrays, self._sizes), where, tuple(ends)

    def _runner_for(
        self, arrays: Sequence[AnyArray], out: Any
    ) -> PlacedRunner | Runner | Starter:
        situation = self._situation(arrays, out)
        # One device alone refuses arrays of others, also of such as take no part.
        key = (
            situation,
            all(
                each.device in self.devices
                for each in arrays
                if isinstance(each, Array)
            ),
        )
        runner = self._placed.get(key)
        if runner is None:
            try:
                if self._measures:
                    self._measured(situation, arrays, False)
                plan = self._plan(situation)
                runner = self._compiled_plan(plan, situation, arrays)
            except GinghamError as error:
                self._show_line(error)
                raise
            with self._placing:
                runner = self._placed.setdefault(key, runner)
                if situation not in self._measured_ones:
                    self._watch(situation, plan, runner)
        return runner

    def _watch(
        self, situation: Situation, plan: Plan, runner: PlacedRunner | Runner | Starter
    ) -> None:
        """Look at some of the runs, to know better what things take."""
        is_known = len(self.devices) == 1 or self._measures
        if is_known or self._corrected[situation] >= _MOST_CORRECTIONS:
            return
        if runner in self._samplers:
            return
        each = runner.starters if isinstance(runner, PlacedRunner) else [runner]
        sampler = Sampler(plan, self.devices, each)
        self._samplers = {**self._samplers, runner: (situation, sampler)}

    def _plan(self, situation: Situation) -> Plan:
        with self._placing:
            plan = self._plans.get(situation)
            if plan is None:
                plan = self._plans[situation] = self._new_plan(situation)
            return plan

    def _new_plan(self, situation: Situation) -> Plan:
        """As decided, unless one device was measured to be faster for the whole."""
        plan = self._planned(situation, None)
        seconds = self._verdict(plan, situation)
        if seconds is not None:
            # What the whole takes is known, which is more than the sum of parts.
            self._measured_ones.add(situation)
        best = PLACED if seconds is None else winner(seconds)
        return plan if best == PLACED else self._planned(situation, best)

    def _planned(self, situation: Situation, only: str | None) -> Plan:
        binding, where, ends = situation
        module = self._flat(binding)
        inputs = dict(zip(self._program.outline.inputs, where, strict=True))
        request = Request(self.devices, inputs, ends, self._places)
        return make_plan(module, request, machine_for(module, self.devices), only)

    def _verdict(self, plan: Plan, situation: Situation) -> dict[str, float] | None:
        """What whole runs took, if they were measured."""
        if plan.only_device is not None:
            return None
        names = {PLACED, *(device.name for device in self.devices)}
        text = database().verdict(self._verdict_key(plan, situation), self._targets)
        return from_text(text, names)

    def _verdict_key(self, plan: Plan, situation: Situation) -> str:
        return verdict_key(plan.key, situation, sorted(self._places.items()))

    @property
    def _targets(self) -> str:
        return "; ".join(f"{each.name}: {device_text(each)}" for each in self.devices)

    def _measured(
        self, situation: Situation, arrays: Sequence[AnyArray], again: bool
    ) -> dict[str, float]:
        measure_units(self._flat(situation[0]), self.devices, again)
        plan = self._planned(situation, None)
        known = None if again else self._verdict(plan, situation)
        if known is not None or (plan.only_device is not None and not again):
            return known or {}
        ways = {PLACED: self._way(plan, situation, arrays)}
        for device in self.devices:
            # An operation may be impossible there, or too large.
            with suppress(GinghamError):
                only = self._planned(situation, device.name)
                ways[device.name] = self._way(only, situation, arrays)
        seconds = measured_seconds(ways)
        if len(seconds) > 1:
            key = self._verdict_key(plan, situation)
            machine = plan.decision.posed.machine
            lasting = all(is_calm(device.load) for device in machine.devices)
            database().add_verdict(key, self._targets, as_text(seconds), lasting)
        return seconds

    def _way(
        self, plan: Plan, situation: Situation, arrays: Sequence[AnyArray]
    ) -> Callable[[], object]:
        """A call that waits for its results."""
        runner = self._compiled_plan(plan, situation, arrays)

        def call() -> None:
            for result in self._run(runner, arrays, None):
                if isinstance(result, Array):
                    result.wait()

        return call

    def _flat(self, binding: Binding) -> ModuleOp:
        """The program for inputs of these types, ready to be placed; a new copy."""
        from ...passes.pipelines import run_stages
        from ...passes.target_options import TargetOptions

        module = self._flats.get(binding)
        if module is None:
            module = self._specialized(binding)
            run_stages(module, make_context(), TargetOptions(), ["tile"])
            self._flats[binding] = module
        return module.clone()

    def _compiled_plan(
        self, plan: Plan, situation: Situation, arrays: Sequence[AnyArray]
    ) -> PlacedRunner | Runner | Starter:
        only = plan.only_device
        if only is not None:
            whole = self._wholes[only]
            if all(end == HOST for end in situation[2]) and not has_arrays(arrays):
                return whole._runner(situation[0])
            stay = all(end in (ANYWHERE, only) for end in situation[2])
            own = all(a.device.name == only for a in arrays if isinstance(a, Array))
            if stay and own:
                return whole._starter(situation[0])
        steps = [self._step(plan, number) for number in plan.order]
        types = output_types_of(plan.module)
        return PlacedRunner(plan, steps, types, self._constant_positions)

    def _step(self, plan: Plan, number: int) -> Step:
        segment = plan.segments.segments[number]
        device = self._wholes[segment.device].device
        # Plans for data in different places have many segments in common.
        key = device.name, str(segment.module)
        starter = self._starters_of_segments.get(key)
        if starter is None:
            starter = self._segment_function(plan, number).starter()
            starter = self._starters_of_segments.setdefault(key, starter)
        return Step(device, starter, segment.inputs, segment.outputs)

    def _segment_function(self, plan: Plan, number: int) -> SegmentFunction:
        segment = plan.segments.segments[number]
        device = self._wholes[segment.device].device
        return SegmentFunction(
            segment.module,
            device,
            self._text,
            self._tuned,
            self._fast_math,
            self._check,
        )


def compile_placed(
    program: Program | ParsedProgram,
    text: str | None,
    devices: Sequence[str | Device],
    places: Mapping[str, str] | None,
    measure: bool,
    constants: Collection[str],
    tuned: bool,
    fast_math: bool,
    check: bool | None,
) -> PlacedFunction:
    """See `gingham.compile`, for several devices; `text` is the source, if any."""
    from ..program import Program

    is_traced = isinstance(program, Program)
    return PlacedFunction(
        program.module if is_traced else program,
        chosen_devices(devices),
        text,
        places,
        program.constants if is_traced else None,
        constants,
        tuned,
        fast_math,
        measure,
        check,
    )


def chosen_devices(devices: Sequence[str | Device]) -> list[Device]:
    """The devices that a caller asks for, which work, each once.

    Raises GinghamError for none at all, and for one that can not be used.
    """
    chosen: list[Device] = []
    for each in devices:
        device = chosen_device(each)
        if device is not None and device not in chosen:
            chosen.append(device)
    if not chosen:
        raise GinghamError(
            "expected one device or more, got none",
            hint="gingham.devices() lists the devices",
        )
    return chosen
