"""Common mistakes in Tile text, and what to write instead.

Each function looks at a `Mistake` and answers with the error, or None when it is not
the mistake that the function knows. The first answer counts.
"""

from __future__ import annotations

from collections.abc import Callable

from ..errors import GinghamError
from ..suggestions import did_you_mean
from .mistake import (
    AGGREGATIONS,
    CHARACTER,
    COMPARISONS,
    END,
    KEYWORDS,
    Mistake,
    expectation,
)


def known_mistake(mistake: Mistake) -> GinghamError | None:
    """The error with its fix for a mistake that is known, else None."""
    for recognize in _KNOWN:
        error = recognize(mistake)
        if error is not None:
            return error
    return None


def _expected(mistake: Mistake, hint: str) -> GinghamError:
    expected = expectation(mistake.accepted)
    return mistake.error(f"expected {expected}, got {mistake.found}", hint)


def _number_without_digits(mistake: Mistake) -> GinghamError | None:
    """`1.` and `.5`."""
    previous, found = mistake.previous, mistake.found
    if found.kind != CHARACTER or found.text != ".":
        return None
    rest = mistake.following
    digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
    before = previous if previous and previous.after.start == found.span.start else None
    if before is not None and before.kind == "INT":
        number = before.text
    elif digits and before is None:
        number = "0"
    else:
        return None
    return mistake.error(
        "expected digits on both sides of the decimal point",
        f"write {number}.{digits or '0'}",
    )


def _comment_of_another_language(mistake: Mistake) -> GinghamError | None:
    found = mistake.found
    is_hash = found.kind == CHARACTER and found.text == "#"
    is_block = found.kind == "SLASH" and mistake.following.startswith("*")
    if not (is_hash or is_block):
        return None
    sign = "/*" if is_block else "#"
    return mistake.error(
        f"'{sign}' does not begin a comment", "comments begin with '//'"
    )


_FOREIGN_OPERATORS = {
    "%": ("%", "mod(a, b)"),
    "!": ("!", "logical_not(a)"),
    "&": ("&&", "logical_and(a, b)"),
    "|": ("||", "logical_or(a, b)"),
    "*": ("**", "pow(a, b)"),
}


def _operator_of_another_language(mistake: Mistake) -> GinghamError | None:
    """`%`, `!`, `&&`, `||` and `**`."""
    found, previous = mistake.found, mistake.previous
    if found.text not in _FOREIGN_OPERATORS or found.text == "":
        return None
    sign, call = _FOREIGN_OPERATORS[found.text]
    is_double = (
        previous is not None
        and previous.text == found.text
        and previous.span.end == found.span.start
    )
    if len(sign) == 2 and not (is_double and mistake.takes_expression):
        return None
    if len(sign) == 1 and found.kind != CHARACTER:
        return None
    span = previous.span.to(found.span) if previous and is_double else None
    return mistake.error(f"'{sign}' is not an operator", f"write {call}", span)


def _underscore(mistake: Mistake) -> GinghamError | None:
    if mistake.found.kind != CHARACTER or mistake.found.text != "_":
        return None
    return mistake.error("a name begins with a letter, not with '_'")


def _unknown_character(mistake: Mistake) -> GinghamError | None:
    if mistake.found.kind != CHARACTER:
        return None
    return mistake.error(f"unexpected character {mistake.found}")


def _keyword_as_name(mistake: Mistake) -> GinghamError | None:
    found = mistake.found
    if found.kind not in KEYWORDS or mistake.accepted.isdisjoint({"ID", "IDXID"}):
        return None
    takes_index = not mistake.takes_expression and "IDXID" in mistake.accepted
    escaped = f"${found.text}" if takes_index else f"#{found.text}"
    return _expected(mistake, f"to use it as a name, write {escaped}")


def _capitalized(name: str) -> str:
    start = len(name) - len(name.lstrip("_"))
    return name[: start + 1].upper() + name[start + 1 :]


def _index_as_value(mistake: Mistake) -> GinghamError | None:
    """A lower-case name in an expression that is not the name of a called function."""
    previous = mistake.previous
    takes_call = mistake.takes_only("LPAR") or mistake.takes_only("LPAR", "ASSIGN")
    if previous is None or previous.kind != "IDXID" or not takes_call:
        return None
    name = previous.text.lstrip("$")
    return mistake.error(
        f"'{name}' is not a tensor or a dimension",
        f"those begin with a capital letter: write {_capitalized(name)} or #{name}; an "
        "index variable has a value only between square brackets",
        previous.span,
    )


