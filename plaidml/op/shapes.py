"""The same elements in other shapes and places: reshapes, parts, and put together."""

from __future__ import annotations

import functools
import math
import operator
from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..errors import LogicError
from ..operations import Operation, Shape
from ..slices import slice_text
from ..values import ShapeOf, Value, shape_of

__all__ = [
    "Concatenate",
    "Flatten",
    "Gather",
    "Reshape",
    "ShapeOf",
    "SliceTensor",
    "concatenate",
    "flatten",
    "gather",
    "reshape",
    "shape_of",
    "slice_tensor",
    "squeeze",
    "unsqueeze",
]


class Concatenate(Operation):
    """Tensors behind each other on an axis; their other sizes are the same.

    Raises ValueError for an axis that is not there, and for other sizes that differ.
    """

    def __init__(self, tensors: Sequence[Value], axis: int = -1) -> None:
        first = tensors[0]
        rank = first.ndims
        if not -rank <= axis < rank:
            raise ValueError(f"there is no axis {axis}: tensors have {rank} axes")
        axis %= rank
        for tensor in tensors[1:]:
            _check_sizes(first, tensor, axis)
        sizes = [f"N{number}" for number in range(rank)]
        indices = [f"n{number}" for number in range(rank)]
        own = [f"A{number}" for number in range(len(tensors))]
        whole = [*sizes[:axis], " + ".join(own), *sizes[axis + 1 :]]
        source, heads, body = ", ".join(indices), list[str](), list[str]()
        for number, size in enumerate(own):
            head = [*sizes[:axis], size, *sizes[axis + 1 :]]
            heads.append(f"I{number}[{', '.join(head)}]")
            target = list(indices)
            target[axis] = " + ".join([indices[axis], *own[:number]])
            body.append(
                f"T{number}[{', '.join(target)} : {', '.join(whole)}] = "
                f"=(I{number}[{source}]);"
            )
        body.append("O = " + " + ".join(f"T{n}" for n in range(len(tensors))) + ";")
        dims = list(first.dims)
        dims[axis] = functools.reduce(operator.add, [t.dims[axis] for t in tensors])
        super().__init__(
            f"function ({', '.join(heads)}) -> (O) {{\n  " + "\n  ".join(body) + "\n}",
            [(f"I{number}", tensor) for number, tensor in enumerate(tensors)],
            [("O", Shape(first.shape.dtype, dims))],
        )


def _check_sizes(first: Value, second: Value, but: int) -> None:
    if first.ndims != second.ndims:
        raise ValueError(f"cannot concatenate {first!r} and {second!r}")
    for axis, (one, other) in enumerate(zip(first.dims, second.dims, strict=True)):
        is_known = not isinstance(one, Value) and not isinstance(other, Value)
        if axis != but and is_known and one != other:
            raise ValueError(
                f"cannot concatenate {first!r} and {second!r} on axis {but}: "
                f"they differ in axis {axis}"
            )


class Flatten(Operation):
    """All elements on one axis."""

    def __init__(self, data: Value) -> None:
        sizes = [f"N{axis}" for axis in range(data.ndims)]
        count = math.prod(data.dims)
        super().__init__(
            f"function (I[{', '.join(sizes)}]) -> (O) "
            f"{{ O = reshape(I, {' * '.join(sizes) or 1}); }}",
            [("I", data)],
            [("O", Shape(data.shape.dtype, (count,)))],
        )


class Gather(Operation):
    """The elements `value[i]` of the first axis for each index i of a tensor."""

    def __init__(self, value: Value, indicies: Value) -> None:
        dims = (*indicies.dims, *value.dims[1:])
        super().__init__(
            "function (V, I) -> (O) { O = gather(V, I); }",
            [("V", value), ("I", indicies)],
            [("O", Shape(value.shape.dtype, dims))],
        )


class Reshape(Operation):
    """The elements in order, in axes of other sizes.

    A size of 0 or None is that which the axis had, -1 what is left for the others; a
    size may be a value. Raises LogicError where -1 is there twice.
    """

    def __init__(self, x: Value, dims: Sequence[Any]) -> None:
        sizes = [
            x.dims[axis] if not isinstance(dim, Value) and not dim else dim
            for axis, dim in enumerate(dims)
        ]
        free = [n for n, s in enumerate(sizes) if not isinstance(s, Value) and s == -1]
        if len(free) > 1:
            raise LogicError("at most one size may be -1")
        for axis in free:
            others = sizes[:axis] + sizes[axis + 1 :]
            sizes[axis] = _quotient(x.dims, others)
        unknown = [
            (f"D{axis}", size)
            for axis, size in enumerate(sizes)
            if isinstance(size, Value)
        ]
        texts = [
            f"D{axis}" if isinstance(size, Value) else str(size)
            for axis, size in enumerate(sizes)
        ]
        names = ", ".join(["I", *(name for name, _ in unknown)])
        super().__init__(
            f"function ({names}) -> (O) {{ O = reshape({', '.join(['I', *texts])}); }}",
            [("I", x), *unknown],
            [("O", Shape(x.shape.dtype, sizes))],
        )


def _quotient(sizes: Sequence[Any], others: Sequence[Any]) -> Any:
    """What the product of the others has to be multiplied with.

    A size that is not known and stands in both cancels, so that the rest is known.
    """
    known, divisors = _numbers(sizes), _numbers(others)
    symbols, below = _symbols(sizes), _symbols(others)
    numerator = math.prod((symbols - below).elements(), start=math.prod(known))
    return numerator // math.prod(
        (below - symbols).elements(), start=math.prod(divisors)
    )


def _numbers(sizes: Sequence[Any]) -> list[int]:
    return [size for size in sizes if not isinstance(size, Value)]


def _symbols(sizes: Sequence[Any]) -> Counter[Any]:
    return Counter(size for size in sizes if isinstance(size, Value))


class SliceTensor(Operation):
    """From `starts` to `ends` of some axes; negative ones count from the end.

    Without `axes` the first ones. Raises LogicError where starts and ends are not of
    the same number.
    """

    def __init__(
        self,
        data: Value,
        axes: Sequence[int] | None = None,
        ends: Sequence[int] | None = None,
        starts: Sequence[int] | None = None,
    ) -> None:
        if not ends or not starts or len(starts) != len(ends):
            raise LogicError("a slice needs as many starts as ends, and at least one")
        key = [slice(None)] * data.ndims
        chosen = axes or range(len(starts))
        for axis, start, end in zip(chosen, starts, ends, strict=True):
            key[axis] = slice(start, end)
        code, sizes = slice_text(data.dims, tuple(key))
        shape = Shape(data.shape.dtype, sizes)
        super().__init__(code, [("I", data)], [("O", shape)])


concatenate = Concatenate.function
flatten = Flatten.function
gather = Gather.function
reshape = Reshape.function
slice_tensor = SliceTensor.function


def squeeze(x: Value, axes: Sequence[int]) -> Any:
    """The value without some axes of size 1."""
    gone = {axis % x.ndims for axis in axes}
    return reshape(x, [dim for axis, dim in enumerate(x.dims) if axis not in gone])


def unsqueeze(x: Value, axes: Sequence[int]) -> Any:
    """The value with further axes of size 1, by their places in the result."""
    rank = x.ndims + len(axes)
    new = {axis % rank for axis in axes}
    sizes = iter(x.dims)
    return reshape(x, [1 if axis in new else next(sizes) for axis in range(rank)])
