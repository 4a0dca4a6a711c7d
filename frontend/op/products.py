"""Products of matrices and vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..edsl.einsum import einsum
from ..edsl.indices import Constraint
from ..edsl.locations import error
from ..edsl.tensors import Tensor
from .axes import Size, axis_of, indices, require_rank, require_size, sizes_of
from .contractions import SUM, contract
from .operation import TensorLike, as_tensor, operation
from .shapes import broadcast_sizes, flatten, repeated, squeeze, unsqueeze

__all__ = [
    "bilinear",
    "dot",
    "einsum",
    "gemm",
    "inner",
    "linear",
    "matmul",
    "outer",
    "tensordot",
]

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def summed_product(equation: str, a: Tensor, b: Tensor) -> Tensor:
    """The einsum of two tensors whose axes the equation names one by one.

    Other than `einsum` it does not ask for the element types, which takes as long as
    the program before it. Raises GinghamError for axes of one name and other sizes.
    """
    operands, _, output = equation.partition("->")
    first, second = operands.split(",")
    sizes = dict(zip(first, sizes_of(a), strict=True))
    for axis, (letter, size) in enumerate(zip(second, sizes_of(b), strict=True)):
        if letter in sizes:
            require_size(b, axis, sizes[letter], "as of the other tensor")
        sizes.setdefault(letter, size)
    places = dict(zip(sizes, indices(len(sizes)), strict=True))
    return contract(
        SUM,
        [sizes[letter] for letter in output],
        [places[letter] for letter in output],
        a[tuple(places[letter] for letter in first)]
        * b[tuple(places[letter] for letter in second)],
    )


@operation
def matmul(a: TensorLike, b: TensorLike) -> Tensor:
    """The product of matrices, or of stacks that broadcast, as NumPy's matmul.

    A tensor with one axis is a row on the left and a column on the right.
    """
    a, b = as_tensor(a), as_tensor(b)
    if 0 in (a.ndim, b.ndim):
        raise error("a product of matrices has no operand of rank 0", "write a * b")
    left = unsqueeze(a, 0) if a.ndim == 1 else a
    right = unsqueeze(b, 1) if b.ndim == 1 else b
    gone = [axis for axis, each in ((-2, a), (-1, b)) if each.ndim == 1]
    result = product_of_stacks(left, right)
    return squeeze(result, gone) if gone else result


def product_of_stacks(
    a: Tensor, b: Tensor, *, transposed: bool = False, groups: Size | None = None
) -> Tensor:
    """`a @ b` of stacks of matrices that broadcast, or `a @ b.T` where b is transposed.

    With groups each matrix of the innermost stack of b is for so many of a. Raises
    GinghamError for sizes that do not fit.
    """
    *outer_a, rows, inner = sizes_of(a)
    *outer_b, _, columns = sizes_of(b)
    if transposed:
        columns = sizes_of(b)[-2]
    inner_axis = b.ndim - (1 if transposed else 2)
    require_size(b, inner_axis, inner, "the columns of the first matrix")
    row, between, column = indices(3)
    rank = max(len(outer_a), len(outer_b))
    first: list[Any] = [*indices(rank)]
    second, constraints = list(first), list[Constraint]()
    shared = [*outer_b]
    if groups is not None:
        (member,) = indices(1)
        first[-1] = first[-1] * groups + member
        shared[-1] = shared[-1] * groups
        constraints = [member < groups]
    inside = (column, between) if transposed else (between, column)
    return contract(
        SUM,
        [*broadcast_sizes([outer_a, shared]), rows, columns],
        [*first, row, column],
        a[(*_in_stack(first, outer_a), row, between)]
        * b[(*_in_stack(second, outer_b), *inside)],
        constraints,
    )


def _in_stack(places: Sequence[Any], sizes: Sequence[Size]) -> list[Any]:
    """Where a matrix of a stack of these sizes is, for that of the result."""
    own = places[len(places) - len(sizes) :]
    return [repeated(place, size) for place, size in zip(own, sizes, strict=True)]


@operation
def dot(a: TensorLike, b: TensorLike) -> Tensor:
    """The sum over the last axis of a and the last but one of b, as NumPy's dot.

    Of a tensor with one axis it is that one; with a number it is the product.
    """
    a, b = as_tensor(a), as_tensor(b)
    if 0 in (a.ndim, b.ndim):
        return a * b
    return tensordot(a, b, ([a.ndim - 1], [max(b.ndim - 2, 0)]))


@operation
def inner(a: TensorLike, b: TensorLike) -> Tensor:
    """The sum over the last axes of both, as NumPy's inner."""
    a, b = as_tensor(a), as_tensor(b)
    if 0 in (a.ndim, b.ndim):
        return a * b
    return tensordot(a, b, ([a.ndim - 1], [b.ndim - 1]))


