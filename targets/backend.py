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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from .code import PrintedCode
    from .hardware import Calibration, Hardware
    from .host_arrays import Array
    from .host_arrays import ArrayType as ArrayType
    from .host_program import HostProgram, LaunchTiming

DeviceKind: TypeAlias = Literal["cpu", "gpu", "accelerator", "custom", "interpreter"]

PropertyValue: TypeAlias = str | int | bool | tuple[int, ...] | tuple[str, ...]

Idle: TypeAlias = Literal["scratch", "constants"]
"""Memory that a program keeps for its next call: between kernels, or of constants."""

Stage: TypeAlias = Literal["specialized", "opencl"]


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


class Executable(Protocol):
    """A compiled program, for arrays of certain shapes and types; for any thread."""

    last_used: float
    """When it was called last, by `time.monotonic`."""

    def __call__(self, *inputs: Array) -> list[Array]:
        """As `run`; raises GinghamError for inputs that do not fit."""
        ...

    def run(
        self, inputs: Sequence[Array], outputs: Sequence[Array | None] | None = None
    ) -> list[Array]:
        """The results for inputs that fit; those with an array are written there.

        No two results share memory, and none does with an input.

        Each of `outputs` is contiguous, aligned, writable, of the output's shape and
        type, shares no memory with another array of the call, and is returned when it
        has been filled; None stands for a new array.
        """
        ...

    def refresh(self) -> None:
        """Forget what was computed of constant inputs."""
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

    def expect(self, module: ModuleOp) -> None:
        """A specialized module will be built soon: what takes long may begin."""
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


class Backend(Protocol):
    """What one device offers."""

    stage: Stage
    """The stage of the pipeline at which it takes programs."""

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
