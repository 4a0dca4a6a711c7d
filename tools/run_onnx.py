"""`tile-run MODEL.onnx`: a model of ONNX, run as `gingham.onnx.load` does it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import GinghamError
from .inputs import RandomShape, assignments, load_array

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnx import ValueInfoProto

    from ..runtime.onnx.model_function import ModelFunction


class OnnxProgram:
    """A model with what the options say of it."""

    def __init__(self, options: argparse.Namespace) -> None:
        """Raises GinghamError for what is no model."""
        from ..frontend.onnx.reading import read_model

        self._model = read_model(options.file)
        self._options = options

    def function(self, device: str | None, hardware: str | None) -> ModelFunction:
        """The model as a function on a device."""
        from ..runtime.onnx.model_function import ModelFunction
        from ..runtime.options import CompileOptions

        options = self._options
        chosen = CompileOptions(
            device=device,
            hardware=hardware,
            tuned=not options.untuned,
            fast_math=options.fast_math,
        )
        return ModelFunction(self._model, chosen)

    def inputs(self, function: ModelFunction) -> list[NDArray[Any]]:
        """The arrays that the options ask for; random ones of the declared sizes."""
        options, names = self._options, function.input_names
        shapes = assignments(options.shape, "--shape", names)
        files = assignments(options.input, "--input", names)
        return [
            load_array(files[each.name])
            if each.name in files
            else _random(each, shapes.get(each.name), [options.seed, number])
            for number, each in enumerate(self._model.graph.input)
        ]


def _random(
    declared: ValueInfoProto, text: str | None, seed: Sequence[int]
) -> NDArray[Any]:
    """Random numbers for an input, of sizes that are given or that the model says."""
    from ..frontend.onnx.tensors import dtype_of
    from ..runtime.onnx.export import declared_shape

    name = declared.name
    if not declared.type.HasField("tensor_type"):
        raise GinghamError(f"input '{name}' is no tensor: call the model from Python")
    dtype = dtype_of(declared.type.tensor_type.elem_type)
    if text is not None:
        shape = RandomShape.parse(name, text)
        return RandomShape(shape.sizes, dtype, shape.origin).random(seed)
    sizes = declared_shape(declared)
    if sizes is None:
        raise GinghamError(
            f"the model does not say all sizes of input '{name}'",
            hint=f"--shape {name}=1x3x224x224 or --input {name}=FILE.npy",
        )
    return RandomShape(tuple(sizes), dtype, f"input '{name}'").random(seed)
