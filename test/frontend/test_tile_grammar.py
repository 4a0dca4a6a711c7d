"""What the grammar of Tile accepts, and the tree that it gives."""

from __future__ import annotations

import pytest

from gingham.errors import GinghamError
from gingham.frontend import syntax
from gingham.frontend.parser import parse
from gingham.frontend.syntax import Aggregation, Combination


def text_of(expression: syntax.Expression) -> str:
    """The expression with all its parentheses."""
    match expression:
        case syntax.IntegerLiteral() | syntax.FloatLiteral():
            return repr(expression.value)
        case syntax.Reference() | syntax.Index():
            return expression.text
        case syntax.Unary():
            return f"({expression.operator}{text_of(expression.operand)})"
        case syntax.Binary():
            left, right = text_of(expression.left), text_of(expression.right)
            return f"({left} {expression.operator} {right})"
        case syntax.Conditional():
            parts = (expression.condition, expression.then, expression.otherwise)
            condition, then, otherwise = map(text_of, parts)
            return f"({condition} ? {then} : {otherwise})"
        case syntax.Call():
            arguments = ", ".join(map(text_of, expression.arguments))
            return f"{expression.function.text}({arguments})"


def statement(text: str) -> syntax.Statement:
    """The one statement of a function."""
    program = parse(f"function (A[N]) -> (O) {{ {text} }}")
    assert isinstance(program, syntax.Function)
    (only,) = program.statements
    return only


def contraction(text: str) -> syntax.Contraction:
    parsed = statement(text)
    assert isinstance(parsed, syntax.Contraction)
    return parsed


def value(text: str) -> str:
    parsed = statement(f"X = {text};")
    assert isinstance(parsed, syntax.Assignment)
    return text_of(parsed.value)


def polynomial(text: str) -> str:
    parsed = parse(f"polynomial {text};")
    assert isinstance(parsed, syntax.Fragment)
    assert not isinstance(parsed.content, syntax.Contraction)
    return text_of(parsed.content)


def test_a_function_without_inputs() -> None:
    program = parse("function () -> (O) { O = 1.0; }")
    assert isinstance(program, syntax.Function)
    assert program.inputs == ()
    assert [output.text for output in program.outputs] == ["O"]


def test_an_empty_body() -> None:
    program = parse("function (A) -> (B) { }")
    assert isinstance(program, syntax.Function)
    assert program.statements == ()
    (parameter,) = program.inputs
    assert parameter.sizes is None


def test_inputs_of_any_rank_of_rank_zero_and_with_sizes() -> None:
    program = parse("function (A, B[], C[M, N]) -> (A, C) { }")
    assert isinstance(program, syntax.Function)
    sizes = [
        None if i.sizes is None else [size.text for size in i.sizes]
        for i in program.inputs
    ]
    assert sizes == [None, [], ["M", "N"]]
    assert [output.text for output in program.outputs] == ["A", "C"]


@pytest.mark.parametrize(
    ("text", "output", "sizes"),
    [
        ("O[i : N] = +(I[i]);", ["i"], ["N"]),
        ("O[] = +(I[i]);", [], None),
        ("O[:] = +(I[i]);", [], []),
        ("O[i] = +(I[i]);", ["i"], None),
        ("O[i, i : N, N] = =(I[i]);", ["i", "i"], ["N", "N"]),
        ("O[i/2 : N] = +(I[i]);", ["(i / 2)"], ["N"]),
        ("O[i : N + 1] = +(I[i]);", ["i"], ["(N + 1)"]),
        ("O[i : N > 2 ? N : 2] = +(I[i]);", ["i"], ["((N > 2) ? N : 2)"]),
        ("O[i*j : N] = +(I[i, j]);", ["(i * j)"], ["N"]),
    ],
)
def test_outputs(text: str, output: list[str], sizes: list[str] | None) -> None:
    parsed = contraction(text)
    assert [text_of(index) for index in parsed.output.indices] == output
    if sizes is None:
        assert parsed.sizes is None
    else:
        assert [text_of(size) for size in parsed.sizes or ()] == sizes


