"""Calls of Tile text that are no element-wise functions: one row for each name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from xdsl.ir import SSAValue
from xdsl.utils.str_enum import StrEnum

from ..dialects.tile.gather import CUBE_COEFFICIENT, Interpolation, NearestMode
from ..dialects.tile.indexing import OutOfBounds
from ..dialects.tile.special_shapes import GatherMode, ScatterMode
from ..errors import GinghamError, SourceLocation
from ..limits import MOST_PARTS, MOST_TUPLES
from ..suggestions import did_you_mean
from .builder import ProgramBuilder, Value
from .composite_builder import CompositeBuilder
from .index_space import Size
from .source import Source
from .special_builder import SpecialBuilder
from .syntax import Call, Option, Span
from .tuples import AnyValue, Tuple, TupleExpected, is_open_input

_Choice = TypeVar("_Choice", bound=StrEnum)


class Order(StrEnum):
    """The directions of `argsort`."""

    ASCENDING = "ascending"
    DESCENDING = "descending"


class SpecialCall:
    """A call with the values of its arguments, and what functions ask of them."""

    def __init__(
        self,
        builder: ProgramBuilder,
        source: Source,
        call: Call,
        arguments: Sequence[AnyValue],
    ) -> None:
        self.builder = builder
        self.special = SpecialBuilder(builder)
        self.composite = CompositeBuilder(builder)
        self.arguments = arguments
        self._source = source
        self._call = call
        self._options = {option.name.text: option for option in call.options}

    @property
    def name(self) -> str:
        """What the program calls."""
        return self._call.function.text

    @property
    def location(self) -> SourceLocation:
        """Where the call stands, from the function's name to the bracket."""
        return self._source.location(self._call.span)

    # Arguments

    def value(self, number: int) -> Value:
        """An argument that is a tensor, a size or a literal."""
        argument = self.arguments[number]
        if isinstance(argument, Tuple):
            raise self.error(
                f"argument {number + 1} of '{self.name}' is {argument.description}",
                self._call.arguments[number].span,
                argument.hint,
            )
        return argument

    def tuple(self, number: int) -> Tuple:
        """An argument that is a tuple."""
        argument = self.arguments[number]
        if isinstance(argument, Tuple):
            return argument
        error = self._wrong(number, "a tuple", "write tuple(A, B)")
        raise self.without_tuple(number, error)

    def without_tuple(self, number: int, error: GinghamError) -> GinghamError:
        """The error of an argument that is no tuple.

        It is TupleExpected for an input of which nothing is known, as the function may
        be applied to a tuple.
        """
        if is_open_input(self.arguments[number]):
            return TupleExpected(error.message, error.location, error.hint)
        return error

    def size(self, number: int) -> Size:
        """An argument that is an integer expression of dimensions."""
        size = self.builder.number(self.arguments[number], self.location)
        if size is not None:
            return size
        names = ", ".join(self.builder.sizes)
        hint = f"the dimensions are {names}" if names else None
        raise self._wrong(number, "an integer expression of dimensions", hint)

    def sizes(self, first: int) -> list[Size]:
        """All arguments from `first` on, as sizes of a tensor."""
        sizes = [self.size(number) for number in range(first, len(self.arguments))]
        for number, size in enumerate(sizes, first):
            if isinstance(size.value, int) and size.value < 0:
                span = self._call.arguments[number].span
                raise self.error(f"the size is negative: {size.value}", span)
        return sizes

    def integer(self, number: int) -> int:
        """An argument that is an integer, known where the program is read."""
        argument = self.arguments[number]
        if isinstance(argument, Size) and isinstance(argument.value, int):
            return argument.value
        raise self._wrong(number, "an integer", None)

    def _wrong(self, number: int, expected: str, hint: str | None) -> GinghamError:
        argument = self.arguments[number]
        match argument:
            case Tuple():
                got = argument.description
            case Size():
                got = "a dimension"
            case SSAValue():
                got = "a tensor"
            case _:
                got = "a float"
        return self.error(
            f"expected argument {number + 1} of '{self.name}' to be {expected}, got "
            f"{got}",
            self._call.arguments[number].span,
            hint,
        )

    # Options

    def choice(self, name: str, default: _Choice) -> _Choice:
        """An option that is one of some words."""
        option = self._options.get(name)
        if option is None:
            return default
        words = [member.value for member in type(default)]
        if option.value not in words:
            raise self.error(
                f"expected '{name}' to be one of {', '.join(words)}, got "
                f"{option.value}",
                option.value_span,
                did_you_mean(str(option.value), words),
            )
        return type(default)(option.value)

    def integer_option(self, name: str, default: int) -> int:
        """An option that is an integer."""
        option = self._options.get(name)
        if option is None:
            return default
        if not isinstance(option.value, int):
            raise self._not_a(option, "an integer")
        return option.value

    def number_option(self, name: str, default: float) -> float:
        """An option that is a number."""
        option = self._options.get(name)
        if option is None:
            return default
        if isinstance(option.value, str):
            raise self._not_a(option, "a number")
        return float(option.value)

    def has_option(self, name: str) -> bool:
        """Whether the call names an option, whatever its value."""
        return name in self._options

    def _not_a(self, option: Option, expected: str) -> GinghamError:
        return self.error(
            f"expected '{option.name.text}' to be {expected}, got {option.value}",
            option.value_span,
        )

    def error(
        self, message: str, span: Span | None = None, hint: str | None = None
    ) -> GinghamError:
        """An error at a part of the call, or at its name."""
        return self._source.error(message, span or self._call.function.span, hint)


