"""Mistakes in contractions: each error points at the line of the Python code."""

# A comparison that stands alone writes a contraction.
# pyright: reportUnusedExpression=false

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from gingham.edsl import (
    Contraction,
    Placeholder,
    Program,
    TensorDim,
    TensorIndex,
    TensorIndexes,
    TensorLens,
    TensorOutput,
    max,
)
from gingham.errors import GinghamError

Mistake = Callable[[Any, Any, Any], None]


def on_vector(mistake: Mistake) -> GinghamError:
    A = Placeholder(None, [None], "A")
    N = TensorDim("N")
    A.bind_dims(N)
    with pytest.raises(GinghamError) as caught:
        mistake(A, N, TensorIndex("i"))
    return caught.value


def written_twice(A: Any, N: Any, i: Any) -> None:
    O = TensorOutput(N)
    O[i] += A[i]
    O[i] += A[i]


def compared_and_written_twice(A: Any, N: Any, i: Any) -> None:
    O = TensorOutput(N)
    O[i] >= A[i]
    O[i] = A[i]


def not_written(A: Any, N: Any, i: Any) -> None:
    O = TensorOutput(N)
    print(O + A)


def no_output(A: Any, N: Any, i: Any) -> None:
    A[i] += A[i]


def no_output_compared(A: Any, N: Any, i: Any) -> None:
    A[i] >= A[i]


def used_in_if(A: Any, N: Any, i: Any) -> None:
    O: Any = TensorOutput(N)
    if O[i] >= A[i]:
        print(O)


def output_of_wrong_rank(A: Any, N: Any, i: Any) -> None:
    O = TensorOutput(N, N)
    O[i] += A[i]


def operand_of_wrong_rank(A: Any, N: Any, i: Any) -> None:
    O = TensorOutput(N)
    O[i] += A[i, i]


def whole_tensor(A: Any, N: Any, i: Any) -> None:
    O = TensorOutput(N)
    O[i] += A


def a_number(A: Any, N: Any, i: Any) -> None:
    O = TensorOutput(N)
    O[i] = 1


def access_and_number(A: Any, N: Any, i: Any) -> None:
    O = TensorOutput(N)
    O[i] += A[i] * 2


def three_factors(A: Any, N: Any, i: Any) -> None:
    O = TensorOutput(N)
    O[i] += A[i] * A[i] * A[i]


def difference(A: Any, N: Any, i: Any) -> None:
    O = TensorOutput(N)
    O[i] += A[i] - A[i]


def subtracted(A: Any, N: Any, i: Any) -> None:
    O: Any = TensorOutput(N)
    O[i] -= A[i]


def changed_too_late(A: Any, N: Any, i: Any) -> None:
    O = TensorOutput(N)
    O[i] += A[i]
    print(O * 2)
    O.add_constraint(i < 2)


def second_default(A: Any, N: Any, i: Any) -> None:
    TensorOutput(N).use_default(A).use_default(A)


def chained_constraint(A: Any, N: Any, i: Any) -> None:
    if i < N:
        print(A)


def lower_bound(A: Any, N: Any, i: Any) -> None:
    TensorOutput(N).add_constraint(0 <= i)


def index_as_bound(A: Any, N: Any, i: Any) -> None:
    j = TensorIndex()
    TensorOutput(N).add_constraint(i < j)


def no_constraint(A: Any, N: Any, i: Any) -> None:
    TensorOutput(N).add_constraints([i == N])


def undefined_dimension(A: Any, N: Any, i: Any) -> None:
    M = TensorDim()
    TensorOutput(N, M)


def incomplete(A: Any, N: Any, i: Any) -> None:
    Contraction().outShape(N).outAccess(i).build()


def no_access(A: Any, N: Any, i: Any) -> None:
    Contraction().outShape(N).sum(A[i]).build()


def two_aggregations(A: Any, N: Any, i: Any) -> None:
    O = TensorOutput(N)
    O[i] += max(A[i])


