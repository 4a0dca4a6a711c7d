"""`install`: the name `plaidml` for `gingham.plaidml`, for programs as they are."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

from ..errors import GinghamError

_OURS = __name__.rpartition(".")[0]
_MODULES = ("tile", "op", "settings", "exceptions", "context")
KERAS = "plaidml.keras"


class _KerasFinder:
    """Finds the package `plaidml.keras` where the distribution plaidml-keras put it.

    That is a folder `plaidml` beside other packages, which would be the package
    `plaidml` if there were no other.
    """

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """As of `importlib.abc.MetaPathFinder`."""
        if fullname != KERAS or sys.modules.get("plaidml") is not sys.modules[_OURS]:
            return None
        folders = [os.path.join(entry or os.getcwd(), "plaidml") for entry in sys.path]
        spec = PathFinder.find_spec(fullname, folders, target)
        if spec is None:
            raise ModuleNotFoundError(
                "PlaidML's package for Keras is not installed: "
                "pip install --no-deps plaidml-keras==0.6.4",
                name=fullname,
            )
        return spec


_FINDER = _KerasFinder()


def install() -> None:
    """Let `import plaidml`, `plaidml.tile`, `plaidml.op` and so on be Gingham's.

    Programs and packages for PlaidML 0.6 run as they are when they are imported after
    this call; `python -m gingham.plaidml PROGRAM ...` makes it before a program runs.
    `plaidml.keras` is that of the distribution plaidml-keras. Calling it again does
    nothing. Raises GinghamError when another `plaidml` has been imported already.
    """
    ours = sys.modules[_OURS]
    known = sys.modules.get("plaidml", ours)
    if known is not ours:
        place = getattr(known, "__file__", None) or "a folder without code"
        raise GinghamError(
            f"another plaidml is imported already: {place}",
            hint="call gingham.plaidml.install() before anything imports plaidml",
        )
    sys.modules["plaidml"] = ours
    for name in _MODULES:
        sys.modules[f"plaidml.{name}"] = importlib.import_module(f"{_OURS}.{name}")
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
