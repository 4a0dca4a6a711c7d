"""The options of special operations, said once: as the fields of a frozen dataclass.

```python
@dataclass(frozen=True)
class ScatterOptions(SpecialOptions):
    axis: int = 0
    _: KW_ONLY
    mode: Annotated[ScatterMode, ScatterModeAttr] = ScatterMode.NORMAL
```

A field has the name of the option and what it is unless it is given, which also says of
what kind it is: an integer, a number, or one of the words of an enumeration. The
properties of the op and its syntax, what calls in Tile text and in Python take, and the
errors for what they do not take, all follow from it. The methods are the rules for
types and shapes, which depend on the options.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, fields
from functools import cache
from numbers import Integral, Real
from typing import Any, Self, TypeAlias, get_args, get_type_hints

from xdsl.dialects.builtin import (
    FloatAttr,
    IntegerAttr,
    TensorType,
    UnrankedTensorType,
    i64,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute
from xdsl.irdl import prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum

from ..eltwise.ops import element_of, format_number, parse_number
from .special_shapes import Shape

OptionValue: TypeAlias = int | float | StrEnum


class WrongOption(ValueError):
    """A value that an option can not have: what was expected, in words.

    `words` are all that it can be, where there are few.
    """

    def __init__(self, expected: str, words: Sequence[str] = ()) -> None:
        super().__init__(f"expected {expected}")
        self.expected = expected
        self.words = words


class ExcludedOption(ValueError):
    """An option that has no meaning in the mode that is chosen, and why."""

    def __init__(self, option: str, mode: StrEnum, hint: str) -> None:
        super().__init__(f"expected no {option} in mode {mode.value}")
        self.option = option
        self.mode = mode
        self.hint = hint


class WrongElement(TypeError):
    """An operand, by its number, whose element type does not fit, and a way out."""

    def __init__(self, message: str, operand: int, hint: str) -> None:
        super().__init__(message)
        self.operand = operand
        self.hint = hint


class Objection(ValueError):
    """Shapes that do not fit, and a way out."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True)
class Option:
    """An option: its name, what it is unless it is given, and what may be given."""

    name: str
    default: OptionValue
    is_positional: bool
    """Whether Python may say it behind the operands, without its name."""
    holder: type[EnumAttribute[Any]] | None
    """What holds a word in IR."""

    @property
    def constraint(self) -> type[Attribute]:
        """The kind of attribute that is the property of an op."""
        if self.holder is not None:
            return self.holder
        return IntegerAttr if isinstance(self.default, int) else FloatAttr

    def attribute(self, value: OptionValue) -> Attribute:
        """A value as a property of an op."""
        if self.holder is not None:
            return self.holder(value)
        if isinstance(value, int):
            return IntegerAttr(value, i64)
        return FloatAttr(float(value), 64)

    def held(self, attribute: Attribute) -> OptionValue:
        """The value that a property of an op holds."""
        match attribute:
            case EnumAttribute():
                return attribute.data
            case IntegerAttr() | FloatAttr():
                return attribute.value.data
            case _:
                raise ValueError(f"{attribute} is no option")

    def value(self, given: object) -> OptionValue:
        """What a value in a program means. Raises WrongOption for what it can not be.

        A word is a member of the enumeration, or its name or value in any case.
        """
        default = self.default
        if isinstance(default, StrEnum):
            return self._word(type(default), given)
        if isinstance(default, int):
            if isinstance(given, bool) or not isinstance(given, Integral):
                raise WrongOption("an integer")
            return int(given)
        if isinstance(given, bool) or not isinstance(given, Real):
            raise WrongOption("a number")
        return float(given)

    def _word(self, kind: type[StrEnum], given: object) -> StrEnum:
        if isinstance(given, kind):
            return given
        for name, member in kind.__members__.items():
            if str(given).lower() in (name.lower(), member.value):
                return member
        words = [member.value for member in kind]
        raise WrongOption(f"one of {', '.join(words)}", words)

    def parse(self, parser: Parser) -> OptionValue:
        """Parse `name value`, or nothing."""
        if parser.parse_optional_keyword(self.name) is None:
            return self.default
        if isinstance(self.default, StrEnum):
            return parser.parse_str_enum(type(self.default))
        if isinstance(self.default, int):
            return parser.parse_integer(allow_boolean=False)
        return float(parse_number(parser))

    def print(self, printer: Printer, value: OptionValue) -> None:
        """Print what `parse` parses."""
        if value == self.default:
            return
        shown = value.value if isinstance(value, StrEnum) else format_number(value)
        printer.print_string(f" {self.name} {shown}")


