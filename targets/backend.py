"""What a target offers, so that programs are compiled for it and run: `Backend`.

Everything above the targets goes by these protocols. OpenCL is one backend (`opencl`),
C by the system's compiler another (`c`), the reference interpreter a third, which takes
programs as they are.

```text
module at `Backend.stage` --- Backend.executable ---> Executable
         |                                              ^
         | Kernels.printed      Kernels.build           | Kernels.executable
         +-----------------> text -----------> Code ----+
                                                ^ |
                         Kernels.from_bytes     | v  Kernels.to_bytes
                                               bytes, to be stored
```
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from ..dialects.opencl.kernel import KernelOp
    from ..errors import GinghamError
    from .code import PrintedCode
    from .device_memory import DeviceMemory, Event
    from .hardware import Calibration, Hardware
    from .host_arrays import Array
    from .host_arrays import ArrayType as ArrayType
    from .host_program import HostProgram, LaunchTiming

DeviceKind: TypeAlias = Literal["cpu", "gpu", "accelerator", "custom", "interpreter"]

PropertyValue: TypeAlias = str | int | bool | tuple[int, ...] | tuple[str, ...]

Idle: TypeAlias = Literal["scratch", "constants"]
"""Memory that a program keeps for its next call: between kernels, or of constants."""

Stage: TypeAlias = Literal["specialized", "opencl"]


@dataclass(frozen=True, eq=False)
class FixedInputs:
    """Stands for inputs that are the same arrays in all calls that name it.

    Who changes what is in them calls `Executable.refresh`. Nothing but who names it
    keeps it alive, and what a program keeps for it goes with it.
    """

    positions: frozenset[int]
    """Where these are among the inputs."""
    others: tuple[int, ...]
    """Where the other inputs are."""

    @classmethod
    def of(cls, positions: Iterable[int], count: int) -> FixedInputs:
        """Those at some positions of `count` inputs."""
        fixed = frozenset(positions)
        return cls(fixed, tuple(n for n in range(count) if n not in fixed))


@dataclass(frozen=True)
class Problem:
    """A runtime or device that should have been there and is not, and why."""

    subject: str
    reason: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.reason}"


@dataclass(frozen=True)
class Needs:
    """What the passes have to know of a device beside its figures."""

    unsupported: tuple[str, ...] = ()
    """The element types that it does not compute with, such as "f64"."""
    functions: tuple[str, ...] = ()
    """The functions of f32 that its runtime computes slowly or badly, such as "exp"."""
    vectorizes_loops: bool = False
    """Whether its compiler makes vectors of the steps of loops where nothing forbids
    it, whatever the hardware is that kernels are made for."""


@dataclass(frozen=True)
class Subject:
    """A program whose first results are to be checked.

    `flattened` gives it at the tile level, `lowered` as it is compiled, and `keep`
    takes the code that was found to be right. `second_opinion` builds it by another
    compiler, where one can.
    """

    title: str
    output_names: Sequence[str]
    fast_math: bool
    flattened: Callable[[], ModuleOp]
    lowered: Callable[[], ModuleOp]
    second_opinion: Callable[[], Executable | None]
    keep: Callable[[Any], None]


class Startable(Protocol):
    """A program that is started on buffers of its device, and waited for later."""

    show_line: Callable[[GinghamError], None]
    """Gives an error that is found later the text of the program."""
    joins: bool
    """Whether `join` may start it."""

    @property
    def output_types(self) -> Sequence[ArrayType]:
        """Shape and NumPy type of each output."""
        ...

    def make_room(self, new: Sequence[int]) -> None:
        """See that there is memory for starting runs with these outputs, all new.

        Raises GinghamError, which names the program's buffers, with nothing taken.
        """
        ...

    def start(
        self,
        inputs: Sequence[Any],
        outputs: Sequence[Any] | None = None,
        wait_for: Sequence[Any] = (),
        sources: Sequence[Any] = (),
        contents: Sequence[object] | None = None,
    ) -> tuple[list[Any], Event | None]:
        """Begin to run on buffers of the device: the outputs, and their event.

        The buffers are those of the inputs' and the outputs' shapes and types; no
        output is another one, or an input. It comes after all that the device's queue
        has been given, and after `wait_for`, which may be of other devices. `sources`
        are the runs that the inputs come from: where one failed, so does this.
        `contents` has an object for each constant input, that is another one when the
        contents are others. The event is None where there is nothing to do.

        Raises GinghamError where memory is missing or a launch is refused.
        """
        ...

    def join(self, buffers: Sequence[Any], sources: Sequence[Any]) -> Event | None:
        """As `start`, in as little time as can be, where there is nothing to wait for.

        `buffers` are those of the inputs, then those of the outputs. `sources` are of
        the device's queue, and `is_shared`, and so is the event of the run. It is None
        where the run was not started, as it is one for `start`.
        """
        ...


class Executable(Protocol):
    """A compiled program, for arrays of certain shapes and types; for any thread."""

    last_used: float
    """When it was called last, by `time.monotonic`."""

    def __call__(self, *inputs: Array) -> list[Array]:
        """As `run`; raises GinghamError for inputs that do not fit."""
        ...

    def run(
        self,
        inputs: Sequence[Array],
        outputs: Sequence[Array | None] | None = None,
        fixed: FixedInputs | None = None,
    ) -> list[Array]:
        """The results for inputs that fit; those with an array are written there.

        No two results share memory, and none does with an input. What is known of
        `fixed` inputs from the last call is not found out again.

        Each of `outputs` is contiguous, aligned, writable, of the output's shape and
        type, shares no memory with another array of the call, and is returned when it
        has been filled; None stands for a new array.
        """
        ...

    def refresh(self) -> None:
        """Forget what was computed of constant inputs."""
        ...

    @property
    def startable(self) -> Startable | None:
        """How it is started on buffers; None where it works on NumPy's arrays."""
        ...

    @property
    def output_types(self) -> Sequence[ArrayType] | None:
        """Shape and NumPy type of each output, where that is known before a call."""
        ...

    @property
    def printed(self) -> PrintedCode | None:
        """Its kernels and the program that launches them, where it has kernels."""
        ...

    @property
    def input_types(self) -> Sequence[ArrayType]:
        """Shape and NumPy type of each input."""
        ...

    @property
    def launch_count(self) -> int:
        """How many kernels, or other pieces of work, each call starts."""
        ...

    def profile(self, *inputs: Array) -> tuple[list[Array], list[LaunchTiming]]:
        """As a call, and how long each launch took on the device, in order."""
        ...

    @property
    def idle_bytes(self) -> int:
        """The memory that it holds for its next call and could do without."""
        ...

    def give_up(self, what: Idle) -> None:
        """Let go of memory that the next call can have again, unless one runs now."""
        ...


