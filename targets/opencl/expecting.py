"""Helpers that start before there is anything to build, and get kernels one by one.

A process that helps to build takes a second until it is there. So where a program will
have many kernels, or long ones, helpers start while the passes run, and build each
kernel while the passes make the next ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import ModuleOp

from ...dialects.opencl.kernel import KernelOp
from ...dialects.tile import ContractOp, GradientOp
from ..code import PrintedCode
from ..printer import PrintedKernel
from .builds.helpers import helpers
from .builds.scheduling import BegunBuild
from .compiled import CompiledCode, build_code, print_module
from .devices.device import OpenCLDevice
from .printer import print_opencl_kernel

_MANY_CONTRACTIONS = 24
"""Different ones, whose kernels together take long enough to build."""
_OF_GRADIENTS = 3
"""Contractions that there are for each one with its gradients."""


class AheadOfBuild:
    """See `Ahead`: helpers start, and build each kernel as soon as it is ready."""

    def __init__(self, device: OpenCLDevice, options: Sequence[str]) -> None:
        self._device = device
        self._options = options
        self._build = BegunBuild(device, " ".join(options))
        self._printed: dict[KernelOp, PrintedKernel] = {}

    def expect(self, module: ModuleOp) -> Callable[[ModuleOp, KernelOp], None] | None:
        """See `Ahead`: few contractions are built before helpers are there."""
        if (
            not self._device.details.builds_whole_binaries
            or contraction_count(module) < _MANY_CONTRACTIONS
        ):
            return None
        helpers.expect(self._device)
        return self._begin

    def _begin(self, module: ModuleOp, kernel: KernelOp) -> None:
        source, printed = print_opencl_kernel(module, kernel)
        self._printed[kernel] = printed
        self._build.add(printed.definition, source)

    def printed(self, module: ModuleOp) -> PrintedCode:
        """See `Ahead`."""
        return print_module(module, self._printed)

    def build(self, printed: PrintedCode) -> CompiledCode:
        """See `Ahead`."""
        return build_code(printed, self._device, self._options, self._build)

    def end(self) -> None:
        """See `Ahead`."""
        self._build.end()


def contraction_count(module: ModuleOp) -> int:
    """The contractions of a specialized module that differ, with their gradients."""
    contractions: set[object] = set()
    factor = 1
    for op in module.walk():
        if isinstance(op, ContractOp):
            types = (*op.operand_types, *op.result_types)
            contractions.add((types, frozenset(op.properties.items())))
        elif isinstance(op, GradientOp):
            factor = _OF_GRADIENTS
    return len(contractions) * factor