@dataclass(frozen=True)
class SpecialOptions:
    """The options of a special operation, here none, and the rules that follow.

    Element types, shapes and names are those of the operands, in order.
    """

    @classmethod
    def options(cls) -> dict[str, Option]:
        """Each option by its name, in the order in which they are written."""
        return _options(cls)

    def as_dict(self) -> dict[str, OptionValue]:
        """The value of each option."""
        return {name: getattr(self, name) for name in self.options()}

    # Properties and syntax

    @classmethod
    def definitions(cls) -> dict[str, object]:
        """What an op declares of its properties."""
        return {n: prop_def(option.constraint) for n, option in cls.options().items()}

    def properties(self) -> dict[str, Attribute | None]:
        """The options as the properties of an op."""
        options = self.options()
        return {n: options[n].attribute(value) for n, value in self.as_dict().items()}

    @classmethod
    def of(cls, properties: Mapping[str, Attribute]) -> Self:
        """The options that properties of an op say."""
        return cls(**{n: o.held(properties[n]) for n, o in cls.options().items()})

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse what `print` prints."""
        return cls(**{n: option.parse(parser) for n, option in cls.options().items()})

    def print(self, printer: Printer) -> None:
        """Print the options that are not as by default: `axis 1 mode nd`."""
        for name, option in self.options().items():
            option.print(printer, getattr(self, name))

    # Rules

    def check(self) -> None:
        """Raise ExcludedOption for options that do not go together."""

    def signature(
        self, elements: Sequence[Attribute], weak: Sequence[bool] = ()
    ) -> tuple[Sequence[Attribute], Self]:
        """The types that operands are cast to, and the options that are left.

        `weak` says which operands are literals. Raises WrongElement, worded for the
        user.
        """
        return elements, self

    def element(self, elements: Sequence[Attribute]) -> Attribute:
        """The element type of the result."""
        return elements[0]

    def shape(self, shapes: Sequence[Shape], names: Sequence[str]) -> Shape | None:
        """The shape of the result, None for one that even has no known rank.

        Raises ValueError, worded for the user, for shapes that do not fit.
        """
        raise NotImplementedError

    def rank(self, ranks: Sequence[int | None]) -> int | None:
        """The rank of the result where that of an operand is not known."""
        return None

    def specialized(self, shapes: Sequence[Shape], names: Sequence[str]) -> Self:
        """The options for shapes that are all known: axes are counted from 0.

        Raises ValueError for what can not be computed.
        """
        return self

    def result_type(self, types: Sequence[Attribute]) -> Attribute:
        """The type of the result, unranked where its rank is not known.

        Raises ValueError as `shape`.
        """
        element = self.element([element_of(type) for type in types])
        shapes = [t.get_shape() for t in types if isinstance(t, TensorType)]
        if len(shapes) < len(types):
            return UnrankedTensorType(element)
        shape = self.shape(shapes, unnamed(shapes))
        return (
            UnrankedTensorType(element) if shape is None else TensorType(element, shape)
        )


def unnamed(operands: Sequence[object]) -> list[str]:
    """What to call operands without names."""
    return ["the tensor"] * len(operands)


@cache
def _options(kind: type[SpecialOptions]) -> dict[str, Option]:
    types = get_type_hints(kind, include_extras=True)
    return {each.name: _option(kind, each, types[each.name]) for each in fields(kind)}


def _option(kind: type[SpecialOptions], each: Field[Any], hint: object) -> Option:
    holders = get_args(hint)[1:]
    holder = holders[0] if holders else None
    default: OptionValue = getattr(kind, each.name)
    return Option(each.name, default, not each.kw_only, holder)
