"""Which launches of a host program must keep their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ...dialects.opencl.effects import Use, argument_uses
from ...dialects.opencl.kernel import KernelOp, LaunchOp


@dataclass(frozen=True)
class Effects:
    """The buffers that a launch uses, and those of them that it writes."""

    used: frozenset[SSAValue]
    written: frozenset[SSAValue]

    def depends_on(self, other: Effects) -> bool:
        """Whether the order of the two matters."""
        return not (
            self.written.isdisjoint(other.used) and other.written.isdisjoint(self.used)
        )


def effects_of(launch: LaunchOp, uses: Mapping[str, Sequence[Use]]) -> Effects:
    """The effects of a launch; `uses` are those of the arguments of each kernel."""
    own = uses[launch.kernel.root_reference.data]
    pairs = list(zip(launch.buffers, own, strict=True))
    return Effects(
        frozenset(launch.buffers),
        frozenset(buffer for buffer, use in pairs if use.writes),
    )


def kernel_uses(kernels: Mapping[str, KernelOp]) -> dict[str, list[Use]]:
    """What each kernel does with its arguments."""
    return {name: argument_uses(kernel) for name, kernel in kernels.items()}
