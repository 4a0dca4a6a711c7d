"""Tile texts run by the reference interpreter, for arrays as they are."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from gingham.dialects.eltwise.element_types import name_of
from gingham.dialects.eltwise.numpy_types import NUMPY_NAMES
from gingham.frontend.tile_text import parse_tile
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.specialize import specialize
from gingham.targets.reference import interpret

Array = NDArray[Any]


def specialized(text: str, *arrays: Array) -> ModuleOp:
    """The module of a text for inputs such as these arrays, verified."""
    module = parse_tile(text, "test.tile")
    module.verify()
    types = [
        parse_argument_type(
            "x".join([*map(str, array.shape), name_of(NUMPY_NAMES[str(array.dtype)])])
        )
        for array in arrays
    ]
    static = specialize(module, types)
    static.verify()
    return static


def run(text: str, *arrays: Array) -> list[Array]:
    """The outputs of a text."""
    return interpret(specialized(text, *arrays), arrays)


def call(expression: str, *arrays: Array) -> Array:
    """The value of an expression of the inputs `A`, `B`, ..., of any rank."""
    names = ", ".join("ABCDE"[: len(arrays)])
    (result,) = run(f"function ({names}) -> (R) {{ R = {expression}; }}", *arrays)
    return result
