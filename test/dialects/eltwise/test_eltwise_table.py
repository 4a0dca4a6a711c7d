"""The table of functions: signatures, promotion, literals, sizes, spellings.

What the functions compute is tested with the reference interpreter.
"""

from __future__ import annotations

import re
from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import IndexType, StringAttr, bf16, f16, f32, f64, i1
from xdsl.ir import Attribute

from gingham.dialects.aggregation import Aggregation, Combination
from gingham.dialects.eltwise.element_types import (
    ELEMENT_TYPES,
    Kind,
    bit_width,
    kind,
    promote,
    promote_weak,
    si8,
    si16,
    si32,
    si64,
    ui8,
    ui64,
)
from gingham.dialects.eltwise.numpy_types import numpy_dtype
from gingham.dialects.eltwise.ops import FUNCTION_OPS, broadcast_shape
from gingham.dialects.eltwise.table import (
    CALLS,
    FUNCTIONS,
    OPERATORS,
    Function,
    TypeRule,
    truncating_divide,
)

ORDER: list[str] = [
    "i1",
    "si8",
    "ui8",
    "si16",
    "ui16",
    "si32",
    "ui32",
    "si64",
    "ui64",
    "f16",
    "bf16",
    "f32",
    "f64",
]
ELEMENTS = list(ELEMENT_TYPES.values())
elements = st.sampled_from(ELEMENTS)

RULES = {
    TypeRule.SAME: "ident max min ceil floor round trunc",
    TypeRule.ARITHMETIC: "add sub mul div mod neg abs relu sign clamp",
    TypeRule.COMPARE: "cmp_eq cmp_ne cmp_lt cmp_le cmp_gt cmp_ge",
    TypeRule.SELECT: "cond",
    TypeRule.LOGICAL: "logical_and logical_or logical_xor logical_not",
    TypeRule.BITS: "bit_and bit_or bit_xor bit_not",
    TypeRule.SHIFT: "bit_left bit_right",
    TypeRule.TEST: "isnan isinf isfinite signbit",
}
"""The functions of each type rule; all others are functions of floats."""


def rule_of(name: str) -> TypeRule:
    found = [rule for rule, names in RULES.items() if name in names.split()]
    return found[0] if found else TypeRule.FLOAT


@pytest.mark.parametrize("left", ORDER)
def test_promotion(left: str) -> None:
    for right in ORDER:
        got = promote([ELEMENT_TYPES[left], ELEMENT_TYPES[right]])
        if {left, right} == {"f16", "bf16"}:
            assert got == f32
        else:
            assert str(got) == ORDER[max(ORDER.index(left), ORDER.index(right))]


@given(st.lists(elements, min_size=1, max_size=4), st.randoms())
def test_promotion_has_no_order(types: list[Attribute], random: Random) -> None:
    shuffled = random.sample(types, len(types))
    assert promote(types) == promote(shuffled) == promote(types * 2)


@pytest.mark.parametrize(
    ("strong", "weak", "expected"),
    [
        # An integer literal never changes an integer or float type.
        ([si8], [si32], si8),
        ([ui8], [si32], ui8),
        ([ui64], [si32], ui64),
        ([f16], [si32], f16),
        ([f64], [si32], f64),
        # A float literal makes integers f32, and no float wider.
        ([si8], [f32], f32),
        ([si64], [f32], f32),
        ([f16], [f32], f16),
        ([bf16], [f32], bf16),
        # Truth values are below both.
        ([i1], [si32], si32),
        ([i1], [f32], f32),
        # With nothing else, literals have their own types.
        ([], [si32], si32),
        ([], [si32, f32], f32),
        ([si8, si16], [si32], si16),
        ([i1, f64], [f32, si32], f64),
    ],
)
def test_literals_are_weak(
    strong: list[Attribute], weak: list[Attribute], expected: Attribute
) -> None:
    assert promote_weak(strong, weak) == expected


def computed_as_float(operands: tuple[Attribute, ...]) -> Attribute:
    common = promote(operands)
    return common if kind(common) is Kind.FLOAT else f32


