"""Products of matrices and tensors, and gradients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..dtypes import common_dtype
from ..errors import LogicError
from ..operations import Bindings, Operation, Shape
from ..values import Value, broadcast_dims
from ..variables import Var
from ..variables import gradients as gradients_of
from .shapes import reshape

__all__ = [
    "Dot",
    "Gemm",
    "Gradients",
    "MatMul",
    "dot",
    "gemm",
    "gradients",
    "matmul",
]


class Dot(Operation):
    """The sum over the last axis of x and the last but one of y.

    As in PlaidML, of two tensors of one axis the product of their elements. Raises
    ValueError for different types, and NotImplementedError for other numbers of axes.
    """

    def __init__(self, x: Value, y: Value, name: str | None = None) -> None:
        if x.shape.dtype != y.shape.dtype:
            raise ValueError(f"types differ: {x.shape.dtype} and {y.shape.dtype}")
        if x.ndims == 1 and y.ndims == 1:
            code = "function (X[I], Y[I]) -> (R) { R[i : I] = +(X[i] * Y[i]); }"
            shape = x.shape
        elif x.ndims >= 1 and y.ndims >= 2:
            code = _product(x.ndims, y.ndims)
            dims = (*x.dims[:-1], *y.dims[:-2], y.dims[-1])
            shape = Shape(x.shape.dtype, dims)
        else:
            raise NotImplementedError(f"dot of {x.ndims} and {y.ndims} axes")
        super().__init__(code, [("X", x), ("Y", y)], [("R", shape)], name)


def _product(rank: int, other: int) -> str:
    own = [f"x{axis}" for axis in range(rank - 1)]
    batch = [f"y{axis}" for axis in range(other - 2)]
    result = ", ".join([*own, *batch, "n"])
    left, right = ", ".join([*own, "k"]), ", ".join([*batch, "k", "n"])
    return (
        f"function (X[{left.upper()}], Y[{right.upper()}]) -> (R) "
        f"{{ R[{result} : {result.upper()}] = +(X[{left}] * Y[{right}]); }}"
    )


class Gemm(Operation):
    """`alpha * a @ b + beta * c` of matrices, each of a and b transposed if said so.

    What has more than two axes is a matrix by its first axis and all others. Raises
    LogicError for fewer axes, and NotImplementedError for a `c` that is no matrix where
    it must not be broadcast.
    """

    def __init__(
        self,
        a: Value,
        b: Value,
        c: Value,
        alpha: float | None = None,
        beta: float | None = None,
        broadcast: bool = True,
        transA: bool = False,
        transB: bool = False,
    ) -> None:
        if not broadcast and c.ndims != 2:
            raise NotImplementedError(f"c has {c.ndims} axes and is not broadcast")
        a, b = _as_matrix(a), _as_matrix(b)
        left, right = ("k, i" if transA else "i, k"), ("j, k" if transB else "k, j")
        product = f"P * {float(alpha)}" if alpha else "P"
        addend = f"C * {float(beta)}" if beta else "C"
        product_dims = (a.dims[1 if transA else 0], b.dims[0 if transB else 1])
        dtypes = [each.shape.dtype for each in (a, b, c) if each.shape.dtype]
        super().__init__(
            f"function (A[{left.upper()}], B[{right.upper()}], C) -> (O) {{\n"
            f"  P[i, j : I, J] = +(A[{left}] * B[{right}]);\n"
            f"  O = {product} + {addend};\n}}",
            [("A", a), ("B", b), ("C", c)],
            [("O", Shape(common_dtype(*dtypes), broadcast_dims(product_dims, c.dims)))],
        )


def _as_matrix(value: Value) -> Value:
    if value.ndims < 2:
        raise LogicError(f"expected at least 2 axes, got {value!r}")
    return value if value.ndims == 2 else reshape(value, (value.dims[0], -1))


class MatMul(Operation):
    """The product of matrices as `numpy.matmul` has it.

    Axes before the last two are broadcast, where sizes of 1 are known. Raises
    LogicError for a number, which is no matrix.
    """

    def __init__(self, a: Value, b: Value) -> None:
        if not a.ndims or not b.ndims:
            raise LogicError("a number is no matrix")
        left, right = a.dims[:-2], b.dims[:-2]
        batch = broadcast_dims(left, right)
        indices = [f"b{axis}" for axis in range(len(batch))]
        a_indices, a_sizes = _batch("A", left, batch, indices)
        b_indices, b_sizes = _batch("B", right, batch, indices)
        result, sizes, dims = list(indices), _batch_sizes(left, right, batch), [*batch]
        if a.ndims > 1:
            a_indices, a_sizes = [*a_indices, "i"], [*a_sizes, "I"]
            result, sizes, dims = [*result, "i"], [*sizes, "I"], [*dims, a.dims[-2]]
        a_indices, a_sizes = [*a_indices, "k"], [*a_sizes, "K"]
        b_indices, b_sizes = [*b_indices, "k"], [*b_sizes, "K"]
        if b.ndims > 1:
            b_indices, b_sizes = [*b_indices, "j"], [*b_sizes, "J"]
            result, sizes, dims = [*result, "j"], [*sizes, "J"], [*dims, b.dims[-1]]
        target = f"{', '.join(result)} : {', '.join(sizes)}" if result else ""
        dtypes = [each.shape.dtype for each in (a, b) if each.shape.dtype]
        factors = f"X[{', '.join(a_indices)}] * Y[{', '.join(b_indices)}]"
        super().__init__(
            f"function (X[{', '.join(a_sizes)}], Y[{', '.join(b_sizes)}]) -> (C) "
            f"{{ C[{target}] = +({factors}); }}",
            [("X", a), ("Y", b)],
            [("C", Shape(common_dtype(*dtypes), dims))],
        )


def _batch(
    name: str, dims: Sequence[Any], batch: Sequence[Any], indices: Sequence[str]
) -> tuple[list[str], list[str]]:
    """The indices and the names of the sizes of axes that are broadcast."""
    skipped = len(batch) - len(dims)
    own = [
        "0"
        if _is_one(dim) and not _is_one(batch[skipped + axis])
        else indices[skipped + axis]
        for axis, dim in enumerate(dims)
    ]
    return own, [f"{name}{skipped + axis}" for axis in range(len(dims))]


def _batch_sizes(
    left: Sequence[Any], right: Sequence[Any], batch: Sequence[Any]
) -> list[str]:
    """For each axis the name of the size that is not broadcast."""
    names: list[str] = []
    for axis, size in enumerate(batch):
        own = axis - (len(batch) - len(left))
        is_left = own >= 0 and (_is_one(size) or not _is_one(left[own]))
        names.append(f"A{axis}" if is_left else f"B{axis}")
    return names


def _is_one(dim: Any) -> bool:
    return not isinstance(dim, Value) and dim == 1


class Gradients(Operation):
    """The derivative of the sum of a value by each element of others."""

    def __init__(self, loss: Value, variables: Sequence[Value]) -> None:
        self._names = [f"I{number}" for number in range(len(variables))]
        super().__init__(
            None,
            [("Loss", loss), *zip(self._names, variables, strict=True)],
            [(f"O{n}", each.shape) for n, each in enumerate(variables)],
        )

    def bind(self, bindings: Bindings) -> Mapping[str, Var]:
        """The variables of its outputs, by name; those of its inputs are bound."""
        loss = self.inputs["Loss"].bind(bindings)
        variables = [self.inputs[name].bind(bindings) for name in self._names]
        found = gradients_of(loss, variables)
        return {f"O{number}": var for number, var in enumerate(found)}


dot = Dot.function
gemm = Gemm.function
matmul = MatMul.function


def gradients(loss: Value, variables: Sequence[Value] | Value) -> list[Value]:
    """The derivative of the sum of `loss` by each element of each variable."""
    wanted = [variables] if isinstance(variables, Value) else list(variables)
    return [*Gradients(loss, wanted).output_tuple]
