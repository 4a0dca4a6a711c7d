"""`Elements`: a part of a view, which is an array and compares like a sequence."""

from __future__ import annotations

from typing import Any

import numpy as np


class Elements(np.ndarray[Any, Any]):
    """Elements of a tensor, as an array of one axis that compares like a sequence.

    With a list, a tuple or other such elements, `==` is one truth value: whether they
    are the same. With an array of NumPy or a number it is one for each element.
    """

    def __eq__(self, other: object) -> Any:
        if isinstance(other, list | tuple | Elements):
            return self.tolist() == _listed(other)
        return super().__eq__(other)

    def __ne__(self, other: object) -> Any:
        if isinstance(other, list | tuple | Elements):
            return not self == other
        return super().__ne__(other)


def _listed(values: Any) -> Any:
    return np.asarray(values).tolist()
