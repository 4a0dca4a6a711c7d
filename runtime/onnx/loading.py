"""`gingham.onnx.load`: from a model to a function of arrays."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..options import CompileOptions, ProgramKeywords, spelled_out
from .model_function import ModelFunction

if TYPE_CHECKING:
    from onnx import ModelProto
    from typing_extensions import Unpack

    from ..device import Device


@spelled_out(ProgramKeywords)
def load(
    model: str | os.PathLike[str] | bytes | ModelProto,
    *,
    device: str | Device | None = None,
    **options: Unpack[ProgramKeywords],
) -> ModelFunction:
    """A model of ONNX as a function of arrays.

    `model` is the path of a file, the bytes of one, or a `ModelProto`. It may be from
    anybody: `docs/onnx.md` says what it is refused for. `device` and the other options
    are as of `gingham.compile`, but that weights are constants always; `fast_math` also
    has batch normalisations put into the convolutions before them.

    The model is compiled at its first call, and again for inputs of other sizes and for
    other values of inputs on which sizes depend. Raises GinghamError for what is no
    model, and one that names the node for what cannot be run.

    ```python
    model = gingham.onnx.load("resnet50.onnx")
    y = model(x)
    ```
    """
    from ...frontend.onnx.reading import read_model

    return ModelFunction(read_model(model), CompileOptions(device=device, **options))
