"""`gingham.einsum`, `tensordot` and `transpose` give what NumPy's functions give."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import gingham
from gingham.errors import GinghamError
from gingham.frontend.einsum_equation import parse_equation
from gingham.frontend.einsum_path import greedy

opt_einsum: Any = import_module("opt_einsum")  # its types do not know our name

ASCENDING = ["bool", "int8", "uint8", "int16", "int32", "int64", "float32", "float64"]
EXAMPLES = settings(max_examples=150, deadline=None)


def small(*shape: int, dtype: str = "int32", seed: int = 0) -> NDArray[Any]:
    generator = np.random.default_rng([seed, len(shape), *shape])
    return generator.integers(-2, 3, shape).astype(dtype)


@dataclass(frozen=True)
class Case:
    """An equation and its operands."""

    equation: str
    operands: list[NDArray[Any]]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Up to four operands with repeated labels, ellipses and axes of size 1."""
    sizes = {label: draw(st.integers(0, 3)) for label in "abcD"}
    extra = draw(st.lists(st.integers(1, 2), max_size=2))
    terms: list[str] = []
    operands: list[NDArray[Any]] = []
    for seed in range(draw(st.integers(1, 4))):
        labels = draw(st.text("abcD", max_size=3))
        ones = draw(st.sets(st.sampled_from("abcD")))
        shape = [1 if label in ones else sizes[label] for label in labels]
        place = draw(st.none() | st.integers(0, len(labels)))
        if place is not None:
            own = extra[draw(st.integers(0, len(extra))) :]
            own = [draw(st.sampled_from([1, size])) for size in own]
            shape[place:place] = own
            labels = f"{labels[:place]}...{labels[place:]}"
        dtype = draw(st.sampled_from(ASCENDING))
        terms.append(labels)
        operands.append(small(*shape, dtype=dtype, seed=seed))
    equation = draw(st.sampled_from([",", ", "])).join(terms)
    if draw(st.booleans()):
        return Case(equation, operands)
    known = sorted(set(equation) & set("abcD"))
    output = [label for label in known if draw(st.booleans())]
    output = list(draw(st.permutations(output)))
    output.insert(draw(st.integers(0, len(output))), "...")
    return Case(f"{equation}->{''.join(output)}", operands)


