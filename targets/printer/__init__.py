"""The kernels of a module at the opencl level as text, in one of several languages.

Loops, conditions, index arithmetic and names are the same in all of them; a `Language`
(`language`) spells the rest. That of OpenCL is in `targets/opencl/printer`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp

from ...dialects.opencl.functions import FunctionOp
from ...dialects.opencl.kernel import KernelOp
from .kernel import FunctionPrinter, KernelPrinter
from .language import Language
from .names import NameScope


class PrintedKernel(NamedTuple):
    """A kernel that was printed before the others."""

    name: str
    definition: str
    language: Language
    """What it needs."""


def print_kernel(
    module: ModuleOp, kernel: KernelOp, language: Language
) -> tuple[str, PrintedKernel]:
    """The text of one kernel of a module, with what it needs, and the kernel in it.

    Raises GinghamError for what the language does not have.
    """
    names = kernel_names(module)
    called, definitions = _functions(module, names, language, 32)
    name = names[kernel.sym_name.data]
    definition = KernelPrinter(kernel, name, language, 32, called).print()
    text = language.text([*definitions, definition])
    return text, PrintedKernel(name, definition, language)


def print_kernels(
    module: ModuleOp,
    language: Language,
    index_bits: int = 32,
    known: Mapping[KernelOp, PrintedKernel] = MappingProxyType({}),
) -> str:
    """The text of all kernels of a module, and of the functions that they call.

    `index_bits` is the least width of index arithmetic: 32, or 64 for long everywhere.
    `known` are kernels that were printed before, with 32.
    Raises GinghamError for what the language does not have.
    """
    names = kernel_names(module)
    called, definitions = _functions(module, names, language, index_bits)
    for op in module.ops:
        if isinstance(op, KernelOp):
            name, printed = names[op.sym_name.data], known.get(op)
            if printed is not None and printed.name == name:
                language.include(printed.language)
                definitions.append(printed.definition)
                continue
            printer = KernelPrinter(op, name, language, index_bits, called)
            definitions.append(printer.print())
    return language.text(definitions)


def _functions(
    module: ModuleOp, names: Mapping[str, str], language: Language, index_bits: int
) -> tuple[dict[str, str], list[str]]:
    """The names of the functions of a module, by their symbols, and their texts."""
    functions = [op for op in module.ops if isinstance(op, FunctionOp)]
    called = {op.sym_name.data: names[op.sym_name.data] for op in functions}
    definitions = [
        FunctionPrinter(
            op, names[op.sym_name.data], language, index_bits, called
        ).print()
        for op in functions
    ]
    return called, definitions


def kernel_names(module: ModuleOp) -> dict[str, str]:
    """What kernels and functions are called in their text, by their symbols."""
    scope = NameScope()
    return {
        op.sym_name.data: scope.declare(op.sym_name.data, "kernel_0")
        for op in module.ops
        if isinstance(op, KernelOp | FunctionOp)
    }
