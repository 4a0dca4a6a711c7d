"""Calls in Tile text: element-wise functions, conversions, special operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Attribute

from ..dialects.eltwise.element_types import ELEMENT_TYPES
from ..dialects.eltwise.table import CALLS, ROUGH_CALLS, Function
from ..errors import GinghamError
from ..suggestions import did_you_mean
from .builder import ProgramBuilder, Value
from .index_space import Size
from .source import Source
from .special_calls import (
    ASSERTION,
    SPECIAL_CALLS,
    UNAVAILABLE,
    SpecialCall,
    TextFunction,
    check_options,
)
from .syntax import Call
from .tuples import AnyValue

CASTS: Mapping[str, Mapping[int, Attribute]] = {
    "as_float": {width: ELEMENT_TYPES[f"f{width}"] for width in (16, 32, 64)},
    "as_int": {width: ELEMENT_TYPES[f"si{width}"] for width in (8, 16, 32, 64)},
    "as_bfloat": {16: ELEMENT_TYPES["bf16"]},
    "as_uint": {width: ELEMENT_TYPES[f"ui{width}"] for width in (8, 16, 32, 64)},
}
"""The conversions `as_float(X, 32)`: element types by the number of bits."""


def apply_call(
    builder: ProgramBuilder,
    source: Source,
    call: Call,
    arguments: Sequence[AnyValue],
    special_calls: Mapping[str, TextFunction],
) -> AnyValue:
    """The value of a call, given those of its arguments."""
    special = _special(call, special_calls)
    context = SpecialCall(builder, source, call, arguments)
    if special is not None:
        special.check(call, source)
        return special.build(context)
    is_cast = call.function.text in CASTS
    function = None if is_cast else _function(call, source)
    check_options(call, source, ())
    values = [context.value(number) for number in range(len(arguments))]
    if function is None:
        return _apply_cast(builder, source, call, values)
    return builder.apply(function, values, source.location(call.span))


def has_meaning_for_sizes(
    call: Call, source: Source, special_calls: Mapping[str, TextFunction]
) -> bool:
    """Whether the called function takes sizes and gives one."""
    special = _special(call, special_calls)
    if special is not None:
        return special.gives_size
    if call.function.text in CASTS:
        return False
    return _function(call, source).fold is not None


def _special(
    call: Call, special_calls: Mapping[str, TextFunction]
) -> TextFunction | None:
    name = call.function.text
    if name.startswith("assert_"):
        return ASSERTION
    return special_calls.get(name)


def _function(call: Call, source: Source) -> Function:
    name = call.function.text
    function = CALLS.get(name)
    if function is not None:
        return function
    if name in UNAVAILABLE:
        why, instead = UNAVAILABLE[name]
        raise source.error(
            f"the function '{name}' of PlaidML is not supported: {why}",
            call.function.span,
            instead,
        )
    raise _unknown_function(call, source)


def _unknown_function(call: Call, source: Source) -> GinghamError:
    usual = [name for name in CALLS if name not in ROUGH_CALLS]
    known = [*usual, *CASTS, *SPECIAL_CALLS]
    name = call.function.text
    return source.error(
        f"unknown function '{name}'",
        call.function.span,
        did_you_mean(name, [*known, *ROUGH_CALLS])
        or f"there are {len(known)} functions: docs/functions.md and "
        "docs/special-functions.md list them",
    )


def _apply_cast(
    builder: ProgramBuilder, source: Source, call: Call, arguments: Sequence[Value]
) -> Value:
    name, widths = call.function.text, CASTS[call.function.text]
    if len(arguments) != 2:
        raise source.error(
            f"'{name}' takes 2 arguments, got {len(arguments)}",
            call.span,
            f"a tensor and the number of bits: {name}(X, 32)",
        )
    value, bits = arguments
    element = None
    if isinstance(bits, Size) and isinstance(bits.value, int):
        element = widths.get(bits.value)
    if element is None:
        *most, last = map(str, widths)
        choices = f"{', '.join(most)} or {last}" if most else last
        raise source.error(
            f"expected '{name}' to have {choices} bits",
            call.arguments[1].span,
        )
    return builder.cast(value, element, source.location(call.span))
