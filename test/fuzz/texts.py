"""Tile texts: drawn by the grammar, and those of examples and tests with changes."""

from __future__ import annotations

import re
from functools import cached_property
from random import Random

from gingham.tools.optimizer import driver

from .cases import ROOT, Case, run_command
from .mutations import mutated

_PASSES = "tile-canonicalize,tile-flatten,tile-canonicalize,lower-tile-to-stripe"
_SIGNS = "+ - * / < == != >= & | ^ << >>".split()
_FUNCTION = re.compile(r"function \([^\"`]*?\n\}|function \([^\"`\n]*\}")


class TextFuzzer:
    """Tile texts, lowered with each step validated on small random shapes."""

    name = "text"

    @cached_property
    def corpus(self) -> list[str]:
        """The texts of the examples, of the pages, and in the tests."""
        texts = [
            path.read_text() for path in sorted((ROOT / "examples").glob("*.tile"))
        ]
        pages = sorted((ROOT / "docs").glob("*.md"))
        for page in [*pages, *sorted((ROOT / "test").rglob("test_*.py"))]:
            texts += _FUNCTION.findall(page.read_text())
        return sorted({text.replace("{{", "{").replace("}}", "}") for text in texts})

    def draw(self, random: Random) -> Case:
        """A text by the grammar, or a mutated one."""
        if random.random() < 0.4:
            text = Drawing(random).text()
            if random.random() < 0.3:
                text = mutated(text, self.corpus, random)
        else:
            text = mutated(random.choice(self.corpus), self.corpus, random)
        content = text.encode(errors="surrogatepass")
        return Case({"case.tile": content})

    def run(self, case: Case) -> None:
        """Parse it; lower it with validation."""
        del case
        status, _ = run_command(driver.run, ["case.tile"])
        if status:
            return
        # That it cannot be run on any small shapes is an error as well.
        run_command(
            driver.run, ["case.tile", "--validate-each", f"--pass-pipeline={_PASSES}"]
        )


