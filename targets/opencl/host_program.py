"""The host program of a module over numbered buffers, as the executor runs it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from ...dialects.constants import constant_arguments
from ...dialects.eltwise.numpy_types import numpy_dtype
from ...dialects.opencl.attributes import BufferType
from ...dialects.opencl.kernel import AllocateOp, KernelOp, LaunchOp
from ...errors import GinghamError
from .printer import kernel_names

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Slot:
    """A buffer of the host program; `place` is its first byte in the arena, if any."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    place: int | None = None

    @property
    def size_in_bytes(self) -> int:
        """The bytes of all elements."""
        return prod(self.shape) * self.dtype.itemsize


@dataclass(frozen=True)
class HostLaunch:
    """A launch of a kernel, by its name in C, with the numbers of its buffers."""

    kernel: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    slots: tuple[int, ...]
    runs_once: bool


@dataclass(frozen=True)
class HostProgram:
    """The function `@main` over numbered slots: inputs first, then allocations."""

    slots: tuple[Slot, ...]
    input_count: int
    constants: tuple[int, ...]
    """The inputs that are mostly the same arrays in all calls."""
    launches: tuple[HostLaunch, ...]
    """Those that have work, in order."""
    results: tuple[int, ...]

    @property
    def kept(self) -> set[int]:
        """What launches that run once leave for those that run in every call."""
        once = {s for launch in self.launches if launch.runs_once for s in launch.slots}
        each = {
            s for launch in self.launches if not launch.runs_once for s in launch.slots
        }
        return {number for number in once & each if number >= self.input_count}


def host_program(module: ModuleOp) -> HostProgram:
    """The host program of a module at the opencl level.

    Raises GinghamError for a module that is at another level.
    """
    function = _entry(module)
    arguments = function.body.block.args
    reader = _Reader(module)
    for argument in arguments:
        reader.add(argument, f"argument {argument.index}", None)
    for op in function.body.block.ops:
        reader.read(op)
    return HostProgram(
        tuple(reader.slots),
        len(arguments),
        tuple(sorted(constant_arguments(function))),
        tuple(reader.launches),
        reader.results,
    )


class _Reader:
    """Numbers the buffers of a host program, op by op."""

    def __init__(self, module: ModuleOp) -> None:
        self._kernels = {
            op.sym_name.data: op for op in module.ops if isinstance(op, KernelOp)
        }
        self._names = kernel_names(module)
        self._numbers: dict[SSAValue, int] = {}
        self.slots: list[Slot] = []
        self.launches: list[HostLaunch] = []
        self.results: tuple[int, ...] = ()

    def read(self, op: Operation) -> None:
        """Take in the next op of the host program."""
        match op:
            case AllocateOp():
                self.add(op.buffer, "a buffer", op.place)
            case LaunchOp():
                if 0 not in op.group_counts:
                    self.launches.append(self._launch(op))
            case ReturnOp():
                self.results = self._numbers_of(op.arguments)
            case _:
                raise GinghamError(
                    f"'{op.name}' is no operation of a host program",
                    hint="run the pass lower-stripe-to-opencl first",
                )

    def add(self, value: SSAValue, default: str, place: int | None) -> None:
        """Give a buffer the next number."""
        type = value.type
        if not isinstance(type, BufferType):
            raise GinghamError(
                f"expected the host program to use buffers, got {type}",
                hint="run the pass lower-stripe-to-opencl first",
            )
        self._numbers[value] = len(self.slots)
        name = value.name_hint or default
        dtype = numpy_dtype(type.element_type)
        self.slots.append(Slot(name, type.sizes, dtype, place))

    def _launch(self, op: LaunchOp) -> HostLaunch:
        symbol = op.kernel.root_reference.data
        local_size = self._kernels[symbol].group_size
        pairs = zip(op.group_counts, local_size, strict=True)
        return HostLaunch(
            self._names[symbol],
            tuple(count * size for count, size in pairs),
            local_size,
            self._numbers_of(op.buffers),
            op.once is not None,
        )

    def _numbers_of(self, values: Sequence[SSAValue]) -> tuple[int, ...]:
        return tuple(self._numbers[value] for value in values)


def _entry(module: ModuleOp) -> FuncOp:
    for op in module.ops:
        if isinstance(op, FuncOp) and op.sym_name.data == "main":
            return op
    raise GinghamError("the module has no function @main")
