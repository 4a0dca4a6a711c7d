"""Runs the segments of a program: all are started at once, each behind what it needs.

Every segment is an ordinary compiled program, started on arrays of its device, and
starting does not wait. What comes from another device is copied there behind its run,
on a queue that kernels do not wait for; where both work on the host's memory nothing is
copied. So the order of the segments on each device is fixed, and nothing else is.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

from ..arrays.array import Array, from_host
from ..arrays.memory import SUBMISSION, Memory
from ..arrays.transfers import opencl_device, write_into
from ..load import running

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...targets.backend import ArrayType
    from ..device import Device
    from ..starter import Starter
    from .plan import Plan
    from .samples import Sample

    Host = NDArray[Any]
    Kept = Array | Memory

_NO_TARGETS: Mapping[int, Array] = {}


@dataclass(frozen=True)
class Step:
    """A segment that is compiled."""

    device: Device
    starter: Starter
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


class PlacedRunner:
    """A program on several devices; may be used from any thread."""

    def __init__(
        self,
        plan: Plan,
        steps: Sequence[Step],
        output_types: Sequence[ArrayType],
        constants: Sequence[int],
    ) -> None:
        """`steps` are in the order in which they are started."""
        self.plan = plan
        self.output_types: Sequence[ArrayType] = output_types
        self._steps = [*steps]
        self._results = plan.segments.results
        self._last_uses = _last_uses(steps, self._results)
        self._kept = _KeptInputs(constants)
        self._names = sorted({step.device.name for step in steps})

    @property
    def starters(self) -> list[Starter]:
        """Those of the segments, in the order in which they are started."""
        return [step.starter for step in self._steps]

    def run(
        self,
        inputs: Sequence[Host],
        outputs: Sequence[Host | None] | None = None,
        sample: Sample | None = None,
    ) -> list[Host]:
        """See `Runner.run`; `sample` is told what each segment takes."""
        values = _Values(self._kept, inputs, lends=True)
        with ExitStack() as stack:
            for name in self._names:
                stack.enter_context(running(name))
            # The caller's arrays may change as soon as this returns.
            stack.callback(values.settle)
            self._start(values, sample)
            return self._collected(values, inputs, outputs)

    def start(
        self,
        inputs: Sequence[Any],
        targets: Sequence[Array | None] | None = None,
        sample: Sample | None = None,
    ) -> list[Array]:
        """The results for inputs that are arrays of devices or of NumPy, at once.

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

    def __init__(self, kept: _KeptInputs, inputs: Sequence[Any], lends: bool) -> None:
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


class _KeptInputs:
    """Constant inputs on the devices that they were sent to, while they exist."""

    def __init__(self, positions: Sequence[int]) -> None:
        self._positions = frozenset(positions)
        self._lock = Lock()
        self._known: dict[tuple[int, str], tuple[weakref.ref[Host], Kept]] = {}

    def is_constant(self, position: int) -> bool:
        """Whether an input is the same array in many calls."""
        return position in self._positions

    def get(self, position: int, host: Host, device: Device) -> Array:
        """The input on the device; sent there where it is another one than before."""
        place = position, device.name
        with self._lock:
            known = self._known.get(place)
            if known is not None and known[0]() is host:
                return _of_kept(known[1], host, device)
            array = from_host(host, device)
            # Where memory is shared, an array would keep the caller's alive.
            kept = array.memory if array.host is not None else array
            self._known[place] = weakref.ref(host, self._forgetter(place)), kept
            return array

    def _forgetter(self, place: tuple[int, str]) -> Callable[[object], None]:
        known = self._known

        def forget(reference: object) -> None:
            entry = known.get(place)
            if entry is not None and entry[0] is reference:
                known.pop(place, None)

        return forget

    def clear(self) -> None:
        """Their contents have changed."""
        with self._lock:
            self._known.clear()


def _of_kept(kept: Kept, host: Host, device: Device) -> Array:
    if isinstance(kept, Array):
        return kept
    array = from_host(host, device)
    # By its memory a program knows what it has computed of a constant input.
    array.memory = kept
    return array


def lent(host: Host, device: Device) -> Array:
    """An array of NumPy on a device; it must not change until it was used.

    Where the device has memory of its own, the copy is started only.
    """
    opencl = opencl_device(device)
    if opencl is None or opencl.details.host_unified_memory:
        return from_host(host, device)
    from ...targets.host_arrays import fit_for_kernels
    from ...targets.opencl.memory.buffer import allocate
    from ...targets.opencl.transfers import start_write

    fitting = fit_for_kernels(host)
    buffer = allocate(opencl, fitting.shape, fitting.dtype)
    memory = Memory()
    with SUBMISSION:
        memory.written = start_write(opencl.transfer_queue, buffer, fitting)
    return Array(device, (fitting.shape, fitting.dtype, device), None, buffer, memory)


def _flush(device: Device) -> None:
    """See that what was queued gets started: runtimes may collect commands."""
    opencl = opencl_device(device)
    if opencl is not None:
        opencl.queue.handle.flush()


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
