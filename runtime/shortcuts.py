"""What is known for arguments by their shapes and types alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from .arrays.array import Array

if TYPE_CHECKING:
    from ..targets.backend import ArrayType
    from .arguments import AnyArray

T = TypeVar("T")
Kinds: TypeAlias = tuple[object, ...]
"""What of some arrays matters."""

_MOST_SHORTCUTS = 1024
_KIND = attrgetter("kind")


class Shortcuts(Generic[T]):
    """What is known for arguments that are arrays of certain shapes and types.

    Looking it up takes a microsecond, so that a repeated call has nothing else to find
    out. May be used from several threads.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], T] = {}

    def get(self, arguments: Sequence[Any]) -> T | None:
        """What is known, None for other arguments and for what are no plain arrays."""
        if arguments and arguments[0].__class__ is Array:
            try:
                return self._known.get(tuple(map(_KIND, arguments)))
            except AttributeError:
                pass
        key = kinds_of(arguments)
        return None if key is None else self._known.get(key)

    def remember(
        self, arguments: Sequence[Any], arrays: Sequence[AnyArray], value: T
    ) -> None:
        """Know it from now on, if `arrays` are the arguments themselves."""
        key = kinds_of(arguments)
        if key is None or len(arguments) != len(arrays):
            return
        if all(a is b for a, b in zip(arguments, arrays, strict=True)):
            if len(self._known) >= _MOST_SHORTCUTS:
                self.clear()
            self._known[key] = value

    def forget(self, is_gone: Callable[[T], bool]) -> None:
        """Know no longer what has gone."""
        kept = [*self._known.items()]
        self._known = {key: value for key, value in kept if not is_gone(value)}

    def clear(self) -> None:
        """Know nothing."""
        self._known = {}


def kinds_of(values: Sequence[Any]) -> Kinds | None:
    """What of each value matters; None unless all are arrays, of NumPy or a device."""
    kinds: list[object] = []
    array_type = None
    for value in values:
        if value.__class__ is Array:
            kinds.append(value.kind)
            continue
        if array_type is None:
            from numpy import ndarray as array_type
        # No subclass, which may be masked or have units.
        if value.__class__ is not array_type:
            return None
        kinds.append((value.shape, value.dtype))
    return tuple(kinds)


def array_types(values: Sequence[Any]) -> tuple[ArrayType, ...] | None:
    """Shape and type of each value; None unless all are plain arrays."""
    import numpy as np

    array_type = np.ndarray
    types: list[ArrayType] = []
    for value in values:
        # No subclass, which may be masked or have units.
        if value.__class__ is not array_type and value.__class__ is not Array:
            return None
        types.append((value.shape, value.dtype))
    return tuple(types)
