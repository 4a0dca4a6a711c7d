"""What calls of a graph run: parts in a chain, each a program, a step on the host.

What follows a part depends on the sizes of what came of the host in it, and on the
values for which what follows was made. So a part has several continuations, by a key of
these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from ..arguments import dtype_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..function import Function

Environment: TypeAlias = dict[int, Any]
"""What a run has computed, by slots: arrays, and what only the host has."""

Source: TypeAlias = "int | NDArray[Any]"
"""Where a value is found: at a slot, or known already."""

Key: TypeAlias = tuple[Any, ...]


@dataclass
class HostStep:
    """Something that the host runs between programs."""

    label: str
    """What it is, for people."""
    reason: str
    """Why no device does it; empty where it is no loss."""
    run: Callable[[Sequence[Any]], Sequence[Any]]
    inputs: Sequence[Source]
    outputs: Sequence[int]


@dataclass
class Part:
    """A program and a step on the host behind it, either of which may be missing."""

    function: Function | None = None
    inputs: Sequence[int] = ()
    outputs: Sequence[int] = ()
    input_types: Sequence[tuple[tuple[int, ...], Any]] = ()
    """Sizes and element types of the inputs of the program."""
    nodes: Sequence[str] = ()
    """The nodes that the program computes, for people."""
    host: HostStep | None = None
    born: list[int] = field(default_factory=list[int])
    """The slots that it fills whose types are known only when it has run."""
    pins: list[int] = field(default_factory=list[int])
    """The slots whose contents decide how it goes on."""
    continuations: dict[Key, Part] = field(default_factory=dict[Key, "Part"])
    results: Sequence[Source] | None = None
    """The outputs of the graph, behind the last part."""

    def run(self, environment: Environment) -> None:
        """Compute what the part does."""
        if self.function is not None:
            given = [environment[slot] for slot in self.inputs]
            results = self.function.run(given)
            environment.update(zip(self.outputs, results, strict=True))
        if self.host is not None:
            given = [found(source, environment) for source in self.host.inputs]
            results = self.host.run(given)
            environment.update(zip(self.host.outputs, results, strict=True))

    def key(self, environment: Environment) -> Key:
        """What decides how it goes on."""
        types = tuple(type_key(environment[slot]) for slot in self.born)
        return types, tuple(contents(environment[slot]) for slot in self.pins)


def found(source: Source, environment: Environment) -> Any:
    """The value at a source."""
    return environment[source] if isinstance(source, int) else source


def type_key(value: Any) -> Key:
    """Type and sizes of an array; of another thing only that it is one."""
    shape = getattr(value, "shape", None)
    return ("host",) if shape is None else (tuple(shape), dtype_name(value.dtype))


def contents(value: Any) -> bytes:
    """The elements of an array."""
    import numpy as np

    return np.asarray(value).tobytes()