def _function_in_contraction(mistake: Mistake) -> GinghamError | None:
    """`+(exp(A[i]))` and `+(2 * A[i])`."""
    found, opened = mistake.found, mistake.opened
    if not mistake.takes_only("ID") or opened is None or opened.kind != "LPAR":
        return None
    calls = found.kind == "IDXID" and mistake.following.lstrip().startswith("(")
    if not calls and found.kind not in ("INT", "FLOAT", "MINUS"):
        return None
    return mistake.error(
        f"expected a tensor with its indices, got {found}",
        "only tensors and indices stand in a contraction; compute the rest in a "
        "statement of its own",
    )


def _lower_case_name(mistake: Mistake) -> GinghamError | None:
    found = mistake.found
    if found.kind != "IDXID" or "ID" not in mistake.accepted:
        return None
    if "IDXID" in mistake.accepted:
        return None
    name = found.text.lstrip("$")
    return mistake.error(
        f"expected the name of a tensor or dimension, got {found}",
        f"those begin with a capital letter: write {_capitalized(name)} or #{name}",
    )


def _missing_multiplication(mistake: Mistake) -> GinghamError | None:
    """`2N` and `2A`; only `2i` is a product."""
    found, previous = mistake.found, mistake.previous
    if previous is None or found.kind not in ("ID", "IDXID", "LPAR"):
        return None
    if not mistake.takes_operator or previous.kind not in ("INT", "FLOAT"):
        return None
    return _expected(mistake, f"a product is written {previous.text} * {found.text}")


def _update_of_the_edsl(mistake: Mistake) -> GinghamError | None:
    """`O[n] += I[m, n]`, and parentheses instead of brackets."""
    found, previous = mistake.found, mistake.previous
    if "ASSIGN" not in mistake.accepted or previous is None:
        return None
    sign = {"LESS_EQUAL": "<", "GREATER_EQUAL": ">"}.get(found.kind)
    if found.kind in ("PLUS", "TIMES") and mistake.following.startswith("="):
        sign = found.text
    if sign is not None:
        return mistake.error(
            f"'{sign}=' is not an operator of Tile text",
            f"the sign of the aggregation stands behind the '=': "
            f"write O[i : N] = {sign}(...)",
        )
    if found.kind == "EQUAL":
        return _expected(
            mistake, "to assign without aggregating, write O[i : N] = =(...)"
        )
    return None


def _parentheses_for_brackets(mistake: Mistake) -> GinghamError | None:
    if mistake.found.kind != "LPAR" or "LSQUARE" not in mistake.accepted:
        return None
    return _expected(mistake, "indices and sizes stand between '[' and ']'")


def _access_in_expression(mistake: Mistake) -> GinghamError | None:
    """`X = A[i] * 2`."""
    found, previous = mistake.found, mistake.previous
    if found.kind != "LSQUARE" or previous is None or previous.kind != "ID":
        return None
    if not mistake.takes_operator:
        return None
    return mistake.error(
        "indices are used in contractions only",
        "an expression takes whole tensors; a contraction is a statement of its own, "
        f"such as T[i : N] = +({previous.text}[i]);",
    )


def _contraction_in_expression(mistake: Mistake) -> GinghamError | None:
    """`X = +(A[i])` and `X = 1 + +(A[i])`."""
    found, previous = mistake.found, mistake.previous
    if found.kind not in AGGREGATIONS or not mistake.takes_expression:
        return None
    if previous is None or not mistake.following.lstrip().startswith("("):
        return None
    hint = (
        "a contraction says what it writes: O[] = +(...) gives one number, "
        "O[i : N] = +(...) a vector of N"
        if previous.kind == "ASSIGN"
        else "a contraction is a statement of its own"
    )
    return _expected(mistake, hint)


def _too_many_operands(mistake: Mistake) -> GinghamError | None:
    if not mistake.takes_only("RPAR", "QUESTION"):
        return None
    if mistake.found.kind not in ("PLUS", "TIMES", "EQUAL", "MINUS", "SLASH"):
        return None
    return _expected(
        mistake, "a contraction combines at most two tensors; make it two contractions"
    )


def _foreign_combination(mistake: Mistake) -> GinghamError | None:
    if not mistake.takes_only("RPAR", "PLUS", "TIMES", "EQUAL"):
        return None
    if mistake.found.kind in ("RPAR", "SEMICOLON", "RBRACE", END):
        return None
    return _expected(
        mistake,
        "the tensors of a contraction are combined by '*', '+' or '=='; compute the "
        "rest in a statement of its own",
    )


