"""Reductions, scans, pools and what else memory limits."""

from __future__ import annotations

from .case import Case, dimensions


def softmax(rows: int, columns: int, *, logarithm: bool = False) -> Case:
    """The softmax of each row, or its logarithm."""
    last = "Y = (X - Top) - log(Sum);" if logarithm else "Y = E / Sum;"
    return Case(
        f"{'log-' if logarithm else ''}softmax {dimensions(rows, columns)}",
        "rows",
        "function (X[M, N]) -> (Y) {"
        " Top[m, 0 : M, 1] = >(X[m, n]);"
        " E = exp(X - Top);"
        " Sum[m, 0 : M, 1] = +(E[m, n]);"
        f" {last} }}",
        {"X": (rows, columns)},
        {"Y": (rows, columns)},
        "log_softmax" if logarithm else "softmax",
        by_rows=("X",),
    )


def layer_norm(rows: int, columns: int) -> Case:
    """Rows of mean 0 and variance 1, then scaled and shifted."""
    return Case(
        f"layer norm {dimensions(rows, columns)}",
        "rows",
        "function (X[M, N], Scale[N], Bias[N]) -> (Y) {"
        " Sum[m, 0 : M, 1] = +(X[m, n]);"
        " Centered = X - Sum / N;"
        " SquareSum[m, 0 : M, 1] = +(Centered[m, n] * Centered[m, n]);"
        " Y = Centered / sqrt(SquareSum / N + 0.00001) * Scale + Bias; }",
        {"X": (rows, columns), "Scale": (columns,), "Bias": (columns,)},
        {"Y": (rows, columns)},
        "layer_norm",
        constants=("Scale", "Bias"),
        by_rows=("X",),
    )


def total(rows: int, columns: int, axis: int | None) -> Case:
    """The sum over an axis of a matrix, or of all of it."""
    result, shape = {
        None: ("S[]", ()),
        0: ("S[n : N]", (columns,)),
        1: ("S[m : M]", (rows,)),
    }[axis]
    what = "all" if axis is None else f"axis {axis}"
    return Case(
        f"sum over {what} of {dimensions(rows, columns)}",
        "rows",
        f"function (X[M, N]) -> (S) {{ {result} = +(X[m, n]); }}",
        {"X": (rows, columns)},
        {"S": shape},
        "sum",
        {} if axis is None else {"axis": axis},
        tolerance=1e-3,
        by_rows=("X",) if axis == 1 else (),
    )


def argmax(rows: int, columns: int) -> Case:
    """Where the first largest number of each row is."""
    return Case(
        f"argmax {dimensions(rows, columns)}",
        "rows",
        "function (X[M, N]) -> (A) {"
        " Top[m, 0 : M, 1] = >(X[m, n]);"
        " At = (X == Top ? index(X, 1) : N);"
        " A[m : M] = <(At[m, n]); }",
        {"X": (rows, columns)},
        {"A": (rows,)},
        "argmax",
        tolerance=0.0,
        by_rows=("X",),
    )


def cumulative_sum(elements: int) -> Case:
    """The sum of all numbers up to each one."""
    return Case(
        f"cumulative sum {elements}",
        "rows",
        "function (I[N]) -> (O) { O[i : N] = +(I[k]), i - k < N; }",
        {"I": (elements,)},
        {"O": (elements,)},
        "cumulative_sum",
        tolerance=1e-3,
    )


def cumulative_rows(rows: int, columns: int) -> Case:
    """In each row, the sum of all numbers up to each one."""
    return Case(
        f"cumulative sum of the rows of {dimensions(rows, columns)}",
        "rows",
        "function (I[M, N]) -> (O) { O[m, i : M, N] = +(I[m, k]), i - k < N; }",
        {"I": (rows, columns)},
        {"O": (rows, columns)},
        "cumulative_rows",
        tolerance=1e-3,
        by_rows=("I",),
    )


def middle_total(first: int, middle: int, last: int) -> Case:
    """The sum over the middle one of three axes."""
    return Case(
        f"sum over axis 1 of {dimensions(first, middle, last)}",
        "rows",
        "function (X[A, B, C]) -> (S) { S[a, c : A, C] = +(X[a, b, c]); }",
        {"X": (first, middle, last)},
        {"S": (first, last)},
        "sum",
        {"axis": 1},
        by_rows=("X",),
    )


def gather(cells: int, width: int, count: int) -> Case:
    """Rows of a table that an array of integers names."""
    return Case(
        f"gather {count} of {dimensions(cells, width)}",
        "rows",
        "function (V[C, W], I[N]) -> (O) { O = gather(V, I); }",
        {"V": (cells, width), "I": (count,)},
        {"O": (count, width)},
        "gather",
        tolerance=0.0,
        by_rows=("I",),
        indices={"I": cells},
    )


def turned(first: int, middle: int, last: int) -> Case:
    """Three axes in another order: the last one first."""
    return Case(
        f"axes turned, {dimensions(first, middle, last)}",
        "rows",
        "function (X[A, B, C]) -> (Y) { Y[c, a, b : C, A, B] = =(X[a, b, c]); }",
        {"X": (first, middle, last)},
        {"Y": (last, first, middle)},
        "turned",
        tolerance=0.0,
    )


def transpose(rows: int, columns: int) -> Case:
    """A matrix turned at its diagonal."""
    return Case(
        f"transpose {rows if rows == columns else dimensions(rows, columns)}",
        "rows",
        "function (X[M, N]) -> (Y) { Y[n, m : N, M] = =(X[m, n]); }",
        {"X": (rows, columns)},
        {"Y": (columns, rows)},
        "transpose",
        tolerance=0.0,
    )


def max_pool(batch: int, size: int, channels: int, taps: int) -> Case:
    """The largest number of each window of an image, stride 2."""
    pad = (taps - 1) // 2
    small = size // 2
    places = f"n, 2 * x + i - {pad}, 2 * y + j - {pad}, c"
    return Case(
        f"max-pool {taps}x{taps}, stride 2, {channels} at {size}, batch {batch}",
        "rows",
        "function (I[N, X, Y, C]) -> (O) {"
        f" O[n, x, y, c : N, {small}, {small}, C] ="
        f" >(I[{places}]), i < {taps}, j < {taps}; }}",
        {"I": (batch, size, size, channels)},
        {"O": (batch, small, small, channels)},
        "max_pool",
        {"taps": taps, "pad": pad},
        tolerance=0.0,
    )


ROWS = (
    softmax(4096, 4096),
    softmax(4096, 4096, logarithm=True),
    layer_norm(4096, 4096),
    *(total(4096, 4096, axis) for axis in (0, 1, None)),
    argmax(4096, 4096),
    cumulative_sum(2**20),
    transpose(4096, 4096),
    max_pool(8, 112, 64, 2),
    max_pool(8, 112, 64, 3),
)
