"""Operations on each element of values."""

from __future__ import annotations

from typing import Any

from ...frontend.edsl.dtypes import DType
from ..dtypes import DTYPE_INFOS
from ..operations import Operation, Shape
from ..values import Value, broadcast_dims, maximum, minimum, unary_op

__all__ = [
    "Cast",
    "ClipMax",
    "ClipMin",
    "Elu",
    "Equal",
    "Identity",
    "NotEqual",
    "Pow",
    "Relu",
    "Sqrt",
    "cast",
    "ceiling",
    "clip",
    "cos",
    "elu",
    "equal",
    "exp",
    "floor",
    "identity",
    "log",
    "maximum",
    "minimum",
    "not_equal",
    "pow",
    "relu",
    "sigmoid",
    "sin",
    "sqrt",
    "tanh",
]


class Cast(Operation):
    """Elements as another type; numbers with a point are cut to integers."""

    def __init__(self, x: Value, dtype: DType) -> None:
        base, width = DTYPE_INFOS[dtype]
        cast = "I != 0" if base == "bool" else f"as_{base}(I, {8 * width})"
        super().__init__(
            f"function (I) -> (O) {{ O = {cast}; }}",
            [("I", x)],
            [("O", Shape(dtype, x.shape.dims))],
        )


class ClipMin(Operation):
    """The larger of each element and a bound."""

    def __init__(self, value: Value, min_val: Any) -> None:
        super().__init__(
            "function (I, Bound) -> (O) { O = Bound < I ? I : Bound; }",
            [("I", value), ("Bound", min_val)],
            [("O", value.shape)],
        )


class ClipMax(Operation):
    """The smaller of each element and a bound."""

    def __init__(self, value: Value, max_val: Any) -> None:
        super().__init__(
            "function (I, Bound) -> (O) { O = I < Bound ? I : Bound; }",
            [("I", value), ("Bound", max_val)],
            [("O", value.shape)],
        )


class Elu(Operation):
    """The exponential linear unit: `alpha * (exp(x) - 1)` below 0, else x."""

    def __init__(self, x: Value, alpha: float = 1.0) -> None:
        super().__init__(
            "function (X, Alpha) -> (R) { R = X < 0 ? Alpha * exp(X) - Alpha : X; }",
            [("X", x), ("Alpha", float(alpha))],
            [("R", x.shape)],
        )


class _Comparison(Operation):
    """Whether a relation holds between elements."""

    relation = ""

    def __init__(self, lhs: Any, rhs: Any) -> None:
        self.lhs, self.rhs = lhs, rhs
        left, right = map(Value.from_python_value, (lhs, rhs))
        dims = broadcast_dims(left.dims, right.dims)
        super().__init__(
            f"function (L, R) -> (O) {{ O = L {self.relation} R; }}",
            [("L", left), ("R", right)],
            [("O", Shape(DType.BOOLEAN, dims))],
        )


class Equal(_Comparison):
    """Whether elements are equal."""

    relation = "=="


class NotEqual(_Comparison):
    """Whether elements are different."""

    relation = "!="


class Identity(Operation):
    """The value itself."""

    def __init__(self, x: Value) -> None:
        code = "function (X) -> (Y) { Y = X; }"
        super().__init__(code, [("X", x)], [("Y", x.shape)])


class Pow(Operation):
    """Each element to a power."""

    def __init__(self, x: Value, p: Any) -> None:
        power = Value.from_python_value(p)
        super().__init__(
            "function (I, P) -> (O) { O = pow(I, P); }",
            [("I", x), ("P", power)],
            [("O", Shape(x.shape.dtype, broadcast_dims(x.dims, power.dims)))],
        )


class Relu(Operation):
    """The rectified linear unit: `alpha * (x - threshold)` below the threshold, else x.

    Without `alpha` 0 below the threshold; at most `max_value`.
    """

    def __init__(
        self,
        x: Value,
        alpha: Any = None,
        max_value: Any = None,
        threshold: float = 0.0,
    ) -> None:
        inputs: list[tuple[str, Any]] = [("X", x)]
        offset = "X"
        if threshold != 0:
            inputs.append(("Threshold", threshold))
            offset = "(X - Threshold)"
        low, bound = "0.0", "Threshold" if threshold != 0 else "0.0"
        if alpha is not None:
            inputs.append(("Alpha", alpha))
            low = f"Alpha * {offset}"
        body = f"M = X < {bound} ? {low} : X; Y = M;"
        if alpha is None and threshold == 0:
            body = "M = relu(X); Y = M;"
        if max_value is not None:
            inputs.append(("Largest", max_value))
            body = body.replace("Y = M;", "Y = M < Largest ? M : Largest;")
        names = ", ".join(name for name, _ in inputs)
        code = f"function ({names}) -> (Y) {{ {body} }}"
        super().__init__(code, inputs, [("Y", x.shape)])


class Sqrt(Operation):
    """The square root, 0 of what is negative."""

    def __init__(self, x: Value) -> None:
        super().__init__(
            "function (I) -> (O) { C = I < 0 ? 0 : I; O = sqrt(C); }",
            [("I", x)],
            [("O", x.shape)],
        )


cast = Cast.function
elu = Elu.function
identity = Identity.function
not_equal = NotEqual.function
pow = Pow.function
relu = Relu.function
sqrt = Sqrt.function


def equal(lhs: Any, rhs: Any) -> Any:
    """Whether elements are equal."""
    return Equal.function(lhs, rhs)


def clip(value: Value, min_val: Any, max_val: Any) -> Any:
    """Each element, but at least one bound and at most the other; None for no bound."""
    if min_val is not None:
        value = ClipMin.function(value, min_val)
    if max_val is not None:
        value = ClipMax.function(value, max_val)
    return value


def ceiling(data: Value) -> Value:
    """The least integer that is not smaller."""
    return unary_op(data, "ceil(I)", "Ceiling")


def cos(data: Value) -> Value:
    """The cosine."""
    return unary_op(data, "cos(I)", "Cosine")


def exp(data: Value) -> Value:
    """The exponential."""
    return unary_op(data, "exp(I)", "Exp")


def floor(data: Value) -> Value:
    """The greatest integer that is not larger."""
    return unary_op(data, "floor(I)", "Floor")


def log(data: Value) -> Value:
    """The natural logarithm."""
    return unary_op(data, "log(I)", "Log")


def sigmoid(data: Value) -> Value:
    """The logistic function, `1 / (1 + exp(-x))`."""
    return unary_op(data, "sigmoid(I)", "Sigmoid")


def sin(data: Value) -> Value:
    """The sine."""
    return unary_op(data, "sin(I)", "Sine")


def tanh(data: Value) -> Value:
    """The hyperbolic tangent."""
    return unary_op(data, "tanh(I)", "Tanh")
