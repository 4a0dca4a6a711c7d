"""Parses .mlir text so that each operation knows its place and each error points at it.

xDSL's parser gives a location only to an operation with a literal `loc(...)`, and
reports an undefined value at the end of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    FileLineColLoc,
    IntAttr,
    LocationAttr,
    ModuleOp,
    StringAttr,
    UnregisteredAttr,
)
from xdsl.ir import (
    AttributeInvT,
    BlockArgument,
    Data,
    Operation,
    ParametrizedAttribute,
    SSAValue,
)
from xdsl.parser import UnresolvedOperand
from xdsl.utils.exceptions import (
    MultipleSpansParseError,
    ParseError,
    VerifyException,
)
from xdsl.utils.lexer import Position, Span

from ...dialects.bounded_parser import BoundedParser
from ...dialects.hints import HintedParseError, hint_of
from ...errors import GinghamError, SourceLocation
from ...suggestions import did_you_mean
from .diagnostics import ToolError, note
from .sources import Sources

_NEWLINE = re.compile("\n")
_MOST_NOTES = 10
_MOST_LISTED = 10
"""Dialects that a hint lists: `tile-opt` knows those of xDSL, too."""
_UNDEFINED_VALUES = "values used but not defined"
_UNREGISTERED = "is not registered"
_CLEARER = {
    "could not parse entire input": "expected an operation",
    "in block definition": "expected an operation or '}'",
    "expected suffix identifier after {first_char}": "expected a name behind this sign",
}
"""Messages of xDSL that do not say what was expected, and better ones."""


class LocatedParser(BoundedParser):
    """The parser, with the location of each operation's text as its location."""

    def __init__(self, ctx: Context, text: str, file: str) -> None:
        super().__init__(ctx, text, file)
        self.file = StringAttr(file)
        self.newlines = [match.start() for match in _NEWLINE.finditer(text)]
        self.first_uses: dict[str, tuple[Span, Mapping[str, object]]] = {}
        """Where each value that is not yet defined is used first, and the values that
        are defined there."""
        self.operation_starts: list[Position] = []
        """Where the operations around the current token start, outermost first."""
        self.last_location: LocationAttr | None = None
        """What the last optional `loc(...)` was."""
        self.unknown_by_choice: set[Operation] = set()
        """Operations with a literal `loc(unknown)`."""

    def location_at(self, position: Position) -> FileLineColLoc:
        """The location attribute of a position in the text."""
        line = bisect_left(self.newlines, position)
        start = self.newlines[line - 1] + 1 if line else 0
        return FileLineColLoc(
            self.file, IntAttr(line + 1), IntAttr(position - start + 1)
        )

    def parse_operation(self) -> Operation:
        """One operation, located at its first character unless it says otherwise."""
        start = self.pos
        self.operation_starts.append(start)
        op = super().parse_operation()
        self.operation_starts.pop()
        if op.location is UNKNOWN_LOC:
            if self.last_location is None:
                op.location = self.location_at(start)
            else:
                self.unknown_by_choice.add(op)
        return op

    def parse_optional_location(self) -> LocationAttr | None:
        """The location that stands here, if any, which is kept for the operation."""
        # An operation's own `loc(...)` is always the last one within it.
        self.last_location = super().parse_optional_location()
        return self.last_location

    def resolve_operand(
        self, operand: UnresolvedOperand, type: AttributeInvT
    ) -> SSAValue[AttributeInvT]:
        """The value of an operand; where it is first used is kept for messages."""
        if operand.operand_name not in self.ssa_values:
            use = (operand.span, self.ssa_values)
            self.first_uses.setdefault(operand.operand_name, use)
        return super().resolve_operand(operand, type)

    def _register_ssa_definition(
        self, name: str, values: Sequence[SSAValue], span: Span
    ) -> None:
        for value in values:
            if isinstance(value, BlockArgument) and value.location is UNKNOWN_LOC:
                value.location = self.location_at(span.start)
        super()._register_ssa_definition(name, values, span)

    def locate_the_rest(self, module: ModuleOp) -> None:
        """Gives operations that were not written out the location of what is around.

        Those are the implied module and implied terminators.
        """
        if module.location is UNKNOWN_LOC and module not in self.unknown_by_choice:
            module.location = self.location_at(0)
        for op in module.walk():
            if op.location is UNKNOWN_LOC and op not in self.unknown_by_choice:
                parent = op.parent_op()
                op.location = UNKNOWN_LOC if parent is None else parent.location

    def undefined_values(self, sources: Sources) -> GinghamError:
        """The error that points at the uses of values that are not defined."""
        uses = sorted(
            (self.first_uses[name] for name in self.forward_ssa_references),
            key=lambda use: use[0].start,
        )
        (first, defined), *others = uses
        shown, more = others[:_MOST_NOTES], len(others[_MOST_NOTES:])
        return ToolError(
            f"use of undefined value '{first.text}'",
            sources.of_span(first),
            did_you_mean(first.text, (f"%{name}" for name in defined)),
            [
                note(f"'{span.text}' is not defined either", sources.of_span(span))
                for span, _ in shown
            ]
            + ([note(f"and {more} more")] if more else []),
        )

    def _get_op_by_name(self, name: str) -> type[Operation]:
        op_type = self.ctx.get_optional_op(
            name, dialect_stack=self._parser_state.dialect_stack
        )
        if op_type is not None:
            return op_type
        kind = "operation" if "." in name else "operation (of dialect 'builtin')"
        known = [op.name for op in self.ctx.loaded_ops]
        self._raise_unknown(kind, name, known, self.operation_starts[-1])

    def _parse_dialect_type_or_attribute_body(
        self,
        attr_name: str,
        is_type: bool,
        is_opaque: bool,
        starting_opaque_pos: Position | None,
    ) -> UnregisteredAttr | ParametrizedAttribute | Data[Any]:
        behind_name = self.pos
        try:
            return super()._parse_dialect_type_or_attribute_body(
                attr_name, is_type, is_opaque, starting_opaque_pos
            )
        except VerifyException as error:
            start = self.lexer.input.content.rfind(attr_name, 0, behind_name)
            span = Span(start, start + len(attr_name), self.lexer.input)
            self.raise_error(" ".join(str(error).split()), span)
        except ParseError as error:
            if not error.msg.endswith(_UNREGISTERED):
                raise
            name = error.msg.removesuffix(_UNREGISTERED).strip(" '")
        loaded = self.ctx.loaded_types if is_type else self.ctx.loaded_attrs
        known = [attribute.name for attribute in loaded]
        self._raise_unknown("type" if is_type else "attribute", name, known, 0)

    def _raise_unknown(
        self, kind: str, name: str, known: Sequence[str], start: Position
    ) -> NoReturn:
        """Raises the error for a name, whose text lies behind `start`."""
        dialect = name.partition(".")[0]
        hint = did_you_mean(name, known)
        if dialect not in self.ctx.registered_dialect_names:
            dialects = sorted(self.ctx.registered_dialect_names)
            hint = did_you_mean(dialect, dialects)
            if hint is None and len(dialects) <= _MOST_LISTED:
                hint = f"there are {', '.join(dialects)}"
            hint = f"no dialect is named '{dialect}'" + (f"; {hint}" if hint else "")
        # The name was consumed just before the current token. `!dialect<name>` holds
        # its two parts apart.
        text = self.lexer.input.content
        shown = name if text.find(name, start, self.pos) >= 0 else name.split(".")[-1]
        position = max(text.rfind(shown, start, self.pos), start)
        span = Span(position, position + len(shown), self.lexer.input)
        raise HintedParseError(ParseError(span, f"unknown {kind} '{name}'"), hint)


