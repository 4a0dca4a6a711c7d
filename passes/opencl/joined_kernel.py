"""The kernel of several launches, whose work-groups are divided among them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import prod

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...affine.form import LinearForm
from ...dialects.opencl.attributes import PointerType, WorkItemQuery
from ...dialects.opencl.choose import ChooseOp
from ...dialects.opencl.control_flow import IfOp
from ...dialects.opencl.kernel import KernelOp, LaunchOp
from ...dialects.opencl.memory import ArrayOp
from ...dialects.opencl.work_items import DelinearizeOp, WorkItemOp
from ...dialects.stripe.attributes import MemorySpace
from ...dialects.stripe.scheduled import keep_done
from ..locations import error_at, located


@dataclass(frozen=True)
class JoinedLaunch:
    """A launch that becomes part of another one."""

    launch: LaunchOp
    kernel: KernelOp

    @property
    def groups(self) -> int:
        """How many work-groups it has."""
        return prod(self.launch.group_counts)

    def key(self, buffers: Sequence[SSAValue]) -> object:
        """What parts with equal kernels have in common."""
        numbers = tuple(buffers.index(buffer) for buffer in self.launch.buffers)
        return self.kernel, self.launch.group_counts, numbers

    @property
    def likeness(self) -> object:
        """Parts with the same differ in their buffers at most."""
        return self.kernel.sym_name.data, self.launch.group_counts

    @property
    def arguments(self) -> Iterator[tuple[SSAValue, SSAValue]]:
        """Each pointer of the kernel with the buffer that it gets."""
        return zip(self.kernel.body.block.args, self.launch.buffers, strict=True)


def group_count(parts: Sequence[JoinedLaunch]) -> int:
    """The work-groups of the joined launch: as if each part had as many as any."""
    return max(part.groups for part in parts) * len(parts)


def build_kernel(
    name: str, parts: Sequence[JoinedLaunch], buffers: Sequence[SSAValue]
) -> KernelOp:
    """One kernel over `buffers` that does what the kernels of all parts do.

    Parts of one kernel stand side by side. Raises GinghamError for a kernel that asks
    for the number of a work-item in the whole launch.
    """
    first = parts[0].kernel
    kernel = KernelOp(name, first.group_size, _Builder(parts, buffers).body())
    keep_done(kernel, [part.kernel for part in parts])
    return located(kernel, first)


class _Builder:
    """Builds the body of a joined kernel."""

    def __init__(
        self, parts: Sequence[JoinedLaunch], buffers: Sequence[SSAValue]
    ) -> None:
        self._parts = parts
        self._most = max(part.groups for part in parts)
        types: dict[SSAValue, PointerType] = {}
        for part in parts:
            for argument, buffer in part.arguments:
                if isinstance(argument.type, PointerType):
                    types[buffer] = argument.type
        region = KernelOp.empty_body(
            [(types[buffer], buffer.name_hint) for buffer in buffers]
        )
        self._region = region
        self._pointers = dict(zip(buffers, region.block.args, strict=True))
        item = WorkItemOp(WorkItemQuery.GROUP_ID, 0, self._most * len(parts))
        item.result.name_hint = "group"
        # Parts take turns, so that each core gets some groups of each.
        turns = DelinearizeOp(item.result, [self._most, len(parts)])
        self._place, self._part = turns.coordinates
        self._place.name_hint, self._part.name_hint = "place", "part"
        region.block.add_ops([item, turns])
        self._arrays: list[ArrayOp] = []
        """Those of a work-group, which parts use one after the other."""

    def body(self) -> Region:
        """The whole body."""
        number = 0
        for _, grouped in groupby(self._parts, key=lambda part: part.likeness):
            alike = list(grouped)
            build = self._one if len(alike) == 1 else self._several
            run = build(alike, number)
            self._region.block.add_op(located(run, alike[0].kernel))
            number += len(alike)
        Rewriter.insert_op(self._arrays, InsertPoint.at_start(self._region.block))
        return self._region

    def _one(self, parts: Sequence[JoinedLaunch], number: int) -> IfOp:
        """The statements of part `number` for its own groups."""
        (part,) = parts
        last = len(self._parts) - 1
        conditions = [LinearForm.of([1, 0], -number)] if number else []
        if number < last or not number:
            conditions.append(LinearForm.of([-1, 0], number))
        if part.groups < self._most:
            conditions.append(LinearForm.of([0, -1], part.groups - 1))
        body = Region(Block())
        pointers: dict[SSAValue, SSAValue] = {
            own: self._pointers[buffer] for own, buffer in part.arguments
        }
        self._clone(part, pointers, body.block)
        return IfOp(conditions, [self._part, self._place], body)

    def _several(self, parts: Sequence[JoinedLaunch], number: int) -> ChooseOp:
        """The statements of alike parts, from `number` on, with the buffers of each."""
        pointers: dict[SSAValue, SSAValue] = {}
        differing: list[int] = []
        for position, (own, buffer) in enumerate(parts[0].arguments):
            if all(part.launch.buffers[position] is buffer for part in parts):
                pointers[own] = self._pointers[buffer]
            else:
                differing.append(position)
        arguments = parts[0].kernel.body.block.args
        region = KernelOp.empty_body([_typed(arguments[p]) for p in differing])
        for position, chosen in zip(differing, region.block.args, strict=True):
            pointers[arguments[position]] = chosen
        target = region.block
        if parts[0].groups < self._most:
            target = Block()
            within = LinearForm.of([-1], parts[0].groups - 1)
            region.block.add_op(IfOp([within], [self._place], Region(target)))
        self._clone(parts[0], pointers, target)
        cases = [
            [self._pointers[part.launch.buffers[p]] for p in differing]
            for part in parts
        ]
        return ChooseOp(self._part, number, cases, region)

    def _clone(
        self, part: JoinedLaunch, pointers: dict[SSAValue, SSAValue], target: Block
    ) -> None:
        """Put the statements of a part's kernel into a block."""
        counts = part.launch.group_counts
        apart = DelinearizeOp(self._place, [counts[2], counts[1], counts[0]])
        target.add_op(apart)
        # A part along one dimension needs no division.
        along = [n for n, count in enumerate(counts) if count > 1]
        coordinates = list(reversed(apart.coordinates))
        if len(along) == 1:
            coordinates[along[0]] = self._place
        values, free = dict(pointers), list(self._arrays)
        for statement in part.kernel.body.block.ops:
            if isinstance(statement, ArrayOp) and _is_local(statement):
                values[statement.pointer] = self._array(statement, free)
            else:
                target.add_op(statement.clone(values))
        for item in [op for op in _walk(target) if isinstance(op, WorkItemOp)]:
            if item.query.data is WorkItemQuery.GLOBAL_ID:
                raise error_at(
                    part.launch,
                    f"cannot join launches: kernel {part.launch.kernel} asks for the "
                    "number of a work-item in the whole launch",
                )
            if item.query.data is WorkItemQuery.GROUP_ID:
                own = coordinates[item.dimension.value.data]
                own.name_hint = own.name_hint or item.result.name_hint
                item.result.replace_all_uses_with(own)
                Rewriter.erase_op(item)
        if all(value.first_use is None for value in apart.coordinates):
            Rewriter.erase_op(apart)

    def _array(self, array: ArrayOp, free: list[ArrayOp]) -> SSAValue:
        """A local array that this part does not use yet, long enough for this one."""
        for own in free:
            if own.pointer.type == array.pointer.type:
                free.remove(own)
                length = max(own.length.value.data, array.length.value.data)
                own.length = IntegerAttr(length, i64)
                return own.pointer
        own = array.clone()
        self._arrays.append(own)
        return own.pointer


def _typed(argument: SSAValue) -> tuple[PointerType, str | None]:
    """The type and name of a pointer."""
    if not isinstance(argument.type, PointerType):
        raise ValueError(f"expected a pointer, got {argument.type}")
    return argument.type, argument.name_hint


def _is_local(array: ArrayOp) -> bool:
    return array.pointer.type.space.data is MemorySpace.LOCAL


def _walk(block: Block) -> Iterator[Operation]:
    for operation in block.ops:
        yield from operation.walk()
