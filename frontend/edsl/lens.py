"""`TensorLens`: one order of axes seen as another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from .locations import error

_Item = TypeVar("_Item")


class TensorLens:
    """A tensor with axes `source` used as if they were in the order `target`.

    `TensorLens("nchw", "nhwc")`: what is written for the axes n, h, w, c is put in the
    order n, c, h, w of the tensor in memory.
    """

    def __init__(self, source: str, target: str) -> None:
        if len(set(source)) != len(source):
            raise error(f"an axis occurs twice in '{source}'")
        if sorted(source) != sorted(target):
            raise error(
                f"the axes '{source}' and '{target}' are not the same",
                "a lens changes the order of axes: TensorLens('nchw', 'nhwc')",
            )
        self.source = source
        self.target = target
        self._positions = [target.index(axis) for axis in source]

    def apply(self, items: Sequence[_Item]) -> list[_Item]:
        """Items in the order of `target`, put in the order of `source`."""
        if len(items) != len(self._positions):
            raise error(
                f"expected {len(self._positions)} axes ({self.target}), got "
                f"{len(items)}"
            )
        return [items[position] for position in self._positions]

    def undo(self, items: Sequence[_Item]) -> list[_Item]:
        """Items in the order of `source`, put in the order of `target`."""
        return [items[self.source.index(axis)] for axis in self.target]