def truth_of_an_access(A: Any, N: Any, i: Any) -> None:
    if A[i]:
        print(A)


def iterated_access(A: Any, N: Any, i: Any) -> None:
    print(*A[i])


def a_float_as_size(A: Any, N: Any, i: Any) -> None:
    TensorOutput(2.5)


def a_tensor_as_size(A: Any, N: Any, i: Any) -> None:
    TensorOutput(A)


def axes_of_a_lens(A: Any, N: Any, i: Any) -> None:
    TensorLens("nchw", "nhwk")


MISTAKES: dict[Mistake, tuple[str, str]] = {
    written_twice: ("'O' is written twice", "O[i] += A[i]"),
    compared_and_written_twice: ("'O' is written twice", "O[i] = A[i]"),
    not_written: ("'O' has no value yet", "O + A"),
    no_output: ("'A' has a value already and is no output", "A[i] += A[i]"),
    no_output_compared: ("'A' has a value already", "A[i] >= A[i]"),
    used_in_if: ("write a contraction, they do not compare", "O[i] >= A[i]"),
    output_of_wrong_rank: ("'O' has 2 axes, got 1 index", "O[i] += A[i]"),
    operand_of_wrong_rank: ("'A' has 1 axis, got 2 indices", "A[i, i]"),
    whole_tensor: ("got a whole tensor", "O[i] += A"),
    a_number: ("expected an access such as A[i, j], got int", "O[i] = 1"),
    access_and_number: ("expected an access such as A[i, j], got int", "A[i] * 2"),
    three_factors: ("too many accesses", "A[i] * A[i] * A[i]"),
    difference: ("accesses combine by", "A[i] - A[i]"),
    subtracted: ("no such aggregation", "O[i] -= A[i]"),
    changed_too_late: ("'O' is used already", "O.add_constraint(i < 2)"),
    second_default: ("has a default already", "TensorOutput(N).use_default(A).use"),
    chained_constraint: ("a constraint has no truth value", "i < N"),
    lower_bound: ("a constraint has an upper bound", "0 <= i"),
    index_as_bound: ("the bound of a constraint has no index", "i < j"),
    no_constraint: ("expected a constraint such as j < 2, got bool", "TensorOutput(N)"),
    undefined_dimension: ("dimension 'M' has no size yet", "TensorOutput(N, M)"),
    incomplete: ("call sum, product, max, min or assign", "Contraction()"),
    no_access: ("call outAccess", "Contraction()"),
    two_aggregations: ("one aggregation, and not two", "O[i] += max(A[i])"),
    truth_of_an_access: ("an access has no truth value", ""),
    iterated_access: ("an access cannot be iterated over", "print(*A[i])"),
    a_float_as_size: ("expected size 0 of the output to be", "TensorOutput(2.5)"),
    a_tensor_as_size: ("to be a TensorDim or an integer, got", "TensorOutput(A)"),
    axes_of_a_lens: ("'nchw' and 'nhwk' are not the same", 'TensorLens("nchw"'),
}


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.__name__)
def test_mistakes_point_at_their_line(
    mistake: Mistake,
) -> None:
    message, code = MISTAKES[mistake]
    error = on_vector(mistake)
    assert message in error.message
    location = error.location
    assert location is not None
    assert location.file == __file__
    first = inspect.getsourcelines(mistake)[1]
    assert first < location.line < first + 6
    excerpt = location.excerpt()
    assert excerpt is not None
    line, caret = excerpt.split("\n")
    assert line[caret.index("^") :].startswith(code)


def test_an_index_that_nothing_bounds() -> None:
    A = Placeholder(None, [None])
    (N,) = A.shape
    i, j = TensorIndexes(2)
    O = TensorOutput(N)
    O[i] += A[i + j - j]
    with pytest.raises(GinghamError) as caught:
        Program("unbounded", [A], [O])
    assert caught.value.message == "nothing bounds the index 'j'"
    assert "    O[i] += A[i + j - j]\n            ^~~~~~~~~~~~" in str(caught.value)