@pytest.mark.parametrize(
    ("text", "combination", "count"),
    [
        ("A[i]", Combination.NONE, 1),
        ("A[i] + B[i]", Combination.ADD, 2),
        ("A[i] * B[i]", Combination.MULTIPLY, 2),
        ("A[i] == B[i]", Combination.EQUAL, 2),
        ("A[i] == B[i] ? C[i]", Combination.CONDITION, 3),
        ("A[i] * B[i] ? C[i]", Combination.CONDITION, 3),
        ("A[i] + B[] ? C[i, 2j]", Combination.CONDITION, 3),
    ],
)
def test_combinations(text: str, combination: Combination, count: int) -> None:
    parsed = contraction(f"O[i : N] = +({text});")
    assert parsed.combination is combination
    assert len(parsed.operands) == count


@pytest.mark.parametrize("sign", ["+", "*", ">", "<", "="])
def test_aggregations(sign: str) -> None:
    assert contraction(f"O[] = {sign}(I[i]);").aggregation is Aggregation(sign)


@pytest.mark.parametrize(
    ("text", "constraints", "default", "no_defract"),
    [
        ("", [], [], False),
        (", k < 3", ["k < 3"], [], False),
        (", k < 3, i < N", ["k < 3", "i < N"], [], False),
        (", i - k < N/2", ["(i - k) < (N / 2)"], [], False),
        (", k < 3 < 4", ["k < (3 < 4)"], [], False),
        (", i < N default P", ["i < N"], ["P"], False),
        (" no_defract default P", [], ["P"], True),
        (" default P no_defract", [], ["P"], True),
        (" default P no_defract no_defract default Q", [], ["P", "Q"], True),
    ],
)
def test_suffixes(
    text: str, constraints: list[str], default: list[str], no_defract: bool
) -> None:
    parsed = contraction(f"O[i : N] = +(I[i+k]){text};")
    conditions = [
        f"{text_of(c.polynomial)} < {text_of(c.bound)}" for c in parsed.constraints
    ]
    assert conditions == constraints
    assert [name.text for name in parsed.defaults] == default
    assert parsed.no_defract is no_defract


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("-2", "(-2)"),
        ("1.5", "1.5"),
        ("1e5", "100000.0"),
        ("12.5e-1", "1.25"),
        ("007", "7"),
        ("A + B ? C : D", "((A + B) ? C : D)"),
        ("A < B == C", "((A < B) == C)"),
        ("A == B < C", "(A == (B < C))"),
        ("(A < B) < C", "((A < B) < C)"),
        ("A ^ B | C", "(A ^ (B | C))"),
        ("A | B ^ C", "((A | B) ^ C)"),
        ("A | B & C", "(A | (B & C))"),
        ("A & B == C", "(A & (B == C))"),
        ("A < B << C", "(A < (B << C))"),
        ("A << B + C", "(A << (B + C))"),
        ("A << B >> C", "((A << B) >> C)"),
        ("A + B * C", "(A + (B * C))"),
        ("A - B - C", "((A - B) - C)"),
        ("A / B * C", "((A / B) * C)"),
        ("-A * B", "((-A) * B)"),
        ("A * -B", "(A * (-B))"),
        ("~-A", "(~(-A))"),
        ("A - -B", "(A - (-B))"),
        ("A ? B : C ? D : E", "((A ? B : C) ? D : E)"),
        ("A ? B ? C : D : E", "(A ? (B ? C : D) : E)"),
        ("A ? B : C ^ D", "(A ? B : (C ^ D))"),
        ("exp(A)", "exp(A)"),
        ("Softmax(A, 2)", "Softmax(A, 2)"),
        ("max(A, B + 1) / 2", "(max(A, (B + 1)) / 2)"),
        ("#a + A'", "(a + A')"),
        ("#default", "default"),
        ("$Exp(A)", "Exp(A)"),
        ("((A))", "A"),
        ("A>=B", "(A >= B)"),
        ("A<=B != C", "((A <= B) != C)"),
    ],
)
def test_expressions(text: str, meaning: str) -> None:
    assert value(text) == meaning


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("2i", "(2 * i)"),
        ("-2i + 3", "((-(2 * i)) + 3)"),
        ("2i*3", "((2 * i) * 3)"),
        ("i/2", "(i / 2)"),
        ("i - k - 1", "((i - k) - 1)"),
        ("s*x + D*k - P", "(((s * x) + (D * k)) - P)"),
        ("-(i + 1)", "(-(i + 1))"),
        ("$I + i'", "(I + i')"),
        ("defaults + functions", "(defaults + functions)"),
        ("$default", "default"),
    ],
)
def test_polynomials(text: str, meaning: str) -> None:
    assert polynomial(text) == meaning


