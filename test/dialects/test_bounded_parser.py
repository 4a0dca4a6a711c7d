"""Texts that would take for ever, or all memory, are refused where they would."""

from __future__ import annotations

import pytest
from xdsl.context import Context
from xdsl.dialects import get_all_dialects
from xdsl.utils.exceptions import ParseError

import gingham
from gingham.dialects.bounded_parser import BoundedParser

HOSTILE = {
    "width": ('"a"() {x = 1 : i4294967296} : () -> ()', "at most 4096 bits"),
    "width of width": (f'"a"() {{x = 1 : i{"9" * 5000}}} : () -> ()', "4096 bits"),
    "digits": (f'"a"() {{x = {"1" * 5000}}} : () -> ()', "1000 digits, got 5000"),
    "hexadecimal digits": (f'"a"() {{x = 0x{"f" * 5000}}} : () -> ()', "1000 digits"),
    "size": (f'"a"() {{x = tensor<{2**63}xf32>}} : () -> ()', "that 64 bits hold"),
    "sizes": (f'"a"() {{x = tensor<{"1x" * 10**6}f32>}} : () -> ()', "too large"),
    "constant": (
        '"a"() {x = dense<1> : tensor<2147483648x1024xi32>} : () -> ()',
        "too large",
    ),
    "constant in hexadecimal": (
        '"a"() {x = dense<"0x01"> : tensor<2147483648x1024xi8>} : () -> ()',
        "too large",
    ),
    "doubling types": (
        "!t0 = tuple<i1>\n"
        + "".join(f"!t{n + 1} = tuple<!t{n}, !t{n}>\n" for n in range(60)),
        "too large",
    ),
    "doubling attributes": (
        "#t0 = [1]\n" + "".join(f"#t{n + 1} = [#t{n}, #t{n}]\n" for n in range(60)),
        "too large",
    ),
    "blocks": (
        '"a"() ({\n' + "".join(f"^b{n}:\n" for n in range(300)) + "}) : () -> ()",
        "at most 256 blocks",
    ),
    "dimensions": (
        f'"a"() {{x = affine_map<({", ".join(f"d{n}" for n in range(300))}) -> (d0)>}}'
        " : () -> ()",
        "at most 256 dimensions and symbols, got 300",
    ),
    "integer": ('"a"() : () -> () loc("a":9223372036854775808:1)', "64 bits hold"),
    "hidden name": ('"a\u202eb"() : () -> ()', "name without control characters"),
    "hidden type": (
        '"a"() : () -> (!foo.bar<a\u202eb>)',
        "attribute without control characters",
    ),
    "string": ('"a"() {x = "' + "a" * 10**6, "string literal"),
}


def context() -> Context:
    ctx = Context(allow_unregistered=True)
    for name, factory in get_all_dialects().items():
        ctx.register_dialect(name, factory)
    ctx.load_registered_dialect("builtin")
    return ctx


@pytest.mark.parametrize(("text", "message"), HOSTILE.values(), ids=HOSTILE)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        BoundedParser(context(), text).parse_module()


def test_what_is_counted_is_a_setting() -> None:
    text = "".join(f'"a"() {{x = {n}}} : () -> ()\n' for n in range(100))
    gingham.configure(largest_program=1000)
    try:
        with pytest.raises(ParseError, match="counts more than 1000 words"):
            BoundedParser(context(), text).parse_module()
    finally:
        gingham.configure(largest_program=None)
    BoundedParser(context(), text).parse_module()


def test_an_alias_counts_where_it_is_used() -> None:
    used = '"a"() {x = #long} : () -> ()\n'
    text = f"#long = [{', '.join('1' for _ in range(1000))}]\n"
    gingham.configure(largest_program=10_000)
    try:
        BoundedParser(context(), text + 3 * used).parse_module()
        with pytest.raises(ParseError, match="too large"):
            BoundedParser(context(), text + 5 * used).parse_module()
    finally:
        gingham.configure(largest_program=None)
