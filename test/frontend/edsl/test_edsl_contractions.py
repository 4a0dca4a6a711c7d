"""Contractions in Python: spellings, check values of PlaidML's tests, mistakes."""

# A comparison that stands alone writes a contraction.
# pyright: reportUnusedExpression=false

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import product as cartesian
from typing import Any

import numpy as np
import pytest
from edsl_programs import Array, integers, program_of, same_program, without_names

import gingham
from gingham.edsl import (
    Contraction,
    NamedTensorOutput,
    Placeholder,
    Program,
    Tensor,
    TensorDim,
    TensorDims,
    TensorIndex,
    TensorIndexes,
    TensorLens,
    TensorOutput,
    assign,
    cond,
    max,
    min,
    product,
    sum,
)
from gingham.errors import GinghamError
from gingham.frontend.tile_text import parse_tile


def run(program: Program, *arrays: Any) -> Any:
    return gingham.compile(program, device="reference")(*arrays)


# Spellings


def by_operator(aggregation: str, O: TensorOutput, I: Tensor) -> None:
    m, n = TensorIndexes(2)
    match aggregation:
        case "+":
            O[n] += I[m, n]
        case "*":
            O[n] *= I[m, n]
        case ">":
            O[n] >= I[m, n]
        case "<":
            O[n] <= I[m, n]
        case _:
            O[n] = I[m, n]


def by_function(aggregation: str, O: TensorOutput, I: Tensor) -> None:
    m, n = TensorIndexes(2)
    functions: dict[str, Callable[[Any], Any]] = {
        "+": sum,
        "*": product,
        ">": max,
        "<": min,
        "=": assign,
    }
    O[n] = functions[aggregation](I[m, n])


def by_method(aggregation: str, O: TensorOutput, I: Tensor) -> None:
    m, n = TensorIndexes(2)
    cell = O[n]
    methods = {
        "+": cell.sum,
        "*": cell.product,
        ">": cell.max,
        "<": cell.min,
        "=": cell.assign,
    }
    methods[aggregation](I[m, n])


@pytest.mark.parametrize("spelling", [by_operator, by_function, by_method])
@pytest.mark.parametrize("aggregation", "+*><=")
def test_aggregations_have_three_spellings(
    spelling: Callable[[str, TensorOutput, Tensor], None], aggregation: str
) -> None:
    def program(I: Tensor) -> Tensor:
        M, N = TensorDims(2)
        I.bind_dims(M, N)
        O = TensorOutput(N)
        spelling(aggregation, O, I)
        return O

    text = f"function (I[M, N]) -> (O) {{ O[n : N] = {aggregation}(I[m, n]); }}"
    same_program(program, text, {"I": 2})


@pytest.mark.parametrize("aggregation", "+*><=")
def test_the_builder_is_a_fourth_spelling(aggregation: str) -> None:
    def program(I: Tensor) -> Tensor:
        M, N = TensorDims(2)
        m, n = TensorIndexes(2)
        I.bind_dims(M, N)
        contraction = Contraction().outShape(N).outAccess(n)
        methods = {
            "+": contraction.sum,
            "*": contraction.product,
            ">": contraction.max,
            "<": contraction.min,
            "=": contraction.assign,
        }
        O = methods[aggregation](I[m, n]).build()
        return O

    text = f"function (I[M, N]) -> (O) {{ O[n : N] = {aggregation}(I[m, n]); }}"
    same_program(program, text, {"I": 2})


COMBINATIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "A[i]": lambda a, b, c: a,
    "A[i] + B[k]": lambda a, b, c: a + b,
    "A[i] * B[k]": lambda a, b, c: a * b,
    "A[i] == B[k]": lambda a, b, c: a == b,
    "A[i] == B[k] ? C[k]": cond,
}


