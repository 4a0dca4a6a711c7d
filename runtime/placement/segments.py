"""`split`: a program with a device for each operation, as programs for one device each.

```mlir
%A = tile.contract ... %X ... {tile.device = "intel.0"}
%B = tile.contract ... %X ... {tile.device = "nvidia.0"}
%C = eltwise.add %A, %B       {tile.device = "intel.0"}
```

becomes three segments: `%A` and `%C` can not be one, as `%B` may go ahead but has to be
there before `%C`; they can where `%A` needs no less time than to wait for `%B`. What
segments hand to each other are values by their numbers: the inputs of the program
first, then the outputs of each segment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from ...errors import GinghamError
from ...placement.grouping import device_of
from ...placement.units import (
    DEVICE_ATTRIBUTE,
    Unit,
    is_constant,
    unit_module,
)
from .grouping import NodeGroup, group

if TYPE_CHECKING:
    from ...errors import SourceLocation

LEAST_SECONDS = 2e-4
"""What is at least as long is worth a launch of its own, if others need not wait."""


@dataclass(frozen=True)
class Segment:
    """A part of a program that runs on one device in one go.

    `inputs` and `outputs` are values by their numbers, `needs` the segments that make
    the inputs.
    """

    device: str
    module: ModuleOp
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    needs: tuple[int, ...]
    urgency: int
    """How often data will still change devices behind it: the highest goes first."""
    operations: tuple[Operation, ...] = field(repr=False)
    """Those of the whole program."""

    @property
    def location(self) -> SourceLocation | None:
        """Where its first operation with a place in a source is."""
        return Unit(self.operations).location


@dataclass(frozen=True)
class Segments:
    """A program as segments, each behind those it needs."""

    segments: tuple[Segment, ...]
    input_count: int
    results: tuple[int, ...]
    """The values that the program returns, by their numbers; inputs, too."""
    value_count: int

    @property
    def users(self) -> list[list[int]]:
        """Of each value the segments that use it, by their numbers."""
        found: list[list[int]] = [[] for _ in range(self.value_count)]
        for number, segment in enumerate(self.segments):
            for value in segment.inputs:
                found[value].append(number)
        return found


def split(
    module: ModuleOp,
    default: str | None = None,
    seconds: Callable[[Sequence[Operation]], float] | None = None,
) -> Segments:
    """The segments of a specialized and flattened module.

    An operation without a device gets `default`. `seconds` tells how long operations
    take on their device; without it segments are as few as can be. With it, what others
    wait for is a segment of its own where it would else be held up.

    Raises GinghamError, located, for an operation that has no device.
    """
    function = _entry(module)
    nodes = [op for op in function.body.block.ops if _is_node(op)]
    devices = [_device(op, default) for op in nodes]
    numbers = {op: number for number, op in enumerate(nodes)}
    makers: dict[SSAValue, int] = {r: numbers[op] for op in nodes for r in op.results}
    needs = [
        sorted({makers[value] for value in op.operands if value in makers})
        for op in nodes
    ]
    times = None if seconds is None else _Times(nodes, seconds)
    groups = group(needs, devices, None if times is None else times.keep_apart)
    return _segments(function, nodes, groups)


class _Times:
    """How long groups take, to tell which should be kept apart."""

    def __init__(
        self,
        nodes: Sequence[Operation],
        seconds: Callable[[Sequence[Operation]], float],
    ) -> None:
        self._nodes = nodes
        self._seconds = seconds
        self._known: dict[NodeGroup, float] = {}

    def keep_apart(self, first: NodeGroup, second: NodeGroup) -> bool:
        """Whether one would wait for the other for longer than a launch takes."""
        # The first could be computed while the second waits for data.
        if first.level != second.level and self._of(first) >= LEAST_SECONDS:
            return True
        # The results of the first are waited for while the second is computed.
        return first.urgency != second.urgency and self._of(second) >= LEAST_SECONDS

    def _of(self, group: NodeGroup) -> float:
        if group not in self._known:
            operations = [self._nodes[node] for node in group.nodes]
            self._known[group] = self._seconds(operations)
        return self._known[group]


def _segments(
    function: FuncOp, nodes: Sequence[Operation], groups: Sequence[NodeGroup]
) -> Segments:
    arguments = function.body.block.args
    values: dict[SSAValue, int] = {value: n for n, value in enumerate(arguments)}
    segments: list[Segment] = []
    made_by: dict[int, int] = {}
    for number, each in enumerate(groups):
        unit = Unit(tuple(nodes[node] for node in each.nodes))
        inputs = tuple(values[value] for value in unit.inputs)
        for value in unit.outputs:
            values[value] = len(values)
            made_by[values[value]] = number
        outputs = tuple(values[value] for value in unit.outputs)
        needs = {made_by[value] for value in inputs if value in made_by}
        segments.append(
            Segment(
                each.device,
                unit_module(unit),
                inputs,
                outputs,
                tuple(sorted(needs)),
                each.urgency,
                unit.ops,
            )
        )
    results = tuple(values[value] for value in _returned(function))
    return Segments(tuple(segments), len(arguments), results, len(values))


def _is_node(op: Operation) -> bool:
    """Whether it is computed once somewhere; numbers are made where they are used."""
    if isinstance(op, ReturnOp):
        return False
    if all(is_constant(result) for result in op.results):
        return any(
            isinstance(u.operation, ReturnOp) for r in op.results for u in r.uses
        )
    return any(result.first_use is not None for result in op.results)


def _device(op: Operation, default: str | None) -> str:
    found = device_of(op) or default
    if found is None:
        raise GinghamError(
            f"the operation '{op.name}' has no device",
            Unit((op,)).location,
            "run tile-place first",
        )
    return found


def _returned(function: FuncOp) -> Sequence[SSAValue]:
    last = function.body.block.last_op
    if not isinstance(last, ReturnOp):
        raise GinghamError("expected the program to end in func.return")
    return last.arguments


def _entry(module: ModuleOp) -> FuncOp:
    for op in module.ops:
        if isinstance(op, FuncOp) and op.sym_name.data == "main":
            return op
    raise GinghamError("the module has no function @main")


def forced_devices(module: ModuleOp, places: Mapping[str, str]) -> None:
    """Put the attribute of a device on the operations that compute named tensors.

    Raises GinghamError for a name that no operation has any more.
    """
    named: dict[str, list[Operation]] = {}
    for op in _entry(module).body.block.ops:
        for result in op.results:
            if result.name_hint is not None and not is_constant(result):
                named.setdefault(result.name_hint, []).append(op)
    for name, device in places.items():
        if name not in named:
            raise GinghamError(
                f"no operation of its own is left that computes '{name}', to be placed "
                f"on '{device}'",
                hint=f"those that are left compute {', '.join(named) or 'nothing'}",
            )
        for op in named[name]:
            op.attributes[DEVICE_ATTRIBUTE] = StringAttr(device)


def force_all(module: ModuleOp, device: str) -> None:
    """Put the attribute of a device on every operation that has none."""
    for op in _entry(module).body.block.ops:
        if _is_node(op):
            op.attributes.setdefault(DEVICE_ATTRIBUTE, StringAttr(device))
