"""Errors, warnings, and checks that several objects share."""

from __future__ import annotations

from collections.abc import Collection

from ..errors import GinghamError
from ..suggestions import did_you_mean


class Error(GinghamError):
    """A mistake in how operations and values are put together."""


class LogicError(Error):
    """What is asked for has no meaning, whatever the values are."""


class ViewWarning(UserWarning):
    """A view was written to and left without `writeback`."""


def check_name(kind: str, name: object, known: Collection[str]) -> str:
    """The name, if a function has an input or output of it."""
    if isinstance(name, str) and name in known:
        return name
    names = ", ".join(known) or "none"
    hint = did_you_mean(name, known) if isinstance(name, str) else None
    raise GinghamError(
        f"the function has no {kind} {name!r}", hint=hint or f"it has {names}"
    )