@pytest.mark.parametrize("combination", COMBINATIONS)
def test_combinations(combination: str) -> None:
    def program(A: Tensor, B: Tensor, C: Tensor) -> Tensor:
        N, K = TensorDims(2)
        i, k = TensorIndexes(2)
        A.bind_dims(N)
        B.bind_dims(K)
        C.bind_dims(K)
        O = TensorOutput(N)
        O[i] += COMBINATIONS[combination](A[i], B[k], C[k])
        return O

    function = same_program(
        program,
        f"function (A[N], B[K], C[K]) -> (O) {{ O[i : N] = +({combination}); }}",
        {"A": 1, "B": 1, "C": 1},
    )
    a, b, c = integers((4,)), integers((9,), seed=1), integers((9,), seed=2)
    expected = {
        "A[i]": a,
        "A[i] + B[k]": (a[:, None] + b).sum(axis=1),
        "A[i] * B[k]": (a[:, None] * b).sum(axis=1),
        "A[i] == B[k]": (a[:, None] == b).sum(axis=1),
        "A[i] == B[k] ? C[k]": np.where(a[:, None] == b, c, 0).sum(axis=1),
    }
    np.testing.assert_array_equal(function(a, b, c), expected[combination])


# Check values


def deconvolved(values: Array, kernel: Array, size: int) -> Array:
    """O[i] = sum over j of I[(i - j + 1) / 2] * K[j], where that is an integer."""
    result = np.zeros(size, values.dtype)
    for i, j in cartesian(range(size), range(len(kernel))):
        at = Fraction(i - j + 1, 2)
        if at.denominator == 1 and 0 <= at < len(values):
            result[i] += values[int(at)] * kernel[j]
    return result


DEFRACT = "function (I[N], K[M]) -> (O) { O[i : 5] = +(I[(i - j + 1) / 2] * K[j]); }"


def defract(I: Tensor, K: Tensor) -> Tensor:
    N, M = TensorDims(2)
    i, j = TensorIndexes(2)
    I.bind_dims(N)
    K.bind_dims(M)
    O = TensorOutput(5)
    O[i] += I[(i - j + 1) / 2] * K[j]
    return O


def funky_sum(I: Tensor, K: Tensor) -> Tensor:
    N, M = TensorDims(2)
    i, j = TensorIndexes(2)
    I.bind_dims(N)
    K.bind_dims(M)
    return (
        Contraction(name="O")
        .outShape(5)
        .outAccess(i)
        .sum(I[(i - j + 1) / 2] * K[j])
        .build()
    )


@pytest.mark.parametrize("program", [defract, funky_sum])
def test_defract(program: Callable[..., Tensor]) -> None:
    function = same_program(program, DEFRACT, {"I": 1, "K": 1})
    values = np.array([1, 2, 3], np.float32)
    np.testing.assert_array_equal(function(values, values), [2, 5, 4, 9, 6])
    a, b = integers((7,)), integers((4,), seed=1)
    np.testing.assert_array_equal(function(a, b), deconvolved(a, b, 5))


def test_defract_short() -> None:
    def program(I: Tensor) -> Tensor:
        N = TensorDim()
        i = TensorIndex()
        I.bind_dims(N)
        O = TensorOutput(6)
        O[i] += I[(i - 1) / 2]
        return O

    text = "function (I[N]) -> (O) { O[i : 6] = +(I[(i - 1) / 2]); }"
    function = same_program(program, text, {"I": 1})
    np.testing.assert_array_equal(
        function(np.array([1, 2, 3], np.float32)), [0, 1, 0, 2, 0, 3]
    )


def test_defract_long() -> None:
    I = Placeholder("float32", [1, 3, 3, 1])
    K = Placeholder("float32", [3, 3, 1, 1])
    n, x0, x1, k0, k1, co, ci = TensorIndexes(7)
    O = TensorOutput(1, 5, 5, 1)
    O[n, x0, x1, co] += (
        I[n, (x0 + k0 - 1) / 2, (x1 + k1 - 1) / 2, ci] * K[2 - k0, 2 - k1, co, ci]
    )
    image, kernel = integers((1, 3, 3, 1)), integers((3, 3, 1, 1), seed=1)
    expected = np.zeros((1, 5, 5, 1), np.float32)
    for a0, a1, b0, b1 in cartesian(range(5), range(5), range(3), range(3)):
        at0, at1 = Fraction(a0 + b0 - 1, 2), Fraction(a1 + b1 - 1, 2)
        if at0.denominator == at1.denominator == 1 and 0 <= at0 < 3 and 0 <= at1 < 3:
            value = image[0, int(at0), int(at1), 0] * kernel[2 - b0, 2 - b1, 0, 0]
            expected[0, a0, a1, 0] += value
    np.testing.assert_array_equal(
        run(Program("defract_long", [I, K], [O]), image, kernel), expected
    )


