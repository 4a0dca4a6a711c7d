"""Gradients of Tile programs: by the compiler, and by differences of results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser

from gingham.dialects import make_context
from gingham.frontend.tile_text import parse_tile
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.differentiate import TileDifferentiatePass
from gingham.passes.tile.differentiate.requests import request_gradients
from gingham.passes.tile.specialize import specialize
from gingham.targets.reference import interpret

Array = NDArray[Any]

_ELEMENTS = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16"}
_INTEGERS = {"int32": "si32", "bool": "i1", "int64": "si64", "uint32": "ui32"}


def specialized(text: str, arrays: Sequence[Array]) -> ModuleOp:
    """The program for arguments of these shapes and types, its gradients expanded.

    Tile text, or a function of the IR that is specialized.
    """
    if text.lstrip().startswith("func.func"):
        module = Parser(make_context(), text).parse_module()
        TileDifferentiatePass().apply(Context(), module)
        return module
    names = _ELEMENTS | _INTEGERS
    types = ["x".join([*map(str, a.shape), names[a.dtype.name]]) for a in arrays]
    module = specialize(parse_tile(text), [parse_argument_type(t) for t in types])
    TileDifferentiatePass().apply(Context(), module)
    return module


def differentiated(
    text: str, arrays: Sequence[Array], wrt: Sequence[str] = (), loss: str | None = None
) -> ModuleOp:
    """The program with the gradients of a result by some arguments as more results."""
    module = specialized(text, arrays)
    (function,) = module.ops
    assert isinstance(function, FuncOp)
    request_gradients(function, loss, wrt)
    TileDifferentiatePass().apply(Context(), module)
    module.verify()
    return module


def gradients(
    text: str, arrays: Sequence[Array], wrt: Sequence[str] = (), loss: str | None = None
) -> list[Array]:
    """The gradients of a result by some arguments, by all of floats if none is named.

    Run by the reference interpreter.
    """
    module = differentiated(text, arrays, wrt, loss)
    results = interpret(module, list(arrays))
    return results[len(interpret(specialized(text, arrays), list(arrays))) :]


def slope(
    text: str, arrays: Sequence[Array], number: int, direction: Array, step: float
) -> float:
    """How the sum of the first result changes along a direction of one argument.

    The symmetric quotient of differences, per unit of `direction`.
    """
    module = specialized(text, arrays)

    def total(offset: float) -> float:
        moved = list(arrays)
        shifted = np.asarray(arrays[number] + offset * direction)
        moved[number] = shifted.astype(arrays[number].dtype)
        return float(np.sum(interpret(module, moved)[0], dtype=np.float64))

    return (total(step) - total(-step)) / (2 * step)


def assert_gradient(
    text: str,
    arrays: Sequence[Array],
    *,
    step: float = 1e-5,
    tolerance: float = 1e-6,
    seed: int = 0,
) -> list[Array]:
    """Compare the gradients by all arguments of f64 with differences; return them."""
    random = np.random.default_rng(seed)
    found = gradients(text, arrays)
    numbers = [n for n, array in enumerate(arrays) if array.dtype == np.float64]
    assert len(found) == len(numbers)
    for number, gradient in zip(numbers, found, strict=True):
        assert gradient.shape == arrays[number].shape
        assert gradient.dtype == arrays[number].dtype
        for _ in range(2):
            direction = random.uniform(-1, 1, arrays[number].shape)
            wanted = slope(text, arrays, number, direction, step)
            np.testing.assert_allclose(
                np.sum(gradient * direction), wanted, rtol=tolerance, atol=tolerance
            )
    return found
