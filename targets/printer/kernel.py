"""Kernels and the functions that they call as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Operation, SSAValue

from ...dialects.locations import error_at
from ...dialects.opencl.choose import ChooseOp
from ...dialects.opencl.effects import pointer_use
from ...dialects.opencl.functions import ARGUMENT, FunctionOp
from ...dialects.opencl.kernel import KernelOp
from ...dialects.opencl.work_items import BarrierOp, WorkItemOp
from ...dialects.stripe.attributes import MemorySpace
from .expressions import Expression
from .language import Language
from .statements import (
    INDENT,
    PrintedArray,
    StatementPrinter,
    located,
    pointer_type,
)

_WIDTH = 88


class KernelPrinter(StatementPrinter):
    """Prints one kernel, whose name in C is `name`; see `print_kernels`."""

    def __init__(
        self,
        kernel: KernelOp,
        name: str,
        language: Language,
        index_bits: int,
        functions: Mapping[str, str],
    ) -> None:
        super().__init__(kernel.body.block, language, index_bits, functions)
        self._kernel = kernel
        self._name = name

    def print(self) -> str:
        """The definition of the kernel."""
        self._comment_place(self._kernel)
        self._print_signature()
        with self._nested():
            self._print_statements(self._kernel.body.block)
        self._line("}")
        self._lines += self._language.kernel_end(self._kernel, self._name)
        return "\n".join(self._lines) + "\n"

    def _print_signature(self) -> None:
        with located(self._kernel):
            lines, start = self._language.kernel(self._kernel, self._name)
        arguments = [self._argument(value) for value in self._kernel.body.block.args]
        arguments += self._language.kernel_parameters()
        for line in [*lines, *_header(start, arguments)]:
            self._line(line)

    def _argument(self, value: SSAValue) -> str:
        type = pointer_type(value)
        if type.space.data is not MemorySpace.GLOBAL:
            raise error_at(
                self._kernel, f"expected kernel arguments in global memory, got {type}"
            )
        with located(self._kernel):
            start, name = self._new_pointer(value)
        return self._language.in_space(MemorySpace.GLOBAL, f"{start} {name}")

    def _new_pointer(self, value: SSAValue) -> tuple[str, str]:
        """The type of a pointer as it is declared, and a name for it."""
        name = self._scope.declare(value.name_hint, "buffer")
        self._arrays[value] = PrintedArray(name)
        const = "" if pointer_use(value).writes else "const "
        element = self._memory_name(pointer_type(value).element_type)
        return f"{const}{element} *restrict", name

    def _print_op(self, op: Operation) -> None:
        match op:
            case WorkItemOp():
                self._print_work_item(op)
            case BarrierOp():
                self._comment_place(op)
                space, is_asynchronous = op.space.data, op.asynchronous is not None
                statement = self._language.barrier(
                    space, is_asynchronous=is_asynchronous
                )
                if statement is not None:
                    self._line(statement)
            case ChooseOp():
                self._print_choose(op)
            case _:
                super()._print_op(op)

    def _print_work_item(self, op: WorkItemOp) -> None:
        query, dimension = op.query.data, op.dimension.value.data
        text = self._language.work_item(self._kernel, query, dimension)
        self._declare_index(op, op.result, text, op.bound.value.data)

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
        start, name = self._new_pointer(argument)
        space = pointer_type(argument).space.data
        declaration = f"{start} const {name} = {value}"
        self._line(f"{self._language.in_space(space, declaration)};")


class FunctionPrinter(StatementPrinter):
    """Prints one function, whose name in C is `name`."""

    def __init__(
        self,
        function: FunctionOp,
        name: str,
        language: Language,
        index_bits: int,
        functions: Mapping[str, str],
    ) -> None:
        super().__init__(function.body.block, language, index_bits, functions)
        self._function = function
        self._name = name

    def print(self) -> str:
        """The definition of the function."""
        with located(self._function):
            result = self._c_type(self._function.returned.type).name
            arguments = [self._argument(value) for value in self._entry.args]
        start = self._language.function(result, self._name)
        for line in _header(start, arguments):
            self._line(line)
        with self._nested():
            self._print_body()
        self._line("}")
        return "\n".join(self._lines) + "\n"

    def _print_body(self) -> None:
        """The statements, or the instruction that stands for them in the language."""
        function = self._function
        if function.native is None or not self._language.has_native_functions:
            self._print_statements(self._entry)
            return
        names = [self._values[argument].text for argument in self._entry.args]
        text = ARGUMENT.sub(lambda found: names[int(found[1])], function.native.data)
        native = text.strip().splitlines()
        if function.needs is None:
            for line in native:
                self._line(line)
            return
        self._lines.append(f"#ifdef {function.needs.data}")
        for line in native:
            self._line(line)
        self._lines.append("#else")
        self._print_statements(self._entry)
        self._lines.append("#endif")

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
