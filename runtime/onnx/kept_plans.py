"""What a walk through a graph came to, kept on disk: it takes longer than the rest.

A process that calls a model which this user has called before, with inputs of the same
types, needs no walk and no IR: the text of the program is enough to find its kernels,
which are kept, too. Only what is one program is kept. A plan is found by the nodes, the
types of inputs and constants, and the elements of small constants, as to read all
weights would take as long as to walk. The weights that the walk has looked at are read
when it is found.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from math import prod
from typing import TYPE_CHECKING, Any

from ...frontend.edsl.graph import Input
from ...frontend.onnx.inference import MOST_DATA
from ...frontend.onnx.model import DOMAIN
from ...frontend.onnx.table import has_own_rows
from ...frontend.onnx.values import TensorValue
from ..cache.programs import key_of, trusted_store
from ..parsed import IRProgram, Outline, ParsedProgram
from .segment import Segment

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .graphs import GraphSource
    from .parts import Key, Part

_KIND = "plan"
_DOMAINS = {DOMAIN, "ai.onnx.ml", "ai.onnx.preview.training"}
"""Those whose operators mean the same in each process."""
_MOST_NODE_BYTES = 16 << 20
"""Of the nodes of a graph; with more there are weights among them."""
_MOST_MADE_BYTES = 4 << 20
"""Of constants that the walk has made."""


@dataclass(frozen=True)
class Plan:
    """A graph that is one program."""

    program: ParsedProgram
    constants: Sequence[NDArray[Any]]
    """The last inputs of the program."""
    inputs: Sequence[int]
    """The slots of its first inputs."""
    outputs: Sequence[int]
    """The slots of what it computes."""
    results: Sequence[int]
    """The slots of the outputs of the graph."""
    nodes: Sequence[str]
    """The nodes that it computes, for people."""


def plan_of(
    parts: Sequence[Part],
    programs: Sequence[tuple[ParsedProgram, Sequence[NDArray[Any]]]],
) -> Plan | None:
    """What a walk has found, if that is one program and depends on no inputs' values.

    `programs` are those of the parts, with the constants that are their last inputs.
    """
    if len(parts) != 2 or len(programs) != 1:
        return None
    if any(part.host is not None or part.pins for part in parts):
        return None
    last = parts[-1]
    results = [each for each in last.results or () if isinstance(each, int)]
    if len(results) != len(last.results or ()):
        return None
    return Plan(*programs[0], last.inputs, last.outputs, results, last.nodes)


class KeptPlans:
    """The plans of one graph on disk."""

    def __init__(self, source: GraphSource) -> None:
        self._source = source
        # As many elements as inference may look at without telling.
        self._weights = {
            name: value
            for name, value in source.constants.items()
            if isinstance(value, TensorValue) and prod(value.shape) > MOST_DATA
        }

    def load(self, types: Key) -> Plan | None:
        """The plan for inputs of such types, if there is one."""
        store = trusted_store()
        key = None if store is None else self._key(types)
        data = None if store is None or key is None else store.get(key, _KIND)
        found = None if data is None else json.loads(data)
        if found is None or self._contents(found["weights"]) != found["contents"]:
            return None
        return self._from_json(found)

    def save(self, types: Key, plan: Plan, looked_at: set[TensorValue]) -> None:
        """Keep a plan, which the elements of some values have decided."""
        store = trusted_store()
        key = None if store is None else self._key(types)
        if store is None or key is None:
            return
        names = self._names()
        made = [array for array in plan.constants if id(array) not in names]
        if sum(array.nbytes for array in made) > _MOST_MADE_BYTES:
            return
        if all(array.dtype.kind in "biuf" for array in made):
            weights = [name for name, v in self._weights.items() if v in looked_at]
            decided = {"weights": weights, "contents": self._contents(weights)}
            data = json.dumps(_to_json(plan, names) | decided)
            store.put(key, data.encode(), _KIND, self._source.context.file)

    def _key(self, types: Key) -> str | None:
        """All that a plan depends on; None where it is not kept."""
        import onnx

        if self._digest is None or ("host",) in types or has_own_rows():
            return None
        return key_of(onnx.__version__, self._digest, types)

    @cached_property
    def _digest(self) -> str | None:
        """The graph without the elements of weights; None where there is too much."""
        source = self._source
        functions, opsets = source.context.functions, source.context.opsets
        own = {domain for domain, _ in functions}
        if not opsets.keys() <= own | _DOMAINS:
            return None
        protos = [*source.nodes, *functions.values()]
        if sum(each.ByteSize() for each in protos) > _MOST_NODE_BYTES:
            return None
        names = source.inputs, source.outputs, [*functions], source.context.file
        digest = sha256(repr((names, sorted(opsets.items()))).encode())
        for proto in protos:
            digest.update(sha256(proto.SerializeToString(deterministic=True)).digest())
        for name, value in source.constants.items():
            if not isinstance(value, TensorValue) or value.dtype == object:
                return None
            digest.update(repr((name, value.dtype, value.shape)).encode())
            if name not in self._weights:
                digest.update(_elements(value))
        return digest.hexdigest()

    def _contents(self, weights: Sequence[str]) -> str:
        """A digest of the elements of some weights."""
        digest = sha256()
        for name in weights:
            digest.update(_elements(self._weights[name]))
        return digest.hexdigest()

    def _names(self) -> dict[int, str]:
        """The constants of the graph as programs have them, by identity."""
        nodes = {
            name: value.tensor.node
            for name, value in self._source.constants.items()
            if isinstance(value, TensorValue) and value.tensor is not None
        }
        return {
            id(n.constant): name for name, n in nodes.items() if isinstance(n, Input)
        }

    def _from_json(self, found: Mapping[str, Any]) -> Plan:
        inputs, outputs, sizes = found["outline"]
        outline = Outline(tuple(inputs), tuple(outputs), frozenset(sizes))
        program = IRProgram(found["program"], outline)
        constants = [self._constant(each) for each in found["constants"]]
        inputs, outputs, results = found["slots"]
        return Plan(program, constants, inputs, outputs, results, found["nodes"])

    def _constant(self, text: str | Sequence[Any]) -> NDArray[Any]:
        """A constant of the graph by its name, or one that the walk has made."""
        if not isinstance(text, str):
            return _array(*text)
        value = self._source.constants[text]
        if not isinstance(value, TensorValue):
            raise TypeError(f"'{text}' is no tensor")
        node = Segment().tensor(value).node
        if not isinstance(node, Input) or node.constant is None:
            raise TypeError(f"'{text}' is no constant")
        return node.constant


def _elements(value: TensorValue) -> bytes:
    return b"" if value.array is None else value.array.tobytes()


def _to_json(plan: Plan, names: Mapping[int, str]) -> dict[str, Any]:
    outline = plan.program.outline
    return {
        "program": plan.program.identity,
        "outline": [outline.inputs, outline.outputs, [*outline.sizes]],
        "constants": [names.get(id(each)) or _text(each) for each in plan.constants],
        "slots": [plan.inputs, plan.outputs, plan.results],
        "nodes": plan.nodes,
    }


def _text(array: NDArray[Any]) -> Sequence[Any]:
    return array.dtype.str, array.shape, base64.b64encode(array.tobytes()).decode()


def _array(dtype: str, shape: Sequence[int], text: str) -> NDArray[Any]:
    import numpy as np

    return np.frombuffer(base64.b64decode(text), dtype).reshape(shape)