def expected_signature(
    function: Function, operands: tuple[Attribute, ...]
) -> tuple[tuple[Attribute, ...], Attribute] | None:
    """The signature by the rules' definitions, or None when there is none."""
    count, common = len(operands), promote(operands)
    is_of_bits = function.rule in (TypeRule.BITS, TypeRule.SHIFT)
    if is_of_bits and kind(common) is Kind.FLOAT:
        return None
    match function.rule:
        case TypeRule.LOGICAL:
            return (i1,) * count, i1
        case TypeRule.SELECT:
            common = promote(operands[1:])
            return (i1, common, common), common
        case TypeRule.COMPARE:
            return (common,) * count, i1
        case TypeRule.ARITHMETIC | TypeRule.SHIFT:
            common = si32 if common == i1 else common
        case TypeRule.SAME | TypeRule.BITS:
            pass
        case TypeRule.FLOAT:
            common = computed_as_float(operands)
        case TypeRule.TEST:
            return (computed_as_float(operands),) * count, i1
    return (common,) * count, common


@pytest.mark.parametrize("name", FUNCTIONS)
def test_signatures(name: str) -> None:
    function = FUNCTIONS[name]
    assert function.rule is rule_of(name)
    for operands in product(ELEMENTS, repeat=min(function.arity, 2)):
        operands += operands[:1] * (function.arity - len(operands))
        expected = expected_signature(function, operands)
        if expected is None:
            with pytest.raises(TypeError, match=f"'{name}' takes integers, got"):
                function.signature(operands)
            continue
        assert function.signature(operands) == expected
        casts, result = expected
        # What has been cast is not cast again.
        assert function.signature(casts) == (casts, result)


def test_signatures_with_literals() -> None:
    add, exp, cond = FUNCTIONS["add"], FUNCTIONS["exp"], FUNCTIONS["cond"]
    assert add.signature([si8, si32], [False, True]) == ((si8, si8), si8)
    assert add.signature([si32, i1], [True, False]) == ((si32, si32), si32)
    assert exp.signature([si32], [True]) == ((f32,), f32)
    selected = cond.signature([f64, f16, f32], [False, False, True])
    assert selected == ((i1, f16, f16), f16)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arity_is_checked(name: str) -> None:
    function = FUNCTIONS[name]
    wrong = function.arity + 1
    message = rf"'{name}' takes {function.arity} operand\(s\), got {wrong}"
    with pytest.raises(TypeError, match=message):
        function.signature([f32] * wrong)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_names(name: str) -> None:
    function = FUNCTIONS[name]
    op = FUNCTION_OPS[name]
    assert function.name == name
    assert op.name == f"eltwise.{name}"
    assert op.FUNCTION is function
    assert function.summary.endswith(".")
    assert CALLS[name] is function
    for alias in function.aliases:
        assert CALLS[alias] is function
        assert alias not in FUNCTIONS


def test_names_that_allow_to_lose_digits() -> None:
    """OpenCL C's `half_` and `native_` functions are those of all digits."""
    names = "cos exp exp2 exp10 log log2 log10 recip rsqrt sin sqrt tan".split()
    for prefix in ("half", "native"):
        for name in names:
            assert CALLS[f"{prefix}_{name}"] is FUNCTIONS[name]
        assert CALLS[f"{prefix}_powr"] is FUNCTIONS["pow"]
        assert CALLS[f"{prefix}_divide"] is FUNCTIONS["div"]


def test_operators_are_the_grammar_s() -> None:
    names = {symbol: function.name for symbol, function in OPERATORS.items()}
    assert names == {
        "+": "add",
        "-": "sub",
        "*": "mul",
        "/": "div",
        "==": "cmp_eq",
        "!=": "cmp_ne",
        "<": "cmp_lt",
        "<=": "cmp_le",
        ">": "cmp_gt",
        ">=": "cmp_ge",
        "?:": "cond",
        "&": "bit_and",
        "|": "bit_or",
        "^": "bit_xor",
        "~": "bit_not",
        "<<": "bit_left",
        ">>": "bit_right",
    }


