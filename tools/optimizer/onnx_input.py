"""A model of ONNX as the text of its `tile` module."""

from __future__ import annotations

from collections.abc import Sequence

from ..inputs import RandomShape, assignments


def module_text(path: str, shapes: Sequence[str]) -> str:
    """The module of a model, whose last arguments are its weights.

    `shapes` has the sizes of inputs as `x=1x3x224x224`. Raises GinghamError for what is
    no model, for one whose sizes are not known, and one that is more than one program.
    """
    from ...frontend.onnx.reading import read_model
    from ...runtime.onnx.export import exported

    model = read_model(path)
    given = assignments(shapes, "--shape", model.input_names)
    sizes = {name: RandomShape.parse(name, text).sizes for name, text in given.items()}
    return exported(model, sizes).identity
