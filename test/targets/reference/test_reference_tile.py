"""The tile level: contractions against enumeration in plain Python with fractions."""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from gingham.errors import GinghamError
from gingham.targets.reference import contraction as contraction_module

Run = Callable[..., list[np.ndarray[Any, Any]]]

NUMPY_NAMES = {"f64": "float64", "si32": "int32", "si64": "int64", "i1": "bool"}


def typed(array: np.ndarray[Any, Any], element: str) -> str:
    return "tensor<" + "".join(f"{size}x" for size in array.shape) + f"{element}>"


def expression(form: Sequence[Fraction], names: Sequence[str]) -> str:
    *coefficients, constant = form
    terms = [
        f"{c.numerator} / {c.denominator} * {n}"
        for c, n in zip(coefficients, names, strict=True)
    ]
    return " + ".join([*terms, f"{constant.numerator} / {constant.denominator}"])


def value(form: Sequence[Fraction], point: Sequence[int]) -> Fraction:
    *coefficients, constant = form
    return sum((c * x for c, x in zip(coefficients, point, strict=True)), constant)


def place(
    access: Sequence[Sequence[Fraction]], shape: Sequence[int], point: Sequence[int]
) -> tuple[int, ...] | None:
    """The accessed cell, or None where it is not an integer or out of bounds."""
    cell: list[int] = []
    for form, size in zip(access, shape, strict=True):
        position = value(form, point)
        if position.denominator != 1 or not 0 <= position < size:
            return None
        cell.append(int(position))
    return tuple(cell)


AGGREGATE: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "mul": operator.mul,
    "max": max,
    "min": min,
}


def _identity(x: float) -> float:
    return x


def _equal(x: float, y: float) -> int:
    return int(x == y)


def _choice(x: float, y: float, z: float) -> float:
    return z if x == y else 0


COMBINE: dict[str, Callable[..., float]] = {
    "": _identity,
    "+": operator.add,
    "*": operator.mul,
    "==": _equal,
    "?": _choice,
}