def _chained_comparison(mistake: Mistake) -> GinghamError | None:
    if mistake.found.kind not in COMPARISONS or "CARET" not in mistake.accepted:
        return None
    return mistake.error(
        f"comparisons do not chain: got {mistake.found} behind a comparison",
        "write (A < B) & (B < C), or put one of them in parentheses",
    )


def _bad_constraint(mistake: Mistake) -> GinghamError | None:
    """`k <= 3`, or a constraint that is no comparison."""
    found = mistake.found
    if "LESS" not in mistake.accepted or mistake.accepted & {"CARET", "ASSIGN"}:
        return None
    if found.kind not in COMPARISONS | {"SEMICOLON", "COMMA"}:
        return None
    return mistake.error(
        f"expected '<' and a size, got {found}",
        "a constraint is written 'index expression < size' and says that the "
        "expression is at least 0 too",
    )


def _missing_aggregation(mistake: Mistake) -> GinghamError | None:
    """`O[i : N] = A[i]`."""
    if mistake.accepted != AGGREGATIONS:
        return None
    if mistake.found.kind not in ("LPAR", "ID", "IDXID"):
        return None
    return _expected(
        mistake, "a contraction is written O[i : N] = +(...), to copy O[i : N] = =(...)"
    )


def _sizes_without_indices(mistake: Mistake) -> GinghamError | None:
    """`O[: N] = ...`."""
    previous = mistake.previous
    if (
        previous is None
        or previous.kind != "COLON"
        or not mistake.takes_only("RSQUARE")
    ):
        return None
    return _expected(
        mistake, "before the ':' stand the indices, one for each size: O[i : N]"
    )


def _empty_parentheses(mistake: Mistake) -> GinghamError | None:
    """`-> ()` and `f()`."""
    previous = mistake.previous
    if mistake.found.kind != "RPAR" or previous is None or previous.kind != "LPAR":
        return None
    before = mistake.source.text[: previous.span.start]
    if mistake.takes_only("ID") and before.rstrip().endswith("->"):
        return _expected(mistake, "a function has at least one output")
    if mistake.takes_expression:
        return _expected(mistake, "a function takes at least one argument")
    return None


def _size_of_input(mistake: Mistake) -> GinghamError | None:
    """`function (A[3])`."""
    takes_size = mistake.takes_only("ID") or mistake.takes_only("ID", "RSQUARE")
    if mistake.found.kind != "INT" or not takes_size:
        return None
    return _expected(
        mistake,
        "the sizes of an input are names, bound when the function is called: A[M, N]",
    )


def _word_at_start(mistake: Mistake) -> GinghamError | None:
    """A misspelled first word."""
    if "FUNCTION" not in mistake.accepted or mistake.found.kind not in ("ID", "IDXID"):
        return None
    words = ["function", "polynomial", "expression", "contraction"]
    return _expected(
        mistake,
        did_you_mean(mistake.found.text, words)
        or "a program is 'function (inputs) -> (outputs) { statements }'",
    )


def _number_as_default(mistake: Mistake) -> GinghamError | None:
    """`default 5`."""
    previous = mistake.previous
    is_number = mistake.found.kind in ("INT", "FLOAT")
    if not is_number or previous is None or previous.kind != "DEFAULT":
        return None
    number = mistake.found.text
    return _expected(
        mistake, f"give the number a name in a statement before: D = {number};"
    )


def _text_after_the_end(mistake: Mistake) -> GinghamError | None:
    if not mistake.takes_only(END):
        return None
    hints = {
        "SEMICOLON": "no ';' stands behind the '}'",
        "RBRACE": "there is one '}' too many",
        "FUNCTION": "a file holds one function",
    }
    hint = hints.get(mistake.found.kind)
    return _expected(mistake, hint) if hint is not None else None


_KNOWN: tuple[Callable[[Mistake], GinghamError | None], ...] = (
    _number_without_digits,
    _comment_of_another_language,
    _operator_of_another_language,
    _underscore,
    _unknown_character,
    _keyword_as_name,
    _index_as_value,
    _function_in_contraction,
    _word_at_start,
    _lower_case_name,
    _missing_multiplication,
    _update_of_the_edsl,
    _parentheses_for_brackets,
    _access_in_expression,
    _contraction_in_expression,
    _too_many_operands,
    _foreign_combination,
    _chained_comparison,
    _bad_constraint,
    _missing_aggregation,
    _sizes_without_indices,
    _empty_parentheses,
    _number_as_default,
    _size_of_input,
    _text_after_the_end,
)
