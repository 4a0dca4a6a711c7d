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
        self.tensors = [chr(ord("A") + n) for n in range(random.randint(1, 4))]
        self.sizes: list[str] = []
        self.indices = [chr(ord("i") + n) for n in range(random.randint(1, 5))]

    def one(self, *options: str) -> str:
        """One of them."""
        return self.random.choice(options)

    def text(self) -> str:
        """A function."""
        inputs: list[str] = []
        for name in self.tensors:
            rank = self.random.randint(0, 3)
            sizes = [self.one("M", "N", "K", f"{name}{n}") for n in range(rank)]
            self.sizes += sizes
            inputs.append(f"{name}[{', '.join(sizes)}]" if rank else name)
        body: list[str] = []
        for number in range(self.random.randint(1, 6)):
            name = f"T{number}"
            body.append(f"  {self.statement(name)};\n")
            self.tensors.append(name)
        outputs = self.random.sample(self.tensors, self.random.randint(1, 2))
        head = f"function ({', '.join(inputs)}) -> ({', '.join(outputs)})"
        return f"{head} {{\n{''.join(body)}}}\n"

    def statement(self, name: str) -> str:
        """An assignment or a contraction."""
        if self.random.random() < 0.5:
            return f"{name} = {self.expression(self.random.randint(1, 4))}"
        rank = self.random.randint(0, 3)
        cells = ", ".join(self.polynomial() for _ in range(rank))
        sizes = ", ".join(self.size(2) for _ in range(rank))
        left = f"{name}[{cells} : {sizes}]" if rank else f"{name}[]"
        accesses = [self.access() for _ in range(self.random.randint(1, 3))]
        right = accesses[0]
        if len(accesses) > 1:
            right += f" {self.one('*', '+', '==')} {accesses[1]}"
        if len(accesses) > 2:
            right = f"{accesses[0]} == {accesses[1]} ? {accesses[2]}"
        text = f"{left} = {self.one('+', '*', '>', '<', '=')}({right})"
        for _ in range(self.random.choice((0, 0, 1, 2))):
            text += f", {self.polynomial()} < {self.size(2)}"
        if self.random.random() < 0.1:
            text += f" default {self.one(*self.tensors)}"
        return text

    def access(self) -> str:
        """A tensor at index expressions."""
        rank = self.random.randint(0, 3)
        places = ", ".join(self.polynomial() for _ in range(rank))
        return f"{self.one(*self.tensors)}[{places}]"

    def polynomial(self) -> str:
        """An index expression."""
        text = self.one(*self.indices)
        for _ in range(self.random.choice((0, 0, 0, 1, 2))):
            other = self.one(*self.indices, "1", "2", "3", *(self.sizes or ["5"]))
            text = f"{text} {self.one('+', '-', '*')} {other}"
        return (
            f"({text})/{self.random.randint(2, 4)}"
            if self.random.random() < 0.1
            else text
        )

    def size(self, depth: int) -> str:
        """A size."""
        if depth == 0 or self.random.random() < 0.6:
            return self.one(*(self.sizes or ["4"]), "1", "2", "5", "16")
        left, right = self.size(depth - 1), self.size(depth - 1)
        return f"({left} {self.one('+', '-', '*', '/')} {right})"

    def expression(self, depth: int) -> str:
        """An element-wise expression, some special functions among them."""
        if depth == 0 or self.random.random() < 0.2:
            numbers = ("0", "1", "2.5", "-3", "0.1", "255", "4294967296")
            return self.one(*self.tensors, *self.tensors, *self.sizes, *numbers)
        inner = [self.expression(depth - 1) for _ in range(3)]
        match self.random.randrange(6):
            case 0 | 1:
                sign = self.one(
                    "+", "-", "*", "/", "<", "==", "!=", ">=", "&", "|", "^", "<<", ">>"
                )
                return f"({inner[0]} {sign} {inner[1]})"
            case 2:
                return f"({inner[0]} ? {inner[1]} : {inner[2]})"
            case 3:
                function = self.one(
                    "exp", "log", "tanh", "abs", "sqrt", "floor", "as_int8"
                )
                if function == "as_int8":
                    return f"as_int({inner[0]}, {self.one('8', '16', '32', '64', '7')})"
                return f"{function}({inner[0]})"
            case 4:
                return self.one(
                    f"max({inner[0]}, {inner[1]})",
                    f"pow({inner[0]}, {inner[1]})",
                    f"gather({inner[0]}, {inner[1]})",
                    f"scatter({inner[0]}, {inner[1]}, {inner[2]})",
                    f"reshape({inner[0]}, {self.size(1)}, {self.size(1)})",
                    f"index({inner[0]}, {self.one('0', '1', '9')})",
                    f"shape({inner[0]})",
                    f"argsort({inner[0]}, {self.one('0', '1')})",
                    f"gradient({self.one(*self.tensors)}, {self.one(*self.tensors)})",
                    f"prng_step({inner[0]}, {self.size(1)})",
                )
            case _:
                return f"{self.one('-', '!', '~')}{inner[0]}"
