"""Random kernels of the shapes that the passes make, as modules at the opencl level."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from random import Random
from typing import Literal, TypeAlias, get_args

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr, bf16, f16, f32, f64, i1
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from ...affine.form import LinearForm
from ...dialects.eltwise.element_types import (
    si16,
    si32,
    si64,
    ui8,
    vector_of,
)
from ...dialects.eltwise.ops import FUNCTION_OPS, CastOp
from ...dialects.opencl.attributes import BufferType, PointerType, WorkItemQuery
from ...dialects.opencl.choose import ChooseOp
from ...dialects.opencl.control_flow import ForOp
from ...dialects.opencl.data_ops import PositionOp
from ...dialects.opencl.functions import FunctionOp
from ...dialects.opencl.functions import ReturnOp as FunctionReturnOp
from ...dialects.opencl.kernel import AllocateOp, KernelOp, LaunchOp
from ...dialects.opencl.memory import ArrayOp
from ...dialects.opencl.prefetch import PrefetchOp
from ...dialects.opencl.work_items import BarrierOp, DelinearizeOp, WorkItemOp
from ...dialects.stripe.attributes import MemorySpace
from ...passes.opencl.hide_complements import OpenCLHideComplementsPass
from ...passes.opencl.hide_conditions import OpenCLHideConditionsPass
from ...passes.opencl.limit_unrolling import OpenCLLimitUnrollingPass
from .functions import composition
from .numbers import COMPUTED, FUNCTION, Drawing
from .values import Memory, Number, typed

Loops: TypeAlias = Literal["printed", "unmarked"]
LOOPS: tuple[Loops, ...] = get_args(Loops)
"""How loops are marked that are not unrolled completely: as the passes do, or not."""

GROUPS = 3
"""The work-groups of a launch."""
CELLS = 2048
"""The elements of each input."""
POSITIONS = 8
"""The input `P` has numbers below this."""

INPUTS: dict[str, tuple[Attribute, float]] = {
    "A": (f32, 4),
    "B": (f32, 4),
    "S": (f32, 1),
    "I": (si32, 4),
    "P": (si32, POSITIONS),
    "U": (ui8, 4),
    "L": (si64, 4),
    "D": (f64, 4),
    "H": (f16, 4),
    "F": (i1, 1),
}
"""The type of each input and its largest magnitude; `S` has 1 and -1 only."""

_STORED: dict[Attribute, list[Attribute]] = {
    f32: [f32, f32, f32, f16, bf16],
    si32: [si32, si32, si16],
}
"""The types that results are stored in, if another one than they are computed in."""

_LANES = (None, None, None, 2, 3, 4, 8, 8, 16)
_MOST_STEPS = 700
_MOST_STATEMENTS = 2500
"""What loops run, about: the interpreter needs a microsecond or two for each."""


@dataclass(frozen=True)
class Drawn:
    """A kernel and what it computes."""

    kernel: KernelOp
    inputs: tuple[str, ...]
    element: Attribute
    length: int
    """The elements of the result."""
    size: float
    is_exact: bool


def draw_kernel(name: str, random: Random, loops: Loops) -> Drawn:
    """A random kernel of that name."""
    return _KernelDrawing(name, random, loops).draw()


class _KernelDrawing:
    """Draws one kernel: arrays that stages fill from inputs and from each other."""

    def __init__(self, name: str, random: Random, loops: Loops) -> None:
        self._name, self._random, self._loops = name, random, loops
        self._names = random.sample(list(INPUTS), random.randint(3, len(INPUTS)))
        self._element = random.choice(COMPUTED)
        self._is_plain = random.random() < 0.5
        """Whether there is one loop over a few scalars, where most faults were."""
        self._lanes = None if self._is_plain else random.choice(_LANES)
        self._items = 1 if self._is_plain else random.choice((1, 1, 1, 1, 4))
        self._count = random.choice((1, 1, 2, 3, 4, 5, 7, 8, 8, 12))
        """The accumulators."""
        self._composes = self._element == f32 and random.random() < 0.25
        """Whether functions of each other are computed, which are rare otherwise."""

    def draw(self) -> Drawn:
        stored = self._random.choice(_STORED.get(self._element, [self._element]))
        types = [INPUTS[name][0] for name in self._names]
        pointers = [PointerType.of(t, MemorySpace.GLOBAL) for t in (*types, stored)]
        hints = [*self._names, "out"]
        body = KernelOp.empty_body(list(zip(pointers, hints, strict=True)))
        draw = self._drawing = Drawing(self._random, body.block)
        *sources, target = body.block.args
        for name, pointer in zip(self._names, sources, strict=True):
            element, size = INPUTS[name]
            draw.memories.append(Memory(pointer, element, CELLS, size))
        self._open_indices()
        with self._chosen():
            result = self._stages()
            output = Memory(target, stored, result.length, 0)
            self._write_out(result, output)
        groups = GROUPS * self._items
        kernel = KernelOp(self._name, (self._items, 1, 1), body)
        self._mark(kernel)
        return Drawn(
            kernel,
            tuple(self._names),
            stored,
            groups * result.length,
            max(result.size, 1),
            result.is_exact,
        )

    def _open_indices(self) -> None:
        """The index of the work-item, perhaps taken apart."""
        draw = self._drawing
        groups = GROUPS * self._items
        op = WorkItemOp(WorkItemQuery.GLOBAL_ID, 0, groups)
        if self._items == 1:
            op = WorkItemOp(WorkItemQuery.GROUP_ID, 0, groups)
        draw.block.add_op(op)
        op.result.name_hint = "item"
        draw.indices.append((op.result, groups))
        self._item = op.result
        if self._random.random() < 0.2:
            apart = DelinearizeOp(op.result, [GROUPS, self._items])
            draw.block.add_op(apart)
            draw.indices.append((apart.coordinates[0], GROUPS))

    @contextmanager
    def _chosen(self) -> Generator[None]:
        """Perhaps an input that the work-group chooses among two."""
        draw = self._drawing
        twins = [m for m in draw.memories if m.element == f32]
        if len(twins) < 2 or self._items > 1 or self._random.random() > 0.1:
            yield
            return
        first, second = twins[:2]
        body = Region(Block(arg_types=[first.pointer.type]))
        groups = GROUPS * self._items
        cases = [[self._random.choice(twins).pointer] for _ in range(groups)]
        draw.block.add_op(ChooseOp(self._item, 0, cases, body))
        with draw.inside(body):
            size = max(first.size, second.size, *(m.size for m in twins))
            draw.memories.append(Memory(body.block.args[0], f32, CELLS, size))
            yield

    # Stages.

    def _stages(self) -> Memory:
        """Fill arrays, one after the other; the last is the result."""
        if self._is_plain:
            return self._accumulated()
        stages: list[Callable[[], Memory]] = [
            self._accumulated,
            self._accumulated,
            self._accumulated,
            self._mapped,
            self._chained,
            self._scattered,
        ]
        if self._items > 1:
            stages.append(self._shared)
        result = self._random.choice(stages)()
        for _ in range(self._random.choice((0, 0, 1, 2))):
            self._drawing.memories.append(result)
            result = self._random.choice(stages)()
        return result

    def _array(self, length: int, space: MemorySpace = MemorySpace.PRIVATE) -> Memory:
        type = PointerType.of(self._element, space)
        pointer = self._drawing.add(ArrayOp(length, type))
        pointer.name_hint = self._random.choice(("acc", "array", "t"))
        return Memory(pointer, self._element, length, 0)

    def _filled(self, count: int, start: float) -> Memory:
        """An array whose elements all have one number."""
        draw, wide = self._drawing, self._lanes or 1
        array = self._array(count * wide)
        with draw.loop(count, "e", unroll=self._random.random() < 0.8) as index:
            number = draw.constant(start, self._element, self._lanes)
            draw.store(number, array, _at(draw, index, wide))
        return array

    def _accumulated(self) -> Memory:
        """Loops around an unrolled one over accumulators."""
        draw, random = self._drawing, self._random
        names = ["add", "add", "add", "sub", "sub", "max", "min"]
        names += ["mul"] if "S" in self._names or self._element != f32 else []
        name = random.choice(names)
        array = self._filled(self._count, 1 if name == "mul" else 0)
        nests = 1 if self._is_plain else random.choice((1, 1, 2))
        for _ in range(nests):
            extents = self._extents(self._count)
            with (
                self._nest(extents),
                draw.where(),
                draw.loop(self._count, "i", unroll=random.random() < 0.9) as i,
                draw.where(),
            ):
                self._update(array, i, name)
            if name in ("add", "sub"):
                array.size *= prod(extents)
        return array

    def _update(self, array: Memory, index: SSAValue, name: str) -> None:
        """Aggregate a number into an accumulator."""
        draw, lanes = self._drawing, self._lanes
        form = _at(draw, index, lanes or 1)
        number = self._term(name)
        old = draw.load_at(array, form, lanes)
        operands = [old, number]
        if name != "sub" and self._random.random() < 0.3:
            operands.reverse()
        self._store_result(array, form, name, operands, number)

    def _store_result(
        self,
        array: Memory,
        form: LinearForm,
        name: str,
        operands: Sequence[Number],
        number: Number,
    ) -> None:
        draw = self._drawing
        value = draw.apply(name, operands)
        result = Number(value, number.element, number.lanes, number.size, number.digits)
        draw.store(result, array, form)
        array.is_exact &= number.is_exact

    def _term(self, name: str) -> Number:
        """What is aggregated: factors of floats are 1 and -1."""
        if name == "mul" and self._element in (f32, f64):
            return self._sign()
        return self._number(self._random.randint(0, 2 if self._is_plain else 3))

    def _number(self, depth: int) -> Number:
        """An expression of so many operations, one in another, or of more functions."""
        number = self._drawing.number(self._element, self._lanes, depth)
        return composition(self._drawing, number) if self._composes else number

    def _sign(self) -> Number:
        draw, lanes = self._drawing, self._lanes
        condition = Number(draw.condition(lanes, 1), i1, lanes, 1)
        pair = [draw.constant(n, self._element, lanes) for n in (1, -1)]
        value = draw.apply("cond", [condition, *pair])
        return Number(value, self._element, lanes, 1)

    def _mapped(self) -> Memory:
        """Each element of an array from others."""
        draw, wide = self._drawing, self._lanes or 1
        count = self._random.choice((1, 2, 3, 5, 8, 17, 40))
        array = self._array(count * wide)
        with draw.loop(count, "m", unroll=self._random.random() < 0.3) as index:
            number = self._number(self._random.randint(1, 4))
            draw.store(number, array, _at(draw, index, wide))
        return array

    def _chained(self) -> Memory:
        """Each element from the one before: a recurrence."""
        draw, wide = self._drawing, self._lanes or 1
        count = self._random.choice((2, 3, 5, 9, 16, 33))
        name = self._random.choice(("add", "sub", "max", "min"))
        array = self._filled(count, 1)
        with draw.loop(count - 1, "n", unroll=self._random.random() < 0.2) as index:
            form = _at(draw, index, wide)
            old = draw.load_at(array, form, self._lanes)
            number = self._term(name)
            self._store_result(array, form + wide, name, [old, number], number)
        array.size = (array.size + 1) * count
        return array

    def _scattered(self) -> Memory:
        """Elements at positions that the data choose are changed."""
        draw, wide = self._drawing, self._lanes or 1
        name = self._random.choice(("add", "sub", "max", "min"))
        array = self._filled(POSITIONS, 0)
        if "P" not in self._names:
            return array
        positions = draw.memories[self._names.index("P")]
        extents = self._extents(1)
        with self._nest(extents), draw.where():
            chosen = draw.load(positions, None)
            place = draw.add(PositionOp(chosen.value, POSITIONS))
            number = self._term(name)
            draw.indices.append((place, POSITIONS))
            form = _at(draw, place, wide)
            old = draw.load_at(array, form, self._lanes)
            self._store_result(array, form, name, [old, number], number)
            draw.indices.pop()
        array.size = (array.size + 1) * prod(extents)
        return array

    def _shared(self) -> Memory:
        """Work-items of a group read what the others have written."""
        draw, wide = self._drawing, self._lanes or 1
        local = draw.add(WorkItemOp(WorkItemQuery.LOCAL_ID, 0, self._items))
        shared = self._array(self._items * wide, MemorySpace.LOCAL)
        number = draw.number(self._element, self._lanes, 2)
        draw.indices.append((local, self._items))
        draw.store(number, shared, _at(draw, local, wide))
        draw.indices.pop()
        draw.block.add_op(BarrierOp(MemorySpace.LOCAL))
        array = self._array(self._items * wide)
        with draw.loop(self._items, "s") as index:
            form = _at(draw, index, wide)
            draw.store(draw.load_at(shared, form, self._lanes), array, form)
        return array

    def _extents(self, inner: int) -> list[int]:
        """How often loops run, one around the other."""
        random = self._random
        if self._is_plain:
            return [random.randint(2, 130)]
        extents = [random.randint(2, random.choice((6, 20, 60, 130)))]
        for _ in range(random.choice((0, 0, 1, 1, 2))):
            extents.append(random.randint(2, 6))
        random.shuffle(extents)
        while prod(extents) > min(_MOST_STEPS, _MOST_STATEMENTS // inner):
            extents.remove(max(extents))
        return extents or [2]

    @contextmanager
    def _nest(self, extents: Sequence[int]) -> Generator[None]:
        """Loops, perhaps with something between them."""
        draw = self._drawing
        if not extents:
            yield
            return
        with draw.loop(extents[0], self._random.choice("jkl")):
            if self._random.random() < 0.1:
                source = self._random.choice(draw.memories[: len(self._names)])
                form = draw.form(source.length, None)
                values = [value for value, _ in draw.indices]
                draw.block.add_op(PrefetchOp(source.pointer, form, values))
            with self._nest(extents[1:]):
                yield

    def _write_out(self, array: Memory, output: Memory) -> None:
        """Copy an array to the work-item's part of the result."""
        draw, lanes = self._drawing, self._lanes
        wide = lanes or 1
        count = array.length // wide
        streams = lanes is not None and self._random.random() < 0.2
        with draw.loop(count, "e", unroll=self._random.random() < 0.6) as index:
            form = _at(draw, index, wide)
            number = draw.load_at(array, form, lanes)
            value = number.value
            if output.element != array.element:
                value = draw.add(CastOp(value, typed(output.element, lanes)))
            rank = len(draw.indices)
            place = [v for v, _ in draw.indices].index(self._item)
            start = LinearForm.dimension(place, rank, array.length)
            result = Number(value, output.element, lanes, number.size)
            op = draw.store(result, output, form + start)
            op.stream = UnitAttr() if streams else None

    def _mark(self, kernel: KernelOp) -> None:
        """Say of loops how far they are unrolled."""
        if self._loops == "unmarked":
            return
        module = ModuleOp([kernel])
        OpenCLLimitUnrollingPass().apply(Context(), module)
        OpenCLHideConditionsPass().apply(Context(), module)
        OpenCLHideComplementsPass().apply(Context(), module)
        kernel.detach()
        if self._random.random() < 0.3:
            for op in kernel.walk():
                if isinstance(op, ForOp) and op.unroll is None and _is_innermost(op):
                    extent = op.extent.value.data
                    counts = [n for n in (1, 1, 2, 3, 4) if extent % n == 0]
                    op.limit_unrolling(self._random.choice(counts))


