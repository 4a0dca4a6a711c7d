"""Runs the segments of a program: all are started at once, each behind what it needs.

Every segment is an ordinary compiled program, started on arrays of its device, and
starting does not wait. What comes from another device is copied there behind its run,
on a queue that kernels do not wait for; where both work on the host's memory nothing is
copied. So the order of the segments on each device is fixed, and nothing else is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..arrays.array import Array, from_host, has_arrays
from ..arrays.kept_inputs import KeptInputs
from ..arrays.memory import SUBMISSION, Memory
from ..arrays.transfers import write_into
from ..backends import memory_of
from ..load import running
from ..outputs import check_overlap, output_arrays, output_targets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...targets.backend import ArrayType, Executable
    from ..device import Device
    from ..starter import Starter
    from .plan import Plan
    from .samples import Sample

    Host = NDArray[Any]

_NO_TARGETS: Mapping[int, Array] = {}


@dataclass(frozen=True)
class Step:
    """A segment that is compiled."""

    device: Device
    starter: Starter
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


class MovingStarter:
    """A program that one device runs, for arrays that may be on others."""

    def __init__(self, starter: Starter, device: Device) -> None:
        self._starter = starter
        self._device = device

    @property
    def runner(self) -> Executable:
        """What is compiled."""
        return self._starter.runner

    def run(self, inputs: Sequence[Any], out: Any = None) -> list[Array]:
        """See `Starter.run`; what is elsewhere is copied there first."""
        device = self._device
        here = [x.to(device) if x.__class__ is Array else x for x in inputs]
        return self._starter.run(here, out)

    def refresh(self) -> None:
        """Forget what was computed of constant inputs."""
        self._starter.refresh()


class PlacedRunner:
    """A program on several devices; may be used from any thread."""

    def __init__(
        self,
        plan: Plan,
        steps: Sequence[Step],
        outputs: Sequence[tuple[str, ArrayType]],
        constants: Sequence[int],
    ) -> None:
        """`steps` are in the order in which they are started.

        `outputs` has the name and type of each result, `constants` the positions of
        inputs that never change.
        """
        self._steps = [*steps]
        self._names = [name for name, _ in outputs]
        self._types = [type for _, type in outputs]
        self._constants = constants
        self._results = plan.segments.results
        self._last_uses = _last_uses(steps, self._results)
        self._kept = KeptInputs(constants)
        self._devices = sorted({step.device.name for step in steps})

    @property
    def runners(self) -> list[Executable]:
        """What is compiled of the segments, in the order in which they are started."""
        return [step.starter.runner for step in self._steps]

    def run(
        self, inputs: Sequence[Any], out: Any = None, sample: Sample | None = None
    ) -> list[Any]:
        """See `HostCall.run` and `Starter.run`, with arrays of whatever device.

        `sample` is told what each segment takes.
        """
        if has_arrays(inputs) or has_arrays(out):
            targets = None if out is None else self._targets(inputs, out)
            return self._begin(inputs, targets, sample)
        if out is None:
            return self._finish(inputs, None, sample)
        targets = output_arrays(self._names, self._types, out, inputs)
        return self._finish(inputs, targets, sample)

    def _finish(
        self,
        inputs: Sequence[Host],
        outputs: Sequence[Host | None] | None,
        sample: Sample | None,
    ) -> list[Host]:
        """The results as arrays of NumPy, once they are there."""
        values = _Values(self._kept, inputs, lends=True)
        with ExitStack() as stack:
            for name in self._devices:
                stack.enter_context(running(name))
            # The caller's arrays may change as soon as this returns.
            stack.callback(values.settle)
            self._start(values, sample)
            return self._collected(values, inputs, outputs)

    def _begin(
        self,
        inputs: Sequence[Any],
        targets: Sequence[Array | None] | None,
        sample: Sample | None,
    ) -> list[Array]:
        """The results as arrays of devices, at once.

        `targets` has an array for each result, of whatever device, or None for a new
        one; they are known to fit, and to share no memory with an input.
        """
        values = _Values(self._kept, inputs, lends=False)
        wanted = [*targets] if targets is not None else [None] * len(self._results)
        self._start(values, sample, _first_targets(self._results, wanted))
        seen: set[int] = set(range(len(inputs)))
        # What a run wrote to its target is no other result's memory.
        made = {id(each) for each in wanted if each is not None}
        results: list[Array] = []
        for value, target in zip(self._results, wanted, strict=True):
            array = values.anywhere(value, self._steps)
            if target is None:
                # No result shares memory with an input or another result.
                is_taken = value in seen or id(array) in made
                results.append(array.to(array.device, is_taken or None))
                seen.add(value)
                continue
            if array is not target:
                write_into(target.storage, array.storage)
            results.append(target)
        return results

    def _targets(self, inputs: Sequence[Any], out: Any) -> list[Array | None]:
        """The arrays for the results, each on whatever device, which fit."""
        used = [each for each in inputs if isinstance(each, Array)]
        targets = output_targets(self._names, self._types, out, used, None)
        constants = [inputs[position] for position in self._constants]
        hosts = [each for each in constants if not isinstance(each, Array)]
        for name, target in zip(self._names, targets, strict=True):
            if target is not None and target.host is not None:
                check_overlap(
                    f"'out' for result '{name}'", target.host, hosts, "an input"
                )
        return targets

    def refresh(self) -> None:
        """Forget what was computed of constant inputs."""
        self._kept.clear()

    def _start(
        self,
        values: _Values,
        sample: Sample | None,
        targets: Mapping[int, Array] = _NO_TARGETS,
    ) -> None:
        """`targets` has arrays for values to be written to, where they are made."""
        for number, step in enumerate(self._steps):
            given = values.all_on(step.inputs, step.device)
            own = _own_targets(step, targets) if targets else None
            with nullcontext() if sample is None else sample.part(number):
                made = step.starter.run(given, own)
            values.add(step.outputs, made)
            _flush(step.device)
            for value in self._last_uses[number]:
                values.drop(value)

    def _collected(
        self,
        values: _Values,
        inputs: Sequence[Host],
        outputs: Sequence[Host | None] | None,
    ) -> list[Host]:
        """The results as arrays of NumPy, once they are there; no two share memory."""
        results: list[Host] = []
        seen: set[int] = set(range(len(inputs)))
        for position, value in enumerate(self._results):
            if value < len(inputs):
                host = inputs[value]
            else:
                host = values.anywhere(value, self._steps).numpy()
            target = None if outputs is None else outputs[position]
            if target is not None:
                target[...] = host
                host = target
            elif value in seen:
                host = host.copy()
            seen.add(value)
            results.append(host)
        return results


class _Values:
    """The values of one call, by number, on the devices that have them."""

    def __init__(self, kept: KeptInputs, inputs: Sequence[Any], lends: bool) -> None:
        """With `lends` inputs do not change until the call has ended."""
        self._kept = kept
        self._inputs = inputs
        self._lends = lends
        self._lent: list[Memory] = []
        self._known: dict[int, list[Array]] = {
            number: [each]
            for number, each in enumerate(inputs)
            if isinstance(each, Array)
        }

    def all_on(self, values: Sequence[int], device: Device) -> list[Array]:
        """Values on a device; inputs of NumPy are copied while others are on their way.

        What comes from another device is started only, but the host itself copies what
        stays in its memory.
        """
        for value in values:
            if value in self._known:
                self.on(value, device)
        return [self.on(value, device) for value in values]

    def on(self, value: int, device: Device) -> Array:
        """A value on a device; the copy is started where one is needed."""
        known = self._known.setdefault(value, [])
        for array in known:
            if array.device is device:
                return array
        array = known[0].to(device) if known else self._input(value, device)
        known.append(array)
        return array

    def anywhere(self, value: int, steps: Sequence[Step]) -> Array:
        """A value where it is; an input of NumPy on the first device."""
        known = self._known.get(value)
        return known[0] if known else self.on(value, steps[0].device)

    def add(self, values: Sequence[int], arrays: Sequence[Array]) -> None:
        """What a segment computes."""
        for value, array in zip(values, arrays, strict=True):
            self._known[value] = [array]

    def drop(self, value: int) -> None:
        """Let go of a value that nothing else needs."""
        self._known.pop(value, None)

    def settle(self) -> None:
        """Wait for all that uses lent inputs, well or in failure."""
        for memory in self._lent:
            for event in memory.users():
                event.settle()

    def _input(self, position: int, device: Device) -> Array:
        host = self._inputs[position]
        if self._kept.is_constant(position):
            return self._kept.get(position, host, device)
        if not self._lends:
            return from_host(host, device, copy=True)
        array = lent(host, device)
        self._lent.append(array.memory)
        return array


def lent(host: Host, device: Device) -> Array:
    """An array of NumPy on a device; it must not change until it was used.

    Where the device has memory of its own, the copy is started only.
    """
    place = memory_of(device)
    if place is None or place.is_shared:
        return from_host(host, device)
    from ...targets.host_arrays import fit_for_kernels

    fitting = fit_for_kernels(host)
    buffer = place.allocate(fitting.shape, fitting.dtype)
    memory = Memory()
    with SUBMISSION:
        memory.written = place.write(buffer, fitting)
    return Array(device, (fitting.shape, fitting.dtype, device), None, buffer, memory)


def _flush(device: Device) -> None:
    """See that what was queued gets started: runtimes may collect commands."""
    place = memory_of(device)
    if place is not None:
        place.queue.flush()


def _first_targets(
    results: Sequence[int], targets: Sequence[Array | None]
) -> dict[int, Array]:
    """Of each result, by its value, the first array to write it to, if there is one."""
    found: dict[int, Array] = {}
    for value, target in zip(results, targets, strict=True):
        if target is not None:
            found.setdefault(value, target)
    return found


def _own_targets(
    step: Step, targets: Mapping[int, Array]
) -> tuple[Array | None, ...] | None:
    """The arrays that a step writes to: those on its device."""
    found = [targets.get(value) for value in step.outputs]
    own = tuple(a if a is not None and a.device is step.device else None for a in found)
    return own if any(each is not None for each in own) else None


def _last_uses(steps: Sequence[Step], results: Sequence[int]) -> list[list[int]]:
    """Of each step the values that nothing behind it needs."""
    found: list[list[int]] = []
    needed = {*results}
    for step in reversed(steps):
        used = {*step.inputs, *step.outputs}
        found.append(sorted(used - needed))
        needed |= used
    return found[::-1]
