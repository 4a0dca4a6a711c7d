"""What of the compiler is not as its files say: what a user plugged in or patched.

What is compiled depends on that, so whoever keeps something compiled has to know. Seen
are, in the modules that make code,

* names that stand for something else, or for nothing: functions, constants, classes and
  their members, as after `StripeTilePass.apply = mine` or `model.LIMIT = 5`;
* entries that are new, others or gone in tables, which have names in capitals, as after
  `FUNCTIONS["mine"] = row`.

For that each of these modules is looked at when it has been imported.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from operator import is_
from threading import Lock
from types import FunctionType, ModuleType
from typing import Any, TypeAlias

_PACKAGE = __name__.rpartition(".")[0]
_PARTS = (
    "affine",
    "dialects",
    "frontend",
    "limits",
    "passes",
    "targets.hardware",
    "targets.c.language",
    "targets.opencl.printer",
    "targets.printer",
)
"""The parts of the package that make code; others only use it."""

Names: TypeAlias = Mapping[Any, object]
"""Those of a module or class, or a table with its keys."""
Change: TypeAlias = tuple[str, object]
"""A place, and what is there now; `_NOTHING` where it has gone."""
_NOTHING = object()


class _Namespace:
    """Names, and what they stood for at first."""

    def __init__(self, place: str, names: Names) -> None:
        self._place = place
        self._names = names
        self._first = dict(names)
        self._keys, self._values = [*names], [*names.values()]
        self._changes: list[Change] = []

    def changes(self) -> Sequence[Change]:
        """What is not as it was at first."""
        keys, values = [*self._names], [*self._names.values()]
        # Mostly all is as it was when somebody looked last.
        if keys != self._keys or not all(map(is_, values, self._values)):
            self._keys, self._values = keys, values
            self._changes = [*self._differences(dict(self._names))]
        return self._changes

    def _differences(self, now: Names) -> Iterator[Change]:
        for name in {**self._first, **now}:
            value = now.get(name, _NOTHING)
            first = self._first.get(name, _NOTHING)
            if value is first or (first is _NOTHING and _is_of_python(name, value)):
                continue
            yield f"{self._place}.{name}", value


def _is_of_python(name: object, value: object) -> bool:
    """Whether Python itself adds such a thing, for an import or when it is asked."""
    is_internal = isinstance(name, str) and name.startswith("__")
    return isinstance(value, ModuleType) or (
        is_internal and not isinstance(value, FunctionType)
    )


def _namespaces(module: ModuleType) -> Iterator[_Namespace]:
    """A module, the classes that are its own, and tables, which are in capitals."""
    pending: list[tuple[str, Names]] = [(module.__name__, vars(module))]
    seen: set[int] = set()
    for place, names in pending:
        yield _Namespace(place, names)
        for name, value in names.items():
            inner = _names_in(value, str(name), module)
            if inner is not None and id(value) not in seen:
                seen.add(id(value))
                pending.append((f"{place}.{name}", inner))


def _names_in(value: Any, name: str, module: ModuleType) -> Names | None:
    if isinstance(value, type):
        return value.__dict__ if value.__module__ == module.__name__ else None
    return value if value.__class__ is dict and name.isupper() else None


class _Watch:
    """What modules held when they had been imported; for several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._modules: dict[str, Sequence[_Namespace]] = {}
        self._changes: Sequence[Change] = ()
        self._number = 0

    def add(self, module: ModuleType) -> None:
        """Take what a module holds now for what it holds by itself."""
        self._modules[module.__name__] = [*_namespaces(module)]

    def state(self) -> int:
        """See `patched_state`."""
        with self._lock:
            namespaces = [each for found in [*self._modules.values()] for each in found]
            changes = [change for each in namespaces for change in each.changes()]
            if [*map(_identity, changes)] != [*map(_identity, self._changes)]:
                self._number += 1
                # They are kept, so that nothing else gets the identity of one of them.
                self._changes = changes
            return self._number if changes else 0

    def places(self) -> Sequence[str]:
        """Where something has changed, by the last look."""
        return [place for place, _ in self._changes]


def _identity(change: Change) -> tuple[str, int]:
    place, value = change
    return place, id(value)


_watch = _Watch()


def patched_state() -> int:
    """A number that no other state of the compiler has; 0 is as it comes.

    It is of this process: other processes have other states by the same number.
    """
    return _watch.state()


def patched_places() -> Sequence[str]:
    """What was patched when `patched_state` was last asked for."""
    return _watch.places()


class _Loader(SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        """Run the module, and look at what is there then."""
        super().exec_module(module)
        _watch.add(module)


class _Finder:
    """Finds the modules that make code as Python does, for `_Loader`."""

    def __init__(self) -> None:
        self._names = tuple(f"{_PACKAGE}.{part}" for part in _PARTS)

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """As of `importlib.abc.MetaPathFinder`."""
        if not fullname.startswith(self._names):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


def watch_imports() -> None:
    """Look at the modules of the compiler that are imported from now on."""
    sys.meta_path.insert(0, _Finder())
