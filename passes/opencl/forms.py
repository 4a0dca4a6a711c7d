"""What accesses memory and uses indices, in forms, and how these change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Operation, SSAValue

from ...dialects.form_attribute import FormAttr
from ...dialects.index_sum import IndexSum, values_of
from ...dialects.opencl.attributes import PointerType
from ...dialects.opencl.control_flow import IfOp
from ...dialects.opencl.data_ops import IndexOp
from ...dialects.opencl.memory import LoadOp, StoreOp
from ...dialects.stripe.attributes import MemorySpace

FORMED = (LoadOp, StoreOp, IfOp, IndexOp)
"""What uses indices in forms."""


def substitute(op: Operation, replacements: Mapping[SSAValue, IndexSum]) -> None:
    """Put sums in place of indices in the forms of an op."""
    match op:
        case LoadOp() | StoreOp():
            _set_place(op, place(op).substitute(replacements))
        case IndexOp():
            op.rewrite(op.sum.substitute(replacements))
        case IfOp():
            forms = [each.data for each in op.conditions]
            sums = [IndexSum.of(f, op.values).substitute(replacements) for f in forms]
            values = values_of(sums)
            op.operands = values
            op.conditions = ArrayAttr([FormAttr(sum.form(values)) for sum in sums])
        case _:
            pass


def move(op: LoadOp | StoreOp, distance: IndexSum) -> None:
    """Let an access be further on in its memory."""
    _set_place(op, place(op) + distance)


def place(op: LoadOp | StoreOp) -> IndexSum:
    """Where an access is in its memory."""
    return IndexSum.of(op.form.data, op.values)


def space_of(pointer: SSAValue) -> MemorySpace | None:
    """The memory that a pointer is to."""
    type = pointer.type
    return type.space.data if isinstance(type, PointerType) else None


def reach_each_cell_once(loops: Iterable[tuple[int, int]], size: int = 1) -> bool:
    """Whether loops of these steps and extents reach `size` cells each at most once."""
    for step, extent in sorted(loops):
        if step < size and extent > 1:
            return False
        size = max(size, step * extent)
    return True


def _set_place(op: LoadOp | StoreOp, sum: IndexSum) -> None:
    form, values = sum.as_form()
    others = [op.pointer] if isinstance(op, LoadOp) else [op.value, op.pointer]
    op.operands = [*others, *values]
    op.form = FormAttr(form)
