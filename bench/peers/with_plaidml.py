"""PlaidML 0.7.0, which runs the same Tile programs."""

from __future__ import annotations

import sys
from importlib import import_module
from math import prod
from pathlib import Path

import numpy as np

from ..cases import Case
from .prepared import Array, Inputs, Prepared


def _installed(name):
    """The module that is installed, not the folder of that name beside `bench`.

    Nor is it the folder without code that plaidml-keras alone installs.
    """
    root, places = Path(__file__).resolve().parents[2], sys.path
    sys.path = [place for place in places if Path(place or ".").resolve() != root]
    try:
        module = import_module(name)
    finally:
        sys.path = places
    if module.__file__ is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return module


plaidml = _installed("plaidml")


def prepare(case: Case, inputs: Inputs) -> Prepared | None:
    """Bind the program to tensors of the first device that the environment allows."""
    context = plaidml.Context()
    device = plaidml.Device(context, plaidml.devices(context, limit=1)[0])

    def tensor(shape: tuple[int, ...]) -> plaidml.Tensor:
        type = plaidml.Shape(context, plaidml.DType.FLOAT32, *shape)
        return plaidml.Tensor(device, type)

    arguments = {name: tensor(array.shape) for name, array in inputs.items()}
    for name, array in inputs.items():
        with arguments[name].mmap_discard(context) as view:
            view.copy_from_ndarray(array)
            view.writeback()
    outputs = {name: tensor(shape) for name, shape in case.results.items()}
    function = plaidml.Function(case.program)
    invoker = plaidml.Invoker(context, function, inputs=arguments, outputs=outputs)
    (last, *_) = outputs.values()

    def call() -> None:
        invoker.invoke()
        with last.mmap_current():
            pass

    def results() -> list[Array]:
        call()
        arrays: list[Array] = []
        for name, shape in case.results.items():
            array = np.empty(prod(shape), np.float32)
            with outputs[name].mmap_current() as view:
                view.copy_to_ndarray(array)
            arrays.append(array.reshape(shape))
        return arrays

    return Prepared(call, results)
