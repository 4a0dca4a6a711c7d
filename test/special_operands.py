"""Operands of special operations: small integers, and indices out of bounds, too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

INDEX_TYPES = ("int8", "uint8", "int16", "int32", "uint32", "int64", "uint64")


def generator(*seed: object) -> np.random.Generator:
    """Random numbers for a test case."""
    return np.random.default_rng([ord(letter) for letter in repr(seed)])


def integers(
    random: np.random.Generator, shape: tuple[int, ...], dtype: str = "float32"
) -> Array:
    """Small integers of a type."""
    return np.asarray(random.integers(0, 9, shape) - 4).astype(dtype)


def places(
    random: np.random.Generator, shape: tuple[int, ...], size: int, dtype: str = "int32"
) -> Array:
    """Indices of an axis of `size`, of which some are out of bounds."""
    low = 0 if dtype.startswith("u") else -2
    return np.asarray(random.integers(low, size + 3, shape)).astype(dtype)


def with_options(options: Mapping[str, object]) -> str:
    """Options as the text of an op; those without a value are left out."""
    return " ".join(f"{name} {value}" for name, value in options.items() if value)


def bounds(zero: bool) -> str:
    return "zero" if zero else ""
