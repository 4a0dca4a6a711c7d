"""The memory between a program's kernels, the same in each call, and if there is room.

Before any of it is taken, all that the program needs is asked for: what does not fit
fails before anything is allocated or launched. When memory gets scarce elsewhere, it is
given up between calls, and taken anew in the next one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ....errors import GinghamError, SourceLocation
from ...host_arrays import format_bytes, format_shape
from ..handles.buffer import allocate
from ..handles.pool import OutOfBudget
from .arena import allocate_placed, placed_bytes

if TYPE_CHECKING:
    from ...host_program import HostProgram, Slot
    from ..handles.buffer import DeviceBuffer
    from ..handles.handle import DeviceHandle
    from ..launches import LaunchList

_MOST_SHOWN = 8
_WORTH_SHOWING = 1 / 50
"""Of what is needed in all."""


class ProgramMemory:
    """The buffers between the kernels of a program; not thread-safe."""

    def __init__(
        self,
        device: DeviceHandle,
        program: HostProgram,
        lists: Sequence[LaunchList],
    ) -> None:
        self._device = device
        self._program = program
        self._lists = lists
        numbers = {
            number
            for number in range(program.input_count, len(program.slots))
            if any(launches.uses(number) for launches in lists)
        }
        numbers -= set(program.results) | program.kept
        self._scratch = {number: program.slots[number] for number in sorted(numbers)}
        self.size_in_bytes = placed_bytes(device, self._scratch)
        """What it takes while it is ready."""
        self.buffers: Mapping[int, DeviceBuffer] = {}
        """By their slots. Who starts a run refers to them until it has ended."""
        self.is_ready = False
        """Whether the memory is there, so that a run may start."""

    def prepare(
        self,
        outputs: Iterable[int],
        *,
        with_inputs: bool = False,
        with_constants: bool = False,
    ) -> None:
        """Take the memory for a run that has to allocate these outputs as well.

        `outputs` are positions among the results. `with_inputs` says that the inputs
        are still in the host's memory, `with_constants` that what is kept for constant
        inputs is not computed yet. Raises OutOfBudget, which names the program's large
        buffers, with nothing taken, and GinghamError for one that is too large for the
        device.
        """
        slots = self._program.slots
        needed: dict[int, str] = {}
        for position in outputs:
            needed[self._program.results[position]] = "a result"
        if with_constants:
            kept = dict.fromkeys(self._program.kept, "kept for constant inputs")
            needed.update(kept)
        if with_inputs and not self._device.details.host_unified_memory:
            inputs = range(self._program.input_count)
            used = [n for n in inputs if any(each.uses(n) for each in self._lists)]
            needed.update(dict.fromkeys(used, "an input"))
        self._require({number: (slots[number], needed[number]) for number in needed})
        placed = {
            n: slot for n, slot in self._scratch.items() if slot.place is not None
        }
        buffers = allocate_placed(self._device, placed)
        for number, slot in self._scratch.items():
            if slot.place is None:
                shape, dtype = slot.shape, slot.dtype
                buffers[number] = allocate(
                    self._device, shape, dtype, purpose="scratch"
                )
        for number, buffer in buffers.items():
            for launches in self._lists:
                launches.bind(number, buffer)
        self.buffers = buffers
        self.is_ready = True

    def release(self) -> None:
        """Let go of the memory until the next run."""
        for number in self.buffers:
            for launches in self._lists:
                launches.unbind(number)
        self.buffers = {}
        self.is_ready = False

    def _require(self, others: Mapping[int, tuple[Slot, str]]) -> None:
        scratch = {n: (slot, "between kernels") for n, slot in self._scratch.items()}
        buffers = {**scratch, **others}
        if not buffers:
            return
        largest = max(buffers, key=lambda number: buffers[number][0].size_in_bytes)
        place = self._program.location_of(largest)
        self._require_one(buffers[largest][0], place)
        needed = self.size_in_bytes
        needed += sum(slot.size_in_bytes for slot, _ in others.values())
        try:
            self._device.pool.require(needed)
        except OutOfBudget as error:
            lines = [
                f"the program needs {format_bytes(needed)} on device "
                f"'{self._device.name}', but {self._device.pool}",
                *_large([*buffers.values()], needed),
            ]
            raise OutOfBudget("\n".join(lines), place, error.hint) from error

    def _require_one(self, slot: Slot, place: SourceLocation | None) -> None:
        """Raise GinghamError when the device has no buffer of this size."""
        details = self._device.details
        if slot.size_in_bytes <= details.max_allocation_bytes:
            return
        raise GinghamError(
            f"{slot.name} of shape {format_shape(slot.shape)} and type "
            f"{slot.dtype.name} needs {format_bytes(slot.size_in_bytes)}, and device "
            f"'{self._device.name}' gives at most "
            f"{format_bytes(details.max_allocation_bytes)} to one buffer, of "
            f"{format_bytes(details.global_memory_bytes)} in all",
            place,
        )


def _large(buffers: Sequence[tuple[Slot, str]], needed: int) -> list[str]:
    """A line for each buffer that matters, the largest first."""
    by_size = sorted(buffers, key=lambda buffer: -buffer[0].size_in_bytes)
    lines = [
        f"  {slot.name}: {format_shape(slot.shape)}, {slot.dtype.name}, "
        f"{format_bytes(slot.size_in_bytes)}, {what}"
        for slot, what in by_size[:_MOST_SHOWN]
        if slot.size_in_bytes >= needed * _WORTH_SHOWING
    ]
    others = len(buffers) - len(lines)
    return [*lines, f"  and {others} smaller"] if others else lines
