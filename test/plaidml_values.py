"""What operations on values give for arrays, as a composed function computes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from plaidml_tensors import Array

from gingham import plaidml
from gingham.plaidml import tile

Function: TypeAlias = (
    Callable[[Any], Any] | Callable[[Any, Any], Any] | Callable[[Any, Any, Any], Any]
)
"""An operation of one to three values, or what it is of arrays."""


def floats(*shape: int, seed: int = 0) -> Array:
    """Numbers of both signs."""
    generator = np.random.default_rng([seed, *shape])
    return generator.normal(size=shape).astype(np.float32)


def evaluated(function: Function, *arrays: Array, known: bool) -> Array:
    """The result of an operation of values of these sizes, `known` or not.

    Checks that it has the shape and the type that the value says.
    """
    ctx = plaidml.Context()
    with plaidml.Device(ctx, "reference") as dev:
        values = [
            tile.Value.from_dimensions(
                array.shape if known else [None] * array.ndim,
                plaidml.DType(array.dtype.name),
            )
            for array in arrays
        ]
        operation: Any = function
        result: tile.Value = operation(*values)
        names = [f"I{number}" for number in range(len(values))]
        inputs = list(zip(names, values, strict=True))
        f = tile.compose(ctx, dev, inputs, [("O", result)])
        invoker = plaidml.Invoker(ctx, f)
        for name, array in zip(names, arrays, strict=True):
            invoker.set_input(name, plaidml.Tensor.from_ndarray(ctx, dev, array))
        output = plaidml.Tensor(dev, invoker.get_output_shape("O"))
        invoker.set_output("O", output)
        invoker.invoke()
        found = output.as_ndarray(ctx)
    assert result.ndims == found.ndim
    for dim, size in zip(result.shape.dims, found.shape, strict=True):
        assert dim == size or (not known and isinstance(dim, tile.Value))
    assert result.shape.dtype is None or result.shape.dtype.value == found.dtype.name
    return found
