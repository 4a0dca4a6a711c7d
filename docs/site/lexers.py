"""Highlighting of Tile and of IR in MLIR's syntax, for Pygments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from pygments.lexer import RegexLexer, words
from pygments.token import (
    Comment,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Text,
)

_SPACE = (r"\s+", Text.Whitespace)
_COMMENT = (r"//.*?$", Comment.Single)
_ELISION = (r"\.{2,}", Comment)
_NUMBER = (r"\d+\.\d+(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+|0x[0-9a-fA-F]+|\d+", Number)
_STRING = (r'"(?:[^"\\]|\\.)*"', String)
_BETWEEN = [_SPACE, _COMMENT, _ELISION, _STRING]
"""What both languages have the same."""


class TileLexer(RegexLexer):
    """Tile text: tensors begin with a capital letter, indices with a small one."""

    name = "Tile"
    aliases: ClassVar[Sequence[str]] = ["tile"]
    filenames: ClassVar[Sequence[str]] = ["*.tile"]
    tokens: ClassVar = {
        "root": [
            *_BETWEEN,
            (
                words(
                    (
                        "function",
                        "polynomial",
                        "expression",
                        "contraction",
                        "default",
                        "no_defract",
                    ),
                    suffix=r"(?![\w'])",
                ),
                Keyword,
            ),
            (r"\[\[|\]\]", Name.Decorator),
            (r"(?:\$_*[A-Za-z]|_*[a-z])[\w]*'?(?=\s*\()", Name.Function),
            (r"(?:_*[A-Z]|#_*[A-Za-z])\w*'?", Name.Class),
            (r"(?:\$_*[A-Za-z]|_*[a-z])\w*'?", Name.Variable),
            _NUMBER,
            (r"->|<<|>>|[-+*/<>=!?:^|&~%]+", Operator),
            (r"[()\[\]{},;.#]", Punctuation),
        ]
    }


class MlirLexer(RegexLexer):
    """MLIR's syntax, generic and custom."""

    name = "MLIR"
    aliases: ClassVar[Sequence[str]] = ["mlir"]
    filenames: ClassVar[Sequence[str]] = ["*.mlir"]
    tokens: ClassVar = {
        "root": [
            *_BETWEEN,
            (r"[%][\w$.-]+(?:[:#]\d+)?", Name.Variable),
            (r"@[\w$.-]+", Name.Function),
            (r"\^\w+", Name.Label),
            (r"[!#][A-Za-z_][\w.]*", Keyword.Type),
            (
                r"(?:tensor|vector|memref|complex|tuple)(?=<)"
                r"|(?<![\w.])(?:[su]?i\d+|index|b?f\d+|none)\b"
                r"|(?<=x)(?:[su]?i\d+|index|b?f\d+)\b",
                Keyword.Type,
            ),
            (r"[A-Za-z_]\w*(?:\.[\w-]+)+", Name.Builtin),
            (r"\d+x(?=[\d?a-z!])|\?x|\*x", Number),
            _NUMBER,
            (r"[A-Za-z_][\w$-]*", Name),
            (r"->|>=|<=|==|[-+*/<>=?:|&^~%]", Operator),
            (r"[()\[\]{},;.#!@'`$\\]", Punctuation),
        ]
    }
