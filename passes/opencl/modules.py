"""What a module at the level of kernels has: kernels, host programs, launches."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ...dialects.opencl.kernel import KernelOp, LaunchOp
from ..walking import functions


def kernels(module: ModuleOp) -> list[KernelOp]:
    """The kernels of a module, in order."""
    return [op for op in module.ops if isinstance(op, KernelOp)]


def kernels_by_name(module: ModuleOp) -> dict[str, KernelOp]:
    """The same by their symbols."""
    return {kernel.sym_name.data: kernel for kernel in kernels(module)}


def host_programs(module: ModuleOp) -> list[FuncOp]:
    """The functions of a module that launch kernels; not mere declarations."""
    return [each for each in functions(module) if not each.is_declaration]


def host_launches(function: FuncOp) -> list[LaunchOp]:
    """The launches of a host program, in order."""
    return [op for op in function.body.block.ops if isinstance(op, LaunchOp)]
