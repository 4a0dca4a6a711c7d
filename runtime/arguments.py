"""From what a caller passes to the arrays and types that a program is compiled for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ..errors import GinghamError
from ..suggestions import did_you_mean
from .arrays.array import Array
from .arrays.host_values import as_array

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from xdsl.dialects.builtin import TensorType
    from xdsl.ir import Attribute

AnyArray: TypeAlias = "NDArray[Any] | Array"
"""An array of NumPy, or one of a device."""

Signature: TypeAlias = tuple[tuple[tuple[int, ...], str], ...]
"""The shape and the NumPy type name of every argument."""


class Binding(NamedTuple):
    """What a program is compiled for."""

    signature: Signature
    numbers: tuple[tuple[int, int], ...] = ()
    """The positions and values of the arguments that are sizes."""


def bind(
    names: Sequence[str], positional: Sequence[Any], named: Mapping[str, Any]
) -> list[AnyArray]:
    """The arguments in order, as arrays; arrays of a device as they are.

    Raises GinghamError for one that is missing, unknown, given twice, one too many, or
    that no tensor can hold.
    """
    if len(positional) > len(names):
        raise GinghamError(
            f"the program has {len(names)} input(s) ({', '.join(names)}), got "
            f"{len(positional)}"
        )
    values = dict(zip(names, positional, strict=False))
    for name, value in named.items():
        if name not in names:
            raise GinghamError(
                f"the program has no input '{name}'",
                hint=did_you_mean(name, names)
                or f"its inputs are {', '.join(names) or 'none'}",
            )
        if name in values:
            raise GinghamError(f"input '{name}' is given twice")
        values[name] = value
    missing = [name for name in names if name not in values]
    if missing:
        raise GinghamError(f"missing input {', '.join(missing)}")
    return [as_any_array(name, values[name]) for name in names]


def as_any_array(name: str, value: Any) -> AnyArray:
    """As `as_array`; an array of a device as it is, if it is not closed."""
    if isinstance(value, Array):
        if value.is_closed:
            raise GinghamError(f"input '{name}' is closed")
        return value
    return as_array(name, value)


def signature_of(arrays: Sequence[AnyArray]) -> Signature:
    """What a program must be compiled for to take these arrays."""
    return tuple((array.shape, dtype_name(array.dtype)) for array in arrays)


@cache
def dtype_name(dtype: np.dtype[Any]) -> str:
    """What NumPy calls a type: it makes the name anew each time, in 3 us."""
    return dtype.name


def binding_of(arrays: Sequence[AnyArray], sizes: Collection[int]) -> Binding:
    """As `signature_of`, with the values of those that are used as sizes.

    `sizes` are their positions. One that is no integer is left out: the program refuses
    its type.
    """
    numbers = tuple(
        (position, int(arrays[position]))
        for position in sizes
        if position < len(arrays) and _is_integer(arrays[position])
    )
    return Binding(signature_of(arrays), numbers)


def _is_integer(array: AnyArray) -> bool:
    return array.ndim == 0 and array.dtype.kind in "iu"


def tensor_types(signature: Signature) -> list[TensorType[Attribute]]:
    """The tensor types of a signature."""
    from xdsl.dialects.builtin import TensorType

    from ..dialects.eltwise.numpy_types import NUMPY_NAMES

    return [TensorType(NUMPY_NAMES[dtype], shape) for shape, dtype in signature]


def dtype_named(element: str) -> np.dtype[Any]:
    """The NumPy type of an element type by its name in a tensor type: `f32`, `si8`."""
    from ..dialects.eltwise.element_types import ELEMENT_TYPES
    from ..dialects.eltwise.numpy_types import numpy_dtype

    if element not in ELEMENT_TYPES:
        raise GinghamError(
            f"there is no element type '{element}'",
            hint=did_you_mean(element, ELEMENT_TYPES)
            or f"element types are {', '.join(ELEMENT_TYPES)}",
        )
    return numpy_dtype(ELEMENT_TYPES[element])
