"""By what values change with a number that they come from, against computing them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gingham.dialects.eltwise.table import FUNCTIONS
from gingham.passes.stripe.analysis.covariance import (
    ITSELF,
    NEW,
    OLD,
    UNCHANGED,
    Changes,
    Term,
    changes_of,
)

UNARY = ("neg", "exp", "exp2", "recip", "abs", "tanh", "ident")
BINARY = ("add", "sub", "mul", "div", "max")

Expression = str | float | tuple[str, tuple["Expression", ...]]
"""`m`, another value, a constant, or a function of such."""

LEAVES = st.sampled_from(["m", "x", "y", 0.5, -2.0])
EXPRESSIONS: st.SearchStrategy[Expression] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(UNARY), st.tuples(inner)),
        st.tuples(st.sampled_from(BINARY), st.tuples(inner, inner)),
    ),
    max_leaves=6,
)


def value(expression: Expression, names: dict[str, float]) -> float:
    if isinstance(expression, str):
        return names[expression]
    if not isinstance(expression, tuple):
        return expression
    name, operands = expression
    values = [np.float64(value(each, names)) for each in operands]
    with np.errstate(all="ignore"):
        return float(FUNCTIONS[name].evaluate(np, *values))


def changes(expression: Expression) -> Changes:
    if expression == "m":
        return ITSELF
    if not isinstance(expression, tuple):
        return UNCHANGED
    name, operands = expression
    constants = [each if isinstance(each, float) else None for each in operands]
    return changes_of(name, [changes(each) for each in operands], constants)


@given(
    EXPRESSIONS,
    st.tuples(*[st.floats(0.5, 1.5)] * 2),
    st.tuples(*[st.floats(0.5, 1.5)] * 2),
)
def test_what_is_found_holds_for_all_numbers(
    expression: Expression, numbers: tuple[float, float], others: tuple[float, float]
) -> None:
    old, new = numbers
    names = dict(zip("xy", others, strict=True))
    before = value(expression, names | {"m": old})
    after = value(expression, names | {"m": new})
    if not np.isfinite([before, after]).all() or max(abs(before), abs(after)) > 1e8:
        return
    found = changes(expression)
    if "add" in found:
        step = 0.0 if found["add"] is None else found["add"].evaluate(old, new)
        np.testing.assert_allclose(before + step, after, rtol=1e-9, atol=1e-9)
    if "mul" in found:
        factor = 1.0 if found["mul"] is None else found["mul"].evaluate(old, new)
        np.testing.assert_allclose(before * factor, after, rtol=1e-9, atol=1e-12)


def test_exponentials_of_differences_change_by_a_factor() -> None:
    found = changes(("exp", (("sub", ("x", "m")),)))
    assert found == {"mul": Term("exp", (Term("sub", (OLD, NEW)),))}


def test_quotients_change_by_a_rational_factor() -> None:
    found = changes(("div", ("x", "m")))
    assert found["mul"] is not None
    assert found["mul"].is_rational


def test_nothing_is_claimed_of_other_functions() -> None:
    assert changes(("tanh", ("m",))) == {}
    assert changes(("add", (("mul", ("m", "x")), "m"))) == {}