class Example:
    """A random contraction, as text and as a loop over points."""

    def __init__(self, random: np.random.Generator, fractions: bool) -> None:
        self.random = random
        self.aggregation = str(random.choice(list(AGGREGATE)))
        self.combination = str(random.choice(list(COMBINE)))
        self.names = [f"i{n}" for n in range(int(random.integers(1, 4)))]
        count = {"": 1, "?": 3}.get(self.combination, 2)
        self.element = str(random.choice(["f64", "si32", "si64"]))
        self.inputs = [self.tensor() for _ in range(count)]
        self.output = self.tensor()
        self.denominators = [1, 1, 2, 3] if fractions else [1]
        # A point that is valid, so that there is one.
        self.point = [int(x) for x in random.integers(-3, 6, len(self.names))]
        self.accesses = [
            [self.form(size) for size in tensor.shape]
            for tensor in (self.output, *self.inputs)
        ]
        self.constraints: list[tuple[list[Fraction], int]] = []
        for _ in range(int(random.integers(0, 3))):
            bound = int(random.integers(1, 7))
            self.constraints.append((self.form(bound), bound))
        # Each index has some bound, which need not be tight.
        self.ranges: list[range] = []
        for n, x in enumerate(self.point):
            low, high = x - int(random.integers(0, 4)), x + int(random.integers(1, 5))
            unit = [Fraction(n == m) for m in range(len(self.names))]
            self.constraints.append(([*unit, Fraction(-low)], high - low))
            self.ranges.append(range(low - 1, high + 1))
        self.default = self.tensor_like(self.output) if random.random() < 0.5 else None

    def tensor(self) -> np.ndarray[Any, Any]:
        shape = self.random.integers(1, 5, int(self.random.integers(0, 3)))
        return self.tensor_like(np.empty(shape))

    def tensor_like(self, other: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        values = np.zeros(other.shape, NUMPY_NAMES[self.element])
        values[...] = self.random.integers(-3, 4, other.shape)
        return values

    def form(self, size: int) -> list[Fraction]:
        """A form that is in 0 ... size - 1 at the valid point."""
        numbers = self.random.integers(-2, 3, len(self.names))
        divisors = self.random.choice(self.denominators, len(numbers))
        form = [
            Fraction(int(n), int(d)) for n, d in zip(numbers, divisors, strict=True)
        ]
        target = int(self.random.integers(0, size))
        return [*form, target - value([*form, Fraction(0)], self.point)]

    @property
    def result(self) -> str:
        counted = self.combination == "==" and self.aggregation in ("add", "mul")
        if self.combination == "==":
            return "si32" if counted else "i1"
        return self.element

    def text(self) -> str:
        def accessed(number: int) -> str:
            forms = (expression(form, self.names) for form in self.accesses[number])
            return f"%x{number}[{', '.join(forms)}]"

        operands = [accessed(n) for n in range(1, len(self.inputs) + 1)]
        separators = {"?": [" == ", " ? "]}.get(self.combination, [self.combination])
        combined = operands[0]
        for separator, operand in zip(separators, operands[1:], strict=False):
            combined += f" {separator} {operand}"
        axes = ", ".join(
            f"{expression(form, self.names)} : {size}"
            for form, size in zip(self.accesses[0], self.output.shape, strict=True)
        )
        conditions = ", ".join(
            f"0 <= {expression(form, self.names)} < {bound}"
            for form, bound in self.constraints
        )
        types = [typed(x, self.element) for x in self.inputs]
        arguments = [f"%x{n} : {t}" for n, t in enumerate(types, start=1)]
        default = ""
        if self.default is not None:
            types.append(typed(self.default, self.result))
            arguments.append(f"%d : {types[-1]}")
            default = "default %d"
        result = typed(self.output, self.result)
        return f"""
        func.func @main({", ".join(arguments)}) -> {result} {{
          %y = tile.contract {self.aggregation} over [{", ".join(self.names)}]
              {combined} -> [{axes}] where {conditions} {default}
              : ({", ".join(types)}) -> {result}
          func.return %y : {result}
        }}"""

    def arguments(self) -> list[np.ndarray[Any, Any]]:
        dtype = NUMPY_NAMES[self.result]
        extra = [] if self.default is None else [self.default.astype(dtype)]
        return [*self.inputs, *extra]

    def expected(self) -> np.ndarray[Any, Any]:
        shape = self.output.shape
        result = np.zeros(shape, object)
        if self.default is not None:
            result = self.default.astype(NUMPY_NAMES[self.result]).astype(object)
        seen: set[tuple[int, ...]] = set()
        for point in itertools.product(*self.ranges):
            tensors = (self.output, *self.inputs)
            cells = [
                place(access, tensor.shape, point)
                for access, tensor in zip(self.accesses, tensors, strict=True)
            ]
            holds = all(0 <= value(f, point) < bound for f, bound in self.constraints)
            if not holds or None in cells:
                continue
            operands = [
                x[cell].item() for x, cell in zip(self.inputs, cells[1:], strict=True)
            ]
            combined = COMBINE[self.combination](*operands)
            cell = cells[0]
            assert cell is not None
            if cell in seen:
                combined = AGGREGATE[self.aggregation](result[cell], combined)
            result[cell] = combined
            seen.add(cell)
        assert seen
        return result


def wrap(values: np.ndarray[Any, Any], dtype: str) -> np.ndarray[Any, Any]:
    if dtype in ("int32", "int64"):
        bits = int(dtype[3:])
        half = 2 ** (bits - 1)
        flat = [(int(v) + half) % 2**bits - half for v in values.reshape(-1)]
        return np.array(flat, object).reshape(values.shape).astype(dtype)
    return values.astype(dtype)


@pytest.mark.parametrize("part", [2**20, 5])
@pytest.mark.parametrize("fractions", [False, True])
def test_random_contractions(
    run: Run,
    random: np.random.Generator,
    monkeypatch: pytest.MonkeyPatch,
    part: int,
    fractions: bool,
) -> None:
    monkeypatch.setattr(contraction_module, "PART", part)
    for _ in range(60):
        example = Example(random, fractions)
        (got,) = run(example.text(), *example.arguments())
        dtype = NUMPY_NAMES[example.result]
        expected = wrap(np.asarray(example.expected()), dtype)
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, expected, example.text())


def contract(rest: str, inputs: str = "%x : tensor<4xf32>", result: str = "f32") -> str:
    """A module with one contraction of `%x` whose text after the name is `rest`."""
    types = ", ".join(re.findall(r"tensor<[^>]*>", inputs))
    return f"""
    func.func @main({inputs}) -> tensor<{result}> {{
      %y = tile.contract {rest} : ({types}) -> tensor<{result}>
      func.return %y : tensor<{result}>
    }}"""


