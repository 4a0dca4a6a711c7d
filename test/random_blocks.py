"""Random programs of blocks, as text.

A program is a sequence of blocks with random index ranges, accesses, constraints,
aggregations and initial values, legal by construction: every cell is set before, every
access is in bounds where the constraints hold, and what different points write is
aggregated or of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from gingham.affine.form import LinearForm

INPUT = (9, 12)
"""The shape of the input."""


def view(shape: tuple[int, ...]) -> str:
    return f"!stripe.view<{''.join(f'{size}x' for size in shape)}f64>"


@dataclass
class Block:
    """A block to be written: buffers with accesses, outputs with what follows them."""

    ranges: list[int]
    constraints: list[LinearForm] = field(default_factory=list[LinearForm])
    inputs: list[tuple[str, list[LinearForm]]] = field(
        default_factory=list[tuple[str, list[LinearForm]]]
    )
    outputs: list[tuple[str, list[LinearForm], str]] = field(
        default_factory=list[tuple[str, list[LinearForm], str]]
    )


class ProgramText:
    """Writes a random program."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.buffers: list[tuple[str, tuple[int, ...]]] = [("%A", INPUT)]
        self.lines: list[str] = []
        self.previous: Block | None = None
        for number in range(random.randint(1, 4)):
            self.add_block(number)

    def __str__(self) -> str:
        outputs = [b for b in self.buffers[1:-1] if self.random.random() < 0.5]
        outputs.append(self.buffers[-1])
        names = ", ".join(name for name, _ in outputs)
        types = ", ".join(view(shape) for _, shape in outputs)
        return "\n".join(
            [
                f"func.func @main(%A : {view(INPUT)}) -> ({types}) {{",
                *self.lines,
                f"  func.return {names} : {types}",
                "}",
            ]
        )

    def form(self, ranges: list[int]) -> LinearForm:
        """A form over the indices that starts at 0; each occurs half of the times."""
        steps = [self.random.choice((0, 0, 0, 1, 1, 1, -1, 2, -2)) for _ in ranges]
        low, _ = LinearForm.of(steps).bounds(ranges)
        return LinearForm.of(steps, -low)

    def add_block(self, number: int) -> None:
        block = self.block_like(self.previous) or self.block()
        ranges = block.ranges
        block.outputs = [
            self.output(f"%B{number}_{index}", ranges)
            for index in range(self.random.choice((1, 1, 1, 2)))
        ]
        names = [f"%i{index}" for index in range(len(ranges))]
        indices = zip(names, ranges, strict=True)
        text = ", ".join(f"{name} : {extent}" for name, extent in indices)
        self.lines.append(f'  stripe.block "block{number}" [{text}]')
        for position, (buffer, access) in enumerate(block.inputs):
            self.refine(f"in %x{position}", buffer, access, names, "")
        for position, (buffer, access, suffix) in enumerate(block.outputs):
            self.refine(f"out %y{position}", buffer, access, names, suffix)
        if block.constraints:
            shown = (f"{form.format(names)} >= 0" for form in block.constraints)
            self.lines.append(f"      where {', '.join(shown)}")
        self.lines[-1] += " {"
        self.add_statements(
            [len(access) for _, access in block.inputs],
            [len(access) for _, access, _ in block.outputs],
        )
        self.lines.append("  }")
        self.previous = block

    def block(self) -> Block:
        """Ranges, constraints and inputs of a block of its own."""
        random = self.random
        ranges = [random.randint(1, 7) for _ in range(random.randint(1, 3))]
        block = Block(ranges)
        if random.random() < 0.3:
            block.constraints.append(self.form(ranges) - random.randint(0, 2))
        for _ in range(random.randint(1, 2)):
            block.inputs.append(self.input(ranges, block.constraints))
        return block

    def block_like(self, previous: Block | None) -> Block | None:
        """At times, a block over the points of the last one that reads its outputs."""
        if previous is None or self.random.random() < 0.4:
            return None
        inputs = [(buffer, access) for buffer, access, _ in previous.outputs]
        return Block(previous.ranges, previous.constraints, inputs)

    def refine(
        self,
        name: str,
        buffer: str,
        access: list[LinearForm],
        indices: list[str],
        suffix: str,
    ) -> None:
        forms = ", ".join(form.format(indices) for form in access)
        sizes = f" : {'x'.join('1' for _ in access)}" if access else ""
        self.lines.append(f"      {name} = {buffer}[{forms}]{sizes}{suffix}")

    def input(
        self, ranges: list[int], constraints: list[LinearForm]
    ) -> tuple[str, list[LinearForm]]:
        """A window of a random buffer, and the constraints that keep it inside."""
        buffer, shape = self.random.choice(self.buffers)
        access = [self.form(ranges) + self.random.choice((0, 0, 1, -1)) for _ in shape]
        for form, size in zip(access, shape, strict=True):
            low, high = form.bounds(ranges)
            if low < 0:
                constraints.append(form)
            if high >= size:
                constraints.append(-form + (size - 1))
        return buffer, access

    def output(self, name: str, ranges: list[int]) -> tuple[str, list[LinearForm], str]:
        """A window of a new buffer, which is filled before."""
        random = self.random
        if random.random() < 0.4:
            suffix = random.choice(("", "", " init 3"))
            access = self.own_cells(ranges)
        else:
            aggregation = random.choice(("add", "max", "min"))
            suffix = f" {aggregation}" + random.choice(("", " init 0", " init -2"))
            access = [self.form(ranges) for _ in range(random.randint(0, 2))]
        margins = [random.choice((0, 0, 1)) for _ in access]
        access = [f + margin for f, margin in zip(access, margins, strict=True)]
        shape = tuple(
            int(f.bounds(ranges)[1]) + random.choice((1, 1, 2)) for f in access
        )
        self.fill(name, shape)
        self.buffers.append((name, shape))
        return name, access, suffix

    def own_cells(self, ranges: list[int]) -> list[LinearForm]:
        """An access that gives each point a cell of its own."""
        order = self.random.sample(range(len(ranges)), len(ranges))
        forms: list[LinearForm] = []
        for index in order:
            step = self.random.choice((1, 1, 1, -1, 2))
            start = (ranges[index] - 1) if step < 0 else 0
            forms.append(LinearForm.dimension(index, len(ranges), step) + start)
        return forms

    def fill(self, name: str, shape: tuple[int, ...]) -> None:
        window = view((1,) * len(shape))
        indices = [f"%e{axis}" for axis in range(len(shape))]
        ranges = zip(indices, shape, strict=True)
        self.lines.append(f"  {name} = stripe.alloc : {view(shape)}")
        text = ", ".join(f"{index} : {size}" for index, size in ranges)
        self.lines.append(f'  stripe.block "fill" [{text}]')
        forms = [LinearForm.dimension(axis, len(shape)) for axis in range(len(shape))]
        self.refine("out %f", name, forms, indices, "")
        self.lines[-1] += " {"
        self.lines.append(
            f"    %c = eltwise.constant {self.random.randint(-3, 3)} : f64"
        )
        self.lines.append(f"    stripe.store %c, %f : {window}")
        self.lines.append("  }")

    def add_statements(self, inputs: list[int], outputs: list[int]) -> None:
        random = self.random
        values: list[str] = []
        for position, rank in enumerate(inputs):
            window = view((1,) * rank)
            self.lines.append(f"    %v{position} = stripe.load %x{position} : {window}")
            values.append(f"%v{position}")
        for position in range(random.randint(0, 2)):
            function = random.choice(("add", "sub", "max", "relu"))
            count = 1 if function == "relu" else 2
            operands = ", ".join(random.choice(values) for _ in range(count))
            self.lines.append(f"    %w{position} = eltwise.{function} {operands} : f64")
            values.append(f"%w{position}")
        for position, rank in enumerate(outputs):
            window = view((1,) * rank)
            self.lines.append(
                f"    stripe.store {random.choice(values)}, %y{position} : {window}"
            )
