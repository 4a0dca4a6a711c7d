"""Layers that draw random numbers: they go on to do so, outside of programs.

A dropout multiplies its input by what it makes of ones, and a layer of noise adds what
it makes of zeros. That is drawn by the layer itself, in an operator that graphs do not
look into, so that a model has the numbers that Keras would have had.
"""

from __future__ import annotations

import itertools
from typing import Any
from weakref import WeakValueDictionary

import keras
import torch

_MULTIPLYING = (
    keras.layers.Dropout,
    keras.layers.SpatialDropout1D,
    keras.layers.SpatialDropout2D,
    keras.layers.SpatialDropout3D,
    keras.layers.GaussianDropout,
)
_ADDING = (keras.layers.GaussianNoise,)

_serials = itertools.count()
_layers: WeakValueDictionary[int, Any] = WeakValueDictionary()


@torch.library.custom_op(
    "gingham::drawn_by_layer",
    mutates_args=(),
    tags=(torch.Tag.nondeterministic_seeded,),
)
def _drawn(layer: int, use: int, start: float, sizes: list[int]) -> torch.Tensor:
    """What a layer makes of a tensor of one number; `use` tells its calls apart."""
    known = _layers[layer]
    dtype = getattr(torch, known.compute_dtype)
    with torch.no_grad():
        return type(known).call(known, torch.full(sizes, start, dtype=dtype), True)


@_drawn.register_fake
def _(layer: int, use: int, start: float, sizes: list[int]) -> torch.Tensor:
    return torch.empty(sizes, dtype=getattr(torch, _layers[layer].compute_dtype))


class RandomLayer:
    """A layer of a model whose call leaves what is random to `_drawn` for a while."""

    def __init__(self, layer: Any) -> None:
        self._layer = layer
        self._serial = next(_serials)
        self.variables = list(layer.variables)
        _layers[self._serial] = layer

    def enter(self) -> None:
        """Have its call stand for numbers that are drawn later."""
        object.__setattr__(self._layer, "call", self._call)

    def leave(self) -> None:
        """Have its own call again."""
        object.__delattr__(self._layer, "call")

    def _call(self, inputs: Any, training: bool = False) -> Any:
        layer = self._layer
        share = getattr(layer, "rate", 0) or getattr(layer, "stddev", 0)
        if not (training and share):
            return inputs
        adds = isinstance(layer, _ADDING)
        start = 0.0 if adds else 1.0
        drawn = _drawn(self._serial, next(_serials), start, list(inputs.shape))
        return inputs + drawn if adds else inputs * drawn


def drawn_outside(model: Any) -> list[RandomLayer]:
    """The layers of a model that draw random numbers as is said above."""
    return [
        RandomLayer(layer)
        for layer in model._flatten_layers(include_self=False)
        if type(layer) in (*_MULTIPLYING, *_ADDING)
    ]
