"""Helpers that start before there is anything to build.

A process that helps to build takes a second until it is there. So where a program will
have many kernels, or long ones, helpers start while the passes run.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from ...dialects.tile import ContractOp, GradientOp
from .builds.helpers import helpers
from .devices.device import OpenCLDevice

_MANY_CONTRACTIONS = 24
"""Different ones, whose kernels together take long enough to build."""
_OF_GRADIENTS = 3
"""Contractions that there are for each one with its gradients."""


def start_helpers(device: OpenCLDevice, module: ModuleOp) -> None:
    """Start helpers where it pays for a specialized module."""
    if (
        device.details.builds_whole_binaries
        and contraction_count(module) >= _MANY_CONTRACTIONS
    ):
        helpers.expect(device)


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
