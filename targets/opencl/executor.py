"""A module at the opencl level as something to call: NumPy arrays in, NumPy arrays out.

Everything that does not depend on the inputs' values happens once: kernels are built,
the buffers between them allocated, arguments set that stay the same. A call sets those
of inputs and outputs, queues the launches and waits once. Where host and device share
memory, inputs are read and outputs written in place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any

from ... import observation
from ...errors import GinghamError
from ..backend import Idle
from ..code import PrintedCode
from ..host_program import LaunchTiming, check_inputs
from .bound_inputs import BoundInputs
from .compiled import CompiledCode, compile_module
from .constants import KeptResults
from .crossing import wait_list
from .events import RunEvent
from .handles.buffer import allocate
from .inputs import InputBinder
from .launches import LaunchList
from .memory.copies import copy_buffers
from .memory.program_memory import ProgramMemory
from .outputs import OutputBinder
from .small_calls import SmallCalls
from .status import as_gingham_error, error_of

if TYPE_CHECKING:
    import pyopencl as cl
    from numpy.typing import NDArray
    from xdsl.dialects.builtin import ModuleOp

    from ..backend import FixedInputs
    from ..host_arrays import ArrayType
    from .devices.device import OpenCLDevice
    from .events import Event
    from .handles.buffer import DeviceBuffer

    Array = NDArray[Any]


class OpenCLExecutable:
    """The function `@main` of a module, compiled for one device.

    It may be called from any thread; calls of one executable run one after the other.
    Raises GinghamError when the device can not run the module.
    """

    def __init__(
        self,
        code: ModuleOp | CompiledCode,
        device: OpenCLDevice,
        options: Sequence[str] | None = None,
    ) -> None:
        """`options` are those of the device's compiler, for a module."""
        if not isinstance(code, CompiledCode):
            code = compile_module(code, device, options)
        self.device = device
        self.show_line: Callable[[GinghamError], None] = _show_nothing
        """Gives an error that is found later the text of the program."""
        self._calling = Lock()
        self._binding = Lock()
        self._queue = device.queue
        self.last_used = 0.0
        """When it was called last, by `time.monotonic`."""
        self._load(code)
        device.pool.add(self)

    def _load(self, code: CompiledCode) -> None:
        """Run this code from now on; nothing else may run at the same time."""
        device = self.device
        self.source = code.source
        """The OpenCL C of all kernels."""
        self.program = program = code.program
        """The launches, and the buffers that they share."""
        results = [program.slots[number] for number in program.results]
        used = [*program.inputs, *results]
        self._bytes = sum(slot.size_in_bytes for slot in used)
        once = _lists(code, device, True)
        self._launches = _lists(code, device, False)
        self._constant = None
        if once.launches:
            self._constant = KeptResults(program, once, device.queue)
        self._outputs = OutputBinder(device, program, self._launches)
        own = () if self._outputs.has_copies else program.results
        self._set = self._launches.setter([*range(program.input_count), *own])
        is_plain = bool(self._launches.launches) and not self._outputs.has_copies
        self._is_bare = is_plain and device.queue.is_bare
        """Whether its launches can do without events."""
        self.joins = self._is_bare and self._constant is None
        """See `Startable`."""
        self._small: SmallCalls | None = None
        if self._is_bare:
            small = SmallCalls(device, program, self._launches)
            self._small = small if small.fits else None
        self._memory = ProgramMemory(device, program, (once, self._launches))
        self._binder = InputBinder(device, program.inputs, self._launches)
        self._all_inputs = range(program.input_count)
        self._needs = frozenset[int]()
        """The inputs that the launches that run once read."""
        if self._constant is not None:
            self._needs = frozenset(self._constant.inputs)
        self._bound = BoundInputs()

    @property
    def startable(self) -> OpenCLExecutable:
        """Itself."""
        return self

    @property
    def input_types(self) -> list[ArrayType]:
        """Shape and NumPy type of each input."""
        return self.program.input_types

    @property
    def output_types(self) -> list[ArrayType]:
        """Shape and NumPy type of each output."""
        return self.program.output_types

    @property
    def idle_bytes(self) -> int:
        """What it holds for its next call: memory between kernels, and for results."""
        if not self._memory.is_ready:
            return 0
        small = 0 if self._small is None else self._small.size_in_bytes
        return self._memory.size_in_bytes + self._outputs.size_in_bytes + small

    @property
    def printed(self) -> PrintedCode:
        """The launches, and the OpenCL C of all kernels."""
        return PrintedCode(self.program, self.source)

    @property
    def launch_count(self) -> int:
        """How many kernels each call starts."""
        return len(self._launches.launches)

    def __call__(self, *inputs: Array) -> list[Array]:
        """Run on arrays of exactly the inputs' shapes and types; the outputs are new.

        Raises GinghamError for inputs that do not fit, or when the device fails.
        """
        check_inputs(self.program.inputs, inputs)
        return self.run(inputs)

    def run(
        self,
        inputs: Sequence[Array],
        outputs: Sequence[Array | None] | None = None,
        fixed: FixedInputs | None = None,
    ) -> list[Array]:
        """As a call, for arrays that are known to fit.

        Each of `outputs` is contiguous, aligned, writable, shares no memory with
        another array of the call, and is returned when it has been filled; None stands
        for a new array. Arguments for `fixed` inputs stay as the last call set them.
        """
        if (observer := observation.observer) is not None:
            return self._observed(inputs, outputs, fixed, observer)
        if self._small is not None:
            return self._run_small(self._small, inputs, outputs)
        with self._calling:
            with self._binding:
                self.last_used = monotonic()
                if not self._memory.is_ready:
                    self._prepare(outputs)
                held = self._bind(inputs, fixed)
                buffers = self._outputs.bind(outputs)
                # The queue's handle must not change before all have been enqueued.
                with self._queue.lock:
                    events = self._launches.start(self._queue)
            self._launches.wait(events)
            del held
            return self._outputs.collect(inputs, buffers, outputs)

    def _run_small(
        self,
        small: SmallCalls,
        inputs: Sequence[Array],
        outputs: Sequence[Array | None] | None,
    ) -> list[Array]:
        """As `run`, on memory that is there for all arrays together."""
        queue = self._queue
        with self._calling, small.lock:
            with self._binding:
                self.last_used = monotonic()
                if not self._memory.is_ready:
                    self._prepare(outputs)
                self._bind_constants(inputs)
                with queue.lock:
                    small.write(queue, inputs)
                    mark = self._launches.start_bare(queue)
                    if mark is not None:
                        queue.end_shared(mark)
            if code := small.read():
                raise self._some_failed(code)
            results = small.results
            if outputs is None:
                return [each.copy() for each in results]
            return [_stored(*pair) for pair in zip(results, outputs, strict=True)]

    def _observed(
        self,
        inputs: Sequence[Array],
        outputs: Sequence[Array | None] | None,
        fixed: FixedInputs | None,
        observer: observation.Observer,
    ) -> list[Array]:
        """As `run`, telling the observer of each step."""
        observer.time(self._queue)
        with self._calling:
            with self._binding:
                self.last_used = monotonic()
                start = observation.now()
                if not self._memory.is_ready:
                    self._prepare(outputs)
                held = self._bind(inputs, fixed)
                buffers = self._outputs.bind(outputs)
                start = observer.span("step", "bind", start)
                with self._queue.lock:
                    events = self._launches.start(self._queue)
                start = observer.span("step", "launch", start)
            self._launches.wait(events)
            start = observer.span("step", "wait", start)
            del held
            results = self._outputs.collect(inputs, buffers, outputs)
            observer.span("step", "collect", start)
        observer.ended()
        return results

    def start(
        self,
        inputs: Sequence[DeviceBuffer],
        outputs: Sequence[DeviceBuffer] | None = None,
        wait_for: Sequence[Event] = (),
        sources: Sequence[RunEvent] = (),
        contents: Sequence[object] | None = None,
    ) -> tuple[list[DeviceBuffer], RunEvent | None]:
        """See `Startable`."""
        if outputs is None:
            outputs = [allocate(self.device, *type) for type in self.output_types]
        queue = self._queue
        if (observer := observation.observer) is not None:
            observer.time(queue)
        begin = observation.now() if observer is not None else 0
        waits = wait_list(queue, wait_for) if wait_for else ()
        with self._binding:
            self.last_used = monotonic()
            if not self._memory.is_ready:
                self._prepare_start(())
            kept = self._bind_buffers(inputs, outputs, contents)
            held = inputs, outputs, waits, kept, self._memory.buffers
            with queue.lock:
                is_alone = waits or observer is not None or not _are_shared(sources)
                if self._is_bare and not is_alone:
                    return [*outputs], self._launch_bare(held, sources)
                handles = self._launches.start(queue, waits)
                if self._outputs.has_copies:
                    handles += self._copy(inputs, outputs, handles, waits)
                if not handles:
                    return [*outputs], None
                explain, size = self._explain, self._bytes
                event = RunEvent(queue, handles, explain, held, sources, size)
                queue.hold(event)
        if not queue.starts_at_once:
            # Somebody may look whether it has ended, and never wait.
            event.start()
        if observer is not None:
            observer.span("step", "launch", begin)
        return [*outputs], event

    def join(
        self, buffers: Sequence[DeviceBuffer], sources: Sequence[RunEvent]
    ) -> RunEvent | None:
        """See `Startable`."""
        if not self.joins:
            return None
        queue, memory = self._queue, self._memory
        binding, running, bound = self._binding, queue.lock, self._bound
        # Context managers would take as long as setting an argument.
        binding.acquire()
        running.acquire()
        try:
            if not memory.is_ready:
                return None
            self.last_used = monotonic()
            if bound.fixed is not None:
                bound.forget()
            self._set(buffers)
            mark = self._launches.start_bare(queue)
            held = buffers, memory.buffers
            return queue.join(self._explain, held, self._bytes, sources, mark)
        finally:
            running.release()
            binding.release()

    def _launch_bare(self, held: object, sources: Sequence[RunEvent]) -> RunEvent:
        """Enqueue the launches, without events: the end of them and of others."""
        queue = self._queue
        mark = self._launches.start_bare(queue)
        return queue.join(self._explain, held, self._bytes, sources, mark)

    def _copy(
        self,
        inputs: Sequence[DeviceBuffer],
        outputs: Sequence[DeviceBuffer],
        launched: Sequence[cl.Event],
        wait_for: Sequence[cl.Event],
    ) -> Sequence[cl.Event]:
        """Enqueue copies of what is a result and not written by a kernel."""
        copies = self._outputs.copies(inputs, outputs)
        try:
            return copy_buffers(self._queue, copies, () if launched else wait_for)
        except GinghamError:
            # The buffers may go only when no kernel works on them.
            self._launches.wait(launched)
            raise

    def _bind_buffers(
        self,
        inputs: Sequence[DeviceBuffer],
        outputs: Sequence[DeviceBuffer],
        contents: Sequence[object] | None,
    ) -> object:
        """Set the arguments; what is returned must live until the run has ended."""
        launches = self._launches
        self._bound.forget()
        self._set([*inputs, *outputs])
        if self._outputs.has_copies:
            for number, buffer in self._outputs.own(outputs).items():
                launches.set(number, buffer.handle)
        if self._constant is not None:
            kept = self._constant.get_for_buffers(inputs, contents or inputs)
            for number, buffer in kept.items():
                launches.bind(number, buffer)
            return kept
        return None

    def _explain(self, number: int, error: cl.Error) -> GinghamError:
        """What to say of a command that failed, by its number among those of a run."""
        if number < 0:
            return self._some_failed(error.code)
        if number >= len(self._launches.launches):
            return as_gingham_error("copying a result", error)
        failure = self._launches.explain(number, error)
        self.show_line(failure)
        return failure

    def _some_failed(self, code: int) -> GinghamError:
        """What to say of launches without events, or of some before them."""
        kernels = ", ".join(repr(each.name) for each in self._launches.kernels)
        failure = error_of(f"kernels up to {kernels}", code)
        self._launches.locate(failure, -1)
        self.show_line(failure)
        return failure

    def profile(self, *inputs: Array) -> tuple[list[Array], list[LaunchTiming]]:
        """As a call, and how long each launch took on the device, in order."""
        check_inputs(self.program.inputs, inputs)
        with self._calling, self._binding:
            if not self._memory.is_ready:
                self._prepare(None)
            held = self._bind(inputs)
            buffers = self._outputs.bind(None)
            # Another queue does not wait for what this one still copies.
            self.device.queue.finish()
            seconds = self._launches.profile(self.device.profiling_queue())
            del held
            outputs = self._outputs.collect(inputs, buffers, None)
        timings = [
            LaunchTiming(kernel.name, launch.global_size, time)
            for launch, kernel, time in zip(
                self._launches.launches, self._launches.kernels, seconds, strict=True
            )
        ]
        return outputs, timings

    def refresh(self) -> None:
        """Forget what was computed of constant inputs: their contents have changed."""
        with self._binding:
            self._bound.forget()
            if self._constant is not None:
                self._constant.forget()

    def give_up(self, what: Idle) -> None:
        """Let go of memory that the next call can have again, unless one runs now."""
        if not self._calling.acquire(blocking=False):
            return
        try:
            if self._binding.acquire(blocking=False):
                try:
                    self._give_up(what)
                finally:
                    self._binding.release()
        finally:
            self._calling.release()

    def _give_up(self, what: Idle) -> None:
        if what == "scratch":
            self._memory.release()
            self._outputs.release()
            if self._small is not None:
                self._small.release()
            return
        self._bound.forget()
        if self._constant is not None:
            self._constant.forget()
            for number in self._constant.slots:
                self._launches.unbind(number)

    def _prepare(self, outputs: Sequence[Array | None] | None) -> None:
        """Take the memory of calls, with what this one needs for new `outputs`."""
        positions = range(len(self.program.results))
        new = [n for n in positions if outputs is None or outputs[n] is None]
        lacks_constants = self._lacks_constants()
        self._memory.prepare(new, with_inputs=True, with_constants=lacks_constants)

    def make_room(self, new: Sequence[int]) -> None:
        """See `Startable`."""
        if not self._memory.is_ready:
            with self._binding:
                self._prepare_start(new)

    def _prepare_start(self, new: Sequence[int]) -> None:
        if not self._memory.is_ready:
            lacks_constants = self._lacks_constants()
            self._memory.prepare(new, with_constants=lacks_constants)

    def _lacks_constants(self) -> bool:
        return self._constant is not None and not len(self._constant)

    def _bind(
        self, inputs: Sequence[Array], fixed: FixedInputs | None = None
    ) -> object:
        """Set the arguments that are inputs; what is returned keeps them alive."""
        if fixed is None or not self._bound.has(fixed):
            fixed = self._bind_fixed(inputs, fixed)
        others = self._all_inputs if fixed is None else fixed.others
        return self._binder.bind(inputs, others)

    def _bind_fixed(
        self, inputs: Sequence[Array], fixed: FixedInputs | None
    ) -> FixedInputs | None:
        """Set what is computed of constant inputs, and the arguments that stay set.

        Those are for `fixed` inputs; they are None where nothing stays set.
        """
        self._bound.forget()
        self._bind_constants(inputs)
        if fixed is None or not self._needs <= fixed.positions:
            return None
        self._bound.hold(fixed, self._binder.bind(inputs, fixed.positions))
        return fixed

    def _bind_constants(self, inputs: Sequence[Array]) -> None:
        """Set the arguments that are computed once of constant inputs."""
        if self._constant is not None:
            for number, buffer in self._constant.get(inputs).items():
                self._launches.bind(number, buffer)


def _are_shared(sources: Sequence[RunEvent]) -> bool:
    return all(each.is_shared for each in sources)


def _stored(result: Array, target: Array | None) -> Array:
    """A result in the array that it is for, or in a new one."""
    if target is None:
        return result.copy()
    target[...] = result
    return target


def _show_nothing(error: GinghamError) -> None:
    pass


def _lists(code: CompiledCode, device: OpenCLDevice, runs_once: bool) -> LaunchList:
    """The launches that run once, or those that run in every call."""
    program = code.program
    launches = [each for each in program.launches if each.runs_once is runs_once]
    kernels = [
        code.built.new_kernel(launch.kernel)
        for launch in launches
        if code.built is not None
    ]
    return LaunchList(device, program.slots, launches, kernels)