def test_repeat_elements() -> None:
    def program(I: Tensor) -> Tensor:
        N0, N1, N2 = TensorDims(3)
        n0, n1, n2, k = TensorIndexes(4)
        I.bind_dims(N0, N1, N2)
        O = TensorOutput(N0, 3 * N1, N2)
        O[n0, 3 * n1 + k, n2] = I[n0, n1, n2]
        O.add_constraint(k < 3).no_reduce()
        return O

    function = same_program(
        program,
        """function (I[N0, N1, N2]) -> (O) {
          O[n0, 3 * n1 + k, n2 : N0, 3 * N1, N2] = =(I[n0, n1, n2]), k < 3 no_defract;
        }""",
        {"I": 3},
    )
    a = integers((2, 3, 4))
    np.testing.assert_array_equal(function(a), np.repeat(a, 3, axis=1))


def test_use_default() -> None:
    def program(P: Tensor, I: Tensor) -> Tensor:
        B, N1, N2 = TensorDims(3)
        b, i1, i2 = TensorIndexes(3)
        I.bind_dims(B, N1, N2)
        O = TensorOutput(B, 7, N1, N2)
        O[b, 3, i1, i2] = I[b, i1, i2]
        O.use_default(P)
        return O

    function = same_program(
        program,
        """function (P, I[B, N1, N2]) -> (O) {
          O[b, 3, i1, i2 : B, 7, N1, N2] = =(I[b, i1, i2]) default P;
        }""",
        {"P": None, "I": 3},
    )
    p, i = integers((1, 7, 2, 3)), integers((1, 2, 3), seed=1)
    expected = p.copy()
    expected[:, 3] = i
    np.testing.assert_array_equal(function(p, i), expected)


def test_all_that_can_be_said_of_a_contraction_may_come_first() -> None:
    def before(I: Tensor, P: Tensor) -> Tensor:
        (N,) = I.shape
        i, k = TensorIndexes(2)
        O = TensorOutput(N).use_default(P).no_defract()
        O.add_constraints([i - k < N, k < 5])
        O[i] += I[k]
        return O

    def behind(I: Tensor, P: Tensor) -> Tensor:
        (N,) = I.shape
        i, k = TensorIndexes(2)
        O = TensorOutput(N)
        O[i] += I[k]
        O.add_constraint(N > i - k).add_constraint(k <= 4)
        O.init(P)
        O.no_reduce()
        return O

    def built(I: Tensor, P: Tensor) -> Tensor:
        (N,) = I.shape
        i, k = TensorIndexes(2)
        O = (
            Contraction()
            .outShape(N)
            .outAccess(i)
            .sum(I[k])
            .init(P)
            .add_constraint(i - k < N)
            .add_constraints([k < 5])
            .no_reduce()
            .build()
        )
        return O

    text = """function (I[N], P) -> (O) {
      O[i : N] = +(I[k]), i - k < N, k < 5 no_defract default P;
    }"""
    ranks: dict[str, int | None] = {"I": 1, "P": None}
    programs = [without_names(program_of(f, ranks).module) for f in (before, built)]
    assert programs == [without_names(parse_tile(text))] * 2
    # `k <= 4` is `k < 4 + 1`, a sum that Python computes.
    assert without_names(program_of(behind, ranks).module) == programs[0]


def test_a_constraint_said_late_does_not_move_the_contraction() -> None:
    def program(I: Tensor) -> list[Tensor]:
        (N,) = I.shape
        i, j = TensorIndexes(2)
        A = TensorOutput(N)
        A[i] += I[i]
        B = TensorOutput(N)
        B[i] += I[j]
        A.add_constraint(i < 3)
        B.use_default(A)
        return [B]

    same_program(
        program,
        """function (I[N]) -> (B) {
          A[i : N] = +(I[i]), i < 3;
          B[i : N] = +(I[j]) default A;
        }""",
        {"I": 1},
    )


