"""Kernels and the functions that they call as OpenCL C."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Operation, SSAValue

from ....dialects.opencl.choose import ChooseOp
from ....dialects.opencl.effects import pointer_use
from ....dialects.opencl.functions import FunctionOp
from ....dialects.opencl.kernel import KernelOp
from ....dialects.stripe.attributes import MemorySpace
from .expressions import Expression
from .statements import (
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
        const = "" if pointer_use(value).writes else "const "
        name = self._scope.declare(value.name_hint, "buffer")
        self._arrays[value] = PrintedArray(name)
        with located(self._kernel):
            element = self._memory_name(type.element_type)
        return f"__global {const}{element} *restrict {name}"

    def _print_op(self, op: Operation) -> None:
        if isinstance(op, ChooseOp):
            self._print_choose(op)
        else:
            super()._print_op(op)

    def _print_choose(self, op: ChooseOp) -> None:
        cases, first = op.cases, op.first.value.data
        index = self._indices[op.index]
        self._comment_place(op)
        last = first + len(cases) - 1
        conditions = [
            *([] if index.low == first else [f"{index.text} >= {first}"]),
            *([] if index.high == last else [f"{index.text} <= {last}"]),
        ]
        self._line(f"if ({' && '.join(conditions)}) {{" if conditions else "{")
        with self._nested():
            for number, argument in enumerate(op.body.block.args):
                own = [self._arrays[case[number]].name for case in cases]
                value = own[-1]
                for case in reversed(range(len(own) - 1)):
                    value = f"{index.text} == {first + case} ? {own[case]} : {value}"
                self._declare_pointer(argument, value)
            self._print_statements(op.body.block)
        self._line("}")

    def _declare_pointer(self, argument: SSAValue, value: str) -> None:
        """Give a name to a pointer that is one of several."""
        type = pointer_type(argument)
        space = type.space.data.value
        const = "" if pointer_use(argument).writes else "const "
        element = self._memory_name(type.element_type)
        name = self._scope.declare(argument.name_hint, "buffer")
        self._arrays[argument] = PrintedArray(name)
        self._line(f"__{space} {const}{element} *restrict const {name} = {value};")


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