FOUR = np.array([1, 2, 3, 4], np.float32)


def test_assign_permutes_and_leaves_the_default(run: Run) -> None:
    text = contract("assign over [i] %x[i] -> [2 * i + 1 : 9]", result="9xf32")
    (got,) = run(text, FOUR)
    assert got.tolist() == [0, 1, 0, 2, 0, 3, 0, 4, 0]


@pytest.mark.parametrize("part", [2**20, 1])
def test_assign_with_two_points_on_a_cell_names_them(
    run: Run, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    monkeypatch.setattr(contraction_module, "PART", part)
    text = contract(
        "assign over [i, j] %x[i] -> [i + j : 4] where 0 <= j < 2, 0 <= i - 1 < 2",
        result="4xf32",
    )
    message = r"assign the cell \[2\]: \(i = 1, j = 1\) and \(i = 2, j = 0\)"
    with pytest.raises(GinghamError, match=message):
        run(text, FOUR)


def test_an_index_in_constraints_only_multiplies_points(run: Run) -> None:
    text = contract("add over [i, j] %x[i] -> [] where 0 <= j - i < 3")
    (got,) = run(text, FOUR)
    assert got == 3 * FOUR.sum()


@pytest.mark.parametrize("aggregation", ["add", "mul", "max", "min"])
def test_an_identity_never_leaks(run: Run, aggregation: str) -> None:
    text = contract(
        f"{aggregation} over [i] %x[i] -> [i : 3] where 0 <= i - 1 < 1", result="3xf32"
    )
    (got,) = run(text, FOUR)
    assert got.tolist() == [0, 2, 0]


def test_infinities_and_nan_are_values_like_others(run: Run) -> None:
    text = contract("max over [i] %x[i] -> []")
    (got,) = run(text, np.full(4, -np.inf, np.float32))
    assert got == -np.inf
    (got,) = run(text, np.array([1, np.nan, 3, 4], np.float32))
    assert np.isnan(got)


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_half_precision_accumulates_in_more(run: Run, name: str) -> None:
    import ml_dtypes

    dtype = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}[name]
    text = contract(
        "add over [i] %x[i] -> []", f"%x : tensor<4096x{name}>", result=name
    )
    (got,) = run(text, np.ones(4096, dtype))
    assert got.dtype == dtype
    assert float(got) == 4096  # sums in f16 would stop at 2048, in bf16 at 256


def test_integers_wrap_around(run: Run) -> None:
    text = contract("add over [i] %x[i] -> []", "%x : tensor<3xui8>", result="ui8")
    (got,) = run(text, np.array([200, 100, 3], np.uint8))
    assert got.tolist() == 303 - 256


@pytest.mark.parametrize(("aggregation", "expected"), [("max", True), ("min", False)])
def test_booleans(run: Run, aggregation: str, expected: bool) -> None:
    text = contract(
        f"{aggregation} over [i] %x[i] -> [] where 0 <= i < 9",
        "%x : tensor<3xi1>",
        result="i1",
    )
    (got,) = run(text, np.array([True, False, True]))
    assert got.dtype == np.bool_
    assert bool(got) is expected


def test_empty_tensors_give_defaults(run: Run) -> None:
    text = contract(
        "max over [i] %x[i] -> []", "%x : tensor<0xf32>, %d : tensor<f32>"
    ).replace("-> []", "-> [] default %d")
    (got,) = run(text, np.empty(0, np.float32), np.array(7, np.float32))
    assert got == 7
    empty = contract("add over [i] %x[i] -> [i : 0]", result="0xf32")
    (got,) = run(empty, FOUR)
    assert got.shape == (0,)


def test_an_empty_index_space_gives_defaults(run: Run) -> None:
    text = contract("add over [i] %x[i] -> [] where 0 <= i - 4 < 2")
    (got,) = run(text, FOUR)
    assert got == 0


def test_unbounded_index(run: Run) -> None:
    text = contract("add over [i, j] %x[i] -> [] where 0 <= j")
    with pytest.raises(GinghamError, match=r"index 'j' has no bound above") as error:
        run(text, FOUR)
    assert "constrain it" in str(error.value.hint)