@dataclass(frozen=True)
class SpecialFunction:
    """A function of Tile text by its use, such as `gather(V, I)`."""

    build: Callable[[SpecialCall], AnyValue]
    use: str
    least: int
    """The number of arguments."""
    most: int | None = -1
    """How many it may have; None for any number, -1 for `least`."""
    options: tuple[str, ...] = ()
    gives_size: bool = False
    """Whether it may give a size, if it takes such."""

    def check(self, call: Call, source: Source) -> None:
        """Raise GinghamError for a wrong number of arguments and unknown options."""
        count, most = len(call.arguments), self.most
        most = self.least if most == -1 else most
        if count < self.least or (most is not None and count > most):
            raise source.error(
                f"'{call.function.text}' takes {_count(self.least, most)}, got {count}",
                call.span,
                self.use,
            )
        check_options(call, source, self.options)


def check_options(call: Call, source: Source, known: Sequence[str]) -> None:
    """Raise GinghamError for an option that the function lacks, or given twice."""
    seen: set[str] = set()
    for option in call.options:
        name = option.name.text
        if name not in known:
            function = call.function.text
            listed = f"the options are {', '.join(known)}" if known else None
            raise source.error(
                f"'{function}' has no option '{name}'"
                if known
                else f"'{function}' has no options",
                option.name.span,
                did_you_mean(name, known) or listed,
            )
        if name in seen:
            raise source.error(f"a second option '{name}'", option.name.span)
        seen.add(name)


def _count(least: int, most: int | None) -> str:
    if most is None:
        return f"{least} or more argument{'s' if least > 1 else ''}"
    number = f"{least}" if least == most else f"{least} to {most}"
    return f"{number} argument{'' if most == 1 else 's'}"


def _index(call: SpecialCall) -> AnyValue:
    return call.special.index(call.value(0), call.integer(1), call.location)


def _gather(call: SpecialCall) -> AnyValue:
    return call.special.gather(
        call.value(0),
        call.value(1),
        call.location,
        axis=call.integer_option("axis", 0),
        batch_dims=call.integer_option("batch_dims", 0),
        mode=call.choice("mode", GatherMode.NORMAL),
        interpolation=call.choice("interpolation", Interpolation.NONE),
        nearest_mode=call.choice("nearest_mode", NearestMode.ROUND_PREFER_FLOOR),
        cube_coefficient=call.number_option("cube_coefficient", CUBE_COEFFICIENT),
        out_of_bounds=call.choice("out_of_bounds", OutOfBounds.CLAMP),
    )


