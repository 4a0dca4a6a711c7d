"""Random expressions that read the same in Python and in Tile text: the same IR."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from edsl_programs import same_program, without_names
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp

from gingham import edsl
from gingham.edsl import Placeholder, Program, Tensor, TensorIndex, TensorOutput
from gingham.errors import GinghamError
from gingham.frontend.tile_text import parse_tile

SIZES = st.sampled_from(["N", "M", "(N + 1)", "(M - 2)", "(2 * N)", "N * M"])
INDICES = st.sampled_from("ijk")
NUMBERS = st.integers(1, 5).map(str)


@st.composite
def index_expressions(draw: st.DrawFn) -> str:
    """Linear in indices. Sizes are not divided: that truncates in Python."""
    terms: list[str] = []
    for _ in range(draw(st.integers(1, 4))):
        term = draw(INDICES)
        if draw(st.booleans()):
            term = f"{draw(NUMBERS | SIZES)} * {term}"
        if draw(st.booleans()):
            term = f"{term} / {draw(NUMBERS | st.sampled_from(['N', '(N + M)']))}"
        if draw(st.booleans()):
            term = f"-{term}"
        if draw(st.integers(0, 3)) == 0:
            term = f"({term} - {draw(NUMBERS | SIZES)}) * {draw(NUMBERS | SIZES)}"
        terms.append(term)
    if draw(st.booleans()):
        terms.append(draw(NUMBERS | SIZES))
    text = terms[0]
    for term in terms[1:]:
        text += f" {draw(st.sampled_from('+-'))} {term}"
    return text


def evaluate(expression: str, names: dict[str, Any]) -> Any:
    return eval(expression, {}, names)


@given(
    access=st.lists(index_expressions(), min_size=2, max_size=2),
    output=index_expressions(),
    constraints=st.lists(st.tuples(index_expressions(), SIZES | NUMBERS), max_size=2),
    size=SIZES | NUMBERS,
)
def test_index_expressions(
    access: list[str], output: str, constraints: list[tuple[str, str]], size: str
) -> None:
    bounds = "".join(f", {expression} < {bound}" for expression, bound in constraints)
    text = f"""function (A[N, M]) -> (O) {{
      O[{output} : {size}] = +(A[{", ".join(access)}]){bounds};
    }}"""

    def program() -> Program:
        A = Placeholder(None, "N M")
        names: dict[str, Any] = dict(zip("NM", A.shape, strict=True))
        names |= {name: TensorIndex(name) for name in "ijk"}
        # In the order of the text, so that sizes are computed in the same order.
        cell = evaluate(output, names)
        O = TensorOutput(evaluate(size, names))
        O[cell] += A[[evaluate(index, names) for index in access]]
        for expression, bound in constraints:
            O.add_constraint(evaluate(expression, names) < evaluate(bound, names))
        return Program("random", [A], [O])

    assert outcome(program) == outcome(lambda: parse_tile(text))


def outcome(make: Callable[[], Program | ModuleOp]) -> str:
    """The IR, or what is wrong."""
    try:
        made = make()
    except GinghamError as error:
        return error.message
    return without_names(made.module if isinstance(made, Program) else made)


FUNCTIONS: dict[str, Any] = {**vars(edsl)}
OPERATORS = st.sampled_from(["+", "-", "*", "/", "<", "<=", ">", ">=", "==", "!="])
CALLS = st.sampled_from(["exp", "sqrt", "abs", "floor", "sin", "relu", "sign", "round"])
BINARY = st.sampled_from(["max", "min", "pow", "mod", "logical_and"])
LITERALS = st.sampled_from(["2", "7", "0.5", "1e-3"])


def wider(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    # A number before a comparison would have Python swap the two.
    pairs = st.tuples(inner, inner | SIZES | LITERALS) | st.tuples(SIZES, inner)
    return st.one_of(
        st.tuples(pairs, OPERATORS).map(lambda x: f"({x[0][0]} {x[1]} {x[0][1]})"),
        st.tuples(BINARY, pairs).map(lambda x: f"{x[0]}({x[1][0]}, {x[1][1]})"),
        st.tuples(CALLS, inner).map(lambda x: f"{x[0]}({x[1]})"),
        inner.map(lambda x: f"(-{x})"),
        st.tuples(inner, pairs).map(lambda x: f"select({x[0]}, {x[1][0]}, {x[1][1]})"),
    )


@given(st.recursive(st.sampled_from("AB"), wider, max_leaves=8))
def test_element_wise_expressions(expression: str) -> None:
    def program(A: Tensor, B: Tensor) -> Tensor:
        N, M = A.shape
        B.bind_dims(N, M)
        O = evaluate(expression, FUNCTIONS | {"A": A, "B": B, "N": N, "M": M})
        return edsl.ident(O) if expression in "AB" else O

    text = f"function (A[N, M], B[N, M]) -> (O) {{ O = {expression}; }}"
    same_program(program, text, {"A": 2, "B": 2})
