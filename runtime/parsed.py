"""What a function computes: its `tile` IR, or a text of which that is made when needed.

Of a text that this user has compiled before, the names of its inputs and outputs are
stored. With them a stored program runs, so that the text is parsed only where more is
wanted of it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from ..errors import GinghamError
from ..garbage import rare_collections
from .cache.programs import compiler_state, key_of, trusted_store

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from .arguments import Binding

_KIND = "outline"
_MOST_TEXTS = 64
_MOST_SHOWN = 3


@dataclass(frozen=True)
class Outline:
    """What a call has to know of a program."""

    inputs: tuple[str, ...]
    """The names of the inputs, as in the text."""
    outputs: tuple[str, ...]
    sizes: frozenset[int]
    """The positions of the inputs that the program uses as sizes."""


class _ParsedProgram:
    """What both kinds of programs have."""

    file = ""
    outline: Outline

    @property
    def text(self) -> str | None:
        """Its source; None where that is Python, or is not known."""
        return None

    def title(self, binding: Binding) -> str:
        """The program for people who look at what is stored."""
        types = [
            f"{name} {'x'.join(map(str, shape)) or 'scalar'} {dtype}"
            for name, (shape, dtype) in zip(
                self.outline.inputs, binding.signature, strict=True
            )
        ]
        if len(types) > _MOST_SHOWN:
            left_out = len(types) - _MOST_SHOWN
            types[_MOST_SHOWN:] = [f"{left_out} more"]
        name = os.path.basename(self.file).removeprefix("<string>")
        inputs, outputs = ", ".join(types), ", ".join(self.outline.outputs)
        return f"{name} ({inputs}) -> ({outputs})".lstrip()

    def show_line(self, error: GinghamError) -> None:
        """Give an error the text of the program, to show the line it points at."""
        if error.location is None or error.location.text is not None:
            return
        if self.text is None:
            from ..frontend.edsl.locations import with_text

            error.location = with_text(error.location)
        else:
            error.location = replace(error.location, text=self.text)


class ModuleProgram(_ParsedProgram):
    """A program that is there as IR, which must not change."""

    def __init__(self, module: ModuleOp, text: str | None = None) -> None:
        self.module = module
        self._text = text
        self.outline = outline_of(module)

    @property
    def text(self) -> str | None:
        """The source of the program, or of the one that this is a part of."""
        return self._text

    @cached_property
    def identity(self) -> str:
        """A text that no other program has, with the places that errors show."""
        from ..dialects.locations import text_with_places

        return text_with_places(self.module)

    def __reduce__(self) -> tuple[Any, ...]:
        """It is pickled as the text of its IR, which says where it is from."""
        return _read_program, (self.identity, self.text)


def _read_program(ir: str, text: str | None) -> ModuleProgram:
    return ModuleProgram(_read_module(ir), text)


def _read_module(ir: str) -> ModuleOp:
    from xdsl.parser import Parser

    from ..dialects import make_context

    return Parser(make_context(), ir).parse_module()


class IRProgram(_ParsedProgram):
    """A program that is there as the text of its IR: the `identity` of another one."""

    def __init__(self, identity: str, outline: Outline) -> None:
        self.identity = identity
        self.outline = outline

    @cached_property
    def module(self) -> ModuleOp:
        """Its IR, which must not change, and that a call does not need."""
        with rare_collections():
            return _read_module(self.identity)

    def __reduce__(self) -> tuple[Any, ...]:
        """It is pickled as its text."""
        return IRProgram, (self.identity, self.outline)


class TextProgram(_ParsedProgram):
    """A program that is there as text.

    `outline` and `identity` are as those of a `ModuleProgram`.
    """

    def __init__(self, text: str, file: str) -> None:
        """Raises GinghamError, located in the text, for a mistake in it."""
        self._text = text
        self.file = file
        self.identity = f"{file}\n{text}"
        self._parsed: tuple[int, ModuleOp] | None = None
        self.outline = self._known_outline() or self._new_outline()

    @property
    def text(self) -> str:
        """Its source."""
        return self._text

    @property
    def module(self) -> ModuleOp:
        """Its `tile` IR, for any shapes and types, which must not change."""
        from ..frontend.tile_text import parse_tile

        state = compiler_state()
        if self._parsed is None or self._parsed[0] != state:
            with rare_collections():
                self._parsed = state, parse_tile(self.text, self.file)
        return self._parsed[1]

    def __reduce__(self) -> tuple[Any, ...]:
        """It is pickled as its text."""
        return text_program, (self.text, self.file)

    def _known_outline(self) -> Outline | None:
        store = trusted_store()
        data = None if store is None else store.get(key_of(self.identity), _KIND)
        return None if data is None else _from_bytes(data)

    def _new_outline(self) -> Outline:
        outline = outline_of(self.module)
        store = trusted_store()
        if store is not None:
            title = ", ".join(outline.inputs)
            store.put(key_of(self.identity), _to_bytes(outline), _KIND, title)
        return outline


ParsedProgram: TypeAlias = ModuleProgram | IRProgram | TextProgram


@lru_cache(_MOST_TEXTS)
def text_program(text: str, file: str = "<string>") -> TextProgram:
    """The program of a Tile text, parsed once for all functions of that text.

    `file` is the name that locations and errors show. Raises GinghamError, located in
    the text, for a mistake in it.
    """
    return TextProgram(text, file)


def outline_of(module: ModuleOp) -> Outline:
    """The outline of a program, with the names that the frontend left."""
    from ..passes.tile.specialize import size_arguments

    inputs, outputs = _names(module)
    return Outline(inputs, outputs, size_arguments(module))


def _names(module: ModuleOp) -> Sequence[tuple[str, ...]]:
    from xdsl.dialects.builtin import ArrayAttr, StringAttr

    for operation in module.ops:
        names: list[tuple[str, ...]] = []
        for attribute in ("tile.inputs", "tile.outputs"):
            value = operation.attributes.get(attribute)
            entries = value.data if isinstance(value, ArrayAttr) else ()
            names.append(tuple(e.data for e in entries if isinstance(e, StringAttr)))
        return names
    return (), ()


def _to_bytes(outline: Outline) -> bytes:
    content = [outline.inputs, outline.outputs, sorted(outline.sizes)]
    return json.dumps(content).encode()


def _from_bytes(data: bytes) -> Outline | None:
    try:
        inputs, outputs, sizes = json.loads(data)
        if not all(isinstance(name, str) for name in (*inputs, *outputs)):
            return None
        return Outline(tuple(inputs), tuple(outputs), frozenset(map(int, sizes)))
    except (ValueError, TypeError):
        return None