def _scatter(call: SpecialCall) -> AnyValue:
    return call.special.scatter(
        call.value(0),
        call.value(1),
        call.value(2),
        call.location,
        axis=call.integer_option("axis", 0),
        mode=call.choice("mode", ScatterMode.NORMAL),
        out_of_bounds=call.choice("out_of_bounds", OutOfBounds.CLAMP),
    )


def _argsort(call: SpecialCall) -> AnyValue:
    if len(call.arguments) == 2 and call.has_option("axis"):
        raise call.error("'argsort' has the axis twice", None, "leave one of them out")
    axis = (
        call.integer(1) if len(call.arguments) == 2 else call.integer_option("axis", -1)
    )
    order = call.choice("order", Order.ASCENDING)
    return call.special.argsort(
        call.value(0), axis, call.location, descending=order is Order.DESCENDING
    )


def _prng_step(call: SpecialCall) -> AnyValue:
    numbers = call.special.prng(call.value(0), call.sizes(1), call.location)
    return Tuple(numbers, is_random=True)


def _part_of_prng(part: int) -> Callable[[SpecialCall], AnyValue]:
    def build(call: SpecialCall) -> AnyValue:
        step = call.arguments[0]
        if isinstance(step, Tuple) and step.is_random:
            return step.elements[part]
        error = call.error(
            f"expected the argument of '{call.name}' to be the result of 'prng_step'",
            None,
            "P = prng_step(S, M, N); V = prng_value(P); T = prng_state(P);",
        )
        raise call.without_tuple(0, error)

    return build


def _tuple(call: SpecialCall) -> AnyValue:
    made = Tuple(tuple(call.arguments))
    if made.count > MOST_PARTS or made.depth > MOST_TUPLES:
        raise call.error(
            f"a tuple of {made.count} parts, {made.depth} tuples inside each other: "
            f"expected at most {MOST_PARTS} and {MOST_TUPLES}"
        )
    return made


def _element(call: SpecialCall) -> AnyValue:
    whole, number = call.tuple(0), call.integer(1)
    if not 0 <= number < len(whole.elements):
        raise call.error(
            f"the tuple has {len(whole.elements)} parts, counted from 0: got {number}"
        )
    return whole.elements[number]


def _binary_crossentropy(call: SpecialCall) -> AnyValue:
    output, target, _ = (call.value(number) for number in range(3))
    return call.composite.binary_crossentropy(output, target, call.location)


def _softmax(call: SpecialCall) -> AnyValue:
    rows, _ = call.sizes(1)
    return call.composite.softmax(call.value(0), rows, call.location)


def _log_softmax(call: SpecialCall) -> AnyValue:
    rows, _ = call.sizes(1)
    return call.composite.log_softmax(call.value(0), rows, call.location)


def _assertion(call: SpecialCall) -> AnyValue:
    return call.special.check(call.value(0), call.name, call.location)


_GATHER_OPTIONS = (
    "axis",
    "batch_dims",
    "mode",
    "interpolation",
    "nearest_mode",
    "cube_coefficient",
    "out_of_bounds",
)