def test_coupled_accesses_bound_their_indices(run: Run) -> None:
    text = contract("add over [i, j] %x[i + j] -> [i - j : 3]", result="3xf32")
    (got,) = run(text, FOUR)
    # i + j in 0..3 and i - j in 0..2; both have one parity.
    assert got.tolist() == [1 + 3, 2 + 4, 1 + 3]


def test_too_large_coefficients(run: Run) -> None:
    text = contract(f"add over [i] %x[i - {10**30}] -> []")
    with pytest.raises(GinghamError, match="do not fit 64 bits"):
        run(text, FOUR)
    text = contract(
        f"add over [i, j] %x[i] -> [{2**61} * j - {2**61} * i : 1]", result="1xf32"
    )
    # Only i = j is within the result, however long the numbers are that say so.
    (got,) = run(text, FOUR)
    assert got.tolist() == [1 + 2 + 3 + 4]


def test_a_flattened_contraction_is_its_box(run: Run) -> None:
    text = contract(
        "add over [i : 2 | k : 3] %x[i + k] -> [i : 2] where 0 <= 1 - i + k",
        result="2xf32",
    )
    (got,) = run(text, FOUR)
    assert got.tolist() == [1 + 2 + 3, 2 + 3 + 4]


def test_a_flattened_contraction_with_a_point_out_of_bounds(run: Run) -> None:
    text = contract("add over [i : 2 | k : 4] %x[i + k] -> [i : 2]", result="2xf32")
    with pytest.raises(GinghamError, match=r"\(i = 1, k = 3\).* out of bounds"):
        run(text, FOUR)


def test_default_of_another_shape(run: Run) -> None:
    text = contract(
        "add over [i] %x[i] -> [i : 4]",
        "%x : tensor<4xf32>, %d : tensor<1xf32>",
        "4xf32",
    ).replace("[i : 4]", "[i : 4] default %d")
    with pytest.raises(GinghamError, match=r"default of shape \(4,\), got \(1,\)"):
        run(text, FOUR, np.zeros(1, np.float32))


def test_sizes_and_symbols(run: Run) -> None:
    (got, size) = run(
        """
        func.func @main(%x : tensor<4xf32>) -> (tensor<2xf32>, tensor<f32>) {
          %N = tile.sizes %x ["N"] : tensor<4xf32>
          %two = eltwise.constant 2 : index
          %half = eltwise.div %N, %two : index
          %y = tile.contract max over [i, j] %x[%half * i + j] -> [i : 2]
              where 0 <= j < %half : (tensor<4xf32>) -> tensor<2xf32>
          %s = tile.from_index %N : tensor<si64>
          %f = eltwise.cast %half : index to tensor<f32>
          func.return %y, %f : tensor<2xf32>, tensor<f32>
        }""",
        FOUR,
    )
    assert got.tolist() == [2, 4]
    assert size.shape == ()
    assert size == 2


def test_division_by_a_size_of_zero(run: Run) -> None:
    text = """
    func.func @main(%x : tensor<0xf32>) -> tensor<1xf32> {
      %N = tile.sizes %x ["N"] : tensor<0xf32>
      %y = tile.contract max over [i] %x[i / %N] -> [i : 1]
          : (tensor<0xf32>) -> tensor<1xf32>
      func.return %y : tensor<1xf32>
    }"""
    with pytest.raises(GinghamError, match="divides by a size of 0"):
        run(text, np.empty(0, np.float32))


def test_large_contractions_stay_in_memory(
    run: Run, random: np.random.Generator
) -> None:
    import tracemalloc

    n = 256
    a = random.integers(-3, 4, (n, n)).astype(np.float32)
    text = f"""
    func.func @main(%a : tensor<{n}x{n}xf32>) -> tensor<{n}x{n}xf32> {{
      %c = tile.contract add over [i, j, k] %a[i, k] * %a[k, j] -> [i : {n}, j : {n}]
          : (tensor<{n}x{n}xf32>, tensor<{n}x{n}xf32>) -> tensor<{n}x{n}xf32>
      func.return %c : tensor<{n}x{n}xf32>
    }}"""
    tracemalloc.start()
    (got,) = run(text, a)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    np.testing.assert_array_equal(got, a @ a)
    assert peak < 64 * 2**20  # all points at once would need 64 MiB for their products