def parse_mlir(
    ctx: Context,
    text: str,
    file: str,
    sources: Sources,
    *,
    implicit_module: bool = True,
) -> ModuleOp:
    """Parses a module, or operations that a module is put around.

    Raises GinghamError, which points at the mistake in the text.
    """
    try:
        parser = LocatedParser(ctx, text, file)
    except ParseError as error:
        raise _parse_failure(error, sources) from error
    if not text[parser.pos :].strip():
        raise GinghamError(f"'{file}' holds no operation", sources.at(file, 1, 1))
    try:
        module = parser.parse_module(implicit_module)
    except ParseError as error:
        if error.msg.startswith(_UNDEFINED_VALUES):
            raise parser.undefined_values(sources) from error
        raise _parse_failure(error, sources) from error
    except RecursionError as error:
        raise GinghamError(
            "the program is nested too deeply here", _place(parser, sources)
        ) from error
    except VerifyException as error:
        raise GinghamError(
            " ".join(str(error).split()), _place(parser, sources)
        ) from error
    except GinghamError:
        raise
    except Exception as error:
        # Parsers of dialects meet invalid text with all sorts of exceptions.
        raise GinghamError(
            f"this cannot be parsed ({type(error).__name__}: {error})",
            _place(parser, sources),
        ) from error
    parser.locate_the_rest(module)
    return module


def _parse_failure(error: ParseError, sources: Sources) -> GinghamError:
    message = error.msg.strip().removesuffix(".").removesuffix("!")
    if not message[:2].isupper():
        message = message[:1].lower() + message[1:]
    message = _CLEARER.get(message, message)
    notes = []
    if isinstance(error, MultipleSpansParseError):
        notes = [
            note(text or (error.ref_text or "").rstrip(":"), sources.of_span(span))
            for span, text in error.refs
        ]
    return ToolError(message, sources.of_span(error.span), hint_of(error), notes)


def _place(parser: LocatedParser, sources: Sources) -> SourceLocation:
    """The operation that is being parsed, or else the current token."""
    starts = parser.operation_starts
    position = starts[-1] if starts else parser.pos
    return sources.of_span(Span(position, position + 1, parser.lexer.input))
