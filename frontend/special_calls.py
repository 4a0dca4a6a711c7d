"""Calls in Tile text of what `special_table.py` has, and of functions of tuples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ..dialects.tile.options import Option, OptionValue, WrongOption
from ..errors import GinghamError, SourceLocation
from ..limits import MOST_PARTS, MOST_TUPLES
from ..suggestions import did_you_mean
from .builder import ProgramBuilder, Value
from .index_space import Size
from .source import Source
from .special_builder import SpecialBuilder
from .special_table import SPECIAL_FUNCTIONS, Arguments, SpecialFunction
from .syntax import Call, Span
from .syntax import Option as GivenOption
from .tuples import AnyValue, Tuple, TupleExpected, is_open_input


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
        self.arguments = arguments
        self._source = source
        self._call = call

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

    def sizes(self, first: int, may_be_negative: bool = False) -> list[Size]:
        """All arguments from `first` on, as sizes of a tensor unless negative."""
        sizes = [self.size(number) for number in range(first, len(self.arguments))]
        for number, size in enumerate(sizes, first):
            is_negative = isinstance(size.value, int) and size.value < 0
            if is_negative and not may_be_negative:
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

    def arguments_for(self, row: SpecialFunction) -> Arguments:
        """The arguments and options as the row of a function wants them."""
        tensors = [self.value(number) for number in range(row.tensors)]
        given = self._given_options(row)
        sizes: Sequence[Size] = ()
        if row.sizes != 0:
            sizes = self.sizes(row.tensors, may_be_negative=row.compares)
        options = row.options(**given)
        return Arguments(self.builder, tensors, sizes, options, self.location)

    def _given_options(self, row: SpecialFunction) -> dict[str, OptionValue]:
        options = row.options.options()
        given: dict[str, OptionValue] = {}
        if row.integers:
            behind = range(row.tensors, len(self.arguments))
            given = {n: self.integer(i) for n, i in zip(options, behind, strict=False)}
        for option in self._call.options:
            name = option.name.text
            if name in given:
                message = f"'{self.name}' has the {name} twice"
                raise self.error(message, None, "leave one of them out")
            given[name] = self._option_value(options[name], option)
        return given

    def _option_value(self, option: Option, given: GivenOption) -> OptionValue:
        try:
            return option.value(given.value)
        except WrongOption as wrong:
            word = str(given.value)
            raise self.error(
                f"expected '{option.name}' to be {wrong.expected}, got {word}",
                given.value_span,
                did_you_mean(word, wrong.words),
            ) from None

    def error(
        self, message: str, span: Span | None = None, hint: str | None = None
    ) -> GinghamError:
        """An error at a part of the call, or at its name."""
        return self._source.error(message, span or self._call.function.span, hint)


@dataclass(frozen=True)
class TextFunction:
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

    @staticmethod
    def of(row: SpecialFunction) -> TextFunction:
        """What a row of the table is in Tile text."""
        sizes = row.least_sizes if row.sizes is None else row.sizes
        least = row.tensors + sizes
        return TextFunction(
            lambda call: row.build(call.arguments_for(row)),
            row.use,
            least,
            None if row.sizes is None else least + row.integers,
            tuple(row.options.options()),
            row.gives_size,
        )

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


def _assertion(call: SpecialCall) -> AnyValue:
    return call.special.check(call.value(0), call.name, call.location)


SPECIAL_CALLS: Mapping[str, TextFunction] = {
    **{name: TextFunction.of(row) for name, row in SPECIAL_FUNCTIONS.items()},
    "index": TextFunction(_index, "index(X, 0): a tensor and an axis", 2),
    "prng_step": TextFunction(
        _prng_step, "prng_step(S, M, N): a state and sizes", 1, None
    ),
    "prng_value": TextFunction(_part_of_prng(0), "prng_value(P)", 1),
    "prng_state": TextFunction(_part_of_prng(1), "prng_state(P)", 1),
    "tuple": TextFunction(_tuple, "tuple(A, B)", 1, None),
    "element": TextFunction(
        _element, "element(T, 0): a tuple and an integer", 2, gives_size=True
    ),
}
"""The functions of Tile that are not in the element-wise table, and no conversions."""

ASSERTION = TextFunction(
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