def test_lenses_change_the_order_of_axes() -> None:
    def convolution(I: Tensor, layout: str) -> Tensor:
        lens = TensorLens(layout, "nwc")
        X = I.use(lens)
        N, W, C = TensorDims(3)
        n, w, c, k = TensorIndexes(4)
        X.bind_dims(N, W, C)
        O = TensorOutput(N, W, C)
        O.use(lens)
        O[n, w, c] += X[n, w + k, c]
        O.add_constraint(k < 2)
        return O

    def built(I: Tensor) -> Tensor:
        lens = TensorLens("ncw", "nwc")
        N, W, C = I.use(lens).shape
        n, w, c, k = TensorIndexes(4)
        O = (
            Contraction(lens)
            .outShape(N, W, C)
            .outAccess(n, w, c)
            .sum(I.use(lens)[n, w + k, c])
            .add_constraint(k < 2)
            .build()
        )
        return O

    texts = {
        "nwc": "function (I[N, W, C]) -> (O) "
        "{ O[n, w, c : N, W, C] = +(I[n, w + k, c]), k < 2; }",
        "ncw": "function (I[N, C, W]) -> (O) "
        "{ O[n, c, w : N, C, W] = +(I[n, c, w + k]), k < 2; }",
    }
    for layout, text in texts.items():
        same_program(partial(convolution, layout=layout), text, {"I": 3})
    same_program(built, texts["ncw"], {"I": 3})


# Programs


def test_identity() -> None:
    I = Placeholder("float32", [3, 2])
    a = integers((3, 2))
    np.testing.assert_array_equal(run(Program("identity", [I], [I]), a), a)


def test_two_outputs_and_one_twice() -> None:
    I = Placeholder("float32", [3])
    O1 = I * 2
    O2 = I + 1
    a = integers((3,))
    program = Program("outputs", [I], [O1, O2, O1])
    first, second, third = run(program, a)
    np.testing.assert_array_equal(first, a * 2)
    np.testing.assert_array_equal(second, a + 1)
    np.testing.assert_array_equal(third, first)
    assert program.compile().output_names == ["O1", "O2", "O1_1"]


def test_names_are_made_unique() -> None:
    A = Placeholder("float32", name="A")
    B = Placeholder("float32", name="A")
    C0 = NamedTensorOutput("C")
    C1 = TensorOutput(name="C")
    C0[()] = A[()]
    C1[()] = B[()]
    program = Program("names", [A, B], [C0, C1, A + B])
    function = program.compile("reference")
    assert function.input_names == ["A", "A_1"]
    assert function.output_names == ["C", "C_1", "O2"]
    assert [float(x) for x in function(1.0, 2.0)] == [1, 2, 3]


def test_sizes_and_indices_with_the_same_name_are_different() -> None:
    def summed(X: Tensor) -> Tensor:
        M, N = TensorDims(2)
        i, j = TensorIndexes(2)
        X.bind_dims(M, N)
        S = TensorOutput(M)
        S[i] += X[i, j]
        return S

    def program(A: Tensor, B: Tensor) -> Tensor:
        a, b = summed(A), summed(B)
        i, other = TensorIndex("i"), TensorIndex("i")
        O = TensorOutput(a.shape[0], b.shape[0])
        O[i, other] += a[i] * b[other]
        return O

    built = program_of(program, {"A": 2, "B": 2})
    assert '["M", "N"]' in str(built)
    assert '["M_1", "N_1"]' in str(built)
    assert "over [i, i_1]" in str(built)
    a, b = integers((2, 3)), integers((4, 5), seed=1)
    expected = np.outer(a.sum(axis=1), b.sum(axis=1))
    np.testing.assert_array_equal(run(built, a, b), expected)


def test_assignment_exceptions() -> None:
    """What is assigned more than once is an error, at the line that assigns."""
    A = Placeholder("float32", [5, 1])
    B = Placeholder("float32", [1, 5])
    i, j, k = TensorIndexes(3)
    O = TensorOutput(5, 5)
    O[i, j] = A[i, k] * B[k, j]
    a, b = integers((5, 1)), integers((1, 5), seed=1)
    np.testing.assert_array_equal(run(Program("one", [A, B], [O]), a, b), a @ b)
    P = TensorOutput(1, 1)
    P[i, j] = B[i, k] * A[k, j]
    with pytest.raises(GinghamError, match="assign") as caught:
        run(Program("many", [A, B], [P]), a, b)
    text = caught.value.render()
    assert "test_edsl_contractions.py:" in text
    assert "    P[i, j] = B[i, k] * A[k, j]\n    ^" in text
