"""Nested tuples, lists and dictionaries as a list of leaves, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

from ..errors import GinghamError
from ..limits import MOST_CONTAINERS

_LONGEST_NAME = 40
"""Characters of a name that are shown: each container around adds some."""


@dataclass(frozen=True)
class Leaf:
    """The place of a leaf."""


@dataclass(frozen=True)
class Static:
    """A value that is part of the structure; `key` compares it."""

    key: Any
    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@dataclass(frozen=True)
class Branch:
    """A container: `make` is its type, `keys` are those of a dictionary."""

    make: type[Any]
    children: tuple[Structure, ...]
    keys: tuple[Any, ...] | None = None


Structure: TypeAlias = "Leaf | Static | Branch"


def flatten(
    value: Any,
    name: str,
    leaves: list[tuple[str, Any]],
    is_static: Callable[..., bool],
    depth: int = 0,
) -> Structure:
    """The structure of a value, its leaves appended to `leaves` with names.

    The leaf `p["w"][0]` of `p` is called `p_w_0`. What `is_static` becomes part of the
    structure. `depth` is how many containers are around. Raises GinghamError for too
    many of them.
    """
    _check_depth(name, depth)
    if _is_mapping(value):
        items: Mapping[Any, Any] = value
        children = [
            flatten(child, f"{name}_{key}", leaves, is_static, depth + 1)
            for key, child in items.items()
        ]
        return Branch(dict, tuple(children), tuple(items))
    if _is_sequence(value):
        sequence: Sequence[Any] = value
        children = [
            flatten(child, f"{name}_{number}", leaves, is_static, depth + 1)
            for number, child in enumerate(sequence)
        ]
        return Branch(type(sequence), tuple(children))
    if is_static(value):
        return static(value, name)
    leaves.append((name, value))
    return Leaf()


def unflatten(structure: Structure, leaves: Iterator[Any]) -> Any:
    """The value of a structure with these leaves."""
    if isinstance(structure, Leaf):
        return next(leaves)
    if isinstance(structure, Static):
        return structure.value
    children = [unflatten(child, leaves) for child in structure.children]
    if structure.keys is not None:
        return dict(zip(structure.keys, children, strict=True))
    if hasattr(structure.make, "_fields"):
        return structure.make(*children)
    return structure.make(children)


def leaves_of(structure: Structure, value: Any, name: str) -> list[Any]:
    """The values in the places of the leaves; None stands for None in all of them.

    Raises GinghamError for a value of another structure.
    """
    if isinstance(structure, Static):
        return []
    if isinstance(structure, Leaf):
        return [value]
    children: list[Any] = [None] * len(structure.children)
    if value is not None:
        if _is_mapping(value) and structure.keys is not None:
            found = [value[key] for key in structure.keys if key in value]
        else:
            found = list(value) if _is_sequence(value) else []
        if len(found) != len(children) or len(value) != len(children):
            raise GinghamError(
                f"expected '{name}' to have the structure of the results, a "
                f"{structure.make.__name__} of {len(children)}"
            )
        children = found
    pairs = zip(structure.children, children, strict=True)
    return [leaf for child, own in pairs for leaf in leaves_of(child, own, name)]


def static(value: Any, name: str) -> Static:
    """A value that is part of the structure. Raises GinghamError if it has no hash."""
    key = _key(value, name)
    try:
        hash(key)
    except TypeError:
        raise GinghamError(
            f"the static argument '{name}' cannot be compared with that of another "
            f"call: {type(value).__name__} has no hash",
            hint="pass it as a tuple, or as an array that is not static",
        ) from None
    return Static(key, value)


def _check_depth(name: str, depth: int) -> None:
    if depth > MOST_CONTAINERS:
        raise GinghamError(
            f"'{name[:_LONGEST_NAME]}' is inside more than {MOST_CONTAINERS} "
            "containers",
            hint="does a list or a dictionary contain itself?",
        )


def _key(value: Any, name: str, depth: int = 0) -> Any:
    """The value as something that has a hash, where that is possible.

    1, 1.0 and True are equal in Python and not the same program.
    """
    _check_depth(name, depth)
    if _is_mapping(value):
        items: Mapping[Any, Any] = value
        return dict, tuple(
            (key, _key(child, name, depth + 1)) for key, child in items.items()
        )
    if _is_sequence(value):
        sequence: Sequence[Any] = value
        return type(sequence), tuple(_key(child, name, depth + 1) for child in sequence)
    return type(value), value


def _is_mapping(value: object) -> bool:
    return isinstance(value, Mapping)


def _is_sequence(value: object) -> bool:
    return isinstance(value, tuple | list)


def is_setting(value: object) -> bool:
    """Whether it chooses a program, and is no data: None, a truth value, text, ..."""
    return value is None or isinstance(value, bool | str | Enum) or callable(value)
