"""Numbers, forms and expressions survive printing and parsing, whatever they are."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import IndexType, f64
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.parser import Parser

from gingham.affine.form import LinearForm
from gingham.affine.polynomial import Polynomial
from gingham.dialects import make_context
from gingham.dialects.aggregation import Aggregation
from gingham.dialects.eltwise.ops import ConstantOp
from gingham.dialects.form_attribute import FormAttr
from gingham.dialects.stripe.attributes import Direction, Refinement, RefinementAttr
from gingham.dialects.syntax import compact
from gingham.dialects.tile.attributes import Constraint, ConstraintAttr, PolynomialAttr

numbers = st.integers(-(2**70), 2**70) | st.floats()
forms = st.builds(
    LinearForm.of,
    st.lists(st.integers(-9, 9), min_size=3, max_size=3),
    st.integers(-9, 9),
)
monomials = st.tuples(
    st.none() | st.integers(0, 2),
    st.sampled_from([(), ((0, 1),), ((0, -1), (1, 2)), ((1, -2),)]),
)
polynomials = st.lists(
    st.tuples(monomials, st.fractions(-9, 9, max_denominator=5)), max_size=4
).map(Polynomial.of)


CONTEXT = make_context()


def parsed(attribute: Attribute) -> Attribute:
    """The attribute that its text means."""
    return Parser(CONTEXT, str(attribute)).parse_attribute()


def is_same(left: int | float, right: int | float) -> bool:
    """Whether two numbers are of one type and value, signs of zeros included."""
    if isinstance(left, float) and isinstance(right, float):
        if math.isnan(left):
            return math.isnan(right)
        return left == right and math.copysign(1, left) == math.copysign(1, right)
    return type(left) is type(right) and left == right


@given(numbers)
def test_constants(number: int | float) -> None:
    op = Parser(CONTEXT, str(ConstantOp(number, f64))).parse_operation()
    assert isinstance(op, ConstantOp)
    assert is_same(op.number, number)


@given(numbers)
def test_initial_values(number: int | float) -> None:
    refinement = Refinement(Direction.OUT, (), Aggregation.MAX, number)
    attribute = parsed(RefinementAttr(refinement))
    assert isinstance(attribute, RefinementAttr)
    assert attribute.data.init is not None
    assert is_same(attribute.data.init, number)


@given(forms)
def test_forms(form: LinearForm) -> None:
    assert parsed(FormAttr(form)) == FormAttr(form)


@given(st.lists(forms, min_size=1, max_size=3), st.sampled_from(Aggregation))
def test_refinements(access: list[LinearForm], aggregation: Aggregation) -> None:
    refinement = Refinement(Direction.OUT, tuple(access), aggregation)
    assert parsed(RefinementAttr(refinement)) == RefinementAttr(refinement)


@given(polynomials)
def test_polynomials(polynomial: Polynomial) -> None:
    assert parsed(PolynomialAttr(polynomial)) == PolynomialAttr(polynomial)


@given(polynomials, st.none() | polynomials)
def test_constraints(expression: Polynomial, bound: Polynomial | None) -> None:
    attribute = ConstraintAttr(Constraint(expression, bound))
    assert parsed(attribute) == attribute


@given(
    st.lists(forms, max_size=3),
    st.lists(st.integers(0, 2), min_size=3, max_size=3),
    st.integers(0, 1),
)
def test_compact_forms_mean_the_same(
    given_forms: list[LinearForm], chosen: list[int], fixed: int
) -> None:
    """Only values that occur are kept, each once, and the forms keep their meaning."""
    block = Block(arg_types=[IndexType()] * 3)
    values = [block.args[number] for number in chosen]
    numbers: dict[SSAValue, int] = {
        argument: 10**number for number, argument in enumerate(block.args)
    }
    compacted, kept = compact(given_forms, values, fixed)
    point = [numbers[value] for value in values]
    remaining = [numbers[value] for value in kept]
    assert [form.evaluate(remaining) for form in compacted] == [
        form.evaluate(point) for form in given_forms
    ]
    assert kept[:fixed] == values[:fixed]
    assert len(set(kept[fixed:])) == len(kept[fixed:])
    used = {number for form in compacted for number in form.support}
    assert used >= set(range(fixed, len(kept)))
    again = compact(compacted, kept, fixed)
    assert again == (compacted, kept)
