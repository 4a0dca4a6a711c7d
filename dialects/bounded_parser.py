"""xDSL's parser with bounds, so that any text is read, or refused, in seconds.

A text of ten million characters can name an integer of four billion bits, a constant of
2^41 elements, or a type that doubles with each of forty aliases. What reading and
printing would take is counted in words while it is read, and beyond the setting
`largest_program` the text is refused where that happens. A word of the text counts one,
and as much as that again for each 64 of its characters; an operation counts 6 more,
an element of a constant a quarter, and an alias as much as what it stands for.
"""

from __future__ import annotations

import re
from math import prod
from typing import Any, Final

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyDenseElement,
    RankedStructure,
    UnregisteredAttr,
    UnregisteredOp,
)
from xdsl.ir import (
    Attribute,
    Block,
    Data,
    Operation,
    ParametrizedAttribute,
    TypeAttribute,
)
from xdsl.ir.affine import AffineMap, AffineSet
from xdsl.parser import Parser, ParserState
from xdsl.parser.affine_parser import AffineParser
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input, Position, Span
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRToken, MLIRTokenKind

from ..errors import visible
from ..limits import (
    LARGEST_INTEGER,
    MOST_BITS,
    MOST_BLOCKS,
    MOST_DIGITS,
    MOST_DIMENSIONS,
)
from ..settings import find

_CHARACTERS_OF_A_WORD: Final = 64
_WORDS_OF_AN_OPERATION: Final = 6
_ELEMENTS_OF_A_WORD: Final = 4
_INTEGER_TYPE = re.compile(r"[su]?i\d+")


class Lexer(MLIRLexer):
    """xDSL's lexer, which counts the words that it has read, up to `largest`.

    A string without an end takes xDSL's own a time that is exponential in its length.
    """

    _unescaped_characters_regex = re.compile(
        r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"'
    )

    def __init__(self, text: str, file: str, largest: int) -> None:
        super().__init__(Input(text, file))
        self.words = 0
        self.largest = largest

    def lex(self) -> MLIRToken:
        """The next word.

        Raises ParseError behind the last of as many words as a program may have.
        """
        token = super().lex()
        span = token.span
        self.words += 1 + (span.end - span.start) // _CHARACTERS_OF_A_WORD
        if self.words > self.largest:
            raise self.too_large(span)
        return token

    def charge(self, words: int, span: Span[str]) -> None:
        """Count words that are not in the text."""
        self.words += words
        if self.words > self.largest:
            raise self.too_large(span)

    def too_large(self, span: Span[str]) -> ParseError:
        """The error where what has been read is more than `largest` words."""
        return ParseError(
            Span(span.start, span.start + 1, self.input),
            f"the program is too large: up to here it counts more than {self.largest} "
            "words (the setting largest_program allows more)",
        )

    def _lex_number(self, start_pos: Position) -> MLIRToken:
        token = super()._lex_number(start_pos)
        length = token.span.end - start_pos
        if length > MOST_DIGITS:
            raise ParseError(
                Span(start_pos, start_pos + 1, self.input),
                f"expected a number of at most {MOST_DIGITS} digits, got {length}",
            )
        return token


