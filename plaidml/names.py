"""`install`: the name `plaidml` for `gingham.plaidml`, for programs as they are."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from importlib.abc import Loader
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from ..errors import GinghamError

_OURS = __name__.rpartition(".")[0]
_MODULES = ("tile", "op", "edsl", "exec", "settings", "exceptions", "context")
KERAS = "plaidml.keras"


class _Finder:
    """Finds what programs for PlaidML import, and Python alone does not.

    The package `plaidml.keras` is where the distribution plaidml-keras put it: in a
    folder `plaidml` beside other packages, which would be the package `plaidml` if
    there were no other. And since 3.12 Python does not ask finders of the old kind in
    `sys.meta_path`, as PlaidML's for the backend of Keras is.
    """

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """As of `importlib.abc.MetaPathFinder`."""
        if fullname == KERAS and sys.modules.get("plaidml") is sys.modules[_OURS]:
            return _keras_spec(target)
        for finder in sys.meta_path:
            find_module: Any = getattr(finder, "find_module", None)
            if hasattr(finder, "find_spec") or find_module is None:
                continue
            loader = find_module(fullname, path)
            if loader is not None:
                return ModuleSpec(fullname, _OldLoader(loader), is_package=True)
        return None


class _OldLoader(Loader):
    """A loader of the old kind, which makes the module and runs it at once."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """The module."""
        return self._loader.load_module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: it has run."""


def _keras_spec(target: ModuleType | None) -> ModuleSpec:
    folders = [os.path.join(entry or os.getcwd(), "plaidml") for entry in sys.path]
    spec = PathFinder.find_spec(KERAS, folders, target)
    if spec is None:
        raise ModuleNotFoundError(
            "PlaidML's package for Keras is not installed: "
            "pip install --no-deps plaidml-keras==0.6.4",
            name=KERAS,
        )
    return spec


_FINDER = _Finder()


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
