"""Softmax, its relatives, and the losses of classifiers.

These are functions of the rows of a matrix. What has other axes is made one: `axis` is
the first of those that are a row, by default 1.
"""

from __future__ import annotations

import math
from typing import Any

from ..operations import Operation
from ..values import Value
from .elementwise import clip, sigmoid
from .shapes import reshape

__all__ = [
    "BinaryCrossentropy",
    "Hardmax",
    "LogSoftmax",
    "Softmax",
    "binary_crossentropy",
    "hardmax",
    "log_softmax",
    "softmax",
]


class _OfRows(Operation):
    """A function of each row of a matrix. Raises NotImplementedError for another."""

    body = ""

    def __init__(self, data: Value, name: str | None = None) -> None:
        if data.ndims != 2:
            raise NotImplementedError(f"expected a matrix, got {data!r}")
        code = f"function (I[X, Y]) -> (O) {{ {self.body} }}"
        super().__init__(code, [("I", data)], [("O", data.shape)], name)


class Softmax(_OfRows):
    """`exp(x)` over the sum of those of the row."""

    body = "O = builtin_softmax(I, X, Y);"


class LogSoftmax(_OfRows):
    """The logarithm of the softmax."""

    body = "O = builtin_logsoftmax(I, X, Y);"


class Hardmax(_OfRows):
    """1 where an element is the largest of its row, else 0."""

    body = "M[x, 0 : X, 1] = >(I[x, y]); O = I == M ? 1.0 : 0.0;"


class BinaryCrossentropy(Operation):
    """`-t * log(o) - (1 - t) * log(1 - o)`, o kept `epsilon` away from 0 and 1.

    With `from_logits` o is the sigmoid of the output. The gradient is PlaidML's: see
    `docs/plaidml.md`.
    """

    def __init__(
        self,
        target: Value,
        output: Value,
        epsilon: float | None,
        from_logits: bool = False,
    ) -> None:
        margin = epsilon or 0.0
        output = clip(sigmoid(output) if from_logits else output, margin, 1.0 - margin)
        sizes = [f"I{axis}" for axis in range(output.ndims)]
        head = ", ".join(sizes)
        count = "*".join(sizes) or "1"
        super().__init__(
            f"function (O[{head}], T[{head}]) -> (R) "
            f"{{ R = builtin_binary_crossentropy(O, T, {count}); }}",
            [("O", output), ("T", target)],
            [("R", output.shape)],
        )


binary_crossentropy = BinaryCrossentropy.function


def softmax(x: Value, axis: int | None = None, name: str | None = None) -> Any:
    """The softmax of each row."""
    return _by_rows(Softmax, x, axis, name)


def log_softmax(x: Value, axis: int | None = None) -> Any:
    """The logarithm of the softmax of each row."""
    return _by_rows(LogSoftmax, x, axis, None)


def hardmax(x: Value, axis: int | None = None) -> Any:
    """1 where an element is the largest of its row, else 0."""
    return _by_rows(Hardmax, x, axis, None)


def _by_rows(sort: type[_OfRows], x: Value, axis: int | None, name: str | None) -> Any:
    first = 1 if axis is None else axis
    if x.ndims == 2 and first in (1, -1):
        return sort.function(x, name)
    rows = math.prod(x.dims[:first])
    columns = math.prod(x.dims[first:])
    return reshape(sort.function(reshape(x, (rows, columns)), name), x.dims)
