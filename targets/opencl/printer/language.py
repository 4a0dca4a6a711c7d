"""How OpenCL C spells kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import f64
from xdsl.ir import Attribute

from ....dialects.eltwise.table import Function
from ....dialects.opencl.attributes import WorkItemQuery
from ....dialects.opencl.control_flow import ForOp
from ....dialects.opencl.kernel import KernelOp
from ....dialects.stripe.attributes import MemorySpace
from ...printer.conversions import cast
from ...printer.expressions import Expression, helper_for
from ...printer.language import Language
from ...printer.types import CType
from . import vectors
from .aligned import ALIGNED, can_align, load_aligned, store_aligned
from .asynchronous import ASYNCHRONOUS, COPY_OR_ZERO, copy_asynchronously
from .conversions import cast_helper
from .data import number_of_index
from .division import divide_helper
from .prefetches import fetch_helper
from .streams import can_stream, stream_helper

_EXTENSIONS: dict[Attribute, str] = {f64: "cl_khr_fp64"}
"""The extension that a kernel needs to compute with an element type."""


class OpenCLC(Language):
    """OpenCL C 1.2."""

    name: ClassVar[str] = "OpenCL C"
    has_native_functions: ClassVar[bool] = True

    @override
    def _beginning(self) -> Sequence[str]:
        lines = [
            f"#pragma OPENCL EXTENSION {extension} : enable\n"
            for element, extension in _EXTENSIONS.items()
            if element in self._elements
        ]
        return ["".join(lines)] if lines else []

    @override
    def kernel(self, kernel: KernelOp, name: str) -> tuple[Sequence[str], str]:
        group = ", ".join(str(size) for size in kernel.group_size)
        attribute = f"__kernel __attribute__((reqd_work_group_size({group})))"
        return [attribute], f"void {name}"

    @override
    def kernel_parameters(self) -> Sequence[str]:
        return ()

    @override
    def kernel_end(self, kernel: KernelOp, name: str) -> Sequence[str]:
        return ()

    @override
    def function(self, result: str, name: str) -> str:
        return f"{result} {name}"

    @override
    def in_space(self, space: MemorySpace, declaration: str) -> str:
        if space is MemorySpace.PRIVATE:
            return declaration
        if space is MemorySpace.LOCAL and declaration.endswith("]"):
            # As vectors of all that a work-item accesses at once.
            return f"__{space.value} {declaration} __attribute__((aligned(16)))"
        return f"__{space.value} {declaration}"

    @override
    def work_item(self, kernel: KernelOp, query: WorkItemQuery, dimension: int) -> str:
        return f"get_{query.value}({dimension})"

    @override
    def barrier(self, space: MemorySpace, *, is_asynchronous: bool) -> str:
        fence = f"CLK_{space.value.upper()}_MEM_FENCE"
        if is_asynchronous:
            self.need(ASYNCHRONOUS)
            return f"barrier_behind_copies({fence});"
        return f"barrier({fence});"

    @override
    def loop_marks(self, loop: ForOp) -> Sequence[str]:
        if loop.unroll is not None:
            return ["#pragma unroll"]
        if loop.unroll_factor is None:
            return []
        return [
            f"#pragma unroll {loop.unroll_factor.value.data}",
            "#pragma clang loop vectorize(disable)",
        ]

    @override
    def load(
        self, type: CType, position: str, aligned: MemorySpace | None = None
    ) -> str:
        if aligned is not None and can_align(type):
            self.need(ALIGNED)
            return load_aligned(type, aligned, position)
        return f"vload{type.lanes}(0, {position})"

    @override
    def store(
        self,
        value: str,
        type: CType,
        position: str,
        aligned: MemorySpace | None = None,
        *,
        streams: bool,
    ) -> str:
        if aligned is not None and not streams and can_align(type):
            self.need(ALIGNED)
            return store_aligned(value, type, aligned, position)
        if streams and can_stream(type):
            self.need(stream_helper(type))
            return f"vstore_stream_{type.name}({value}, {position});"
        return f"vstore{type.lanes}({value}, 0, {position});"

    @override
    def copy_asynchronously(
        self, type: CType, target: str, source: str, condition: str | None = None
    ) -> str:
        self.need(ASYNCHRONOUS)
        if condition is not None:
            self.need(COPY_OR_ZERO)
        return copy_asynchronously(type, target, source, condition)

    @override
    def prefetch(self, scalar: str, position: str) -> str:
        self.need(fetch_helper(scalar))
        return f"fetch_{scalar}({position});"

    @override
    def to_memory(self, operand: Expression) -> str:
        return vectors.as_memory(operand)

    @override
    def from_memory(self, text: str, type: CType) -> Expression:
        return vectors.from_memory(text, type)

    @override
    def literal(self, number: float, type: CType) -> str:
        return vectors.literal(number, type)

    @override
    def broadcast(self, operand: Expression, type: CType) -> Expression:
        return vectors.broadcast(operand, type)

    @override
    def shuffle(
        self, lanes: Sequence[tuple[Expression, int]], type: CType
    ) -> Expression:
        return vectors.shuffle(lanes, type)

    @override
    def apply(
        self, function: Function, operands: Sequence[Expression], result: Attribute
    ) -> Expression:
        self.need(helper_for(function, operands[-1].type))
        return vectors.apply(function, operands, result)

    @override
    def cast(self, operand: Expression, target: Attribute) -> Expression:
        self.need(cast_helper(operand.type, target))
        return cast(operand, target)

    @override
    def bitcast(self, operand: Expression, type: CType) -> Expression:
        return Expression(f"as_{type.name}({operand.text})", type, is_atom=True)

    @override
    def divide(self, operand: Expression, divisor: Expression) -> Expression:
        type = operand.type
        self.need(divide_helper(type))
        return Expression(f"divide_{type.name}({operand.text}, {divisor.text})", type)

    @override
    def numbers(self, form: str, type: CType, step: int | None) -> Expression:
        return number_of_index(form, type, step)
