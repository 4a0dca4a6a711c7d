"""The NumPy types that hold tensors, by name, without the dialects.

A program that is compiled already needs no more than these names, and starts sooner
without the import of all operations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

ELEMENT_NAMES: dict[str, str] = {
    "bool": "i1",
    "int8": "si8",
    "uint8": "ui8",
    "int16": "si16",
    "uint16": "ui16",
    "int32": "si32",
    "uint32": "ui32",
    "int64": "si64",
    "uint64": "ui64",
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
}
"""Every element type by the name of the NumPy type that holds it.

`bfloat16` is that of the package ml_dtypes.
"""


def dtype_of_name(name: str) -> np.dtype[Any]:
    """The NumPy type of a name in `ELEMENT_NAMES`; raises KeyError for others."""
    import numpy as np

    if name not in ELEMENT_NAMES:
        raise KeyError(name)
    if name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)
