"""Element types as NumPy types, and back: the one place that says which is which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute

from .element_types import ELEMENT_TYPES, is_element_type

if TYPE_CHECKING:
    import numpy as np

_PREFIXES = {"i": "bool", "si": "int", "ui": "uint", "f": "float", "bf": "bfloat"}


def _numpy_name(name: str) -> str:
    """The NumPy name of an element type: `int8` for `si8`."""
    prefix = name.rstrip("0123456789")
    width = "" if prefix == "i" else name.removeprefix(prefix)
    return _PREFIXES[prefix] + width


NUMPY_NAMES: dict[str, Attribute] = {
    _numpy_name(name): element for name, element in ELEMENT_TYPES.items()
}
"""Every element type by the name of the NumPy type that holds it.

`i1` is `bool`; `bf16` is the `bfloat16` of the package ml_dtypes.
"""

_NAMES = {element: name for name, element in NUMPY_NAMES.items()}


def numpy_dtype(element: Attribute) -> np.dtype[Any]:
    """The NumPy type that holds an element type; sizes (`index`) are int64.

    Raises ValueError for what is not an element type.
    """
    # NumPy is imported when something is run, not when a tool starts.
    import numpy as np

    if isinstance(element, IndexType):
        return np.dtype(np.int64)
    if not is_element_type(element):
        raise ValueError(f"{element} is not an element type")
    name = _NAMES[element]
    if name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)
