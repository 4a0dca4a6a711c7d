"""The limits of a program: each is refused where it is passed, and soon."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
import pytest

import gingham
from gingham import limits
from gingham.errors import GinghamError
from gingham.frontend import builder

SECONDS = 10.0
"""What a refusal may take of one core."""


def function(body: str, inputs: str = "A[N]", outputs: str = "B") -> str:
    return f"function ({inputs}) -> ({outputs}) {{\n{body}\n}}"


def refusal(text: str, *arguments: Any, device: str = "reference") -> GinghamError:
    """The error of a program, found within the time that it may take."""
    start = process_time()
    with pytest.raises(GinghamError) as caught:
        gingham.compile(text, device=device)(*arguments)
    assert process_time() - start < SECONDS
    assert caught.value.location is not None
    assert len(caught.value.render()) < 5000
    return caught.value


def place(error: GinghamError) -> tuple[int, int]:
    assert error.location is not None
    return error.location.line, error.location.column


@pytest.mark.parametrize("repeated", ["-", "+ sin(A)"])
def test_a_text_of_ten_megabytes_is_refused(repeated: str) -> None:
    body = "B = -" + repeated * (10_000_000 // len(repeated)) + "A;"
    error = refusal(function(body.replace("-+", "A +")))
    assert error.message == (
        f"expected at most {limits.MOST_TOKENS} words, numbers and signs in a program"
    )
    assert place(error)[0] == 2


@pytest.mark.parametrize("character", [" ", "\r\n"])
def test_white_space_of_ten_megabytes_is_nothing(character: str) -> None:
    blank = character * (10_000_000 // len(character))
    program = gingham.compile(function(f"{blank} B = A;"), device="reference")
    assert program([1.0]) == [1.0]
    lines = blank.replace("\r\n", "\n").count("\n")
    assert place(refusal(function(f"{blank} B = Q;")))[0] == 2 + lines


@pytest.fixture
def few_operations(monkeypatch: pytest.MonkeyPatch) -> int:
    """A smaller limit of operations, which is soon reached."""
    monkeypatch.setattr(builder, "MOST_OPERATIONS", 1000)
    return 1000


def test_operations(few_operations: int) -> None:
    error = refusal(function("B = A" + " + A" * 2 * few_operations + ";"))
    assert error.message == "expected at most 1000 operations in a program"
    # Of those, one names the size of the input.
    assert place(error) == (2, 3 + 4 * few_operations)


def test_operations_of_python(few_operations: int) -> None:
    def long(x: Any) -> Any:
        for _ in range(2 * few_operations):
            x = x + 1.0
        return x

    with pytest.raises(GinghamError, match="at most 1000 operations") as caught:
        gingham.jit(device="reference")(long)(np.ones(2, np.float32))
    assert caught.value.location is not None
    assert caught.value.location.file == __file__


def test_names() -> None:
    longest = "B" * limits.LONGEST_NAME
    program = gingham.compile(
        function(f"{longest} = A;", outputs=longest), device="reference"
    )
    assert program([1.0]) == [1.0]
    error = refusal(function("B" * 5_000_000 + " = A;"))
    assert error.message == "expected a name of at most 1000 characters, got 5000000"
    assert place(refusal(function(f"B = {'q' * 1001}(A);"))) == (2, 5)


def test_inputs_and_outputs() -> None:
    names = [f"A{i}" for i in range(limits.MOST_ARGUMENTS + 1)]
    error = refusal(function("B = A0;", ",".join(names)))
    assert error.message == "expected at most 10000 inputs"
    body = "".join(f"{name} = I;" for name in names)
    error = refusal(function(body, "I", ",".join(names)))
    assert error.message == "expected at most 10000 outputs"


def ones(count: int) -> str:
    return ",".join(["1"] * count)


def indices(count: int) -> list[str]:
    return [f"i{number}" for number in range(count)]


AXES: dict[str, Callable[[int], str]] = {
    "reshape": lambda n: function(f"B = reshape(A, {ones(n)});"),
    "input": lambda n: function(
        "B = A;",
        "A[" + ",".join(i.upper() for i in indices(n)) + "]",
    ),
    "output": lambda n: function(f"B[{','.join(['0'] * n)} : {ones(n)}] = +(A[i]);"),
    "between": lambda n: function(
        f"T = reshape(A, {ones(n)}); B[] = +(T[{','.join(['0'] * n)}]);"
    ),
    "gather": lambda n: function(
        f"T = reshape(A, {ones(n - 1)}); I = as_int(reshape(A, 1, 1), 32); "
        "B = gather(T, I);"
    ),
}


@pytest.mark.parametrize("kind", ["reshape", "output", "between", "gather"])
@pytest.mark.parametrize("device", ["reference", None])
def test_axes(kind: str, device: str | None) -> None:
    program = AXES[kind]
    result = gingham.compile(program(limits.MOST_AXES), device=device)([0.0])
    assert result.sum() == 0
    error = refusal(program(limits.MOST_AXES + 1), [0.0], device=device or "reference")
    assert "at most 64 axes" in error.message
    assert "at most 64 axes" in refusal(program(3000), [0.0]).message


def test_axes_of_an_input() -> None:
    error = refusal(AXES["input"](65))
    assert error.message == "expected a tensor of at most 64 axes, got 65"
    assert place(error) == (1, 11)


def test_indices() -> None:
    def sum_of(count: int) -> str:
        bounds = "".join(f", {name} < 2" for name in indices(count))
        return function(f"B[] = +(A[{'+'.join(indices(count))}]){bounds};")

    error = refusal(sum_of(65))
    assert error.message == "expected at most 64 indices in a contraction"
    assert place(error)[0] == 2
    assert "at most 64" in refusal(sum_of(20_000)).message


def test_constraints() -> None:
    body = "B[] = +(A[i])" + ", i < N" * limits.MOST_CONSTRAINTS + ";"
    assert gingham.compile(function(body), device="reference")([1.0, 2.0]) == 3.0
    error = refusal(function("B[] = +(A[i])" + ", i < N" * 30_000 + ";"))
    assert error.message == "expected at most 256 constraints, got 30000"


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("*".join(["(N0+N1+N2+N3+N4+N5+N6+N7+N8+N9)"] * 12) + "*i", "128 terms"),
        ("*".join(["N0"] * 30_000) + "*i", "128 factors"),
        ("i/" + "/".join(["N0"] * 30_000), "128 factors"),
        ("*".join(["9223372036854775807"] * 30_000) + "*i", "64 bits"),
        ("+".join(f"i/{p}" for p in range(2, 5000)), "64 bits"),
    ],
)
def test_index_expressions(expression: str, message: str) -> None:
    inputs = ",".join(f"X{i}[N{i}]" for i in range(10))
    error = refusal(function(f"B[] = +(X0[{expression}]);", inputs))
    assert message in error.message
    assert place(error)[0] == 2


def test_long_index_expressions_are_sums() -> None:
    body = f"B[i : N] = +(A[{'+1-1' * 20_000}+i]);".replace("[+", "[")
    program = gingham.compile(function(body), device="reference")
    assert program([1.0, 2.0]).tolist() == [1.0, 2.0]


SIZES = {
    "squarings": "S0 = N*2;"
    + "".join(f"S{i} = S{i - 1}*S{i - 1};" for i in range(1, 101))
    + "B = A + S100;",
    "product": "S = N*4611686018427387904*4; B = A + S;",
    "unused": "S = N*4611686018427387904*4; B = A;",
    "size": "B[i : N*4611686018427387904*4] = =(A[i]);",
    "bound": "B[i : N] = +(A[i]), i < N*9223372036854775807;",
}


@pytest.mark.parametrize("kind", SIZES)
@pytest.mark.parametrize("device", ["reference", None])
def test_sizes(kind: str, device: str | None) -> None:
    error = refusal(
        function(SIZES[kind]), np.ones(4, np.float32), device=device or "reference"
    )
    assert error.message.startswith("the size ")
    assert error.message.endswith(" does not fit 64 bits")
    assert place(error)[0] == 2


def test_sizes_of_python() -> None:
    def squared(x: Any) -> Any:
        size = gingham.edsl.TensorDim("N")
        x.bind_dims(size)
        size = size * 2
        for _ in range(100):
            size = size * size
        return x + int(size)

    with pytest.raises(GinghamError, match="does not fit 64 bits"):
        gingham.jit(device="reference")(squared)(np.ones(4, np.float32))


LARGE = {
    "9223372036854775807*i < 9223372036854775807": [1, 0, 0, 0],
    "9223372036854775807*i + j < 9223372036854775807, j < 3": [3, 0, 0, 0],
    "9223372036854775807*i - 9223372036854775806*j < 1, j < 3": [1, 0, 0, 0],
    "9223372036854775807*i + 9223372036854775805*j < 9223372036854775807, j < 3": [
        2,
        0,
        0,
        0,
    ],
}


@pytest.mark.parametrize("constraint", LARGE)
def test_large_factors_mean_the_same_on_all_devices(constraint: str) -> None:
    text = function(f"B[i : N] = +(A[i]), {constraint};")
    for device in ("reference", None):
        result = gingham.compile(text, device=device)(np.ones(4, np.float32))
        assert result.tolist() == LARGE[constraint], device


@pytest.mark.parametrize(("parts", "place_of"), [("T{0}, T{0}", 10), ("T{0}", 64)])
def test_tuples_inside_each_other(parts: str, place_of: int) -> None:
    """Those that double their parts, and those that are deep only."""
    lines = [f"T{n + 1} = tuple({parts.format(n)});" for n in range(100)]
    error = refusal(function("T0 = tuple(A);\n" + "\n".join(lines) + "B = A;"))
    assert "expected at most 1000 and 64" in error.message
    assert place(error)[0] == place_of + 2
