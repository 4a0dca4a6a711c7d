"""Products of matrices and vectors, beside NumPy."""

from __future__ import annotations

import numpy as np
from operation_checks import Cases, check, integers

from gingham import op


def test_products() -> None:
    a, b, c = integers(2, 3, 4), integers(4, 5, seed=1), integers(5, 2, 4, seed=2)
    cases: Cases = {
        "matmul": (lambda a, b, c: op.matmul(a, b), a @ b),
        "stacks": (
            lambda a, b, c: op.matmul(op.unsqueeze(a, 1), op.transpose(c, (0, 2, 1))),
            a[:, None] @ c.transpose(0, 2, 1),
        ),
        "dot": (lambda a, b, c: op.dot(a, b), np.dot(a, b)),
        "vector": (
            lambda a, b, c: op.dot(a, op.select_index(b, 1, 1)),
            np.dot(a, b[:, 1]),
        ),
        "number": (lambda a, b, c: op.dot(a, 3.0), a * 3),
        "inner": (lambda a, b, c: op.inner(a, c), np.inner(a, c)),
        "outer": (lambda a, b, c: op.outer(a, b), np.outer(a, b)),
        "tensordot": (lambda a, b, c: op.tensordot(a, b, 1), np.tensordot(a, b, 1)),
        "axes": (
            lambda a, b, c: op.tensordot(a, c, ([0, 2], [1, -1])),
            np.tensordot(a, c, ([0, 2], [1, -1])),
        ),
        "linear": (
            lambda a, b, c: op.linear(a, op.transpose(b), op.select_index(b, 0)),
            a @ b + b[0],
        ),
        "gemm": (
            lambda a, b, c: op.gemm(
                op.select_index(a, 0),
                op.transpose(b),
                op.select_index(b, 0),
                2.0,
                3.0,
                trans_b=True,
            ),
            2 * a[0] @ b + 3 * b[0],
        ),
        "bilinear": (
            lambda a, b, c: op.bilinear(
                a, a, op.einsum("oik,ij->okj", c, op.select_index(a, 0, 1))
            ),
            np.einsum("bxk,okj,bxj->bxo", a, np.einsum("oik,ij->okj", c, a[:, 0]), a),
        ),
    }
    check(cases, a, b, c)


def test_integers_stay_integers() -> None:
    a, b = integers(3, 4, dtype="int32"), integers(4, 2, dtype="int32")
    check({"matmul": (op.matmul, a @ b)}, a, b)
