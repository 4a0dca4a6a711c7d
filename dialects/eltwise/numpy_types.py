"""Element types as NumPy types, and back: the one place that says which is which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute

from ..numpy_names import ELEMENT_NAMES, dtype_of_name
from .element_types import ELEMENT_TYPES, is_element_type

if TYPE_CHECKING:
    import numpy as np

NUMPY_NAMES: dict[str, Attribute] = {
    name: ELEMENT_TYPES[element] for name, element in ELEMENT_NAMES.items()
}
"""Every element type by the name of the NumPy type that holds it."""

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
    return dtype_of_name(_NAMES[element])