def _is_innermost(loop: ForOp) -> bool:
    """Whether loops in a loop are unrolled completely."""
    inner = (op for op in loop.body.walk() if isinstance(op, ForOp))
    return all(op.unroll is not None for op in inner)


def module_of(drawn: Sequence[Drawn]) -> ModuleOp:
    """A program that runs kernels one after the other on the same inputs."""
    types = [BufferType.of([CELLS], element) for element, _ in INPUTS.values()]
    entry = Block(arg_types=types)
    inputs = dict(zip(INPUTS, entry.args, strict=True))
    results: list[SSAValue] = []
    for each in drawn:
        buffer = AllocateOp(BufferType.of([each.length], each.element))
        arguments = [*(inputs[name] for name in each.inputs), buffer.buffer]
        name = each.kernel.sym_name.data
        entry.add_ops([buffer, LaunchOp(name, (GROUPS, 1, 1), arguments)])
        results.append(buffer.buffer)
    entry.add_op(ReturnOp(*results))
    signature = (types, [value.type for value in results])
    main = FuncOp("main", signature, Region(entry))
    return ModuleOp([*_functions(), *(each.kernel for each in drawn), main])


def _functions() -> Iterator[FunctionOp]:
    """`x * x + 1`, of numbers and of vectors."""
    for lanes in sorted({lanes or 0 for lanes in _LANES}):
        type = vector_of(f32, lanes) if lanes else f32
        body = FunctionOp.empty_body([(type, "x")])
        draw = Drawing(Random(0), body.block)
        x = Number(body.block.args[0], f32, lanes or None, 0)
        square = Number(draw.apply("mul", [x, x]), f32, lanes or None, 0)
        one = draw.constant(1, f32, lanes or None)
        result = draw.add(
            FUNCTION_OPS["add"].build_typed([square.value, one.value], type)
        )
        body.block.add_op(FunctionReturnOp(result))
        yield FunctionOp(f"{FUNCTION}_{lanes}" if lanes else FUNCTION, body)


def _at(draw: Drawing, index: SSAValue, step: int) -> LinearForm:
    """The position `step * index`."""
    place = [value for value, _ in draw.indices].index(index)
    return LinearForm.dimension(place, len(draw.indices), step)