SPECIAL_CALLS: Mapping[str, SpecialFunction] = {
    "reshape": SpecialFunction(
        lambda c: c.special.reshape(c.value(0), c.sizes(1), c.location),
        "reshape(X, M, N): a tensor and its new sizes",
        1,
        None,
    ),
    "shape": SpecialFunction(
        lambda c: c.special.shape(c.value(0), c.location), "shape(X): a tensor", 1
    ),
    "index": SpecialFunction(_index, "index(X, 0): a tensor and an axis", 2),
    "gather": SpecialFunction(
        _gather,
        "gather(V, I): values and indices, then options such as axis=1",
        2,
        options=_GATHER_OPTIONS,
    ),
    "scatter": SpecialFunction(
        _scatter,
        "scatter(U, I, B): updates, indices and base, then options such as axis=1",
        3,
        options=("axis", "mode", "out_of_bounds"),
    ),
    "argsort": SpecialFunction(
        _argsort,
        "argsort(X, 0, order=descending): a tensor and an axis, the last by default",
        1,
        2,
        options=("axis", "order"),
    ),
    "prng_step": SpecialFunction(
        _prng_step, "prng_step(S, M, N): a state and sizes", 1, None
    ),
    "prng_value": SpecialFunction(_part_of_prng(0), "prng_value(P)", 1),
    "prng_state": SpecialFunction(_part_of_prng(1), "prng_state(P)", 1),
    "tuple": SpecialFunction(_tuple, "tuple(A, B)", 1, None),
    "element": SpecialFunction(
        _element, "element(T, 0): a tuple and an integer", 2, gives_size=True
    ),
    "simple_reduce": SpecialFunction(
        lambda c: c.special.simple_reduce(c.value(0), c.sizes(1), c.location),
        "simple_reduce(X, M, 1): a tensor and the sizes to sum it to",
        1,
        None,
    ),
    "broadcast": SpecialFunction(
        lambda c: c.special.broadcast(c.sizes(0), c.location),
        "broadcast(M, N): sizes, of which those other than 1 are equal",
        1,
        None,
        gives_size=True,
    ),
    "match": SpecialFunction(
        lambda c: c.special.match(c.size(0), c.size(1), c.location),
        "match(M, N): two sizes",
        2,
        gives_size=True,
    ),
    "mad": SpecialFunction(
        lambda c: c.composite.multiply_add(
            c.value(0), c.value(1), c.value(2), c.location
        ),
        "mad(A, B, C): A * B + C",
        3,
    ),
    "gradient": SpecialFunction(
        lambda c: c.builder.gradient(c.value(0), [c.value(1)], c.location)[0],
        "the loss and the tensor to differentiate it by: gradient(L, X)",
        2,
    ),
    "as_bool": SpecialFunction(
        lambda c: c.composite.as_bool(c.value(0), c.location), "as_bool(X)", 1
    ),
    "builtin_softmax": SpecialFunction(
        _softmax, "builtin_softmax(X, M, N): a tensor and its two sizes", 3
    ),
    "builtin_logsoftmax": SpecialFunction(
        _log_softmax, "builtin_logsoftmax(X, M, N): a tensor and its two sizes", 3
    ),
    "builtin_binary_crossentropy": SpecialFunction(
        _binary_crossentropy,
        "builtin_binary_crossentropy(O, T, 1): outputs, targets and how many there are",
        3,
    ),
}
"""The functions of Tile that are not in the element-wise table, and no conversions."""

ASSERTION = SpecialFunction(
    _assertion, "assert_name(C): a condition on sizes", 1, gives_size=True
)
"""What every name that begins with `assert_` is."""

UNAVAILABLE: Mapping[str, tuple[str, str]] = {
    "sub_group_broadcast": (
        "it reads from another lane of the hardware, which a Tile program does not "
        "know",
        "gather(V, I) and contractions read any cell",
    ),
    "quantize": (
        "its scale and zero point are no part of a Tile program",
        "convert with a scale of your own, as in as_int(round(X / S), 8)",
    ),
    "lgamma": (
        "OpenCL C bounds no error of it, and its derivative is no function of Tile",
        "pass what NumPy or SciPy computes as an input",
    ),
    "tgamma": (
        "its derivative is no function of Tile",
        "pass what NumPy or SciPy computes as an input",
    ),
    "zero": ("a function takes at least one argument", "write 0"),
}
"""Functions of PlaidML that can not be had: why, and what to write instead."""
