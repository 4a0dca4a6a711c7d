"""Products of matrices and contractions of tensors."""

from __future__ import annotations

from .case import Case, dimensions


def matrix_product(m: int, k: int, n: int) -> Case:
    """A product of matrices of m x k and k x n numbers."""
    square = m == k == n
    return Case(
        f"matrix product {m if square else dimensions(m, k, n)}",
        "products",
        "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }",
        {"A": (m, k), "B": (k, n)},
        {"C": (m, n)},
        "matmul",
        flops=2.0 * m * k * n,
        by_rows=("A",),
    )


def integer_product(m: int, k: int, n: int) -> Case:
    """A product of matrices of 8-bit integers, whose sums have 32 bits."""
    square = m == k == n
    return Case(
        f"matrix product {m if square else dimensions(m, k, n)}, i8",
        "products",
        "function (A[M, K], B[K, N]) -> (C) {"
        " X = as_int(A, 32); Y = as_int(B, 32);"
        " C[i, j : M, N] = +(X[i, k] * Y[k, j]); }",
        {"A": (m, k), "B": (k, n)},
        {"C": (m, n)},
        "integer_matmul",
        flops=2.0 * m * k * n,
        tolerance=0.0,
        by_rows=("A",),
        element="int8",
    )


def transposed_product(m: int, k: int, n: int) -> Case:
    """A product of matrices of which the second lies transposed, n x k."""
    square = m == k == n
    return Case(
        f"matrix product, transposed {m if square else dimensions(m, k, n)}",
        "products",
        "function (A[M, K], B[N, K]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[j, k]); }",
        {"A": (m, k), "B": (n, k)},
        {"C": (m, n)},
        "matmul_transposed",
        flops=2.0 * m * k * n,
        by_rows=("A",),
    )


def batched_product(batch: int, m: int, k: int, n: int) -> Case:
    """Independent products of matrices."""
    return Case(
        f"batched product {dimensions(batch, m, k, n)}",
        "products",
        "function (A[B, M, K], X[B, K, N]) -> (C) {"
        " C[b, i, j : B, M, N] = +(A[b, i, k] * X[b, k, j]); }",
        {"A": (batch, m, k), "X": (batch, k, n)},
        {"C": (batch, m, n)},
        "matmul",
        flops=2.0 * batch * m * k * n,
        by_rows=("A", "X"),
    )


def matrix_vector(m: int, k: int) -> Case:
    """A product of a matrix of m x k numbers and a vector."""
    return Case(
        f"matrix-vector {m if m == k else dimensions(m, k)}",
        "products",
        "function (A[M, K], X[K]) -> (Y) { Y[i : M] = +(A[i, k] * X[k]); }",
        {"A": (m, k), "X": (k,)},
        {"Y": (m,)},
        "matmul",
        by_rows=("A",),
    )


def tensor_contraction(a: int, b: int, c: int, d: int, e: int, f: int) -> Case:
    """A contraction of two tensors over two axes that are neighbours in neither."""
    return Case(
        "tensor contraction abcd = aebf * dfce",
        "convolutions",
        "function (X[A, E, B, F], Y[D, F, C, E]) -> (Z) {"
        " Z[a, b, c, d : A, B, C, D] = +(X[a, e, b, f] * Y[d, f, c, e]); }",
        {"X": (a, e, b, f), "Y": (d, f, c, e)},
        {"Z": (a, b, c, d)},
        "tensor_contraction",
        flops=2.0 * a * b * c * d * e * f,
    )


PRODUCTS = (
    *(matrix_product(n, n, n) for n in (512, 1000, 1024, 2048, 4096)),
    matrix_product(64, 4096, 4096),
    matrix_product(4096, 64, 4096),
    matrix_product(4096, 4096, 64),
    transposed_product(1024, 1024, 1024),
    batched_product(64, 128, 128, 128),
    matrix_vector(4096, 4096),
)
CONTRACTIONS = (tensor_contraction(28, 32, 24, 30, 26, 24),)
