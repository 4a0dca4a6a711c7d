"""Calls with arrays of a device: the run is started, and its results are arrays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

from .. import observation
from ..errors import GinghamError
from .arrays.array import Array, from_host
from .arrays.kept_inputs import KeptInputs
from .arrays.memory import SUBMISSION, Memory, read_by_host, wait_for_host
from .arrays.storage import Kind
from .arrays.transfers import overwrite
from .backends import memory_of
from .direct_calls import MOST, direct_call
from .expected_type import check_type
from .outputs import output_targets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..targets.backend import Executable, Startable
    from ..targets.device_memory import (
        Buffer,
        DeviceMemory,
        Event,
        SparesOfAKind,
    )
    from .device import Device
    from .direct_calls import Direct

    Host = NDArray[Any]
    Show = Callable[[GinghamError], None]


class Starter:
    """A compiled program for arrays of one device; may be used from any thread."""

    def __init__(
        self,
        runner: Executable,
        device: Device,
        output_names: Sequence[str],
        given: int,
        constants: Collection[int],
        show_line: Show,
    ) -> None:
        """`constants` are the positions of inputs that are kept, and never change.

        The first `given` inputs are a caller's, the others arrays that the program has.
        `show_line` gives an error the text of the program.
        """
        self._device = device
        self.runner = runner
        """What is compiled."""
        self._output_names = output_names
        self._given = given
        self._kept = KeptInputs(constants)
        self._has_constants = bool(constants)
        self._captured: dict[int, Array] = {}
        self._start: _Begin | _Wait
        self.direct: Direct | None = None
        """What may start runs that depend on nothing else than runs of their queue."""
        startable, memory = runner.startable, memory_of(device)
        if startable is not None and memory is not None:
            startable.show_line = show_line
            self._start = _Begin(startable, device, memory, sorted(constants))
        else:
            self._start = _Wait(runner, device, output_names)

    def run(self, inputs: Sequence[Any], out: Any = None) -> list[Array]:
        """The results for inputs that fit, arrays of this device or of NumPy.

        `out` is None, or an array for each result, or None for a new one. Raises
        GinghamError for what is closed or of another device, and for inputs that are
        known to have failed; what goes wrong later is raised by the results.
        """
        if out is None and self.direct is not None and observation.observer is None:
            results = self.direct(inputs)
            if results is not None:
                return [results] if isinstance(results, Array) else [*results]
        arrays = inputs
        for each in inputs:
            if each.__class__ is not Array:
                arrays = [
                    each if each.__class__ is Array else self._moved(number, each)
                    for number, each in enumerate(inputs)
                ]
                break
        targets = None if out is None else self._targets(out, arrays)
        contents = self._contents(inputs, arrays) if self._has_constants else None
        results = self._start(arrays, targets, contents)
        if isinstance(self._start, _Begin) and self._start.joins:
            # What it needs of the device has been seen to be there.
            self.direct = self.direct or self._start.direct(inputs)
        return results

    def refresh(self) -> None:
        """Read constant inputs anew at the next call."""
        self._kept.clear()
        self._captured.clear()

    def _moved(self, number: int, value: Host) -> Array:
        """An input that is an array of NumPy.

        The caller may change it afterwards, unless it is a constant.
        """
        if not self._kept.is_constant(number):
            return from_host(value, self._device, copy=True)
        if number < self._given:
            return self._kept.get(number, value, self._device)
        array = self._captured.get(number)
        if array is None:
            array = self._captured[number] = from_host(value, self._device)
        return array

    def _contents(self, inputs: Sequence[Any], arrays: Sequence[Array]) -> list[object]:
        """What is the same as long as the contents of each input."""
        return [
            value if number < self._given and value is not array else array.memory
            for number, (value, array) in enumerate(zip(inputs, arrays, strict=True))
        ]

    def _targets(self, out: Any, inputs: Sequence[Array]) -> list[Array | None]:
        names, types = self._output_names, self.runner.output_types
        return output_targets(names, types, out, inputs, self._device)


class _Begin:
    """Starts the runs of an executable."""

    def __init__(
        self,
        executable: Startable,
        device: Device,
        memory: DeviceMemory[Any, Any],
        constants: Sequence[int],
    ) -> None:
        self._device = device
        self._executable = executable
        self._start = executable.start
        self.joins = executable.joins and not constants
        """Whether there are shorter ways."""
        self._make_room = executable.make_room
        self._memory = memory
        self._queue = memory.queue
        self._constants = constants
        self._all = range(len(executable.output_types))
        self._kinds: list[tuple[Kind, SparesOfAKind]] = [
            ((shape, dtype, device), memory.spares.of(shape, dtype))
            for shape, dtype in executable.output_types
        ]

    def __call__(
        self,
        inputs: Sequence[Array],
        targets: Sequence[Array | None] | None,
        contents: Sequence[object] | None,
    ) -> list[Array]:
        for position in self._constants:
            # What is computed of them is kept, so they have to be good.
            inputs[position].wait()
        outputs = self._outputs(targets)
        memories: list[Memory] = []
        buffers: list[Buffer] = []
        for array in inputs:
            memories.append(array.memory)
            buffers.append(array.own_buffer or array.buffer)
        written = [array.own_buffer or array.buffer for array in outputs]
        queue = self._queue
        with SUBMISSION:
            if targets is not None:
                # All at once: while one is waited for, another may be read again.
                wait_for_host(*[array.memory for array in outputs])
            sources = _sources(memories)
            before = sources
            if targets is not None:
                before = [*sources]
                for array in outputs:
                    before += array.memory.users()
            waits = before and [each for each in before if each.queue is not queue]
            try:
                _, event = self._start(buffers, written, waits, sources, contents)
            except GinghamError as error:
                self._spoil(outputs, error)
                raise
            if event is not None:
                for memory in memories:
                    memory.readers[queue] = event
            for array in outputs:
                array.memory.written = event
        queue.throttle()
        return outputs

    def direct(self, inputs: Sequence[Any]) -> Direct | None:
        """A shorter way for calls with such inputs; None where they are no arrays."""
        kinds = [each.kind for each in inputs if each.__class__ is Array]
        if not 0 < len(kinds) == len(inputs) <= MOST - len(self._kinds):
            return None
        return direct_call(self._executable, self._queue, kinds, self._kinds)

    def _spoil(self, outputs: Sequence[Array], error: GinghamError) -> None:
        """Some of the launches of a failed start may have written to its results."""
        for array in outputs:
            array.memory.written = self._memory.failed(error)

    def _outputs(self, targets: Sequence[Array | None] | None) -> list[Array]:
        if targets is None:
            self._make_room(self._all)
            made: list[Array] = []
            for kind, spares in self._kinds:
                made.append(self._new(kind, spares))
            return made
        self._make_room([n for n, target in enumerate(targets) if target is None])
        return [
            self._new(*kind) if target is None else target
            for kind, target in zip(self._kinds, targets, strict=True)
        ]

    def _new(self, kind: Kind, spares: SparesOfAKind) -> Array:
        spare = spares.take()
        buffer = spare.buffer
        return Array(self._device, kind, buffer.host, buffer, Memory(spare))


def _sources(memories: Sequence[Memory]) -> list[Event]:
    """See `Memory.sources`."""
    sources: list[Event] = []
    for memory in memories:
        if memory.written is not None:
            sources += memory.sources()
    return sources


class _Wait:
    """Runs what works on the host's arrays, so that results are there at once."""

    def __init__(
        self, runner: Executable, device: Device, output_names: Sequence[str]
    ) -> None:
        self._runner = runner
        self._device = device
        self._output_names = output_names

    def __call__(
        self,
        arrays: Sequence[Array],
        targets: Sequence[Array | None] | None,
        contents: Sequence[object] | None,
    ) -> list[Array]:
        """Run it: nothing is kept of constant inputs, whatever their contents."""
        with read_by_host([array.memory for array in arrays]):
            results = self._runner.run([array.numpy() for array in arrays])
        wanted = targets or [None] * len(results)
        for name, target, result in zip(
            self._output_names, wanted, results, strict=True
        ):
            if target is not None:
                check_type(
                    f"'out' for result '{name}'", target, (result.shape, result.dtype)
                )
        made: list[Array] = []
        for target, result in zip(wanted, results, strict=True):
            if target is None:
                made.append(from_host(result, self._device))
            else:
                overwrite(target.storage, result)
                made.append(target)
        return made


def check_devices(names: Sequence[str], inputs: Sequence[Any], device: Device) -> None:
    """Refuse arrays of another device."""
    for number, each in enumerate(inputs):
        if isinstance(each, Array) and each.device is not device:
            raise GinghamError(
                f"input '{names[number]}' is on {each.device.name}, the program runs "
                f"on {device.name}",
                hint=f"to({device.name!r}) moves an array",
            )
