"""Estimates: values in double precision, with how far right results may be from them.

Floats are computed as f64 and rounded to the element type after each operation, as the
definition says; integers in their own type. `errors` is what rounding on a device may
add up to, to first order: what each operation adds, and what the operation makes of the
errors of its operands, found by moving these and added up as independent errors are
(the root of the sum of squares). An infinite one says that nothing can be said: a value
near a jump of a function, an index that rounding may change, a number near the largest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import bf16, f16, f64
from xdsl.ir import Attribute

from ....dialects.eltwise.element_types import Kind, kind
from ....dialects.eltwise.numpy_types import numpy_dtype
from ..elements import Array

_ULPS = 16
"""Units in the last place that a function of OpenCL C may be off."""


@dataclass(frozen=True)
class Estimate:
    """Values, and how far a device may be from each; exact where there are no errors.

    Integers and truths are either exact or unknown: their errors are 0 or infinite.
    """

    values: Array
    errors: Array | None = None

    def at(self, places: tuple[Array, ...]) -> Estimate:
        """Some of the values, by an index of arrays."""
        errors = None if self.errors is None else np.asarray(self.errors[places])
        return Estimate(np.asarray(self.values[places]), errors)

    def reshaped(self, shape: Sequence[int]) -> Estimate:
        """The values in another shape."""
        errors = None if self.errors is None else self.errors.reshape(shape)
        return Estimate(self.values.reshape(shape), errors)

    def spread(self, shape: Sequence[int]) -> Estimate:
        """Broadcast to a shape."""
        errors = self.errors
        if errors is not None:
            errors = np.broadcast_to(errors, shape)
        return Estimate(np.broadcast_to(self.values, shape), errors)

    @property
    def bounds(self) -> Array:
        """The errors as an array, of zeros where all is exact."""
        if self.errors is None:
            return np.zeros((1,) * self.values.ndim)
        return self.errors

    @property
    def is_finite(self) -> bool:
        """Whether every value is finite and known."""
        if not np.isfinite(self.values).all():
            return False
        return self.errors is None or bool(np.isfinite(self.errors).all())


def given(array: Array, element: Attribute) -> Estimate:
    """Values that are known."""
    return Estimate(array.astype(np.float64) if _is_float(element) else array)


def precision(element: Attribute) -> float:
    """The distance of 1 and the next number of the type that computes an element."""
    return 2.0**-52 if element == f64 else 2.0**-23


def storage(element: Attribute) -> float:
    """The distance of 1 and the next number of an element type."""
    known: dict[Attribute, float] = {f16: 2.0**-10, bf16: 2.0**-7}
    return known.get(element, precision(element))


def _smallest(element: Attribute) -> float:
    """What may be lost near 0: devices take denormal numbers as 0, or not."""
    known: dict[Attribute, float] = {f16: 2.0**-24, f64: 2.0**-1022}
    return known.get(element, 2.0**-126)


def rounded(
    values: Array, errors: Array | None, element: Attribute, own: Array | None = None
) -> Estimate:
    """Results as their element type holds them.

    `own` is the error of the operation itself; without it, it adds a few units in the
    last place.
    """
    if not _is_float(element):
        return Estimate(values.astype(numpy_dtype(element)), errors)
    with np.errstate(all="ignore"):
        held = values.astype(numpy_dtype(element)).astype(np.float64)
        if own is None:
            units = _ULPS * precision(element) + storage(element)
            own = units * np.abs(held) + _smallest(element)
        total = own if errors is None else own + errors
        # Equal infinities and NaN are exact.
        total = np.where(np.isfinite(held), total, 0.0 if errors is None else errors)
        near_the_end = np.isfinite(values) & (
            np.abs(values) + total > _largest(element) / 2
        )
        return Estimate(held, np.where(near_the_end, np.inf, total))


def _largest(element: Attribute) -> float:
    known: dict[Attribute, float] = {f16: 65504.0, f64: float(np.finfo(np.float64).max)}
    return known.get(element, float(np.finfo(np.float32).max))


def apply(
    function: Callable[..., Array],
    operands: Sequence[Estimate],
    element: Attribute,
    *,
    rounds: bool = True,
    selects: bool = False,
) -> Estimate:
    """A function of arrays, element by element.

    It only `rounds` where it computes; one that `selects` gives one of its operands, so
    that what is not known of the others does no harm.
    """
    with np.errstate(all="ignore"):
        arguments = [operand.values for operand in operands]
        values = _result(function, arguments, element)
        squares: Array | None = None
        for number, operand in enumerate(operands):
            if operand.errors is None:
                continue
            distance = np.zeros(())
            for moved in _moved(operand):
                others = [*arguments[:number], moved, *arguments[number + 1 :]]
                there = _result(function, others, element)
                distance = np.maximum(distance, _distance(there, values))
            if operand.values.dtype != np.bool_ and not selects:
                distance = np.where(np.isinf(operand.errors), np.inf, distance)
            squares = distance**2 if squares is None else squares + distance**2
        errors = None if squares is None else np.sqrt(squares)
    if not rounds:
        return Estimate(_held(values, element), errors)
    return rounded(values, errors, element)


def equality(left: Estimate, right: Estimate) -> Estimate:
    """Where two are equal.

    What is equal here is so on a device, as it is one number that was computed once, or
    twice in one way: a maximum and the element that it is.
    """
    with np.errstate(all="ignore"):
        values = np.asarray(left.values == right.values)
        if left.errors is None and right.errors is None:
            return Estimate(values)
        distance = np.abs(
            left.values.astype(np.float64) - right.values.astype(np.float64)
        )
        unknown = ~values & ~(distance > left.bounds + right.bounds)
        unknown |= np.isinf(left.bounds) | np.isinf(right.bounds)
        return Estimate(values, np.where(unknown, np.inf, 0.0))


def _held(values: Array, element: Attribute) -> Array:
    if not _is_float(element):
        return values
    return values.astype(numpy_dtype(element)).astype(np.float64)


def _result(
    function: Callable[..., Array], arguments: Sequence[Array], element: Attribute
) -> Array:
    values = np.asarray(function(*arguments))
    if _is_float(element):
        return values.astype(np.float64, copy=False)
    return values.astype(numpy_dtype(element), copy=False)


def _moved(operand: Estimate) -> list[Array]:
    """What the operand may be as well."""
    values, errors = operand.values, operand.bounds
    if values.dtype == np.bool_:
        return [np.where(errors > 0, ~values, values)]
    if values.dtype.kind != "f":
        return [values + (errors > 0).astype(values.dtype)]
    return [values + errors, values - errors]


def _distance(there: Array, here: Array) -> Array:
    if here.dtype.kind != "f":
        return np.where(there != here, np.inf, 0.0)
    distance = np.abs(there - here)
    same = (there == here) | (np.isnan(there) & np.isnan(here))
    return np.where(same, 0.0, np.where(np.isnan(distance), np.inf, distance))


def _is_float(element: Attribute) -> bool:
    return kind(element) is Kind.FLOAT