def expected(equation: str, operands: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """NumPy's result in the type that Gingham's order of types gives."""
    dtype = max((a.dtype.name for a in operands), key=ASCENDING.index)
    converted = [operand.astype(dtype) for operand in operands]
    return np.asarray(np.einsum(equation, *converted))


@given(case=cases(), optimize=st.booleans())
@EXAMPLES
def test_einsum_is_numpys(case: Case, optimize: bool) -> None:
    result = gingham.einsum(
        case.equation, *case.operands, optimize=optimize, device="reference"
    )
    want = expected(case.equation, case.operands)
    assert result.dtype == want.dtype
    np.testing.assert_array_equal(result, want, strict=True)


@pytest.mark.parametrize(
    ("equation", "shapes", "dtypes"),
    [
        ("ij,jk", [(5, 7), (7, 3)], ["float32", "float32"]),
        ("ii->i", [(19, 19)], ["int8"]),
        ("ii", [(19, 19)], ["float32"]),
        ("...ij,...jk->...ik", [(3, 1, 4, 5), (2, 5, 6)], ["int32", "int64"]),
        ("bij,bj,kb->ki", [(4, 5, 6), (4, 6), (3, 4)], ["float32", "int8", "float32"]),
        ("ij,jk->ik", [(6, 40), (40, 5)], ["bool", "bool"]),
        ("ij,kj->i", [(2, 1), (3, 4)], ["int16", "uint8"]),
    ],
)
def test_devices_agree_with_numpy(
    equation: str, shapes: list[tuple[int, ...]], dtypes: list[str], device: str
) -> None:
    operands = [
        small(*shape, dtype=dtype, seed=seed)
        for seed, (shape, dtype) in enumerate(zip(shapes, dtypes, strict=True))
    ]
    result = gingham.einsum(equation, *operands, device=device)
    np.testing.assert_array_equal(result, expected(equation, operands), strict=True)


LISTS: list[tuple[Any, ...]] = [
    ([0, 1], [1, 2], [0, 2]),
    ([0, 1], [1, 2]),
    ([5, 3], (3, 40), [40, ..., 5]),
    ([..., 1], [..., 0], [1, ...]),
]


@pytest.mark.parametrize("lists", LISTS, ids=str)
def test_lists_of_labels(lists: Sequence[Any]) -> None:
    a, b = small(4, 3), small(3, 5) if lists[0] != [..., 1] else small(4, 5)
    arguments = [a, lists[0], b, lists[1], *lists[2:]]
    result = gingham.einsum(*arguments, device="reference")
    np.testing.assert_array_equal(result, np.einsum(*arguments), strict=True)


def test_more_labels_than_numpy_has() -> None:
    a = small(3, 4)
    result = gingham.einsum(a, [100, 70], device="reference")
    np.testing.assert_array_equal(result, a.T, strict=True)
    result = gingham.einsum("αβ->βα", a, device="reference")
    np.testing.assert_array_equal(result, a.T, strict=True)


def test_dtype_converts_operands() -> None:
    a = np.array([100, 100, 3], np.int8)
    assert gingham.einsum("i->", a, device="reference") == np.int8(-53)
    wide = gingham.einsum("i->", a, dtype="int32", device="reference")
    assert (wide, wide.dtype) == (203, np.int32)
    any_ = gingham.einsum("i->", a, dtype=bool, device="reference")
    assert (any_, any_.dtype) == (True, np.bool_)


def test_integers_never_widen_floats() -> None:
    a, b = small(3, dtype="int64"), small(3, dtype="float16")
    assert gingham.einsum("i,i->i", a, b, device="reference").dtype == np.float16
    assert np.einsum("i,i->i", a, b).dtype == np.float64


def test_python_numbers_are_weak() -> None:
    a = small(3, dtype="int8")
    assert gingham.einsum(",i->i", 2, a, device="reference").dtype == np.int8
    assert gingham.einsum(",i->i", 0.5, a, device="reference").dtype == np.float32


PATHS: list[Any] = [
    False,
    True,
    "optimal",
    [(1, 2), (0, 1)],
    ["einsum_path", (0, 2), (0, 1)],
    [(0, 1, 2)],
]


@pytest.mark.parametrize("optimize", PATHS, ids=str)
def test_every_order_gives_the_same(optimize: Any) -> None:
    operands = [small(2, 3), small(3, 4, seed=1), small(4, 2, seed=2)]
    equation = "ij,jk,ki->k"
    result = gingham.einsum(equation, *operands, optimize=optimize, device="reference")
    np.testing.assert_array_equal(result, np.einsum(equation, *operands))


def test_operands() -> None:
    """A thousand are put in order within seconds; more are refused."""
    product, sizes = parse_equation(",".join(["ij"] * 1000)).product([(2, 3)] * 1000)
    assert len(greedy(product, sizes)) == 999
    with pytest.raises(GinghamError, match="at most 1000 operands, got 10000001"):
        gingham.einsum("," * 10_000_000, np.ones((2, 2)))


def test_own_search_avoids_large_products() -> None:
    """Of a chain of matrices and a vector, the vector goes first."""
    equation = parse_equation("ij,jk,k->i")
    assert greedy(*equation.product([(50, 60), (60, 70), (70,)])) == ((1, 2), (0, 1))
    equation = parse_equation("i,ij,jk->k")
    assert greedy(*equation.product([(50,), (50, 60), (60, 70)])) == ((0, 1), (0, 1))


def test_without_opt_einsum_its_own_search_is_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "opt_einsum", None)
    operands = [small(2, 3), small(3, 4), small(4)]
    result = gingham.einsum("ij,jk,k", *operands, device="reference")
    np.testing.assert_array_equal(result, operands[0] @ operands[1] @ operands[2])
    with pytest.raises(GinghamError, match="needs the package opt_einsum"):
        gingham.einsum("ij,jk,k", *operands, optimize="dp", device="reference")


