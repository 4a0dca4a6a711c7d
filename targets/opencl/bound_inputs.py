"""The fixed inputs that the arguments of launches are set to between two calls."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..backend import FixedInputs


class BoundInputs:
    """Whether arguments are set to certain fixed inputs; not thread-safe.

    Who sets one of these arguments to something else calls `forget` before.
    """

    __slots__ = ("__weakref__", "_held", "fixed")

    def __init__(self) -> None:
        self.fixed: weakref.ref[FixedInputs] | None = None
        """Those that they are set to; None where there is nothing to forget."""
        self._held: object = None

    def has(self, fixed: FixedInputs) -> bool:
        """Whether the arguments are set to these."""
        return self.fixed is not None and self.fixed() is fixed

    def hold(self, fixed: FixedInputs, held: object) -> None:
        """Know that they are, and keep `held` alive as long as somebody has `fixed`."""
        kept = weakref.ref(self)

        def forget(gone: weakref.ref[FixedInputs]) -> None:
            if (bound := kept()) is not None and bound.fixed is gone:
                bound.forget()

        self._held = held
        self.fixed = weakref.ref(fixed, forget)

    def forget(self) -> None:
        """Let go of what was held."""
        self.fixed = self._held = None
