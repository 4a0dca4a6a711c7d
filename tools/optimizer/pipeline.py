"""Textual pipelines as MLIR writes them, `builtin.module(func.func(a,b{x=1,2}),c)`.

    pipeline ::= element (`,` element)*
    element  ::= pass options? | anchor `(` pipeline? `)`
    options  ::= `{` (key (`=` value (`,` value)*)?)* `}`

An anchor names the operations, directly inside of those around, on which the passes
in parentheses run. The outermost `builtin.module(...)` may be left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NoReturn

from xdsl.context import Context
from xdsl.passes import ModulePass
from xdsl.traits import IsolatedFromAbove

from ...errors import GinghamError, SourceLocation
from ...suggestions import did_you_mean
from .pass_options import OptionText, build_pass, format_pass

PassRegistry = Mapping[str, Callable[[], type[ModulePass]]]
"""The classes of passes by name, imported when called."""

ROOT = "builtin.module"

_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_SPACE = re.compile(r"\s*")
_KEY = re.compile(r"[A-Za-z0-9_-]+")
_QUOTED = re.compile(r'"((?:\\.|[^"\\])*)"')
_BARE = re.compile(r'[^\s,{}"]+')


@dataclass(frozen=True)
class Step:
    """One pass, to be run on the operations that the anchors lead to.

    `anchors` are operation names, outermost first, each directly inside of the one
    before; without any, the pass runs on the whole module.
    """

    anchors: tuple[str, ...]
    module_pass: ModulePass

    def __str__(self) -> str:
        return format_pipeline([self])


def format_pipeline(steps: Sequence[Step]) -> str:
    """The text of a pipeline, without the outermost `builtin.module(...)`."""
    parts: list[str] = []
    for anchor, group in groupby(steps, lambda step: step.anchors[:1]):
        if anchor:
            inner = [Step(step.anchors[1:], step.module_pass) for step in group]
            parts.append(f"{anchor[0]}({format_pipeline(inner)})")
        else:
            parts.extend(format_pass(step.module_pass) for step in group)
    return ",".join(parts)


def format_root_pipeline(steps: Sequence[Step]) -> str:
    """The text of a whole pipeline, as `--pass-pipeline=` takes it."""
    return f"{ROOT}({format_pipeline(steps)})"


def parse_pipeline(
    text: str, label: str, ctx: Context, passes: PassRegistry
) -> list[Step]:
    """The steps of a textual pipeline; `label` is its name in messages.

    Raises GinghamError, which points into the text.
    """
    return _PipelineParser(text, label, ctx, passes).parse()


def parse_named_options(text: str, label: str) -> tuple[str, dict[str, str]]:
    """The name and the options of `name{key=value ...}`, keys with underscores.

    Raises GinghamError, which points into the text.
    """
    parser = _PipelineParser(text, label, Context(), {})
    parser.skip_space()
    name = parser.match(_NAME)
    if name is None:
        parser.error("expected the name of a pipeline", parser.position)
    options = {
        option.key.replace("-", "_"): ",".join(option.values)
        for option in parser.options()
    }
    if not parser.at_end():
        parser.error("expected '{' or the end", parser.position)
    return name, options


class _PipelineParser:
    """A recursive descent over one pipeline text."""

    def __init__(
        self, text: str, label: str, ctx: Context, passes: PassRegistry
    ) -> None:
        self.text = text
        self.label = label
        self.ctx = ctx
        self.passes = passes
        self.position = 0

    def parse(self) -> list[Step]:
        self.skip_space()
        if self.at_end():
            return []
        root = re.match(r"builtin\.module\s*\(", self.text[self.position :])
        if root is None:
            steps = self.elements((), None)
        else:
            self.position += root.end()
            steps = self.elements((), ")")
        if not self.at_end():
            self.error("expected the end of the pipeline", self.position)
        return steps

    def elements(self, anchors: tuple[str, ...], end: str | None) -> list[Step]:
        """Elements up to the end of the text, or up to and including `end`."""
        steps: list[Step] = []
        self.skip_space()
        if end is not None and self.take(end):
            return steps
        while True:
            steps.extend(self.element(anchors))
            if self.take(","):
                continue
            if end is None and self.at_end():
                return steps
            if end is not None and self.take(end):
                return steps
            expected = "','" if end is None else f"',' or '{end}'"
            self.error(f"expected {expected}", self.position)

    def element(self, anchors: tuple[str, ...]) -> list[Step]:
        self.skip_space()
        start = self.position
        name = self.match(_NAME)
        if name is None:
            self.error("expected the name of a pass", start)
        if self.take("("):
            self.check_anchor(name, start)
            return self.elements((*anchors, name), ")")
        if name not in self.passes:
            hint = did_you_mean(name, self.passes)
            if "." in name:
                hint = f"passes to run on '{name}' are put in parentheses behind it"
            self.error(
                f"unknown pass '{name}'",
                start,
                len(name),
                hint or "--list-passes=all lists the passes",
            )
        options = self.options() if name != "mlir-opt" else self.mlir_options()
        pass_class = self.passes[name]()
        return [Step(anchors, build_pass(pass_class, options, self.place(start, name)))]

    def check_anchor(self, name: str, start: int) -> None:
        """Raises GinghamError unless passes can run on operations of this name."""
        if name in self.passes:
            self.error(
                f"'{name}' is a pass, and its options are put in braces",
                start,
                len(name),
            )
        op_type = self.ctx.get_optional_op(name)
        if op_type is None:
            known = [op.name for op in self.ctx.loaded_ops]
            hint = did_you_mean(name, known)
            self.error(f"unknown operation '{name}'", start, len(name), hint)
        if not op_type.has_trait(IsolatedFromAbove):
            self.error(
                f"passes cannot run on '{name}': expected an operation that is "
                "isolated from what is around it",
                start,
                len(name),
            )

    def options(self) -> list[OptionText]:
        """The options behind a pass's name, or none."""
        options: list[OptionText] = []
        if not self.take("{"):
            return options
        while not self.take("}"):
            start = self.position
            key = self.match(_KEY)
            if key is None:
                self.error("expected the name of an option or '}'", start)
            values = self.values() if self.take("=") else ()
            options.append(OptionText(key, values, self.place(start, key)))
        return options

    def values(self) -> tuple[str, ...]:
        values = [self.value()]
        while self.take(","):
            values.append(self.value())
        self.skip_space()
        return tuple(values)

    def value(self) -> str:
        start = self.position
        quoted = _QUOTED.match(self.text, start)
        if quoted is not None:
            self.position = quoted.end()
            return re.sub(r"\\(.)", r"\1", quoted.group(1))
        bare = self.match(_BARE, skip=False)
        if bare is None:
            self.error(
                "expected a value",
                start,
                hint='a value with spaces or any of ,{} is put in quotes "..."',
            )
        return bare

    def mlir_options(self) -> list[OptionText]:
        """`mlir-opt[...]`, xDSL's way to run MLIR's own passes."""
        start = self.position
        if not self.take("["):
            return self.options()
        end = self.text.find("]", self.position)
        if end < 0:
            self.error("expected ']'", len(self.text))
        pipeline = f"{ROOT}({self.text[self.position : end]})"
        self.position = end + 1
        self.skip_space()
        arguments = (
            "--mlir-print-op-generic",
            "--allow-unregistered-dialect",
            f"--pass-pipeline={pipeline}",
        )
        return [OptionText("arguments", arguments, self.place(start, "["))]

    def match(self, pattern: re.Pattern[str], *, skip: bool = True) -> str | None:
        found = pattern.match(self.text, self.position)
        if found is None:
            return None
        self.position = found.end()
        if skip:
            self.skip_space()
        return found.group()

    def take(self, character: str) -> bool:
        """Goes past a character and the spaces around it, when it comes next."""
        space = _SPACE.match(self.text, self.position)
        position = space.end() if space is not None else self.position
        if not self.text.startswith(character, position):
            return False
        self.position = position + len(character)
        self.skip_space()
        return True

    def skip_space(self) -> None:
        space = _SPACE.match(self.text, self.position)
        if space is not None:
            self.position = space.end()

    def at_end(self) -> bool:
        return self.position >= len(self.text)

    def place(self, start: int, word: str = " ") -> SourceLocation:
        line = self.text.count("\n", 0, start) + 1
        column = start - (self.text.rfind("\n", 0, start) + 1) + 1
        return SourceLocation(self.label, line, column, self.text, len(word))

    def error(
        self, message: str, start: int, length: int = 1, hint: str | None = None
    ) -> NoReturn:
        raise GinghamError(message, self.place(start, " " * length), hint)