class Code(Protocol):
    """Kernels that are built, and the program that launches them."""

    @property
    def program(self) -> HostProgram:
        """The launches, and the buffers that they share."""
        ...

    @property
    def source(self) -> str:
        """The text of all kernels."""
        ...

    @property
    def is_checked(self) -> bool:
        """Whether results have been held against what they should be."""
        ...

    @property
    def size_in_bytes(self) -> int:
        """An estimate of what it takes."""
        ...


CodeT = TypeVar("CodeT", bound=Code)
CodeT_co = TypeVar("CodeT_co", bound=Code, covariant=True)


class Ahead(Protocol[CodeT_co]):
    """What is done for one program before all of its kernels are known.

    In the end `printed` and `build` are asked in place of those of `Kernels`.
    """

    def expect(self, module: ModuleOp) -> Callable[[ModuleOp, KernelOp], None] | None:
        """A specialized module will be built soon: what takes long may begin.

        What it gives, if anything, is to be told of each kernel at the stage `opencl`
        as soon as it is ready, in a module with the functions that it calls.
        """
        ...

    def printed(self, module: ModuleOp) -> PrintedCode:
        """See `Kernels`; the module has those kernels, or others in their place."""
        ...

    def build(self, printed: PrintedCode) -> CodeT_co:
        """See `Kernels`."""
        ...

    def end(self) -> None:
        """No more is coming, whether it was built or not."""
        ...


class Kernels(Protocol[CodeT]):
    """How a device's kernels are printed, built, stored and called."""

    language: str
    """What they are printed in: `OpenCL C`."""

    def options(self, *, fast_math: bool) -> tuple[str, ...]:
        """Those of the device's compiler."""
        ...

    def state(self) -> object:
        """What the built code depends on beside the device's properties."""
        ...

    def ahead(self, options: Sequence[str]) -> Ahead[CodeT] | None:
        """What is done for a program that will be built; None where nothing is."""
        ...

    def printed(self, module: ModuleOp) -> PrintedCode:
        """The kernels of a module at the stage `opencl`, as text.

        Raises GinghamError for what the language does not have.
        """
        ...

    def build(self, printed: PrintedCode, options: Sequence[str]) -> CodeT:
        """What the device's compiler makes of kernels.

        Raises GinghamError where the device can not run them.
        """
        ...

    def to_bytes(self, code: CodeT) -> bytes:
        """The code as bytes, for `from_bytes` on the same device and driver."""
        ...

    def from_bytes(self, data: bytes) -> CodeT:
        """The code that `to_bytes` gave.

        Raises GinghamError for other bytes, and where the device does not take them.
        They must be known to come from `to_bytes`: a device runs what it is given.
        """
        ...

    def executable(self, code: CodeT) -> Executable:
        """The function `@main`, to be called."""
        ...

    def checked(self, code: CodeT, subject: Subject) -> Executable | None:
        """As `executable`; the first results are held against what they should be.

        None for a compiler that has no safer builds.
        """
        ...


class BusyWork(Protocol):
    """What keeps a device busy, to see what it does beside."""

    def start(self) -> None:
        """Let the device begin."""
        ...

    def finish(self) -> None:
        """Wait until it is done. Raises GinghamError where the device fails."""
        ...


class Backend(Protocol):
    """What one device offers."""

    stage: Stage
    """The stage of the pipeline at which it takes programs."""

    @property
    def memory(self) -> DeviceMemory[Any, Any] | None:
        """The memory of its own; None where it works on NumPy's arrays."""
        ...

    def busy_work(self) -> BusyWork | None:
        """Work for some milliseconds; None where nothing can be started."""
        ...

    @property
    def kernels(self) -> Kernels[Any] | None:
        """How programs become kernels; None where they are run as they are."""
        ...

    def hardware(self) -> Hardware:
        """The description that fits the device, as far as it tells of itself."""
        ...

    def needs(self, *, fast_math: bool) -> Needs:
        """What the pipeline for a hardware has to know beside its figures."""
        ...

    def measured(self, described: Hardware) -> Calibration:
        """The description with what can be measured measured, in seconds.

        Raises GinghamError where nothing can be, and for a device that fails.
        """
        ...

    def executable(self, module: ModuleOp) -> Executable:
        """A module at `stage`, to be called.

        Raises GinghamError where the device can not run it.
        """
        ...
