"""Operators of each element: arithmetic, comparisons, logic, functions, conversions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import edsl
from ...edsl.tensors import Tensor, apply, cast
from ..node import Node, Unsupported
from ..table import operator
from ..tensors import dtype_of

if TYPE_CHECKING:
    import numpy as np

_UNARY = {
    "Abs": "abs",
    "Acos": "acos",
    "Acosh": "acosh",
    "Asin": "asin",
    "Asinh": "asinh",
    "Atan": "atan",
    "Atanh": "atanh",
    "BitwiseNot": "bit_not",
    "Ceil": "ceil",
    "Cos": "cos",
    "Cosh": "cosh",
    "Erf": "erf",
    "Exp": "exp",
    "Floor": "floor",
    "IsNaN": "isnan",
    "Log": "log",
    "Neg": "neg",
    "Not": "logical_not",
    "Reciprocal": "recip",
    "Round": "round",
    "Sigmoid": "sigmoid",
    "Sign": "sign",
    "Sin": "sin",
    "Sinh": "sinh",
    "Sqrt": "sqrt",
    "Tan": "tan",
    "Tanh": "tanh",
}
"""Operators of one tensor by the function of the element-wise table."""

_BINARY = {
    "Add": "add",
    "And": "logical_and",
    "BitwiseAnd": "bit_and",
    "BitwiseOr": "bit_or",
    "BitwiseXor": "bit_xor",
    "Div": "div",
    "Equal": "cmp_eq",
    "Greater": "cmp_gt",
    "GreaterOrEqual": "cmp_ge",
    "Less": "cmp_lt",
    "LessOrEqual": "cmp_le",
    "Mul": "mul",
    "Or": "logical_or",
    "Sub": "sub",
    "Xor": "logical_xor",
}
"""Operators of two tensors by the function of the element-wise table."""

_FOLDS = {"Max": "max", "Min": "min", "Sum": "add"}
"""Operators of any number of tensors by the function that takes two of them."""


def operand(node: Node, position: int) -> Any:
    """An input as a tensor, or as a number where it is a known one of rank 0.

    A number stands in the kernel itself.
    """
    value = node.input(position)
    is_number = value.is_known and not value.shape and value.dtype.kind in "fiu"
    if is_number and any(
        node.rank(n) for n in range(len(node.inputs)) if n != position
    ):
        number = node.array(position).item()
        return number
    return node[position]


@operator(*_UNARY)
def unary(node: Node) -> Tensor:
    """A function of one tensor."""
    return apply(_UNARY[node.op_type], node[0])


@operator(*_BINARY)
def binary(node: Node) -> Tensor:
    """A function of two tensors, which broadcast."""
    left, right = operand(node, 0), operand(node, 1)
    if node.opset < 7 and node.attribute("broadcast", 0):
        right = _aligned(node)
    return apply(_BINARY[node.op_type], left, right)


def _aligned(node: Node) -> Tensor:
    """The second operand of versions before 7, whose axes begin at one of the first."""
    axis = node.attribute("axis", None)
    if axis is None or not node.rank(1):
        return node[1]
    behind = node.rank(0) - axis % node.rank(0) - node.rank(1)
    return edsl.reshape(node[1], *node.shape(1), *[1] * behind)


@operator(*_FOLDS)
def folded(node: Node) -> Tensor:
    """A function of any number of tensors."""
    first, *others = node.tensors
    for each in others:
        first = apply(_FOLDS[node.op_type], first, each)
    return edsl.ident(first) if not others else first


@operator("Mean")
def mean(node: Node) -> Tensor:
    """The mean of several tensors."""
    first, *others = node.tensors
    for each in others:
        first = first + each
    return first / len(node.tensors)


@operator("Pow")
def power(node: Node) -> Tensor:
    """A power of the type of its base."""
    raised = apply("pow", node[0], _exponent(node))
    return (
        raised if node.is_float(0) and node.is_float(1) else cast(raised, node.dtype(0))
    )


def _exponent(node: Node) -> Tensor:
    return cast(node[1], node.dtype(0)) if node.is_float(0) else node[1]


@operator("Mod")
def remainder(node: Node) -> Tensor:
    """The remainder with the sign of the divisor, or with `fmod` of the dividend."""
    left, right = node[0], node[1]
    rest = apply("mod", left, right)
    if node.attribute("fmod", 0) or node.dtype(0).kind == "u":
        return rest
    has_other_sign = apply(
        "logical_and", rest != 0, apply("cmp_ne", rest < 0, right < 0)
    )
    return edsl.select(has_other_sign, rest + right, rest)


@operator("BitShift")
def shift(node: Node) -> Tensor:
    """Bits shifted to the left or the right."""
    is_left = node.attribute("direction") == "LEFT"
    return apply("bit_left" if is_left else "bit_right", node[0], node[1])


@operator("Where")
def where(node: Node) -> Tensor:
    """The first value where a condition holds, else the second."""
    return edsl.select(node[0], node[1], node[2])


@operator("Relu")
def relu(node: Node) -> Tensor:
    """The larger of 0 and each element."""
    return edsl.relu(node[0])


@operator("IsInf")
def is_infinite(node: Node) -> Tensor:
    """Whether elements are one of the infinities that are asked for."""
    signs = [
        test
        for sign, test in (
            ("detect_negative", node[0] < 0),
            ("detect_positive", node[0] > 0),
        )
        if node.attribute(sign, 1)
    ]
    found = edsl.isinf(node[0])
    if len(signs) == 2:
        return found
    return edsl.logical_and(found, signs[0] if signs else node[0] != node[0])


@operator("Clip")
def clip(node: Node) -> Tensor:
    """Elements within bounds, each of which may be left out."""
    clipped = node[0]
    low, high = _bounds(node)
    if low is not None:
        clipped = apply("max", clipped, low)
    if high is not None:
        clipped = apply("min", clipped, high)
    return edsl.ident(clipped) if clipped is node[0] else clipped


def _bounds(node: Node) -> tuple[Any, Any]:
    if node.opset < 11:
        return node.attribute("min"), node.attribute("max")
    low, high = (operand(node, n) if node.has(n) else None for n in (1, 2))
    return low, high


@operator("Cast")
def convert(node: Node) -> Tensor:
    """Elements of another type."""
    wanted = dtype_of(node.attribute("to"))
    return converted(node, wanted)


def converted(node: Node, wanted: np.dtype[Any]) -> Tensor:
    """The first input with elements of another type.

    Raises Unsupported for types that tensors do not hold.
    """
    from ..tensors import is_computable

    if not is_computable(wanted):
        raise Unsupported(f"elements of type {wanted.name}")
    given = node[0]
    if wanted.kind == "b" and node.dtype(0).kind != "b":
        return given != 0
    return cast(given, wanted)
