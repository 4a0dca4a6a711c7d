"""Functions in files: JSON with the text or the IR, and the contents of its tensors."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from ..errors import GinghamError
from .context import Context
from .devices import Device
from .functions import Function
from .tensors import Tensor

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from xdsl.dialects.builtin import ModuleOp

_FORMAT = "gingham.plaidml.Function 1"

_Saved: TypeAlias = "dict[str, Any]"


def save(function: Function, filename: str) -> None:
    """Write a function. Raises GinghamError where that is not possible."""
    if function.updated:
        raise GinghamError(
            "a function that updates tensors cannot be saved",
            hint="save one that has the updates as outputs",
        )
    saved: _Saved = {"format": _FORMAT, "name": function.name}
    if function.text is not None:
        saved["tile"] = function.text
    else:
        saved["ir"] = str(function.module)
        saved["bound"] = [_array(tensor.as_ndarray()) for tensor in function.bound]
        saved["constants"] = {
            name: _array(array) for name, array in function.constants.items()
        }
    try:
        with open(filename, "w", encoding="utf-8") as file:
            json.dump(saved, file)
    except OSError as error:
        raise GinghamError(f"cannot write '{filename}': {error.strerror}") from error


def load(ctx: Context, dev: Device, filename: str) -> Function:
    """The function in a file."""
    try:
        with open(filename, encoding="utf-8") as file:
            saved = json.load(file)
    except OSError as error:
        raise GinghamError(f"cannot read '{filename}': {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise _unknown(filename) from error
    try:
        if saved["format"] != _FORMAT:
            raise _unknown(filename)
        return _function(ctx, dev, saved)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise _unknown(filename) from error


def _unknown(filename: str) -> GinghamError:
    return GinghamError(f"'{filename}' is no saved function")


def _function(ctx: Context, dev: Device, saved: _Saved) -> Function:
    if not isinstance(saved["name"], str):
        raise TypeError("a function's name is a text")
    if "tile" in saved:
        return Function(saved["tile"], fid=saved["name"])
    bound: list[Tensor] = []
    for each in saved["bound"]:
        bound.append(Tensor.from_ndarray(ctx, dev, _restored(each)))
    constants = {name: _restored(each) for name, each in saved["constants"].items()}
    module = _parsed(saved["ir"])
    _check_names(module, len(bound) + len(constants))
    return Function.of_module(module, constants, bound, name=saved["name"])


def _parsed(text: str) -> ModuleOp:
    from ..dialects import make_context
    from ..dialects.bounded_parser import BoundedParser

    try:
        module = BoundedParser(make_context(), text).parse_module()
        module.verify()
    except Exception as error:
        # Parsers of dialects meet wrong text with all sorts of exceptions.
        raise ValueError(str(error)) from error
    return module


def _check_names(module: ModuleOp, own: int) -> None:
    """Raises ValueError unless each input and output of `@main` has a name.

    The last `own` inputs are the function's own tensors.
    """
    from xdsl.dialects.func import FuncOp

    from ..runtime.parsed import outline_of

    function = module.body.block.first_op
    if not isinstance(function, FuncOp) or function.sym_name.data != "main":
        raise ValueError("there is no function @main")
    outline, signature = outline_of(module), function.function_type
    inputs, outputs = len(signature.inputs), len(signature.outputs)
    if (len(outline.inputs), len(outline.outputs)) != (inputs, outputs) or own > inputs:
        raise ValueError("not every input and output has a name")


def _array(array: NDArray[Any]) -> Mapping[str, Any]:
    data = base64.b64encode(array.tobytes()).decode()
    return {"dtype": array.dtype.name, "shape": list(array.shape), "data": data}


def _restored(saved: Mapping[str, Any]) -> NDArray[Any]:
    import numpy as np

    from ..dialects.eltwise.numpy_types import NUMPY_NAMES, numpy_dtype

    data = base64.b64decode(saved["data"], validate=True)
    dtype = numpy_dtype(NUMPY_NAMES[saved["dtype"]])
    return np.frombuffer(data, dtype).reshape(saved["shape"])
