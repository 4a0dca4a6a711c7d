"""What every figure of a description has to be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_LEAST, _MOST = 1e-9, 1e15
"""Between these every figure lies in the units of its name."""
_NONE: Mapping[str, float] = MappingProxyType({})


def require_positive(
    figures: DataclassInstance, allowed: Mapping[str, float] = _NONE
) -> None:
    """Raise ValueError, with the name first, for a number that no figure can be.

    Those that are `allowed`, by their names, mean that there is nothing.
    """
    for each in fields(figures):
        value: object = getattr(figures, each.name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if allowed.get(each.name) == value:
            continue
        if not 0 < value < math.inf:
            raise ValueError(f"{each.name}: expected a number above 0, got {value}")
        if not _LEAST <= value <= _MOST:
            raise ValueError(
                f"{each.name}: expected a number from {_LEAST:g} to {_MOST:g}, "
                f"got {value}"
            )
