"""Functions in files: JSON with the text or the IR, and the contents of its tensors."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from ..errors import GinghamError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from xdsl.dialects.builtin import ModuleOp

_FORMAT = "gingham.plaidml.Function 1"

Saved: TypeAlias = "dict[str, Any]"
"""What is said of a function."""

_Result = TypeVar("_Result")


def write(saved: Saved, filename: str) -> None:
    """Write what a function is. Raises GinghamError where that is not possible."""
    try:
        with open(filename, "w", encoding="utf-8") as file:
            json.dump({"format": _FORMAT, **saved}, file)
    except OSError as error:
        raise GinghamError(f"cannot write '{filename}': {error.strerror}") from error


def read(filename: str, make: Callable[[Saved], _Result]) -> _Result:
    """What is made of what a file says that a function is.

    Raises GinghamError for a file that can not be read, or of which nothing can be
    made: where `make` raises one of Python's errors.
    """
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
        return make(saved)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise _unknown(filename) from error


def _unknown(filename: str) -> GinghamError:
    return GinghamError(f"'{filename}' is no saved function")


def parsed(text: str, own: int) -> ModuleOp:
    """The module of a function, the last `own` inputs of which are its own tensors.

    Raises ValueError for what is none.
    """
    from ..dialects import make_context
    from ..dialects.bounded_parser import BoundedParser

    try:
        module = BoundedParser(make_context(), text).parse_module()
        module.verify()
    except Exception as error:
        # Parsers of dialects meet wrong text with all sorts of exceptions.
        raise ValueError(str(error)) from error
    _check_names(module, own)
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


def array_data(array: NDArray[Any]) -> Mapping[str, Any]:
    """An array as JSON has it."""
    data = base64.b64encode(array.tobytes()).decode()
    return {"dtype": array.dtype.name, "shape": list(array.shape), "data": data}


def restored(saved: Mapping[str, Any]) -> NDArray[Any]:
    """The array that `array_data` made this of."""
    import numpy as np

    from ..dialects.eltwise.numpy_types import NUMPY_NAMES, numpy_dtype

    data = base64.b64decode(saved["data"], validate=True)
    dtype = numpy_dtype(NUMPY_NAMES[saved["dtype"]])
    return np.frombuffer(data, dtype).reshape(saved["shape"])