def test_programs_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = small(3, 4), small(4, 5)
    first = gingham.einsum("ij,jq->qi", a, b, device="reference")

    def no_more(*_: object, **__: object) -> None:
        raise AssertionError("built again")

    monkeypatch.setattr("gingham.frontend.einsum.build_einsum", no_more)
    again = gingham.einsum("ij, jq -> qi", a, b, device="reference")
    np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize(
    "axes",
    [0, 1, 2, ([1, 2], [0, 1]), ([-1], [1]), (2, -3), ((), ()), ([2, 1], [1, 0])],
    ids=str,
)
def test_tensordot_is_numpys(axes: Any) -> None:
    a, b = small(2, 3, 3), small(3, 3, 4, seed=1)
    result = gingham.tensordot(a, b, axes, device="reference")
    np.testing.assert_array_equal(result, np.tensordot(a, b, axes), strict=True)


@pytest.mark.parametrize("axes", [None, (0, 1, 2), (1, 2, 0), (-1, 0, -2)], ids=str)
def test_transpose_is_numpys(axes: Any) -> None:
    a = small(2, 3, 4, dtype="bool")
    result = gingham.transpose(a, axes, device="reference")
    np.testing.assert_array_equal(result, np.transpose(a, axes), strict=True)


def test_a_transposed_number_is_itself() -> None:
    result = gingham.transpose(np.float32(1.5), device="reference")
    np.testing.assert_array_equal(result, np.array(1.5, np.float32), strict=True)


WRONG_AXES: list[tuple[Any, str]] = [
    (1, "axis 1 of a has size 3, axis 0 of b 4"),
    (3, "expected 0 to 2 axes"),
    (([0], [2]), "b has 2 axes, and none is 2"),
    (([0, 1], [0]), "2 axes of a cannot meet 1 of b"),
    (([0, -2], [0, 1]), "an axis of a is named twice"),
    (([0], [0], [0]), "the axes of each"),
]


@pytest.mark.parametrize(("axes", "message"), WRONG_AXES)
def test_axes_that_tensordot_cannot_sum(axes: Any, message: str) -> None:
    with pytest.raises(GinghamError, match=message):
        gingham.tensordot(small(2, 3), small(4, 5), axes)


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ((0, 0), "expected an order of all 2 axes"),
        ((0,), "expected an order of all 2 axes"),
        ((0, 2), "a has 2 axes, and none is 2"),
    ],
)
def test_no_order_of_the_axes(axes: tuple[int, ...], message: str) -> None:
    with pytest.raises(GinghamError, match=message):
        gingham.transpose(small(2, 3), axes)


# What opt_einsum asks of a backend


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk,kl->il", [(3, 4), (4, 5), (5, 2)]),
        ("abc,cd,bde->ea", [(2, 3, 4), (4, 5), (3, 5, 2)]),
        ("ii,ij,j->", [(3, 3), (3, 4), (4,)]),
        ("...i,ji->...j", [(2, 3, 4), (5, 4)]),
    ],
)
def test_opt_einsum_computes_with_gingham(
    monkeypatch: pytest.MonkeyPatch, equation: str, shapes: list[tuple[int, ...]]
) -> None:
    monkeypatch.setenv("GINGHAM_DEVICE", "reference")
    operands = [small(*shape, seed=seed) for seed, shape in enumerate(shapes)]
    result = opt_einsum.contract(equation, *operands, backend="gingham")
    np.testing.assert_array_equal(result, np.einsum(equation, *operands), strict=True)
    expression = opt_einsum.contract_expression(equation, *shapes)
    result = expression(*operands, backend="gingham")
    np.testing.assert_array_equal(result, np.einsum(equation, *operands), strict=True)
