"""Programs in Python beside their Tile text: the same IR, but for names and places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

import gingham
from gingham.dialects import make_context
from gingham.edsl import Placeholder, Program
from gingham.frontend.tile_text import parse_tile

Array = NDArray[Any]


def without_names(module: ModuleOp) -> str:
    """The text of a module in which values have numbers; names of sizes stay."""
    copy = module.clone()
    for operation in copy.walk():
        for region in operation.regions:
            for block in region.blocks:
                for argument in block.args:
                    argument.name_hint = None
        for result in operation.results:
            result.name_hint = None
    return str(copy)


def program_of(function: Callable[..., Any], ranks: dict[str, int | None]) -> Program:
    """The program of a function of tensors with these names and ranks."""
    tensors = [
        Placeholder(None, None if rank is None else [None] * rank, name)
        for name, rank in ranks.items()
    ]
    return Program("test", tensors, function(*tensors))


def same_program(
    function: Callable[..., Any], text: str, ranks: dict[str, int | None]
) -> gingham.Function:
    """The function, which has to be the same program as the text.

    What is printed of it is read back to the same.
    """
    program = program_of(function, ranks)
    program.module.verify()
    assert without_names(program.module) == without_names(parse_tile(text))
    assert str(Parser(make_context(), str(program)).parse_module()) == str(program)
    return gingham.compile(program, device="reference")


def floats(*values: Any) -> Array:
    """An array of 32-bit floats."""
    return np.array(values, np.float32)


def unary(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The function; tells the type checker what a lambda takes."""
    return function


def binary(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The function; tells the type checker what a lambda takes."""
    return function


def integers(shape: Sequence[int], dtype: str = "float32", seed: int = 0) -> Array:
    """Small integers, so that sums are exact in any order."""
    generator = np.random.default_rng([seed, *shape])
    return generator.integers(-4, 5, shape).astype(dtype)
