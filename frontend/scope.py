"""The names of a Tile function: what they stand for, and errors about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from ..errors import GinghamError
from ..suggestions import did_you_mean
from .builder import Value
from .source import Source
from .syntax import Name, Span
from .tuples import AnyValue, Tuple


class Role(Enum):
    """How a name came into being, in words."""

    INPUT = "an input, declared"
    DIMENSION = "a dimension, declared"
    ASSIGNED = "assigned"


@dataclass(frozen=True)
class Definition:
    """What a name stands for, and where that is said."""

    value: AnyValue
    role: Role
    span: Span

    @property
    def origin(self) -> str:
        """The sentence that tells the user where it comes from."""
        return f"it is {self.role.value} at {self.span.line}:{self.span.column}"


class Scope:
    """The definitions that a statement sees: those above it.

    `assigned_later` has where every name is assigned anywhere in the function.
    """

    def __init__(self, source: Source, assigned_later: Mapping[str, Span]) -> None:
        self.source = source
        self._assigned_later = assigned_later
        self._definitions: dict[str, Definition] = {}

    def define(self, name: Name, value: AnyValue, role: Role) -> None:
        """Add a definition; the name must be free."""
        self.check_free(name)
        self._definitions[name.text] = Definition(value, role, name.span)

    def defined(self, name: str) -> Definition | None:
        """The definition of a name, if it has one yet."""
        return self._definitions.get(name)

    def check_free(self, name: Name) -> None:
        """Raise GinghamError when the name has a definition already."""
        known = self._definitions.get(name.text)
        if known is None:
            return
        raise self.source.error(
            f"reassignment of '{name.text}'",
            name.span,
            f"{known.origin}; a name has one value, so choose another",
        )

    def find(self, name: str, span: Span) -> AnyValue:
        """The value of a name that is used at `span`; GinghamError if it has none."""
        known = self._definitions.get(name)
        if known is not None:
            return known.value
        raise self.unknown(name, span)

    def find_value(self, name: Name) -> Value:
        """As `find`, where no tuple may stand."""
        return self.no_tuple(self.find(name.text, name.span), name.span)

    def no_tuple(self, value: AnyValue, span: Span) -> Value:
        """A value that stands at `span`; GinghamError for a tuple."""
        if isinstance(value, Tuple):
            raise self.source.error(
                f"expected a tensor, a dimension or a number, got {value.description}",
                span,
                value.hint,
            )
        return value

    def unknown(self, name: str, span: Span) -> GinghamError:
        """The error for a name without a definition."""
        later = self._assigned_later.get(name)
        if later is not None:
            hint = (
                f"it is assigned only at {later.line}:{later.column}, and a statement "
                "sees the names above it"
            )
        else:
            hint = did_you_mean(name, self._definitions)
        return self.source.error(f"unknown name '{name}'", span, hint)