class Drawing:
    """A random text: mostly of the right form, of names and sizes that may not fit."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.ranks: dict[str, int] = {}
        self.sizes: list[str] = []
        self.indices = [chr(ord("i") + n) for n in range(random.randint(1, 4))]

    def one(self, *options: str) -> str:
        """One of them."""
        return self.random.choice(options)

    def rarely(self) -> bool:
        """Whether to do what is mostly wrong."""
        return self.random.random() < 0.02

    def text(self) -> str:
        """A function."""
        inputs: list[str] = []
        for name in "ABCD"[: self.random.randint(1, 4)]:
            rank = self.random.randint(0, 3)
            sizes = [self.one("M", "N", "K", f"{name}{n}") for n in range(rank)]
            self.sizes += sizes
            self.ranks[name] = rank
            inputs.append(f"{name}[{', '.join(sizes)}]" if rank else name)
        body: list[str] = []
        for number in range(self.random.randint(1, 6)):
            name = f"T{number}"
            text, rank = self.statement(name)
            body.append(f"  {text};\n")
            self.ranks[name] = rank
        computed = [name for name in self.ranks if name.startswith("T")]
        outputs = self.random.sample(computed, self.random.randint(1, len(computed)))
        head = f"function ({', '.join(inputs)}) -> ({', '.join(outputs)})"
        return f"{head} {{\n{''.join(body)}}}\n"

    def statement(self, name: str) -> tuple[str, int]:
        """An assignment or a contraction, and the rank of its result."""
        if self.random.random() < 0.5:
            text, rank = self.expression(self.random.randint(1, 4))
            return f"{name} = {text}", rank
        rank = self.random.randint(0, 3)
        cells = ", ".join(self.polynomial() for _ in range(rank))
        sizes = ", ".join(self.size(1) for _ in range(rank))
        left = f"{name}[{cells} : {sizes}]" if rank else f"{name}[]"
        accesses = [self.access() for _ in range(self.random.randint(1, 3))]
        right = accesses[0]
        if len(accesses) == 2:
            right += f" {self.one('*', '+', '==')} {accesses[1]}"
        if len(accesses) == 3:
            right = f"{accesses[0]} == {accesses[1]} ? {accesses[2]}"
        text = f"{left} = {self.one('+', '*', '>', '<', '=')}({right})"
        for index in self.indices:
            if self.random.random() < 0.4:
                text += f", {index} < {self.size(1)}"
        if self.random.random() < 0.1:
            text += f" default {self.one(*self.ranks)}"
        return text, rank

    def access(self) -> str:
        """A tensor at index expressions."""
        name = self.one(*self.ranks)
        rank = self.random.randint(0, 3) if self.rarely() else self.ranks[name]
        return f"{name}[{', '.join(self.polynomial() for _ in range(rank))}]"

    def polynomial(self) -> str:
        """An index expression."""
        text = self.one(*self.indices)
        if self.random.random() < 0.1:
            text = f"{self.random.randint(2, 4)}*{text}"
        for _ in range(self.random.choice((0, 0, 0, 1, 2))):
            other = self.one(*self.indices, "1", "2", "3", *(self.sizes or ["5"]))
            text = f"{text} {self.one('+', '-', '*' if self.rarely() else '+')} {other}"
        if self.random.random() < 0.1:
            return f"({text})/{self.random.randint(2, 4)}"
        return text

    def size(self, depth: int) -> str:
        """A size."""
        if depth == 0 or self.random.random() < 0.6:
            return self.one(*(self.sizes or ["4"]), "1", "2", "5", "16")
        left, right = self.size(depth - 1), self.size(depth - 1)
        return f"({left} {self.one('+', '-', '*', '/')} {right})"

    def expression(self, depth: int) -> tuple[str, int]:
        """An element-wise expression, with special functions, and its rank."""
        if depth == 0 or self.random.random() < 0.2:
            return self.operand()
        (a, first), (b, second), (c, third) = (
            self.expression(depth - 1) for _ in range(3)
        )
        match self.random.randrange(7):
            case 0 | 1:
                return f"({a} {self.one(*_SIGNS)} {b})", max(first, second)
            case 2:
                return f"({a} ? {b} : {c})", max(first, second, third)
            case 3:
                function = self.one("exp", "log", "tanh", "abs", "sqrt", "floor", "")
                bits = self.one("8", "16", "32", "64", "7" if self.rarely() else "32")
                cast = f"as_int({a}, {bits})"
                return f"{function}({a})" if function else cast, first
            case 4:
                return f"{self.one('max', 'min', 'pow')}({a}, {b})", max(first, second)
            case 5:
                return self.special()
            case _:
                return f"{self.one('-', '~')}{a}", first

    def operand(self) -> tuple[str, int]:
        """A tensor, a size or a number."""
        if self.random.random() < 0.75:
            name = self.one(*self.ranks)
            return name, self.ranks[name]
        numbers = ("0", "1", "2.5", "3", "0.1", "255", "4294967296")
        return self.one(*self.sizes, *numbers), 0

    def special(self) -> tuple[str, int]:
        """A function that moves elements."""
        name, other, third = (self.one(*self.ranks) for _ in range(3))
        rank = self.ranks[name]
        axis = str(self.random.randrange(rank)) if rank else "0"
        integers, further = f"as_int({other}, 32)", self.ranks[other]
        match self.random.randrange(7):
            case 0:
                return f"gather({name}, {integers})", max(rank - 1, 0) + further
            case 1:
                return f"scatter({integers}, {name}, {third})", self.ranks[third]
            case 2:
                return f"reshape({name}, {self.size(1)}, {self.size(1)})", 2
            case 3:
                return f"index({name}, {axis})", rank
            case 4:
                return f"shape({name})", 1
            case 5:
                return f"argsort({name}, {axis})", rank
            case _:
                return f"gradient({name}, {other})", further