@pytest.mark.parametrize(
    "name", [name for name, function in FUNCTIONS.items() if function.fold is not None]
)
def test_sizes_fold_as_integers_compute(name: str) -> None:
    function = FUNCTIONS[name]
    assert function.fold is not None
    for operands in product(range(-7, 8), repeat=function.arity):
        arrays = [np.array(operand, np.int64) for operand in operands]
        if function.rule is TypeRule.SELECT:
            arrays[0] = arrays[0] != 0
        assert function.fold(*operands) == function.evaluate(np, *arrays), operands


def test_division_of_large_sizes_is_exact() -> None:
    large = 2**80 + 1
    assert truncating_divide(large, 3) == large // 3
    assert truncating_divide(-large, 3) == -(large // 3)
    assert truncating_divide(large, 0) == 0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_signature_has_an_opencl_spelling(name: str) -> None:
    """The spelling uses each operand, and every helper that it calls exists."""
    function = FUNCTIONS[name]
    for element in ELEMENTS:
        try:
            casts, _ = function.signature([element] * function.arity)
        except TypeError:
            continue
        spelling = function.opencl_for(kind(casts[-1]))
        names = [f"x{number}" for number in range(function.arity)]
        text = spelling.format(*names, T="type", N="name", W="32", I="int")
        # What becomes of a gradient means something to gradients alone.
        read = names[:1] if name.endswith("_grad") else names
        assert set(re.findall(r"\bx\d\b", text)) == set(read)
        assert text.count("(") == text.count(")")
        called = re.findall(r"(\w+)_name\(", text)
        if called:
            assert function.helper is not None
            assert f"{called[0]}_name(" in function.helper.format(
                T="type", N="name", W="32", I="int"
            )


@pytest.mark.parametrize("aggregation", [a for a in Aggregation if a.function])
@pytest.mark.parametrize("element", [e for e in ELEMENTS if e != i1], ids=str)
def test_identities_change_nothing(
    aggregation: Aggregation, element: Attribute
) -> None:
    dtype = numpy_dtype(element)
    identity = np.array(aggregation.identity(element)).astype(dtype)
    values = np.array([0, 1, 3, 100]).astype(dtype)
    if kind(element) in (Kind.SIGNED, Kind.FLOAT):
        values = np.concatenate([values, -values])
    if kind(element) is not Kind.FLOAT:
        limits = np.iinfo(dtype)
        values = np.append(values, np.array([limits.min, limits.max], dtype))
    assert aggregation.function is not None
    combine = FUNCTIONS[aggregation.function].evaluate
    np.testing.assert_array_equal(combine(np, values, identity), values)
    np.testing.assert_array_equal(combine(np, identity, values), values)


def test_identities_of_truth_values() -> None:
    assert Aggregation.MAX.identity(i1) == 0
    assert Aggregation.MIN.identity(i1) == 1
    assert Aggregation.ASSIGN.identity(i1) == 0


def test_combinations_are_functions_of_the_table() -> None:
    for combination in Combination:
        name = combination.function
        assert name is None or FUNCTIONS[name].arity == combination.arity
    assert Combination.NONE.arity == 1
    assert Combination.COND.arity == 3


@given(st.lists(st.lists(st.sampled_from((1, 1, 2, 3)), max_size=3), max_size=3))
def test_broadcasting_is_numpy_s(shapes: list[list[int]]) -> None:
    sizes = [tuple(shape) for shape in shapes]
    try:
        expected = np.broadcast_shapes(*sizes)
    except ValueError:
        with pytest.raises(
            ValueError, match=r"sizes \d and \d of axis -\d do not match"
        ):
            broadcast_shape(sizes)
        return
    assert broadcast_shape(sizes) == expected


def test_element_types() -> None:
    assert list(ELEMENT_TYPES) == ORDER
    assert bit_width(i1) == 8
    assert [bit_width(e) for e in (si8, f16, bf16, ui64, f64)] == [8, 16, 16, 64, 64]
    assert kind(IndexType()) is Kind.SIGNED
    with pytest.raises(ValueError, match="is not an element type"):
        kind(StringAttr("f32"))
    with pytest.raises(ValueError, match="index has no width"):
        bit_width(IndexType())
