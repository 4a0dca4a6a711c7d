"""Random inputs for validation, and the comparison of results. Imports NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from ...dialects.eltwise.numpy_types import numpy_dtype
from .entry import Signature

Array = NDArray[Any]

TOLERANCES = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 1e-5, "float64": 1e-12}
"""By type, how far results may be apart, relative to the largest result.

Sums of products of the inputs are exact in any order, but not exponentials.
"""

_SHOWN_VALUES = 64


def candidate_inputs(signature: Signature, seed: int) -> Iterator[list[Array]]:
    """Inputs to try, the best first: small integers of both signs, then positive ones.

    Logarithms and indices want positive ones, and the last are indices into any axis.
    """
    for low, high in ((-4, 5), (1, 5), (0, 2)):
        generator = np.random.default_rng(seed)
        yield [_sample(generator, type, low, high) for type in signature]


def _sample(
    generator: np.random.Generator, type: TensorType[Attribute], low: int, high: int
) -> Array:
    dtype = numpy_dtype(type.element_type)
    if dtype.kind in "bu":
        low, high = max(low, 0), 2 if dtype.kind == "b" else high
    return generator.integers(low, high, size=type.get_shape()).astype(dtype)


def is_telling(results: Sequence[Array]) -> bool:
    """Whether results are values and numbers, so that they tell about the program."""
    return all(
        result.size > 0
        and (result.dtype.kind in "biu" or bool(np.isfinite(as_float(result)).all()))
        for result in results
    )


def as_float(array: Array) -> Array:
    """The array as f64, exact for every float type."""
    return array.astype(np.float64)


@dataclass(frozen=True)
class Difference:
    """How the results of two programs differ.

    `summary` is a sentence; `before` and `after` are the first results that differ.
    """

    summary: str
    before: str
    after: str


def find_difference(
    before: Sequence[Array], after: Sequence[Array]
) -> Difference | None:
    """The first difference of two lists of results, or None when they agree.

    Integers have to be equal, floats within TOLERANCES; NaN agrees with NaN.
    """
    if len(before) != len(after):
        summary = f"there were {len(before)} results, and now there are {len(after)}"
        return Difference(summary, _shapes(before), _shapes(after))
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        if old.shape != new.shape or old.dtype != new.dtype:
            summary = f"result #{number} was {_kind(old)} and now is {_kind(new)}"
            return Difference(summary, _text(old), _text(new))
        wrong = ~_agrees(old, new)
        if wrong.any():
            return Difference(
                _describe(number, old, new, wrong), _text(old), _text(new)
            )
    return None


def _agrees(old: Array, new: Array) -> NDArray[np.bool_]:
    """Where two arrays of one shape and type agree."""
    tolerance = TOLERANCES.get(old.dtype.name)
    if tolerance is None:
        return np.asarray(old == new)
    first, second = as_float(old), as_float(new)
    finite = np.abs(first[np.isfinite(first)])
    scale = float(finite.max()) if finite.size else 0.0
    return np.isclose(
        second, first, rtol=tolerance, atol=tolerance * scale, equal_nan=True
    )


def _describe(number: int, old: Array, new: Array, wrong: NDArray[np.bool_]) -> str:
    index = tuple(int(axis) for axis in np.argwhere(wrong)[0])
    place = f"[{', '.join(map(str, index))}]" if index else ""
    count = int(wrong.sum())
    return (
        f"result #{number}{place} was {old[index]!s} and now is {new[index]!s} "
        f"({count} of {wrong.size} elements of {_kind(old)} differ)"
    )


def _kind(array: Array) -> str:
    return "x".join([*map(str, array.shape), array.dtype.name])


def _shapes(arrays: Sequence[Array]) -> str:
    return ", ".join(_kind(array) for array in arrays) or "none"


def _text(array: Array) -> str:
    """The values of an array, only the outermost ones of a large one."""
    shown = as_float(array) if array.dtype.name == "bfloat16" else array
    text = np.array2string(shown, threshold=_SHOWN_VALUES, edgeitems=2)
    return text if array.ndim < 2 else f"\n{text}"


def describe_inputs(inputs: Sequence[Array]) -> str:
    """The inputs of a run, for a message."""
    return "; ".join(f"{_kind(array)} {_text(array)}" for array in inputs) or "none"
