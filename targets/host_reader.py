"""The host program of a module at the opencl level."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from ..dialects.constants import constant_arguments
from ..dialects.eltwise.numpy_types import numpy_dtype
from ..dialects.locations import source_location
from ..dialects.opencl.attributes import BufferType
from ..dialects.opencl.kernel import AllocateOp, KernelOp, LaunchOp
from ..dialects.work import Work, work_of
from ..errors import GinghamError
from .host_program import HostLaunch, HostProgram, Slot
from .printer import kernel_names


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
        symbol = op.kernel_name
        local_size = self._kernels[symbol].group_size
        pairs = zip(op.group_counts, local_size, strict=True)
        return HostLaunch(
            self._names[symbol],
            tuple(count * size for count, size in pairs),
            local_size,
            self._numbers_of(op.buffers),
            op.once is not None,
            _location(op),
            *_work(op),
        )

    def _numbers_of(self, values: Sequence[SSAValue]) -> tuple[int, ...]:
        return tuple(self._numbers[value] for value in values)


def _location(op: Operation) -> str | None:
    place = source_location(op)
    return None if place is None else f"{place.file}:{place.line}:{place.column}"


def _work(op: LaunchOp) -> tuple[int, int, int]:
    """Operations, bytes read and bytes written; nothing where nobody has counted."""
    work = work_of(op) or Work()
    return work.flops, work.bytes_read, work.bytes_written


def _entry(module: ModuleOp) -> FuncOp:
    for op in module.ops:
        if isinstance(op, FuncOp) and op.sym_name.data == "main":
            return op
    raise GinghamError("the module has no function @main")
