"""A step of a pipeline: a pass and its options, as values and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from xdsl.passes import ModulePass

from ..targets.hardware import Hardware, hardware_text
from . import get_all_passes

Option: TypeAlias = int | str | tuple[str, ...] | Hardware


class Step(NamedTuple):
    """A pass by its name, with those of its options that are given."""

    name: str
    options: Mapping[str, Option]

    def __str__(self) -> str:
        """As `tile-opt --pass-pipeline=` takes it: `stripe-separate{bits=512}`."""
        given = " ".join(f"{name}={_text(it)}" for name, it in self.options.items())
        return f"{self.name}{{{given}}}" if given else self.name

    def module_pass(self) -> ModulePass:
        """The pass itself. Raises KeyError where there is none of that name."""
        return get_all_passes()[self.name]()(**self.options)


def step(name: str, **options: Option) -> Step:
    """A step of a pass with these options."""
    return Step(name, options)


def text_of(steps: Sequence[Step]) -> str:
    """Steps as the text of a pipeline."""
    return ",".join(map(str, steps))


def _text(option: Option) -> str:
    if isinstance(option, int):
        return str(option).lower()
    if isinstance(option, tuple):
        return ",".join(map(_text, option))
    return f'"{hardware_text(option) if isinstance(option, Hardware) else option}"'
