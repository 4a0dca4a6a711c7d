"""From which launch to which a buffer of a host program is in use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue

from ...dialects.eltwise.ops import value_bytes
from ...dialects.opencl.attributes import BufferType
from ...dialects.opencl.kernel import AllocateOp
from .modules import host_launches


@dataclass(frozen=True)
class Lifetime:
    """A buffer that needs `size` bytes from launch `first` to launch `last`."""

    size: int
    first: int
    last: int

    def meets(self, other: Lifetime) -> bool:
        """Whether there is a launch during which both are in use."""
        return self.first <= other.last and other.first <= self.last


def lower_bound(lifetimes: Sequence[Lifetime]) -> int:
    """The most bytes that are in use at once: no placement needs fewer."""
    changes: dict[int, int] = {}
    for lifetime in lifetimes:
        changes[lifetime.first] = changes.get(lifetime.first, 0) + lifetime.size
        changes[lifetime.last + 1] = changes.get(lifetime.last + 1, 0) - lifetime.size
    most = now = 0
    for launch in sorted(changes):
        now += changes[launch]
        most = max(most, now)
    return most


def buffer_bytes(type: BufferType) -> int:
    """The bytes of all elements; truth values take one each."""
    return prod(type.sizes) * value_bytes(type.element_type)


def returned_buffers(function: FuncOp) -> set[SSAValue]:
    """The buffers that the caller gets."""
    last = function.body.block.last_op
    return set(last.arguments) if isinstance(last, ReturnOp) else set()


def own_buffers(function: FuncOp) -> dict[SSAValue, Lifetime]:
    """The lifetimes of the buffers that exist only within one call.

    That leaves out what is returned, what is kept from a launch that runs once for
    others that do not, and what nothing uses.
    """
    uses: dict[SSAValue, list[int]] = {}
    launches = host_launches(function)
    for number, launch in enumerate(launches):
        for buffer in launch.buffers:
            uses.setdefault(buffer, []).append(number)
    returned = returned_buffers(function)
    lifetimes: dict[SSAValue, Lifetime] = {}
    for buffer, numbers in uses.items():
        if buffer in returned or not isinstance(buffer.owner, AllocateOp):
            continue
        # Launches that run once come first, and see no call but the first.
        if len({launches[number].once is None for number in numbers}) > 1:
            continue
        size = buffer_bytes(buffer.owner.buffer.type)
        lifetimes[buffer] = Lifetime(size, numbers[0], numbers[-1])
    return lifetimes
