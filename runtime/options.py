"""How a program is compiled: what `gingham.compile` and its kin take by keyword.

A caller's keywords become `CompileOptions` once, in the function that was called, and
are handed on as that. A further option is a field there and a line among the keywords
below.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypedDict, TypeVar

if TYPE_CHECKING:
    from typing import Required

    from ..targets.hardware import Hardware
    from .device import Device

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, kw_only=True)
class CompileOptions:
    """The options of `gingham.compile`, whose documentation says what they mean."""

    device: str | Device | Sequence[str | Device] | None = None
    hardware: str | Hardware | None = None
    constants: str | Collection[str | int] = ()
    """The names of inputs, or their positions."""
    tuned: bool = True
    fast_math: bool = False
    check: bool | None = None
    profile: bool = False
    place: Mapping[str, str] | None = None
    measure: bool = False

    @property
    def devices(self) -> Sequence[str | Device] | None:
        """The devices, where there is a list of them."""
        if isinstance(self.device, str) or not isinstance(self.device, Sequence):
            return None
        return self.device


class AnyKeywords(TypedDict, total=False):
    """Those that every function takes which compiles."""

    constants: str | Collection[str]
    fast_math: bool
    check: bool | None
    profile: bool


class ProgramKeywords(AnyKeywords, total=False):
    """Those of a program for one device, wherever that is named."""

    hardware: str | Hardware | None
    tuned: bool


class DeviceKeywords(ProgramKeywords, total=False):
    """Those of a program for one device."""

    device: str | Device | None


class DevicesKeywords(AnyKeywords, total=False):
    """Those of a program for several devices."""

    device: Required[Sequence[str | Device]]
    tuned: bool
    place: Mapping[str, str] | None
    measure: bool


def spelled_out(*keywords: type) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function that takes `**options` name them: in `help`, and in its errors.

    `keywords` are the typed dictionaries of those that it takes.
    """
    names = {name for each in keywords for name in each.__annotations__}

    def spell(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)
        own = [
            each
            for each in signature.parameters.values()
            if each.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        known = {each.name for each in own}
        named = [
            inspect.Parameter(
                each.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=each.default,
                annotation=each.type,
            )
            for each in fields(CompileOptions)
            if each.name in names - known
        ]

        @wraps(function)
        def call(*args: P.args, **given: P.kwargs) -> R:
            for name in given:
                if name not in known and name not in names:
                    raise TypeError(
                        f"{function.__qualname__}() got an unexpected keyword "
                        f"argument '{name}'"
                    )
            return function(*args, **given)

        spelled = signature.replace(parameters=[*own, *named])
        call.__dict__["__signature__"] = spelled
        return call

    return spell
