"""`gingham.compile(..., device=["intel.0", "nvidia.0"])`: several devices at once."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from ...dialects import make_context
from ...errors import GinghamError
from ...placement.build import ANYWHERE
from ...targets.hardware.machine import HOST
from ..arguments import AnyArray, Binding, bind
from ..arrays.array import Array, has_arrays, have_ended
from ..devices import chosen_devices
from ..function import Function
from ..load import is_calm
from ..options import CompileOptions
from ..parsed import ModuleProgram, ParsedProgram
from ..shortcuts import Shortcuts
from ..starter import Starter
from .choice import Choice, situation_of
from .database import database
from .execution import MovingStarter, PlacedRunner, Step
from .links import device_text
from .names import checked_places, resolved_places
from .plan import Plan, Request, machine_for, make_plan
from .repeated import RepeatedCall
from .samples import Sample, Sampler
from .segment_function import SegmentFunction, output_types_of
from .times import measure_units
from .ways import way_key

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from xdsl.dialects.builtin import ModuleOp

    from ...placement.decide import Decision
    from ...placement.explanation import PlacementExplanation
    from .choice import Compiled, Situation


_MOST_SITUATIONS = 32
"""What is known of so many is kept, of those that were used last."""
_MOST_CORRECTIONS = 3
"""So often runs change the decision for a situation: no two need alternate for ever."""
_TURN_SECONDS = 0.02
"""How long one way is called in a row where ways are measured before they are used."""


class PlacedFunction(Function):
    """A Tile program whose operations run on several devices.

    For inputs of certain shapes, where they are, and where results have to be, it is
    decided once which device runs what: where the whole is predicted to end first. A
    program that runs on one of the devices alone is called as if it were compiled for
    that one.
    """

    def __init__(
        self,
        program: ParsedProgram,
        options: CompileOptions,
        captured: Sequence[NDArray[Any]] = (),
    ) -> None:
        """See `Function`; the options have a list of devices."""
        devices = chosen_devices(options.devices or ())
        super().__init__(program, replace(options, device=devices[0]), captured)
        self.devices = tuple(devices)
        """Where it may run."""
        names = [device.name for device in devices]
        self._places = checked_places(options.place, names)
        if self._places:
            inputs = program.outline.inputs
            self._places = resolved_places(program.module, inputs, self._places)
        self._measures = options.measure
        self._placing = Lock()
        self._measuring = Lock()
        self._flats: dict[Binding, ModuleOp] = {}
        self._starters_of_segments = WeakValueDictionary[tuple[str, str], Starter]()
        self._choices = OrderedDict["Situation", Choice]()
        self._by_kinds = Shortcuts[RepeatedCall]()
        self._known = self._by_kinds.get
        self._wholes = {
            device.name: Function(
                program, replace(options, device=device, profile=False), captured
            )
            for device in devices
        }

    def run(self, arrays: Sequence[AnyArray], out: Any = None) -> list[Any]:
        """The outputs for inputs that are arrays already, in order."""
        call = self._by_kinds.get(arrays)
        try:
            if call is None:
                return self._run_new(arrays, arrays, out)
            return call.run([*arrays, *self._captured], out)
        except GinghamError as error:
            self._program.show_line(error)
            raise

    def prepare(self, arrays: Sequence[AnyArray]) -> None:
        """Decide and compile for arrays of these shapes, types and devices."""
        arrays = [*arrays, *self._captured]
        choice = self._choice_for(arrays, None)
        self._compiled_way(choice, choice.ways.best, arrays)

    def refresh(self) -> None:
        """Read constant inputs anew at the next call: see `Function.refresh`."""
        for whole in self._wholes.values():
            whole.refresh()
        with self._placing:
            choices = [*self._choices.values()]
        for choice in choices:
            choice.refresh()

    def plan(self, *inputs: Any, **named: Any) -> Plan:
        """Which device runs what for inputs of these shapes, where they are."""
        situation = self._situation(self._arguments(inputs, named), None)
        return self._choice(situation).plan

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
        processes; what is known is measured `again` only when asked for. Ways that can
        not be the fastest by the times of units are left out.
        """
        arrays = self._arguments(inputs, named)
        situation = self._situation(arrays, None)
        with self._placing:
            self._choices.pop(situation, None)
            self._by_kinds.clear()
        return self._measured(situation, arrays, again)

    def _arguments(
        self, inputs: Sequence[Any], named: Mapping[str, Any]
    ) -> list[AnyArray]:
        return [*bind(self.input_names, inputs, named), *self._captured]

    def _run_first(
        self, inputs: tuple[Any, ...], named: Mapping[str, Any], out: Any
    ) -> list[Any]:
        return self._run_new(inputs, bind(self.input_names, inputs, named), out)

    def _run_new(
        self, inputs: Sequence[Any], arrays: Sequence[AnyArray], out: Any
    ) -> list[Any]:
        """Let the next call with such arrays go straight to the choice."""
        whole = [*arrays, *self._captured]
        results = self._run_choice(self._choice_for(whole, out), whole, out)
        if not self._program.outline.sizes:
            choice = self._choice(self._situation(whole, None))
            call = RepeatedCall(partial(self._run_again, choice))
            self._by_kinds.remember(inputs, arrays, call)
        return results

    def _run_again(
        self, choice: Choice, call: RepeatedCall, arrays: Sequence[AnyArray], out: Any
    ) -> list[Any]:
        """Look at a call like others before, for which there is a choice."""
        if has_arrays(out):
            return self._run_choice(self._choice_for(arrays, out), arrays, out)
        return self._run_choice(choice, arrays, out, call)

    def _choice_for(self, arrays: Sequence[AnyArray], out: Any) -> Choice:
        """What is known of the situation of a call; measured first, if asked for."""
        situation = self._situation(arrays, out)
        if self._measures:
            with self._measuring:
                if not self._choice(situation).is_measured:
                    self._measured(situation, arrays, False)
        return self._choice(situation)

    def _choice(self, situation: Situation) -> Choice:
        with self._placing:
            choice = self._choices.pop(situation, None) or self._new_choice(situation)
            self._choices[situation] = choice
            if len(self._choices) > _MOST_SITUATIONS:
                self._forget_oldest()
            return choice

    def _forget_oldest(self) -> None:
        """Let go of the situation that was used the longest ago, and what it needs."""
        (binding, *_), _ = self._choices.popitem(last=False)
        if all(binding != known for known, *_ in self._choices):
            self._flats.pop(binding, None)
        # Few have many situations, and those find the others again.
        self._by_kinds.clear()

    def _new_choice(self, situation: Situation, knows: bool = True) -> Choice:
        def make(only: str | None) -> Plan:
            return self._planned(situation, only)

        def known(plans: Mapping[str, Plan]) -> dict[str, float]:
            return self._known_ways(situation, plans) if knows else {}

        return Choice(situation, make, known)

    def _run_choice(
        self,
        choice: Choice,
        arrays: Sequence[Any],
        out: Any,
        call: RepeatedCall | None = None,
    ) -> list[Any]:
        """Run it the fastest way, or one that may be; `call` is to be repeated."""
        ways = choice.ways
        starts = has_arrays(arrays) or has_arrays(out)
        turn = ways.next()
        if turn is not None and starts and not have_ended(arrays):
            turn = None
        name, runner = self._possible_way(choice, turn or ways.best, arrays)
        sampler = choice.samplers.get(name)
        has_ended = turn is not None

        def run(sample: Sample | None) -> list[Any]:
            nonlocal has_ended
            results = _run(runner, arrays, out, sample)
            if has_ended and starts:
                has_ended = have_ended(results)
            return results

        start = time.perf_counter()
        is_waited_for = has_ended or not starts
        try:
            is_sampled, results = (
                (False, run(None))
                if sampler is None
                else sampler.run(is_waited_for, run)
            )
        except GinghamError:
            if name == ways.best:
                raise
            # What is only tried must not fail where the best way does not.
            best = self._compiled_way(choice, ways.best, arrays)
            results = _run(best, arrays, out, None)
            ways.drop(name)
            return results
        seconds = time.perf_counter() - start
        # What is looked at takes longer.
        if has_ended and not is_sampled and ways.note(name, seconds, not starts):
            self._keep(choice)
        if sampler is not None:
            self._learn(choice, sampler)
        if call is not None:
            call.repeat(runner, choice.skip(name))
        return choice.at_home(name, results) if starts else results

    def _learn(self, choice: Choice, sampler: Sampler) -> None:
        """Decide again by what was seen of units."""
        if sampler.has_news and sampler.correct():
            choice.corrections += 1
            self._decide_again(choice)

    def _possible_way(
        self, choice: Choice, name: str, arrays: Sequence[AnyArray]
    ) -> tuple[str, Compiled]:
        """A way, compiled; another one where this turns out to be impossible."""
        first: GinghamError | None = None
        while True:
            try:
                return name, self._compiled_way(choice, name, arrays)
            except GinghamError as error:
                first = first or error
                if not choice.ways.drop(name):
                    raise first from None
                name = choice.ways.best

    def _compiled_way(
        self, choice: Choice, name: str, arrays: Sequence[AnyArray]
    ) -> Compiled:
        # One device alone refuses arrays of others, also of such as take no part.
        own = all(a.device in self.devices for a in arrays if isinstance(a, Array))
        found = choice.compiled.get((name, own))
        if found is not None:
            return found
        with choice.lock:
            found = choice.compiled.get((name, own))
            if found is None:
                plan = choice.plans[name]
                found = self._compiled_plan(plan, choice.situation, arrays)
                self._watch(choice, name, plan, found)
                choice.compiled[name, own] = found
            return found

    def _watch(self, choice: Choice, name: str, plan: Plan, runner: Compiled) -> None:
        """Look at some of the runs, to know better what units take."""
        is_known = len(self.devices) == 1 or choice.is_measured
        if is_known or name in choice.samplers:
            return
        if choice.corrections >= _MOST_CORRECTIONS:
            return
        is_divided = isinstance(runner, PlacedRunner)
        runners = runner.runners if is_divided else [runner.runner]
        choice.samplers[name] = Sampler(plan, self.devices, runners)

    def _decide_again(self, choice: Choice) -> None:
        """By what is known now of units, unless that is impossible."""
        with suppress(GinghamError):
            choice.decide(lambda only: self._planned(choice.situation, only))
        if choice.corrections >= _MOST_CORRECTIONS:
            choice.samplers.clear()

    def _situation(self, arrays: Sequence[AnyArray], out: Any) -> Situation:
        names = [device.name for device in self.devices]
        binding = self._calls.binding(arrays)
        return situation_of(binding, arrays, out, len(self.output_names), names)

    def _planned(self, situation: Situation, only: str | None) -> Plan:
        binding, where, ends = situation
        module = self._flat(binding)
        inputs = dict(zip(self._program.outline.inputs, where, strict=True))
        request = Request(self.devices, inputs, ends, self._places)
        return make_plan(module, request, machine_for(module, self.devices), only)

    def _known_ways(
        self, situation: Situation, plans: Mapping[str, Plan]
    ) -> dict[str, float]:
        """The seconds that were measured of ways, by this process or another."""
        keys = {name: way_key(plan, situation) for name, plan in plans.items()}
        times = database().times(self._targets, keys.values())
        return {name: times[key] for name, key in keys.items() if key in times}

    @property
    def _targets(self) -> str:
        return "; ".join(f"{each.name}: {device_text(each)}" for each in self.devices)

    def _measured(
        self, situation: Situation, arrays: Sequence[AnyArray], again: bool
    ) -> dict[str, float]:
        """Measure units, and then every way that they leave open."""
        measure_units(self._flat(situation[0]), self.devices, again)
        choice = self._new_choice(situation, knows=not again)
        choice.is_measured = True
        ways = choice.ways
        ways.turn_seconds = _TURN_SECONDS
        while not ways.is_settled:
            name, runner = self._possible_way(choice, ways.next() or ways.best, arrays)
            start = time.perf_counter()
            for result in runner.run(arrays):
                if isinstance(result, Array):
                    result.wait()
            if ways.note(name, time.perf_counter() - start):
                self._keep(choice)
        ways.turn_seconds = 0.0
        with self._placing:
            self._choices[situation] = choice
        return ways.measured

    def _keep(self, choice: Choice) -> None:
        """Keep what ways took for other programs and processes."""
        plan = choice.plan
        lasting = all(is_calm(d.load) for d in plan.decision.posed.machine.devices)
        times = {
            way_key(choice.plans[name], choice.situation): seconds
            for name, seconds in choice.ways.measured.items()
        }
        database().add_times(self._targets, times, lasting=lasting)

    def _flat(self, binding: Binding) -> ModuleOp:
        """The program for inputs of these types, ready to be placed; a new copy."""
        from ...passes.pipelines import run_stages
        from ...passes.target_options import TargetOptions

        module = self._flats.get(binding)
        if module is None:
            module = self._lowering.specialized(binding)
            run_stages(module, make_context(), TargetOptions(), ["tile"])
            self._flats[binding] = module
        return module.clone()

    def _compiled_plan(
        self, plan: Plan, situation: Situation, arrays: Sequence[AnyArray]
    ) -> Compiled:
        only = plan.only_device
        if only is not None:
            whole = self._wholes[only]
            if all(end == HOST for end in situation[2]) and not has_arrays(arrays):
                return whole._calls.of(situation[0])
            if all(end in (ANYWHERE, only) for end in situation[2]):
                starter = whole._calls.of(situation[0]).starter
                if all(a.device.name == only for a in arrays if isinstance(a, Array)):
                    return starter
                return MovingStarter(starter, whole.device)
        steps = [self._step(plan, number) for number in plan.order]
        types = output_types_of(plan.module)
        outputs = [*zip(self.output_names, types, strict=True)]
        return PlacedRunner(plan, steps, outputs, self._constants)

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
        program = ModuleProgram(segment.module, self._program.text)
        return SegmentFunction(program, replace(self._options, device=device))


def _run(
    runner: Compiled, arrays: Sequence[Any], out: Any, sample: Sample | None
) -> list[Any]:
    """Run a way; `sample` is told what each segment takes."""
    if sample is None:
        return runner.run(arrays, out)
    if isinstance(runner, PlacedRunner):
        return runner.run(arrays, out, sample)
    with sample.part(0):
        return runner.run(arrays, out)