class BoundedParser(Parser):
    """xDSL's parser; raises ParseError where the text would take too much."""

    def __init__(self, ctx: Context, text: str, file: str = "<unknown>") -> None:
        super().__init__(ctx, "", file)
        self.bounded_lexer = Lexer(text, file, find("largest_program").value)
        self._parser_state = ParserState(self.bounded_lexer)
        self.aliases = _Aliases(self)
        self.attribute_aliases = self.aliases

    def parse_operation(self) -> Operation:
        """One operation with its regions.

        Raises ParseError where operations, with what they take of memory, get too many.
        """
        self.charge(_WORDS_OF_AN_OPERATION)
        place = self._current_token.span
        op = super().parse_operation()
        if isinstance(op, UnregisteredOp):
            self._require_visible(op.op_name.data, "an operation's name", place)
        return op

    def charge(self, words: int) -> None:
        """Count words that stand for what the current one leads to."""
        self.bounded_lexer.charge(words, self._current_token.span)

    def _parse_block(self) -> Block:
        place = self._current_token.span
        if len(self.blocks) > MOST_BLOCKS:
            self.raise_error(
                f"expected at most {MOST_BLOCKS} blocks in a region", place
            )
        return super()._parse_block()

    def _parse_alias_def(self) -> None:
        name, before = self._current_token.text, self.bounded_lexer.words
        super()._parse_alias_def()
        self.aliases.words[name] = self.bounded_lexer.words - before

    def _parse_optional_integer_or_float_type(self) -> TypeAttribute | None:
        name = self._current_token.text
        if self._current_token.kind is MLIRTokenKind.BARE_IDENT and (
            _INTEGER_TYPE.fullmatch(name)
        ):
            width = name.lstrip("sui")
            if len(width) > MOST_DIGITS or int(width) > MOST_BITS:
                self.raise_error(f"expected an integer of at most {MOST_BITS} bits")
        return super()._parse_optional_integer_or_float_type()

    def _parse_dialect_type_or_attribute_body(
        self,
        attr_name: str,
        is_type: bool,
        is_opaque: bool,
        starting_opaque_pos: Position | None,
    ) -> UnregisteredAttr | ParametrizedAttribute | Data[Any]:
        place = self._current_token.span
        attribute = super()._parse_dialect_type_or_attribute_body(
            attr_name, is_type, is_opaque, starting_opaque_pos
        )
        if isinstance(attribute, UnregisteredAttr):
            self._require_visible(attribute.value.data, "an attribute", place)
        return attribute

    def _require_visible(self, text: str, what: str, place: Span[str]) -> None:
        """Refuse what is printed as it is and a terminal would obey."""
        if visible(text) != text:
            self.raise_error(f"expected {what} without control characters", place)

    def parse_integer(
        self,
        allow_boolean: bool = True,
        allow_negative: bool = True,
        context_msg: str = "",
    ) -> int:
        """An integer.

        Raises ParseError for one that 64 bits with a sign do not hold.
        """
        place = self._current_token.span
        value = super().parse_integer(allow_boolean, allow_negative, context_msg)
        if not -LARGEST_INTEGER - 1 <= value <= LARGEST_INTEGER:
            self.raise_error("expected an integer that 64 bits hold", place)
        return value

    def parse_shape_dimension(self, allow_dynamic: bool = True) -> int:
        """A size of a type, `?` where that may be.

        Raises ParseError for one that 64 bits with a sign do not hold.
        """
        place = self._current_token.span
        size = super().parse_shape_dimension(allow_dynamic)
        if size > LARGEST_INTEGER:
            self.raise_error("expected a size that 64 bits hold", place)
        return size

    def _parse_dense_literal_type(self) -> RankedStructure[AnyDenseElement]:
        place = self._current_token.span
        declared = super()._parse_dense_literal_type()
        elements = prod(declared.get_shape())
        self.bounded_lexer.charge(elements // _ELEMENTS_OF_A_WORD, place)
        return declared

    def parse_affine_map(self) -> AffineMap:
        """A map such as `(d0) -> (2 * d0)`; raises ParseError for many dimensions."""
        return _BoundedAffineParser(self._parser_state).parse_affine_map()

    def parse_affine_set(self) -> AffineSet:
        """A set such as `(d0) : (d0 >= 0)`; raises ParseError for many dimensions."""
        return _BoundedAffineParser(self._parser_state).parse_affine_set()


class _Aliases(dict[str, Attribute]):
    """What aliases stand for; each counts where it is used."""

    def __init__(self, parser: BoundedParser) -> None:
        super().__init__()
        self.parser = parser
        self.words: dict[str, int] = {}

    def __getitem__(self, name: str) -> Attribute:
        self.parser.charge(self.words.get(name, 0))
        return super().__getitem__(name)


class _BoundedAffineParser(AffineParser):
    """Names are looked up in lists, which are to be short."""

    def _parse_affine_space(self) -> tuple[list[str], list[str]]:
        place = self._current_token.span
        dims, symbols = super()._parse_affine_space()
        if len(dims) + len(symbols) > MOST_DIMENSIONS:
            self.raise_error(
                f"expected at most {MOST_DIMENSIONS} dimensions and symbols, got "
                f"{len(dims) + len(symbols)}",
                place,
            )
        return dims, symbols