@operation
def outer(a: TensorLike, b: TensorLike) -> Tensor:
    """All products of an element of one with one of the other, as NumPy's outer."""
    return summed_product("i,j->ij", flatten(a), flatten(b))


@operation
def tensordot(
    a: TensorLike, b: TensorLike, axes: int | Sequence[Sequence[int]] = 2
) -> Tensor:
    """The sum over axes of both, as NumPy's tensordot.

    `axes` are those of a and those of b, or how many of the last of a and the first of
    b. The other axes of a come first in the result.
    """
    a, b = as_tensor(a), as_tensor(b)
    if isinstance(axes, int):
        axes = (range(a.ndim - axes, a.ndim), range(axes))
    first = [axis_of(a, axis) for axis in axes[0]]
    second = [axis_of(b, axis) for axis in axes[1]]
    if len(first) != len(second):
        raise error(f"{len(first)} axes of one tensor and {len(second)} of the other")
    if a.ndim + b.ndim > len(_LETTERS):
        raise error(f"too many axes: {a.ndim} and {b.ndim}")
    left, right = _LETTERS[: a.ndim], list(_LETTERS[a.ndim : a.ndim + b.ndim])
    rest = [letter for axis, letter in enumerate(right) if axis not in second]
    for one, other in zip(first, second, strict=True):
        right[other] = left[one]
    kept = [letter for axis, letter in enumerate(left) if axis not in first]
    return summed_product(f"{left},{''.join(right)}->{''.join(kept + rest)}", a, b)


@operation
def linear(x: TensorLike, weight: TensorLike, bias: TensorLike = None) -> Tensor:
    """`x @ weight.T + bias`, as torch.nn.functional.linear.

    The weight has shape [outputs, inputs]; the last axis of x is that of the inputs.
    """
    x, weight = as_tensor(x), as_tensor(weight)
    require_rank(weight, 2, "the weight")
    if x.ndim == 0:
        raise error("expected an axis of inputs, got a tensor without axes")
    result = tensordot(x, weight, ([-1], [1]))
    return result if bias is None else result + bias


@operation
def bilinear(
    x: TensorLike, y: TensorLike, weight: TensorLike, bias: TensorLike = None
) -> Tensor:
    """`x[i] * weight[o, i, j] * y[j]` summed over i and j, as torch's bilinear."""
    between = tensordot(x, weight, ([-1], [1]))
    own = unsqueeze(as_tensor(y), -2)
    result = squeeze(product_of_stacks(own, between, transposed=True), -2)
    return result if bias is None else result + bias


@operation
def gemm(
    a: TensorLike,
    b: TensorLike,
    c: TensorLike = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    trans_a: bool = False,
    trans_b: bool = False,
) -> Tensor:
    """`alpha * a @ b + beta * c` of matrices, maybe transposed, as ONNX's Gemm."""
    left, right = "mi" if not trans_a else "im", "in" if not trans_b else "ni"
    a, b = as_tensor(a), as_tensor(b)
    for each in (a, b):
        require_rank(each, 2, "both matrices")
    result = summed_product(f"{left},{right}->mn", a, b)
    if alpha != 1.0:
        result = result * alpha
    if c is None:
        return result
    return result + (as_tensor(c) if beta == 1.0 else as_tensor(c) * beta)
