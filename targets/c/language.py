"""How C spells kernels: C11 with the vectors of GNU C, which GCC and Clang have.

The kernel of `targets/opencl/printer` is printed as

```c
typedef float float16 __attribute__((vector_size(64)));
static inline float16 vload_float16(const float *p) { ... }
static inline float16 lanes_exp_float16(float16 x) {
  float16 result;
  for (int n = 0; n < 16; ++n) {
    const float a = x[n];
    result[n] = exp(a);
  }
  return result;
}

// scale.tile:3
static inline void scale(
    const float *restrict A,
    float *restrict B,
    const long *work_group_id,
    const long *work_group_item) {
  const int i = work_group_id[0];
  const float16 x = vload_float16(A + (16 * i));
  const float16 y = lanes_exp_float16(x);
  vstore_float16(y, B + (16 * i));
}

void enqueue_scale(
    void *const *buffers, const long *counts, long first, long end) { ... }
```

Operators of floats mean the same on vectors of both languages. All else is written for
a scalar, as the table of functions has it, in a loop over the lanes, of which compilers
make vectors again. A function `enqueue_` runs the work-groups from `first` to below
`end` of a launch of `counts` groups along each dimension.

The work-items of a group run one after the other, so a kernel in which they wait for
each other is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import prod
from pathlib import Path
from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute

from ...dialects.eltwise.element_types import Kind, ui8
from ...dialects.eltwise.table import Function
from ...dialects.locations import error_at
from ...dialects.opencl.attributes import WorkItemQuery
from ...dialects.opencl.control_flow import ForOp
from ...dialects.opencl.kernel import KernelOp
from ...dialects.opencl.work_items import BarrierOp
from ...dialects.stripe.attributes import MemorySpace
from ..printer.conversions import cast
from ..printer.expressions import Expression, apply_function, helper_for
from ..printer.language import Language
from ..printer.types import CType, scalar_literal

_OPERATORS = frozenset({"add", "sub", "mul", "div", "neg"})
"""The functions of floats whose spelling GNU C has for vectors, too."""
_NAMES = "abc"
"""What the lanes of operands are called."""
_MOST_STEPS = 1 << 10
"""Compilers are asked to unroll."""

_LANES = """\
static inline {R} {name}({parameters}) {{
  {R} result;
  for (int n = 0; n < {lanes}; ++n) {{
{operands}
    result[n] = {value};
  }}
  return result;
}}
"""

_LOAD = """\
static inline {T} vload_{T}(const {S} *p) {{
  {T} x;
  __builtin_memcpy(&x, p, {lanes} * sizeof({S}));
  return x;
}}
"""

_STORE = """\
static inline void vstore_{T}({T} x, {S} *p) {{
  __builtin_memcpy(p, &x, {lanes} * sizeof({S}));
}}
"""

_SPLAT = """\
static inline {T} as_splat_{T}({S} x) {{
  return ({T}){{{lanes}}};
}}
"""

_ENQUEUE = """
void enqueue_{name}(
    void *const *work_group_buffers,
    const long *work_group_counts,
    long work_group_first,
    long work_group_end) {{
  const long work_group_row = work_group_counts[0];
  const long work_group_plane = work_group_row * work_group_counts[1];
  for (long work_group_n = work_group_first; work_group_n < work_group_end;
       ++work_group_n) {{
    const long work_group_id[3] = {{
        work_group_n % work_group_row,
        work_group_n % work_group_plane / work_group_row,
        work_group_n / work_group_plane}};
    for (long work_group_m = 0; work_group_m < {size}; ++work_group_m) {{
      const long work_group_item[3] = {{
          work_group_m % {row},
          work_group_m % {plane} / {row},
          work_group_m / {plane}}};
      {name}(
{arguments});
    }}
  }}
}}
"""


class GnuC(Language):
    """C11 with the vectors of GNU C."""

    name: ClassVar[str] = "C"

    @override
    def _beginning(self) -> Sequence[str]:
        return [_functions()]

    @override
    def kernel(self, kernel: KernelOp, name: str) -> tuple[Sequence[str], str]:
        if prod(kernel.group_size) > 1:
            for op in kernel.walk():
                if isinstance(op, BarrierOp):
                    raise error_at(
                        op,
                        "the work-items of a group run one after the other in C, and "
                        f"those of kernel '{name}' wait for each other",
                        "compile it for a description of a CPU, or for a device of "
                        "OpenCL",
                    )
        return [], f"static inline void {name}"

    @override
    def kernel_parameters(self) -> Sequence[str]:
        return ["const long *work_group_id", "const long *work_group_item"]

    @override
    def kernel_end(self, kernel: KernelOp, name: str) -> Sequence[str]:
        buffers = (
            f"work_group_buffers[{n}]" for n in range(len(kernel.body.block.args))
        )
        values = [*buffers, "work_group_id", "work_group_item"]
        arguments = ",\n".join(f"          {value}" for value in values)
        x, y, z = kernel.group_size
        text = _ENQUEUE.format(
            name=name, size=x * y * z, row=x, plane=x * y, arguments=arguments
        )
        return text.rstrip().split("\n")

    @override
    def function(self, result: str, name: str) -> str:
        return f"static inline {result} {name}"

    @override
    def in_space(self, space: MemorySpace, declaration: str) -> str:
        return declaration

    @override
    def work_item(self, kernel: KernelOp, query: WorkItemQuery, dimension: int) -> str:
        group, item = f"work_group_id[{dimension}]", f"work_group_item[{dimension}]"
        match query:
            case WorkItemQuery.GROUP_ID:
                return group
            case WorkItemQuery.LOCAL_ID:
                return item
            case WorkItemQuery.GLOBAL_ID:
                return f"{kernel.group_size[dimension]} * {group} + {item}"
            case WorkItemQuery.GLOBAL_OFFSET:
                return "0"

    @override
    def barrier(self, space: MemorySpace, *, is_asynchronous: bool) -> None:
        """There is one work-item in a group: see `kernel`."""

    @override
    def loop_marks(self, loop: ForOp) -> Sequence[str]:
        if loop.unroll is not None:
            return [f"as_unrolled({min(max(loop.steps, 1), _MOST_STEPS)})"]
        if loop.unroll_factor is not None:
            return [f"as_unrolled({loop.unroll_factor.value.data})"]
        return []

    @override
    def load(
        self, type: CType, position: str, aligned: MemorySpace | None = None
    ) -> str:
        name = _memory_type(type).name
        self.need(_LOAD.format(T=name, S=_memory_type(type).scalar, lanes=type.lanes))
        return f"vload_{name}({position})"

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
        name = _memory_type(type).name
        self.need(_STORE.format(T=name, S=_memory_type(type).scalar, lanes=type.lanes))
        return f"vstore_{name}({value}, {position});"

    @override
    def copy_asynchronously(
        self, type: CType, target: str, source: str, condition: str | None = None
    ) -> str:
        if condition is not None:
            size = type.bits // 8 * (type.lanes or 1)
            copy = self.copy_asynchronously(type, target, source)
            zeros = f"__builtin_memset({target}, 0, {size});"
            return f"if ({condition}) {{ {copy} }} else {{ {zeros} }}"
        if type.lanes is None:
            return f"*({target}) = *({source});"
        return self.store(self.load(type, source), type, target, streams=False)

    @override
    def prefetch(self, scalar: str, position: str) -> str:
        return f"__builtin_prefetch({position}, 0, 2);"

    @override
    def to_memory(self, operand: Expression) -> str:
        if operand.type.mask_bits is None:
            return operand.text
        name = _memory_type(operand.type).name
        return f"__builtin_convertvector(-{operand.atom}, {name})"

    @override
    def from_memory(self, text: str, type: CType) -> Expression:
        if type.element != i1:
            return Expression(text, type)
        test = f"{text} != 0"
        return Expression(
            test if type.lanes is None else f"({type.name})({test})", type
        )

    @override
    def literal(self, number: float, type: CType) -> str:
        if type.mask_bits is not None:
            return self._splat("-1" if number else "0", type).text
        text = scalar_literal(number, type.element)
        return text if type.lanes is None else self._splat(text, type).text

    @override
    def broadcast(self, operand: Expression, type: CType) -> Expression:
        text = operand.text if type.mask_bits is None else f"-{operand.atom}"
        return self._splat(text, type)

    def _splat(self, text: str, type: CType) -> Expression:
        """A scalar in every lane."""
        lanes = ", ".join(["x"] * (type.lanes or 1))
        self.need(_SPLAT.format(T=type.name, S=type.scalar, lanes=lanes))
        return Expression(f"as_splat_{type.name}({text})", type, is_atom=True)

    @override
    def shuffle(
        self, lanes: Sequence[tuple[Expression, int]], type: CType
    ) -> Expression:
        # A truth value is 1 as a scalar and -1 in a lane.
        parts: list[str] = []
        for operand, lane in lanes:
            is_vector = operand.type.lanes is not None
            text = f"{operand.atom}[{lane}]" if is_vector else operand.atom
            if (operand.type.mask_bits is None) != (type.mask_bits is None):
                text = f"-{text}"
            parts.append(text)
        if type.lanes is None:
            return Expression(parts[0], type)
        return Expression(f"({type.name}){{{', '.join(parts)}}}", type)

    @override
    def apply(
        self, function: Function, operands: Sequence[Expression], result: Attribute
    ) -> Expression:
        type = operands[-1].type
        if type.lanes is None:
            helper = helper_for(function, type)
            self.need(None if helper is None else f"static inline {helper}\n")
            return apply_function(function, operands, result)
        if function.name in _OPERATORS and type.kind is Kind.FLOAT:
            return apply_function(function, operands, result)
        return self._lane_by_lane(
            function.name, operands, lambda lanes: self.apply(function, lanes, result)
        )

    @override
    def cast(self, operand: Expression, target: Attribute) -> Expression:
        if operand.type.element == target:
            return operand
        if operand.type.lanes is None:
            return cast(operand, target)
        return self._lane_by_lane(
            f"cast_{target}", [operand], lambda lanes: cast(lanes[0], target)
        )

    def _lane_by_lane(
        self,
        name: str,
        operands: Sequence[Expression],
        apply: Callable[[Sequence[Expression]], Expression],
    ) -> Expression:
        """A function of scalars on each lane; `name` tells it from other ones."""
        types = [operand.type for operand in operands]
        named = [*zip(_NAMES, types, strict=False)]
        one = apply([Expression(n, CType(t.element), is_atom=True) for n, t in named])
        element, last = one.type.element, types[-1]
        result = CType(element, last.lanes, last.bits if element == i1 else None)
        full = "_".join(["lanes", name, *map(_key, types)])
        # A truth value is 0 or 1 as a scalar, and 0 or -1 in a lane.
        lines = [
            f"    const {CType(t.element).name} {n} = "
            f"{'-' if t.mask_bits is not None else ''}{n}s[n];"
            for n, t in named
        ]
        definition = _LANES.format(
            R=result.name,
            name=full,
            lanes=result.lanes,
            parameters=", ".join(f"{t.name} {n}s" for n, t in named),
            operands="\n".join(lines),
            value=one.text if result.mask_bits is None else f"-{one.atom}",
        )
        self.need(definition)
        arguments = ", ".join(operand.text for operand in operands)
        return Expression(f"{full}({arguments})", result, is_atom=True)

    @override
    def bitcast(self, operand: Expression, type: CType) -> Expression:
        if type.lanes is None:
            return Expression(f"as_{type.name}({operand.text})", type, is_atom=True)
        return Expression(f"({type.name}){operand.atom}", type)

    @override
    def divide(self, operand: Expression, divisor: Expression) -> Expression:
        value = self._splat(divisor.text, operand.type)
        return Expression(f"{operand.atom} / {value.text}", operand.type)

    @override
    def numbers(self, form: str, type: CType, step: int | None) -> Expression:
        if type.lanes is None:
            return Expression(f"({type.name})({form})", type)
        start = self._splat(f"({type.scalar})({form})", type)
        if step is None:
            return start
        # Sums of unsigned numbers wrap around in C.
        unsigned = f"u{type.name}" if type.kind is Kind.SIGNED else type.name
        numbers = [step * number for number in range(type.lanes)]
        steps = ", ".join(scalar_literal(number, type.element) for number in numbers)
        text = f"({unsigned}){start.text} + ({unsigned}){{{steps}}}"
        return Expression(f"({type.name})({text})", type)


def _key(type: CType) -> str:
    """What tells a type from others, also from those with the same name in C."""
    mask = "" if type.mask_bits is None else f"m{type.mask_bits}"
    return f"{type.element}x{type.lanes}{mask}"


def _memory_type(type: CType) -> CType:
    """A vector type as memory has it, where a truth value is a byte."""
    return CType(ui8, type.lanes) if type.element == i1 else type


@cache
def _functions() -> str:
    """What stands in front of all C."""
    return Path(__file__).with_name("functions.h").read_text()
