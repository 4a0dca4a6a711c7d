"""When measuring begins: by an argument, or by the setting `debug`.

Functions ask here when they are made, so this imports nothing that is not needed then.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Protocol, TypeVar

from ... import observation
from ...errors import GinghamError
from ..settings import setting

if TYPE_CHECKING:
    from .profile import Profile


class Measurable(Protocol):
    """A function whose calls can be noted."""

    own_profile: Profile | None


FunctionType = TypeVar("FunctionType", bound=Measurable)


def measured(function: FunctionType, profile: Profile | None = None) -> FunctionType:
    """The function, the calls of which are noted from now on, as long as it lives.

    In a profile of its own, unless one is given.
    """
    from .watcher import watcher

    watcher.arm()
    weakref.finalize(function, watcher.disarm).atexit = False
    function.own_profile = new_profile() if profile is None else profile
    return function


def new_profile() -> Profile:
    """A profile with nothing in it yet."""
    from .profile import Profile

    return Profile()


def required_profile(profile: Profile | None) -> Profile:
    """The profile; GinghamError where there is none."""
    if profile is None:
        raise GinghamError(
            "the calls of this function are not measured",
            hint="compile it with profile=True, or use gingham.profile()",
        )
    return profile


def follow_debug_setting() -> None:
    """Begin or end the log of the setting `debug`.

    Raises GinghamError where the setting is wrong.
    """
    level: int = setting("debug")
    if level or observation.observer is not None:
        from .debug import set_level

        set_level(level)