def test_forms_that_stand_alone() -> None:
    expression = parse("expression A ? B : exp(C);")
    assert isinstance(expression, syntax.Fragment)
    assert expression.keyword == "expression"
    parsed = parse("contraction O[i : N] = +(I[i]), i < 3;")
    assert isinstance(parsed, syntax.Fragment)
    assert isinstance(parsed.content, syntax.Contraction)


def test_attributes() -> None:
    parsed = statement("[[pid(foo)]] [[ other ]] [[two(A, b)]] X = A;")
    found = [(a.name.text, [p.text for p in a.parameters]) for a in parsed.attributes]
    assert found == [("pid", ["foo"]), ("other", []), ("two", ["A", "b"])]


def test_lower_case_tensors() -> None:
    program = parse("function (#a[N]) -> (#o) { #o[i : N] = +(#a[i]); }")
    assert isinstance(program, syntax.Function)
    assert program.inputs[0].name.text == "a"
    assert program.outputs[0].text == "o"


def test_comments_and_blanks() -> None:
    program = parse(
        "// head\r\nfunction\t(A[N]) // inputs ) {\n-> (O) {\r\n"
        "  // A = B;\n  O = A / // half\r\n 2; // \u00e9 \x0c \u2028 end\n}\n// tail"
    )
    assert isinstance(program, syntax.Function)
    assert program.statements[0].span.line == 5


def test_a_byte_order_mark() -> None:
    program = parse("\ufefffunction (A) -> (B) { B = A; }")
    assert program.span.column == 1


def test_positions() -> None:
    text = "function (A[N]) -> (O) {\n  O[i : N] = +(A[i] * A[i]),\n i < N;\n}"
    program = parse(text)
    assert isinstance(program, syntax.Function)
    (parsed,) = program.statements
    assert isinstance(parsed, syntax.Contraction)
    assert (parsed.span.line, parsed.span.column) == (2, 3)
    second = parsed.operands[1]
    assert (second.span.line, second.span.column) == (2, 23)
    assert second.span.end - second.span.start == len("A[i]")
    (constraint,) = parsed.constraints
    assert (constraint.span.line, constraint.span.column) == (3, 2)
    assert parsed.span.end == constraint.span.end
    assert program.span.end == len(text)


@pytest.mark.parametrize(
    "text",
    [
        "O[i : N] = +(I[i])",
        "O[i : N] = +(A[i] + B[i] + C[i]);",
        "O[i : N] == (I[i]);",
        "O[i : N] = ==(I[i]);",
        "O[2e5 : N] = +(I[i]);",
        "O[default : N] = +(I[i]);",
        "O[i : N] = +(I[i]) default P, i < N;",
        "O[: N] = +(I[i]);",
        "O[i :] = +(I[i]);",
        "O[i] = +();",
        "X = A < B < C;",
        "X = A == B != C;",
        "X = 1.;",
        "X = .5;",
        "X = 2i;",
        "X = A -> B;",
        "X = f();",
        "X = ();",
        "[[pid(foo-bar)]] X = A;",
        "[[pid()]] X = A;",
        "[[pid(foo)]]",
        "[ [pid(foo)]] X = A;",
        "x = A;",
        "_1 = A;",
        "_x = A;",
        "X = A;;",
        "X = A[0];",
        "X = +(A[i]);",
        "default = A;",
        "function = A;",
        "X = A // ;",
    ],
)
def test_statements_outside_the_grammar(text: str) -> None:
    with pytest.raises(GinghamError):
        statement(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "// nothing",
        "polynomial i < 3;",
        "polynomial i",
        "expression i;",
        "contraction X = A;",
        "O = A;",
        "function (A) -> () { }",
        "function (A,) -> (B) { }",
        "function A -> (B) { }",
        "function (A[3]) -> (B) { }",
        "function (A[n]) -> (B) { }",
        "function (a) -> (B) { }",
        "function (A) -> (B) { };",
        "function (A) -> (B) { } function (A) -> (B) { }",
    ],
)
def test_programs_outside_the_grammar(text: str) -> None:
    with pytest.raises(GinghamError):
        parse(text)
