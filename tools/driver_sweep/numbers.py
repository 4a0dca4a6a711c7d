"""Random expressions: every operation that kernels have, on numbers of known size."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from random import Random

from xdsl.dialects.builtin import f16, f32, f64, i1
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...affine.form import LinearForm
from ...dialects.eltwise.element_types import (
    Kind,
    bit_width,
    kind,
    si8,
    si16,
    si32,
    si64,
    ui8,
    ui32,
    vector_of,
)
from ...dialects.eltwise.ops import (
    FUNCTION_OPS,
    BitcastOp,
    BroadcastOp,
    CastOp,
    ConstantOp,
)
from ...dialects.eltwise.shuffle import ShuffleOp
from ...dialects.opencl.control_flow import ForOp, IfOp
from ...dialects.opencl.data_ops import IndexOp, WhenOp
from ...dialects.opencl.division import DivideOp
from ...dialects.opencl.functions import CallOp
from ...dialects.opencl.memory import LoadOp, StoreOp
from .functions import composition, function_of, root_of_square
from .values import Memory, Number, fits, joined, product_of, read, typed

FUNCTION = "helper"
"""The function that kernels call."""

COMPUTED: tuple[Attribute, ...] = (f32, f32, f32, f32, si32, si32, ui8, si64, f64)
"""The types that kernels compute with, as often as they are drawn."""

_COMPARISONS = ("cmp_eq", "cmp_ne", "cmp_lt", "cmp_le", "cmp_gt", "cmp_ge")
_FUNCTIONS = (root_of_square, function_of, composition)
_TESTS = ("isnan", "isinf", "isfinite")


@dataclass
class Drawing:
    """Draws statements into a block, with the indices and memories that are there."""

    random: Random
    block: Block
    indices: list[tuple[SSAValue, int]] = field(
        default_factory=list[tuple[SSAValue, int]]
    )
    memories: list[Memory] = field(default_factory=list[Memory])

    # Statements.

    def add(self, op: Operation) -> SSAValue:
        """Put an operation at the end; its result."""
        self.block.add_op(op)
        return op.results[0]

    @contextmanager
    def loop(
        self, extent: int, name: str, *, unroll: bool = False
    ) -> Generator[SSAValue]:
        """A loop around what is drawn inside."""
        body = ForOp.empty_body(name)
        self.block.add_op(ForOp(extent, body, unroll=unroll))
        self.indices.append((body.block.args[0], extent))
        with self.inside(body):
            yield body.block.args[0]
        self.indices.pop()

    @contextmanager
    def inside(self, region: Region) -> Generator[None]:
        """Draw into the block of a region, whose memories are gone after it."""
        outer, count = self.block, len(self.memories)
        self.block = region.block
        yield
        self.block = outer
        del self.memories[count:]

    @contextmanager
    def where(self) -> Generator[None]:
        """Perhaps a condition around what is drawn inside."""
        kind_of = self.random.random()
        if kind_of < 0.15 and self.indices:
            rank = len(self.indices)
            number = self.random.randrange(rank)
            extent = self.indices[number][1]
            sign = self.random.choice((1, -1))
            limit = self.random.randint(0, extent - 1)
            form = LinearForm.dimension(number, rank, sign) + -sign * limit
            body = Region(Block())
            self.block.add_op(IfOp([form], [v for v, _ in self.indices], body))
            with self.inside(body):
                yield
        elif kind_of < 0.22:
            condition = self.condition(None, 1)
            body = Region(Block())
            self.block.add_op(WhenOp(condition, body))
            with self.inside(body):
                yield
        else:
            yield

    def form(self, length: int, lanes: int | None) -> LinearForm:
        """A position in an array of so many elements, by the indices that there are."""
        room = length - (lanes or 1)
        coefficients: list[int] = []
        constant = 0
        wide = lanes or 1
        for _, extent in self.indices:
            last = max(extent - 1, 1)
            wished = self.random.choice((0, 1, 1, wide, wide, extent, 2, 3, 7, -1))
            step = wished if abs(wished) * last <= room else int(room >= last)
            coefficients.append(step)
            room -= abs(step) * (extent - 1)
            if step < 0:
                constant -= step * (extent - 1)
            wide *= self.random.choice((1, max(extent, 1)))
        constant += self.random.randint(0, min(room, 5)) if room > 0 else 0
        return LinearForm.of(coefficients, constant)

    def load(self, memory: Memory, lanes: int | None) -> Number:
        """An element, or elements side by side."""
        form = self.form(memory.length, lanes)
        return self.load_at(memory, form, lanes)

    def load_at(self, memory: Memory, form: LinearForm, lanes: int | None) -> Number:
        """The element at a position, or those from there on."""
        values = [value for value, _ in self.indices]
        type = typed(memory.element, lanes)
        value = self.add(LoadOp(memory.pointer, form, values, type))
        return Number(
            value, memory.element, lanes, memory.size, memory.digits, memory.is_exact
        )

    def store(self, number: Number, memory: Memory, form: LinearForm) -> StoreOp:
        """Store a number, which the memory may be read for afterwards."""
        values = [value for value, _ in self.indices]
        op = StoreOp(number.value, memory.pointer, form, values)
        self.block.add_op(op)
        memory.hold(number)
        return op

    # Expressions.

    def apply(
        self, name: str, operands: Sequence[Number], result: Attribute | None = None
    ) -> SSAValue:
        """A function of the table."""
        last = operands[-1]
        type = typed(result or last.element, last.lanes)
        values = [operand.value for operand in operands]
        return self.add(FUNCTION_OPS[name].build_typed(values, type))

    def constant(self, number: float, element: Attribute, lanes: int | None) -> Number:
        """A number in every lane."""
        literal = float(number) if kind(element) is Kind.FLOAT else int(number)
        op = ConstantOp(literal, typed(element, lanes))
        return Number(self.add(op), element, lanes, abs(number))

    def condition(self, lanes: int | None, depth: int) -> SSAValue:
        """A truth value, or one in each lane."""
        choice = self.random.random()
        flags = [memory for memory in self.memories if memory.element == i1]
        if choice < 0.15 and flags:
            return self.load(self.random.choice(flags), lanes).value
        if choice < 0.3 and depth > 0:
            name = self.random.choice(("logical_and", "logical_or", "logical_xor"))
            pair = [
                Number(self.condition(lanes, depth - 1), i1, lanes, 1) for _ in "ab"
            ]
            return self.apply(name, pair, i1)
        if choice < 0.35 and depth > 0:
            inner = Number(self.condition(lanes, depth - 1), i1, lanes, 1)
            return self.apply("logical_not", [inner], i1)
        if choice < 0.4:
            tested = self.exact(f32, lanes, depth - 1)
            return self.apply(self.random.choice(_TESTS), [tested], i1)
        element = self.random.choice((f32, f32, si32))
        left, right = (self.exact(element, lanes, depth - 1) for _ in "ab")
        return self.apply(self.random.choice(_COMPARISONS), [left, right], i1)

    def exact(self, element: Attribute, lanes: int | None, depth: int) -> Number:
        """A number that is the same on every device."""
        number = self.number(element, lanes, depth)
        return number if number.is_exact else self.leaf(element, lanes)

    def number(self, element: Attribute, lanes: int | None, depth: int) -> Number:
        """An expression of so many operations, one in another, at most."""
        if depth <= 0 or self.random.random() < 0.1:
            return self.leaf(element, lanes)
        draws = self._draws(element)
        number = self.random.choice(draws)(element, lanes, depth)
        return number if fits(number) else self.leaf(element, lanes)

    def leaf(self, element: Attribute, lanes: int | None) -> Number:
        """What is loaded, perhaps in every lane; rarely a constant or an index."""
        choice = self.random.random()
        found = [
            m
            for m in self.memories
            if m.element == element and m.length >= (lanes or 1)
        ]
        found = [m for m in found if fits(read(m)) and m.is_exact]
        if not found or choice < 0.08:
            least = 0 if kind(element) is Kind.UNSIGNED else -3
            return self.constant(self.random.randint(least, 3), element, lanes)
        if choice < 0.16 and element in (si32, si64) and self.indices:
            return self._index(element, lanes)
        # What was computed is read more often than inputs.
        memory = found[-1] if self.random.random() < 0.4 else self.random.choice(found)
        if lanes is not None and self.random.random() < 0.3:
            return self.broadcast(self.load(memory, None), lanes)
        return self.load(memory, lanes)

    def broadcast(self, number: Number, lanes: int) -> Number:
        """A scalar in every lane."""
        op = BroadcastOp(number.value, vector_of(number.element, lanes))
        return replace(number, value=self.add(op), lanes=lanes)

    def _index(self, element: Attribute, lanes: int | None) -> Number:
        form = self.form(100, None)
        values = [value for value, _ in self.indices]
        step = None if lanes is None else self.random.choice((1, 0, 3))
        op = IndexOp(form, values, typed(element, lanes), step)
        return Number(self.add(op), element, lanes, 200)

    def _draws(
        self, element: Attribute
    ) -> list[Callable[[Attribute, int | None, int], Number]]:
        """The ways to make a number of a type, as often as they are drawn."""
        draws = [
            *[self._sum] * 3,
            *[self._product] * 3,
            self._multiply_add,
            self._extreme,
            self._unary,
            self._unary,
            self._scaled,
            self._selection,
            self._selection,
            self._conversion,
            self._conversion,
            self._shuffle,
        ]
        if kind(element) is not Kind.FLOAT:
            return [*draws, self._bits, self._shift, self._quotient]
        if element == f32:
            draws += [self._function, self._call, self._divide, self._bitcast]
        return draws

    def _pair(
        self, element: Attribute, lanes: int | None, depth: int
    ) -> tuple[Number, Number]:
        left = self.number(element, lanes, depth - 1)
        if self.random.random() < 0.15:
            return left, left
        return left, self.number(element, lanes, depth - 1)

    def _sum(self, element: Attribute, lanes: int | None, depth: int) -> Number:
        left, right = self._pair(element, lanes, depth)
        value = self.apply(self.random.choice(("add", "sub")), [left, right])
        size = left.size + right.size
        return joined([left, right], value, size, max(left.digits, right.digits))

    def _product(self, element: Attribute, lanes: int | None, depth: int) -> Number:
        left, right = self._pair(element, lanes, depth)
        if not fits(product_of(left, right)):
            right = self.leaf(element, lanes)
        product = product_of(left, right)
        if not fits(product):
            return self.leaf(element, lanes)
        return replace(product, value=self.apply("mul", [left, right]))

    def _multiply_add(
        self, element: Attribute, lanes: int | None, depth: int
    ) -> Number:
        if kind(element) is Kind.FLOAT and self.random.random() < 0.3:
            factors = self.leaf(element, lanes), self.leaf(element, lanes)
            other = self.number(element, lanes, depth - 1)
            product = product_of(*factors)
            value = self.apply("fma", [*factors, other])
            digits = max(product.digits, other.digits)
            size = product.size + other.size
            return joined([product, other], value, size, digits)
        product = self._product(element, lanes, depth)
        other = self.leaf(element, lanes)
        operands = [product, other]
        if self.random.random() < 0.5:
            operands.reverse()
        value = self.apply(self.random.choice(("add", "sub")), operands)
        digits = max(product.digits, other.digits)
        return joined(operands, value, product.size + other.size, digits)

    def _extreme(self, element: Attribute, lanes: int | None, depth: int) -> Number:
        left, right = self._pair(element, lanes, depth)
        operands = [left, right]
        names = ["max", "max", "min", "min", "clamp"]
        if kind(element) is Kind.FLOAT:
            names += ["fmax", "fmin", "copysign"]
        name = self.random.choice(names)
        if name == "clamp":
            operands.append(self.leaf(element, lanes))
        value = self.apply(name, operands)
        size = max(operand.size for operand in operands)
        digits = max(operand.digits for operand in operands)
        return joined(operands, value, size, digits)

    def _unary(self, element: Attribute, lanes: int | None, depth: int) -> Number:
        names = ["neg", "neg", "abs", "relu"]
        number = self.number(element, lanes, depth - 1)
        if number.is_exact:
            names += ["sign", "floor", "ceil", "round", "trunc", "ident"]
        name = self.random.choice(names)
        size = max(number.size, 1)
        return replace(number, value=self.apply(name, [number]), size=size)

    def _scaled(self, element: Attribute, lanes: int | None, depth: int) -> Number:
        number = self.number(element, lanes, depth - 1)
        factors = [2, 3]
        if kind(element) is not Kind.UNSIGNED:
            factors += [-1, -1, -2, -3]
        if kind(element) is Kind.FLOAT:
            factors += [-0.5, 0.5, -0.5]
        factor = self.random.choice(factors)
        value = self.apply("mul", [number, self.constant(factor, element, lanes)])
        digits = number.digits + (abs(factor) == 0.5)
        return joined([number], value, number.size * max(abs(factor), 1), digits)

    def _selection(self, element: Attribute, lanes: int | None, depth: int) -> Number:
        condition = Number(self.condition(lanes, depth - 1), i1, lanes, 1)
        left, right = self._pair(element, lanes, depth)
        value = self.apply("cond", [condition, left, right])
        size = max(left.size, right.size)
        return joined([left, right], value, size, max(left.digits, right.digits))

    def _conversion(self, element: Attribute, lanes: int | None, depth: int) -> Number:
        # A float is converted where it is small, as too large ones are clipped.
        others = (f32, f64, f16, si8, si16, si32, si64, ui8, ui32, i1)
        source = self.random.choice([other for other in others if other != element])
        if source == i1:
            value = self.condition(lanes, depth - 1)
            number = Number(value, i1, lanes, 1)
        elif source == f16:
            number = self.leaf(source, lanes)
            if element != f32:
                number = self._converted(number, f32)
        elif source in (si8, si16, ui32):
            number = self._converted(self.exact(si32, lanes, depth - 1), source)
        else:
            number = self.exact(source, lanes, depth - 1)
        return self._converted(number, element)

    def _converted(self, number: Number, element: Attribute) -> Number:
        op = CastOp(number.value, typed(element, number.lanes))
        size, digits = number.size, number.digits
        if kind(element) not in (Kind.FLOAT, Kind.BOOLEAN):
            size, digits = min(size, 2.0 ** bit_width(element)), 0
        if kind(number.element) is not Kind.FLOAT and number.element != i1:
            # Arithmetic on integers wraps around.
            limit = 2.0 ** bit_width(number.element)
            size = limit if number.size >= limit / 2 else size
        if kind(number.element) is Kind.SIGNED and kind(element) is Kind.UNSIGNED:
            size = 2.0 ** bit_width(element)
        return replace(
            number, value=self.add(op), element=element, size=size, digits=digits
        )

    def _shuffle(self, element: Attribute, lanes: int | None, depth: int) -> Number:
        if lanes is None:
            return self.number(element, lanes, depth - 1)
        number = self.number(element, lanes, depth - 1)
        order = [self.random.randrange(lanes) for _ in range(lanes)]
        if self.random.random() < 0.5:
            order = [*range(lanes)][::-1]
        op = ShuffleOp([number.value], order)
        return replace(number, value=self.add(op))

    def _bits(self, element: Attribute, lanes: int | None, depth: int) -> Number:
        left, right = self._pair(element, lanes, depth)
        if self.random.random() < 0.2:
            value = self.apply("bit_not", [left])
        else:
            name = self.random.choice(("bit_and", "bit_or", "bit_xor"))
            value = self.apply(name, [left, right])
        return Number(value, element, lanes, 2.0 ** bit_width(element))

    def _shift(self, element: Attribute, lanes: int | None, depth: int) -> Number:
        number = self.number(element, lanes, depth - 1)
        count = self.constant(self.random.randint(0, 7), element, lanes)
        if self.random.random() < 0.2:
            count = self.leaf(element, lanes)
        value = self.apply(
            self.random.choice(("bit_left", "bit_right")), [number, count]
        )
        return Number(value, element, lanes, 2.0 ** bit_width(element))

    def _quotient(self, element: Attribute, lanes: int | None, depth: int) -> Number:
        left, right = self._pair(element, lanes, depth)
        value = self.apply(self.random.choice(("div", "mod")), [left, right])
        return Number(value, element, lanes, 2.0 ** bit_width(element))

    def _function(self, element: Attribute, lanes: int | None, depth: int) -> Number:
        number = self.number(element, lanes, depth - 1)
        draw = self.random.choice(_FUNCTIONS)
        return draw(self, number)

    def _call(self, element: Attribute, lanes: int | None, depth: int) -> Number:
        number = self.leaf(element, lanes)
        name = FUNCTION if lanes is None else f"{FUNCTION}_{lanes}"
        value = self.add(CallOp(name, [number.value], number.type))
        return joined([number], value, number.size**2 + 1, 2 * number.digits)

    def _divide(self, element: Attribute, lanes: int | None, depth: int) -> Number:
        number = self.number(element, lanes, depth - 1)
        divisor = self.random.choice((2, -2, -1, 4))
        bits = {1: 0, 2: 1, 4: 2}[abs(divisor)]
        by = self.constant(divisor, element, None)
        if lanes is None:
            value = self.apply("div", [number, by])
        elif self.random.random() < 0.5:
            value = self.apply("div", [number, self.broadcast(by, lanes)])
        else:
            value = self.add(DivideOp(number.value, by.value))
        return joined([number], value, number.size, number.digits + bits)

    def _bitcast(self, element: Attribute, lanes: int | None, depth: int) -> Number:
        """The sign is turned by a bit."""
        number = self.number(element, lanes, depth - 1)
        bits = self.add(BitcastOp(number.value, typed(ui32, lanes)))
        sign = self.constant(1 << 31, ui32, lanes)
        turned = self.apply("bit_xor", [Number(bits, ui32, lanes, 0), sign])
        return replace(number, value=self.add(BitcastOp(turned, number.type)))
