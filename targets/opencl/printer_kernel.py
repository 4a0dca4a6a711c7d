"""Kernels and the functions that they call as OpenCL C."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import SSAValue

from ...dialects.opencl.functions import FunctionOp
from ...dialects.opencl.kernel import KernelOp
from ...dialects.opencl.ops import StoreOp
from ...dialects.stripe.attributes import MemorySpace
from .printer_expressions import Expression
from .printer_statements import (
    INDENT,
    Needs,
    PrintedArray,
    StatementPrinter,
    error_at,
    located,
    pointer_type,
)

_WIDTH = 88


class KernelPrinter(StatementPrinter):
    """Prints one kernel, whose name in C is `name`; see `print_opencl`."""

    def __init__(
        self,
        kernel: KernelOp,
        name: str,
        needs: Needs,
        index_bits: int,
        functions: Mapping[str, str],
    ) -> None:
        super().__init__(kernel.body.block, needs, index_bits, functions)
        self._kernel = kernel
        self._name = name

    def print(self) -> str:
        """The definition of the kernel."""
        self._comment_place(self._kernel)
        self._print_signature()
        with self._nested():
            self._print_statements(self._kernel.body.block)
        self._line("}")
        return "\n".join(self._lines) + "\n"

    def _print_signature(self) -> None:
        group = ", ".join(str(size) for size in self._kernel.group_size)
        self._line(f"__kernel __attribute__((reqd_work_group_size({group})))")
        arguments = [self._argument(value) for value in self._kernel.body.block.args]
        for line in _header(f"void {self._name}", arguments):
            self._line(line)

    def _argument(self, value: SSAValue) -> str:
        type = pointer_type(value)
        if type.space.data is not MemorySpace.GLOBAL:
            raise error_at(
                self._kernel, f"expected kernel arguments in global memory, got {type}"
            )
        is_stored = any(isinstance(use.operation, StoreOp) for use in value.uses)
        const = "" if is_stored else "const "
        name = self._scope.declare(value.name_hint, "buffer")
        self._arrays[value] = PrintedArray(name)
        with located(self._kernel):
            element = self._memory_name(type.element_type)
        return f"__global {const}{element} *restrict {name}"


class FunctionPrinter(StatementPrinter):
    """Prints one function, whose name in C is `name`."""

    def __init__(
        self,
        function: FunctionOp,
        name: str,
        needs: Needs,
        index_bits: int,
        functions: Mapping[str, str],
    ) -> None:
        super().__init__(function.body.block, needs, index_bits, functions)
        self._function = function
        self._name = name

    def print(self) -> str:
        """The definition of the function."""
        with located(self._function):
            result = self._c_type(self._function.returned.type).name
            arguments = [self._argument(value) for value in self._entry.args]
        for line in _header(f"{result} {self._name}", arguments):
            self._line(line)
        with self._nested():
            self._print_statements(self._entry)
        self._line("}")
        return "\n".join(self._lines) + "\n"

    def _argument(self, value: SSAValue) -> str:
        type = self._c_type(value.type)
        name = self._scope.declare(value.name_hint, "x")
        self._values[value] = Expression(name, type, is_atom=True)
        return f"{type.name} {name}"


def _header(start: str, arguments: Sequence[str]) -> list[str]:
    """The first lines of a definition."""
    line = f"{start}({', '.join(arguments)}) {{"
    if len(line) <= _WIDTH:
        return [line]
    return [
        f"{start}(",
        *(f"{INDENT * 2}{argument}," for argument in arguments[:-1]),
        f"{INDENT * 2}{arguments[-1]}) {{",
    ]
