"""A graph as a function of arrays, which is walked once for inputs of some types."""

from __future__ import annotations

from collections.abc import Sequence
from threading import RLock
from typing import Any

from ..options import CompileOptions
from .graphs import GraphSource
from .parts import Environment, Key, Part, found, type_key
from .planner import Planner


class Session:
    """What has been found out about a graph, for all calls so far.

    May be used from several threads.
    """

    def __init__(self, source: GraphSource, options: CompileOptions) -> None:
        self.source = source
        self.options = options
        self._roots: dict[Key, Part] = {}
        self._lock = RLock()

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """The outputs for inputs in order."""
        arrays = [as_value(array) for array in arrays]
        key = tuple(type_key(array) for array in arrays)
        root = self._roots.get(key)
        if root is not None:
            results = self._follow(root, arrays)
            if results is not None:
                return results
        with self._lock:
            root = self._roots.setdefault(key, Part())
            return Planner(self, root, arrays).run()

    def inner(self, source: GraphSource) -> Session:
        """A session for a graph in a node."""
        return Session(source, self.options)

    def _follow(self, part: Part | None, arrays: Sequence[Any]) -> list[Any] | None:
        """The outputs by what is known; None where it is not known how to go on."""
        environment: Environment = dict(enumerate(arrays))
        while part is not None:
            part.run(environment)
            if part.results is not None:
                return self.results(part, environment)
            part = part.continuations.get(part.key(environment))
        return None

    def results(self, part: Part, environment: Environment) -> list[Any]:
        """The outputs of the graph, behind its last part."""
        return [found(source, environment) for source in part.results or ()]

    @property
    def parts(self) -> list[Part]:
        """All parts, in the order in which they run."""
        found: list[Part] = []
        pending = [*self._roots.values()]
        while pending:
            part = pending.pop()
            found.append(part)
            pending += part.continuations.values()
        return found


def as_value(value: Any) -> Any:
    """What a call gives as an array; lists and None stay what they are.

    Text is an array of objects, as in ONNX itself.
    """
    import numpy as np

    if value is None or isinstance(value, list | dict):
        return value
    array = value if hasattr(value, "shape") and not isinstance(value, np.generic) else (
        np.asarray(value)
    )
    return array.astype(object) if array.dtype.kind in "UST" else array
