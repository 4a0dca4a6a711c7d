"""The buffers that launches of a host program use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...dialects.opencl.effects import Use, argument_uses
from ...dialects.opencl.kernel import KernelOp, LaunchOp
from ..dependences import Effects


def effects_of(launch: LaunchOp, uses: Mapping[str, Sequence[Use]]) -> Effects:
    """The effects of a launch; `uses` are those of the arguments of each kernel."""
    own = uses[launch.kernel_name]
    pairs = zip(launch.buffers, own, strict=True)
    return Effects.of((buffer, use.writes) for buffer, use in pairs)


def kernel_uses(kernels: Mapping[str, KernelOp]) -> dict[str, list[Use]]:
    """What each kernel does with its arguments."""
    return {name: argument_uses(kernel) for name, kernel in kernels.items()}
