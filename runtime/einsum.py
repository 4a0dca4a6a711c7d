"""`gingham.einsum`, `tensordot` and `transpose`: NumPy's functions as Tile programs.

An equation with the shapes it is called with becomes a chain of contractions. The
compiled programs are kept, so that a further call with the same equation, shapes, types
and device only runs. Of tensors of the eDSL the three give tensors of the eDSL.

opt_einsum finds these functions by their names: `opt_einsum.contract(...,
backend="gingham")`.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, SupportsIndex

from ..errors import GinghamError, SourceLocation
from .arguments import AnyArray, as_any_array
from .arrays.array import Array
from .arrays.host_values import as_array
from .device import Device
from .devices import chosen_device, default_device
from .function import Function
from .options import CompileOptions
from .parsed import ModuleProgram
from .shortcuts import array_types

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike
    from xdsl.ir import Attribute

    from ..frontend.einsum_call import Optimize
    from ..frontend.einsum_equation import Equation, Label, Product
    from ..frontend.einsum_path import Path

_EDSL = __name__.replace("runtime.einsum", "frontend.edsl")

_PROGRAMS = 512
"""Programs that are kept; each is compiled for all shapes it was called with."""


def einsum(
    *operands: Any,
    optimize: Optimize = True,
    dtype: DTypeLike | None = None,
    out: Any = None,
    device: str | Device | None = None,
) -> Any:
    """The sum over products of arrays that an equation describes, as `numpy.einsum`.

    Called as `einsum("ij,jk->ik", A, B)` or `einsum(A, [0, 1], B, [1, 2], [0, 2])`,
    with all of NumPy's forms. Axes with one label have one size, or size 1, which is
    repeated.

    Operands are converted to `dtype`, which is that of the result; without it to the
    highest of their types in Gingham's order. Sums of integers wrap around; of truth
    values the product is *and*, the sum *or*.

    More than two operands are contracted pair by pair. `optimize` says in which order:
    True leaves it to opt_einsum, if that is installed, else to a greedy search; False
    is from left to right; `"greedy"`, `"optimal"` and the like are opt_einsum's; a path
    of `numpy.einsum_path` or opt_einsum is followed.

    The result is written to `out`, if given, as by `gingham.Function`. `device` is a
    device or its name. Raises GinghamError for an equation that is wrong or does not
    fit the arrays.
    """
    if any(map(_is_tensor, operands)):
        from ..frontend.edsl.einsum import einsum as einsum_of_tensors

        if out is not None:
            raise GinghamError("'out' is for arrays; here are tensors of a program")
        return einsum_of_tensors(*operands, optimize=optimize, dtype=dtype)
    if isinstance(optimize, bool | str) and (dtype is None or isinstance(dtype, type)):
        types = array_types(operands[1:])
        if types is not None and operands and isinstance(operands[0], str):
            chosen = device or _device_of(operands) or default_device()
            function = _known(operands[0], types, optimize, dtype, chosen)
            return function(*operands[1:], out=out)
    from ..frontend.einsum_call import einsum_arguments

    equation, values = einsum_arguments(operands)
    arrays = [as_any_array(f"operand {n}", value) for n, value in enumerate(values)]
    element = _element(values, arrays, dtype)
    chosen = device or _device_of(arrays)
    return _function(equation, arrays, optimize, element, chosen)(*arrays, out=out)


def tensordot(
    a: Any,
    b: Any,
    axes: int | Sequence[Any] = 2,
    *,
    device: str | Device | None = None,
) -> Any:
    """The products of two arrays summed over pairs of axes, as `numpy.tensordot`.

    `axes` is how many last axes of `a` meet the first of `b`, or the axes of each.
    Raises GinghamError for axes that are not there, and sizes that differ.
    """
    a, b = _operand("a", a), _operand("b", b)
    pairs = _paired_axes(axes, [a.ndim, b.ndim])
    if not _is_tensor(a) and not _is_tensor(b):
        for i, j in pairs:
            if a.shape[i] != b.shape[j]:
                raise GinghamError(
                    f"axis {i} of a has size {a.shape[i]}, axis {j} of b {b.shape[j]}"
                )
    left = list(range(a.ndim))
    right = list(range(a.ndim, a.ndim + b.ndim))
    for i, j in pairs:
        right[j] = left[i]
    output = [label for label in left + right if (label in left) != (label in right)]
    return einsum(a, left, b, right, output, device=device)


def transpose(
    a: Any,
    axes: Sequence[int] | None = None,
    *,
    device: str | Device | None = None,
) -> Any:
    """An array with its axes in another order, as `numpy.transpose`.

    Without `axes` their order is reversed. The result is a new array, not a view.
    Raises GinghamError for what is no order of all axes.
    """
    a = _operand("a", a)
    labels = list(range(a.ndim))
    if axes is None:
        return einsum(a, labels, labels[::-1], device=device)
    order = [_axis(axis, a.ndim, "a") for axis in axes]
    if sorted(order) != labels:
        raise GinghamError(f"expected an order of all {a.ndim} axes, got {axes}")
    return einsum(a, labels, order, device=device)


# What a call says


def _is_tensor(value: Any) -> bool:
    """Whether it is a tensor of the eDSL, which arrays need not import."""
    if not type(value).__module__.startswith(_EDSL):
        return False
    from ..frontend.edsl.tensors import Tensor

    return isinstance(value, Tensor)


def _device_of(operands: Sequence[Any]) -> Device | None:
    """The device that operands are on, if there is one."""
    return next((each.device for each in operands if isinstance(each, Array)), None)


def _operand(name: str, value: Any) -> Any:
    """A tensor of the eDSL as it is, all else as an array."""
    if _is_tensor(value):
        return value
    return as_any_array(name, value)


def _axis(axis: Any, rank: int, name: str) -> int:
    """An axis counted from the first."""
    number = operator.index(axis)
    if not -rank <= number < rank:
        raise GinghamError(f"{name} has {rank} axes, and none is {number}")
    return number % rank


def _paired_axes(
    axes: int | Sequence[Any], ranks: Sequence[int]
) -> list[tuple[int, int]]:
    """The axes of two arrays that meet, counted from the first."""
    if isinstance(axes, SupportsIndex):
        count = operator.index(axes)
        if not 0 <= count <= min(ranks):
            raise GinghamError(
                f"expected 0 to {min(ranks)} axes, which both arrays have, got {count}"
            )
        return [(ranks[0] - count + number, number) for number in range(count)]
    if len(axes) != 2:
        raise GinghamError(f"expected a number of axes or the axes of each, got {axes}")
    own: list[list[int]] = []
    for given, rank, name in zip(axes, ranks, "ab", strict=True):
        several = [given] if isinstance(given, SupportsIndex) else given
        own.append([_axis(axis, rank, name) for axis in several])
        if len(set(own[-1])) != len(own[-1]):
            raise GinghamError(f"an axis of {name} is named twice: {given}")
    left, right = own
    if len(left) != len(right):
        raise GinghamError(f"{len(left)} axes of a cannot meet {len(right)} of b")
    return list(zip(left, right, strict=True))


def _element(
    values: Sequence[Any],
    arrays: Sequence[AnyArray],
    dtype: DTypeLike | None = None,
) -> Attribute:
    """The type in which products of these values are computed; numbers are weak."""
    from ..dialects.eltwise.element_types import promote_weak
    from ..dialects.eltwise.numpy_types import NUMPY_NAMES

    if dtype is None:
        strong: list[Attribute] = []
        weak: list[Attribute] = []
        for value, array in zip(values, arrays, strict=True):
            own = weak if isinstance(value, int | float) else strong
            own.append(NUMPY_NAMES[array.dtype.name])
        return promote_weak(strong, weak)
    import numpy as np

    name = np.dtype(dtype).name
    if name not in NUMPY_NAMES:
        raise GinghamError(
            f"no tensor has elements of type {name}",
            hint=f"tensors hold {', '.join(NUMPY_NAMES)}",
        )
    return NUMPY_NAMES[name]


# Programs


@lru_cache(_PROGRAMS)
def _known(
    text: str,
    types: tuple[tuple[tuple[int, ...], np.dtype[Any]], ...],
    optimize: bool | str,
    dtype: DTypeLike | None,
    device: str | Device,
) -> Function:
    """The program of an equation for plain arrays of these shapes and types."""
    import numpy as np

    from ..frontend.einsum_equation import parse_equation

    values = [np.broadcast_to(np.zeros((), dtype), shape) for shape, dtype in types]
    arrays = [as_array(f"operand {n}", value) for n, value in enumerate(values)]
    element = _element(arrays, arrays, dtype)
    return _function(parse_equation(text), arrays, optimize, element, device)


def _function(
    equation: Equation,
    arrays: Sequence[AnyArray],
    optimize: Optimize,
    element: Attribute,
    device: str | Device | None,
) -> Function:
    """The program of an equation for arrays like these."""
    from ..frontend.einsum_call import einsum_path

    product, sizes = equation.product([array.shape for array in arrays])
    path = einsum_path(optimize, product, sizes)
    chosen = chosen_device(device) or default_device()
    return _program(product, path, element, chosen)


@lru_cache(_PROGRAMS)
def _program(
    product: Product, path: Path, element: Attribute, device: Device
) -> Function:
    """The program of a product of tensors of any sizes and types."""
    from ..frontend.builder import ProgramBuilder
    from ..frontend.einsum import build_einsum

    builder = ProgramBuilder()
    location = SourceLocation("<einsum>", 1, 1)
    tensors = [
        builder.add_input(f"operand{number}", _size_names(axes, number), location)
        for number, axes in enumerate(product.operands)
    ]
    result = build_einsum(
        builder, product, path, tensors, builder.sizes, location, element=element
    )
    module = builder.finish([("result", result)], location)
    return Function(ModuleProgram(module, ""), CompileOptions(device=device))


def _size_names(axes: Sequence[Label | None], operand: int) -> list[str]:
    """A name for the size of each axis: its label, or one that occurs nowhere else."""
    return [
        f"one_{operand}_{axis}" if label is None else label
        for axis, label in enumerate(axes)
    ]
