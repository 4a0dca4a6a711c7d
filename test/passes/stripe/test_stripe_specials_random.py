"""Random programs that choose places by data mean the same after any passes.

A program is a sequence of blocks over matrices of one shape and their flat views:
element-wise ones, gathers, scatters that aggregate or permute, serial ones in place,
and stores with conditions. Every place is clamped, every buffer is filled before, and
what points of a parallel block assign is their own.
"""

from __future__ import annotations

from random import Random

import numpy as np
from hypothesis import given, note, settings
from hypothesis import strategies as st
from stripe_programs import CONTEXT, PASSES, choose_tiles, run
from xdsl.parser import Parser

from gingham.dialects.stripe.schedule import Schedule, set_schedule
from gingham.errors import GinghamError
from gingham.passes.stripe.analysis.nests import all_blocks
from gingham.targets.reference import interpret

CHOICES = (*PASSES, "stripe-fuse,stripe-localize")

ROWS, COLUMNS = 3, 8
MATRIX = f"!stripe.view<{ROWS}x{COLUMNS}xf64>"
FLAT = f"!stripe.view<{ROWS * COLUMNS}xf64>"
CELL = "!stripe.view<1x1xf64>"
POINT = f"[%i : {ROWS}, %j : {COLUMNS}]"


class ProgramText:
    """Writes a random program; `%A` is its input."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.buffers = ["%A"]
        self.lines: list[str] = []
        self.number = 0
        for _ in range(random.randint(1, 5)):
            random.choice(
                (
                    self.elementwise,
                    self.gather,
                    self.gather,
                    self.scatter,
                    self.permutation,
                    self.conditional,
                    self.serial_points,
                    self.serial_columns,
                    self.flat,
                )
            )()

    def __str__(self) -> str:
        made = self.buffers[1:]
        chosen = {*self.random.sample(made, self.random.randint(0, len(made)))}
        results = [name for name in made if name in chosen or name == made[-1]]
        types = ", ".join([MATRIX] * len(results))
        return "\n".join(
            [
                f"func.func @main(%A : {MATRIX}) -> ({types}) {{",
                *self.lines,
                f"  func.return {', '.join(results)} : {types}",
                "}",
            ]
        )

    def add(self, text: str) -> None:
        self.lines += [line.strip() for line in text.strip().splitlines()]

    def fresh(self) -> str:
        self.number += 1
        return f"%B{self.number}"

    def source(self) -> str:
        """A buffer to read, the latest more often than others."""
        return self.random.choice((*self.buffers, self.buffers[-1], self.buffers[-1]))

    def new_buffer(self, *, filled: bool = True) -> str:
        """An allocation; unless all of it will be written anyway, it is filled."""
        name = self.fresh()
        self.add(f"{name} = stripe.alloc : {MATRIX}")
        if filled:
            self.add(f"""stripe.block "fill" {POINT}
                out %f = {name}[%i, %j] : 1x1 {{
              %c = eltwise.constant {self.random.randint(-3, 3)} : f64
              stripe.store %c, %f : {CELL}
            }}""")
        return name

    def place(self, name: str, extent: int, value: str) -> str:
        """Statements that make `%name` a place below `extent`, of data or an index."""
        form = self.random.choice(("%i + %j", "2 * %i - %j + 4", "%j - %i"))
        start = (
            f"%{name}0 = eltwise.cast {value} : f64 to si32"
            if self.random.random() < 0.7
            else f"%{name}0 = stripe.index {form} : si32"
        )
        return f"""{start}
            %{name}1 = eltwise.constant 0 : si32
            %{name}2 = eltwise.constant {extent - 1} : si32
            %{name}3 = eltwise.max %{name}0, %{name}1 : si32
            %{name} = eltwise.min %{name}3, %{name}2 : si32"""

    def elementwise(self) -> None:
        first, second = self.source(), self.source()
        target = self.new_buffer(filled=False)
        function = self.random.choice(("add", "sub", "max"))
        self.add(f"""stripe.block "pair" {POINT}
            in %a = {first}[%i, %j] : 1x1
            in %b = {second}[%i, %j] : 1x1
            out %o = {target}[%i, %j] : 1x1 {{
          %x = stripe.load %a : {CELL}
          %y = stripe.load %b : {CELL}
          %z = eltwise.{function} %x, %y : f64
          stripe.store %z, %o : {CELL}
        }}""")
        self.buffers.append(target)

    def gather(self) -> None:
        values, places = self.source(), self.source()
        target = self.new_buffer(filled=False)
        access, sizes, subscripts, names = self.random.choice(
            (
                ("0, %j", f"{ROWS}x1", "%p, 0", "p"),
                ("%i, 0", f"1x{COLUMNS}", "0, %q", "q"),
                ("0, 0", f"{ROWS}x{COLUMNS}", "%p, %q", "pq"),
            )
        )
        # One place for each row lets vectors run along it.
        column = self.random.choice(("%j", "%j", "0"))
        statements = "\n".join(
            self.place(name, ROWS if name == "p" else COLUMNS, "%x") for name in names
        )
        self.add(f"""stripe.block "gather" {POINT}
            in %n = {places}[%i, {column}] : 1x1
            in %v = {values}[{access}] : {sizes}
            out %o = {target}[%i, %j] : 1x1 {{
          %x = stripe.load %n : {CELL}
          {statements}
          %y = stripe.load %v[{subscripts}] : !stripe.view<{sizes}xf64>
          %z = eltwise.add %y, %x : f64
          stripe.store %z, %o : {CELL}
        }}""")
        self.buffers.append(target)

    def scatter(self) -> None:
        updates, places = self.source(), self.source()
        target = self.new_buffer()
        aggregation = self.random.choice(("add", "max", "min"))
        init = self.random.choice(("", " init 0", " init -1"))
        access, sizes, subscripts, names = self.random.choice(
            (
                ("0, %j", f"{ROWS}x1", "%p, 0", "p"),
                ("0, 0", f"{ROWS}x{COLUMNS}", "%p, %q", "pq"),
            )
        )
        column = self.random.choice(("%j", "0"))
        statements = "\n".join(
            self.place(name, ROWS if name == "p" else COLUMNS, "%n") for name in names
        )
        condition = self.random.choice(("", " if %keep"))
        self.add(f"""stripe.block "scatter" {POINT}
            in %u = {updates}[%i, %j] : 1x1
            in %m = {places}[%i, {column}] : 1x1
            out %o = {target}[{access}] : {sizes} {aggregation}{init} {{
          %x = stripe.load %u : {CELL}
          %n = stripe.load %m : {CELL}
          {statements}
          %zero = eltwise.constant 0 : f64
          %keep = eltwise.cmp_ge %n, %zero : (f64, f64) -> i1
          stripe.store %x, %o[{subscripts}]{condition} : !stripe.view<{sizes}xf64>
        }}""")
        self.buffers.append(target)

    def permutation(self) -> None:
        source = self.source()
        target = self.new_buffer(filled=False)
        self.add(f"""stripe.block "permutation" {POINT}
            in %a = {source}[%i, %j] : 1x1
            out %o = {target}[0, 0] : {ROWS}x{COLUMNS} {{
          %x = stripe.load %a : {CELL}
          %p = stripe.index {ROWS - 1} - %i : si64
          %q = stripe.index {COLUMNS - 1} - %j : ui8
          stripe.store %x, %o[%p, %q] : {MATRIX}
        }}""")
        self.buffers.append(target)

    def conditional(self) -> None:
        source = self.source()
        target = self.new_buffer()
        column = self.random.choice(("%j", "0"))
        self.add(f"""stripe.block "conditional" {POINT}
            in %a = {source}[%i, %j] : 1x1
            in %m = {source}[%i, {column}] : 1x1
            out %o = {target}[%i, %j] : 1x1 {{
          %x = stripe.load %a : {CELL}
          %n = stripe.load %m : {CELL}
          %zero = eltwise.constant 0 : f64
          %keep = eltwise.cmp_gt %n, %zero : (f64, f64) -> i1
          stripe.store %x, %o if %keep : {CELL}
        }}""")
        self.buffers.append(target)

    def serial_points(self) -> None:
        """In place, in the order of the points; the same cell may come again."""
        source = self.source()
        target = self.new_buffer()
        self.add(f"""stripe.block "serial" serial {POINT}
            in %a = {source}[%i, %j] : 1x1
            inout %o = {target}[0, 0] : {ROWS}x{COLUMNS} {{
          %x = stripe.load %a : {CELL}
          {self.place("p", ROWS, "%x")}
          {self.place("q", COLUMNS, "%x")}
          %y = stripe.load %o[%p, 0] : {MATRIX}
          %z = eltwise.sub %x, %y : f64
          stripe.store %z, %o[%p, %q] : {MATRIX}
        }}""")
        self.buffers.append(target)

    def serial_columns(self) -> None:
        """Each column in order, all of them at once."""
        source = self.source()
        target = self.new_buffer()
        constraint = self.random.choice(("", "where %i - 1 >= 0"))
        self.add(f"""stripe.block "columns" [%j : {COLUMNS}]
            in %a = {source}[0, %j] : {ROWS}x1
            inout %o = {target}[0, %j] : {ROWS}x1 {{
          stripe.block serial [%i : {ROWS}]
              in %b = %a[%i, 0] : 1x1
              inout %c = %o[0, 0] : {ROWS}x1
              {constraint} {{
            %x = stripe.load %b : {CELL}
            {self.place("p", ROWS, "%x")}
            %y = stripe.load %c[%p, 0] : !stripe.view<{ROWS}x1xf64>
            %z = eltwise.sub %x, %y : f64
            stripe.store %z, %c[0, 0] : !stripe.view<{ROWS}x1xf64>
            stripe.store %x, %c[%p, 0] : !stripe.view<{ROWS}x1xf64>
          }}
        }}""")
        self.buffers.append(target)

    def flat(self) -> None:
        """Element by element, under another shape on one side or both."""
        source, target = self.source(), self.new_buffer(filled=False)
        a, b = self.fresh(), self.fresh()
        count = ROWS * COLUMNS
        self.add(f"""{a} = stripe.reshape {source} : {MATRIX} to {FLAT}
            {b} = stripe.reshape {target} : {MATRIX} to {FLAT}
            stripe.block "flat" [%n : {count}]
                in %a = {a}[%n] : 1
                out %o = {b}[{self.random.choice(("%n", f"{count - 1} - %n"))}] : 1 {{
              %x = stripe.load %a : !stripe.view<1xf64>
              %y = eltwise.neg %x : f64
              stripe.store %y, %o : !stripe.view<1xf64>
            }}""")
        self.buffers.append(target)


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=100)
def test_random_programs(seed: int) -> None:
    random = Random(seed)
    text = str(ProgramText(random))
    note(text)
    module = Parser(CONTEXT, text).parse_module()
    module.verify()
    shape = (ROWS, COLUMNS)
    inputs = [np.random.default_rng(seed).integers(-4, 9, shape).astype(np.float64)]
    expected = interpret(module, inputs)

    def check() -> None:
        module.verify()
        for got, wanted in zip(interpret(module, inputs), expected, strict=True):
            np.testing.assert_array_equal(got, wanted)

    if random.random() < 0.5:
        choose_tiles(module, random)
    for name in [random.choice(CHOICES) for _ in range(random.randint(1, 7))]:
        note(name)
        try:
            run(module, name)
        except GinghamError as error:
            note(str(error))
            if name == "stripe-tile":
                return
            raise
        check()
    for block in all_blocks(module):
        # What was decided and never applied would be an error.
        set_schedule(block, Schedule())
    run(module, "lower-stripe-to-opencl")
    check()
