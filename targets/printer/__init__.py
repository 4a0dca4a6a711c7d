"""The kernels of a module at the opencl level as text, in one of several languages.

Loops, conditions, index arithmetic and names are the same in all of them; a `Language`
(`language`) spells the rest. That of OpenCL is in `targets/opencl/printer`.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from ...dialects.opencl.functions import FunctionOp
from ...dialects.opencl.kernel import KernelOp
from .kernel import FunctionPrinter, KernelPrinter
from .language import Language
from .names import NameScope


def print_kernels(module: ModuleOp, language: Language, index_bits: int = 32) -> str:
    """The text of all kernels of a module, and of the functions that they call.

    `index_bits` is the least width of index arithmetic: 32, or 64 for long everywhere.
    Raises GinghamError for what the language does not have.
    """
    names = kernel_names(module)
    functions = [op for op in module.ops if isinstance(op, FunctionOp)]
    kernels = [op for op in module.ops if isinstance(op, KernelOp)]
    called = {op.sym_name.data: names[op.sym_name.data] for op in functions}
    definitions = [
        FunctionPrinter(
            op, names[op.sym_name.data], language, index_bits, called
        ).print()
        for op in functions
    ]
    definitions += [
        KernelPrinter(op, names[op.sym_name.data], language, index_bits, called).print()
        for op in kernels
    ]
    return language.text(definitions)


def kernel_names(module: ModuleOp) -> dict[str, str]:
    """What kernels and functions are called in their text, by their symbols."""
    scope = NameScope()
    return {
        op.sym_name.data: scope.declare(op.sym_name.data, "kernel_0")
        for op in module.ops
        if isinstance(op, KernelOp | FunctionOp)
    }
