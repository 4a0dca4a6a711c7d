"""Calls in Tile text: the functions of the element-wise table, and conversions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Attribute

from ..dialects.eltwise.element_types import ELEMENT_TYPES
from ..dialects.eltwise.table import CALLS, Function
from ..errors import GinghamError
from .builder import ProgramBuilder, Value
from .index_space import Size
from .source import Source
from .suggestions import did_you_mean
from .syntax import Call

CASTS: Mapping[str, Mapping[int, Attribute]] = {
    "as_float": {width: ELEMENT_TYPES[f"f{width}"] for width in (16, 32, 64)},
    "as_int": {width: ELEMENT_TYPES[f"si{width}"] for width in (8, 16, 32, 64)},
    "as_uint": {width: ELEMENT_TYPES[f"ui{width}"] for width in (8, 16, 32, 64)},
}
"""The conversions `as_float(X, 32)`: element types by the number of bits."""

_MISSING = frozenset(
    "broadcast builtin_binary_crossentropy builtin_logsoftmax builtin_softmax element "
    "gather index mad match prng_state prng_step prng_value quantize reshape "
    "reverse_grad scatter shape simple_reduce sub_group_broadcast tuple zero".split()
)
"""Functions of PlaidML that Gingham does not have."""


def apply_call(
    builder: ProgramBuilder, source: Source, call: Call, arguments: Sequence[Value]
) -> Value:
    """The value of a call, given those of its arguments."""
    if call.function.text in CASTS:
        return _apply_cast(builder, source, call, arguments)
    function = _function(call, source)
    return builder.apply(function, arguments, source.location(call.span))


def has_meaning_for_sizes(call: Call, source: Source) -> bool:
    """Whether the called function takes sizes and gives one."""
    if call.function.text in CASTS:
        return False
    return _function(call, source).fold is not None


def _function(call: Call, source: Source) -> Function:
    name = call.function.text
    function = CALLS.get(name)
    if function is not None:
        return function
    if name in _MISSING or name.startswith("assert_"):
        raise source.error(
            f"the function '{name}' of PlaidML is not supported", call.function.span
        )
    raise _unknown_function(call, source)


def _unknown_function(call: Call, source: Source) -> GinghamError:
    known = [*CALLS, *CASTS]
    name = call.function.text
    return source.error(
        f"unknown function '{name}'",
        call.function.span,
        did_you_mean(name, known) or f"the functions are {', '.join(sorted(known))}",
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
        raise source.error(
            f"expected '{name}' to have {', '.join(most)} or {last} bits",
            call.arguments[1].span,
        )
    return builder.cast(value, element, source.location(call.span))
