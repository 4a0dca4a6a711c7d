"""If, Loop and Scan: branches by known conditions, bodies once for each step.

A loop that takes few steps, the number of which is known, becomes as many copies of its
body. Any other runs on the host, with its body compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from ...errors import GinghamError
from ...frontend.onnx.model import described
from ...frontend.onnx.node import Unsupported
from ...frontend.onnx.tensors import dtype_of
from ...frontend.onnx.values import TensorValue, Value
from .graphs import Context, free_names, inner_source
from .walking import Walking

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnx import GraphProto, NodeProto

Control: TypeAlias = Callable[
    [Walking, Context, "NodeProto", Sequence[Value | None]],
    Sequence[Value | None],
]

MOST_UNROLLED = 64
"""Steps of a loop that are copied."""

MOST_COPIES = 4096
"""Nodes that copies of the body of a loop may have in all."""


def _attributes(node: NodeProto) -> dict[str, Any]:
    from onnx import helper

    return {each.name: helper.get_attribute_value(each) for each in node.attribute}


def _if(
    walking: Walking, context: Context, node: NodeProto, inputs: Sequence[Value | None]
) -> Sequence[Value | None]:
    """The outputs of the branch that the condition chooses, for which it is made."""
    holds = bool(_known(walking, inputs[0]).ravel()[0])
    branch = _attributes(node)["then_branch" if holds else "else_branch"]
    return walking.walk_inner(branch, {})


def _known(walking: Walking, value: Value | None) -> NDArray[Any]:
    if not isinstance(value, TensorValue):
        raise GinghamError("expected a tensor, got something else")
    try:
        return walking.array(value)
    except Unsupported as reason:
        raise GinghamError(str(reason)) from None


def _identity(
    walking: Walking, context: Context, node: NodeProto, inputs: Sequence[Value | None]
) -> Sequence[Value | None]:
    """The input itself, whatever it is."""
    return inputs


# Loop


def _loop(
    walking: Walking, context: Context, node: NodeProto, inputs: Sequence[Value | None]
) -> Sequence[Value | None]:
    """The variables of a loop behind it, and what its steps gave, stacked."""
    body: GraphProto = _attributes(node)["body"]
    limit = None if inputs[0] is None else int(_known(walking, inputs[0]).ravel()[0])
    holds = inputs[1] is None or bool(_known(walking, inputs[1]).ravel()[0])
    count = 0 if not holds else limit
    names = [each.name for each in body.input]
    if count is not None and _is_small(body, count) and _goes_on(body):
        return _copies(walking, body, count, names, inputs[2:])
    return _loop_on_host(walking, context, node, body, limit, holds, inputs[2:])


def _is_small(body: GraphProto, count: int) -> bool:
    return count <= MOST_UNROLLED and count * len(body.node) <= MOST_COPIES


def _goes_on(body: GraphProto) -> bool:
    """Whether the condition of a body is that of the step before, or true."""
    from onnx import numpy_helper

    name = body.output[0].name
    made = {output: each for each in body.node for output in each.output}
    while name in made and made[name].op_type == "Identity":
        name = made[name].input[0]
    if name == body.input[1].name:
        return True
    node = made.get(name)
    if node is not None and node.op_type == "Constant":
        return any(
            each.name == "value" and bool(numpy_helper.to_array(each.t).ravel()[0])
            for each in node.attribute
        )
    return any(
        each.name == name and bool(numpy_helper.to_array(each).ravel()[0])
        for each in body.initializer
    )


def _copies(
    walking: Walking,
    body: GraphProto,
    count: int,
    names: Sequence[str],
    initial: Sequence[Value | None],
) -> Sequence[Value | None]:
    """A loop as copies of its body."""
    import numpy as np

    variables = [*initial]
    stacks: list[list[Value]] = [[] for _ in body.output[1 + len(variables) :]]
    for step in range(count):
        first = [walking.constant(np.int64(step)), walking.constant(np.bool_(True))]
        given = dict(zip(names, [*first, *variables], strict=True))
        kept = [each for each in [*variables, *(v for s in stacks for v in s)] if each]
        with walking.holding(kept):
            _, *results = walking.walk_inner(body, _present(given))
        variables = results[: len(variables)]
        for stack, value in zip(stacks, results[len(variables) :], strict=True):
            if value is None:
                raise GinghamError("a body of a loop does not compute its outputs")
            stack.append(value)
    outputs = body.output[1 + len(variables) :]
    stacked = [
        _stacked(walking, stack, 0) if stack else walking.constant(_nothing(output))
        for stack, output in zip(stacks, outputs, strict=True)
    ]
    return [*variables, *stacked]


def _present(values: Mapping[str, Value | None]) -> dict[str, Value]:
    return {name: value for name, value in values.items() if value is not None}


def _nothing(output: Any) -> NDArray[Any]:
    """What a loop without a step gives for an output of each step."""
    import numpy as np

    type = output.type.tensor_type
    sizes = [dim.dim_value for dim in type.shape.dim]
    return np.zeros((0, *sizes), dtype_of(type.elem_type))


def _stacked(walking: Walking, values: Sequence[Value], axis: int) -> Value:
    """Tensors of one shape along a new axis."""
    import numpy as np

    from ...frontend.onnx.joining import stacked

    tensors = [value for value in values if isinstance(value, TensorValue)]
    if len(tensors) < len(values):
        raise GinghamError("the steps of a loop gave something else than tensors")
    if len({value.shape for value in tensors}) > 1:
        raise GinghamError("the steps of a loop gave tensors of several shapes")
    if all(value.is_known for value in tensors):
        known = [walking.array(value) for value in tensors]
        return walking.constant(np.stack(known, axis))
    first = tensors[0]
    axis %= len(first.shape) + 1
    shape = (*first.shape[:axis], len(tensors), *first.shape[axis:])
    made = stacked([walking.tensor(value) for value in tensors], axis)
    return walking.computed(TensorValue(first.dtype, shape, tensor=made))


def _loop_on_host(
    walking: Walking,
    context: Context,
    node: NodeProto,
    body: GraphProto,
    limit: int | None,
    holds: bool,
    initial: Sequence[Value | None],
) -> Sequence[Value | None]:
    """A loop that asks after each step whether there is another."""
    import numpy as np

    run_body, outside = _compiled(walking, context, node, body)
    variables = [value for value in initial if value is not None]
    count = len(variables)

    def run(values: Sequence[Any]) -> list[Any]:
        state, captured = [*values[:count]], values[count:]
        goes_on, step = holds, 0
        stacks: list[list[Any]] = [[] for _ in body.output[1 + count :]]
        while goes_on and (limit is None or step < limit):
            first = [np.array(step, np.int64), np.array(True)]
            condition, *results = run_body([*first, *state, *captured])
            goes_on = bool(np.asarray(condition).ravel()[0])
            state = results[:count]
            for stack, value in zip(stacks, results[count:], strict=True):
                stack.append(value)
            step += 1
        return [*state, *_joined(stacks, body.output[1 + count :])]

    reason = "how often it runs depends on what it computes"
    return walking.step(described(node), reason, run, [*variables, *outside])


def _joined(stacks: Sequence[Sequence[Any]], outputs: Iterable[Any]) -> list[Any]:
    import numpy as np

    return [
        np.stack(stack) if stack else _nothing(output)
        for stack, output in zip(stacks, outputs, strict=True)
    ]


def _compiled(
    walking: Walking, context: Context, node: NodeProto, body: GraphProto
) -> tuple[Callable[[Sequence[Any]], list[Any]], list[Value]]:
    """The body as a function of arrays, and the values from outside that it takes."""
    captured = {
        name: value
        for name in free_names(node)
        if (value := walking.value(name)) is not None
    }
    source = inner_source(body, captured, context)
    given = len(body.input)
    return walking.compiled(source), [captured[name] for name in source.inputs[given:]]


# Scan


@dataclass(frozen=True)
class _Scan:
    """What a Scan goes along: axes and directions of its inputs and outputs."""

    body: GraphProto
    states: int
    steps: int
    input_axes: Sequence[int]
    input_backward: Sequence[int]
    output_axes: Sequence[int]
    output_backward: Sequence[int]

    def position(self, number: int, step: int) -> int:
        """Where an input is looked at in a step."""
        return self.steps - 1 - step if self.input_backward[number] else step


def _scan(
    walking: Walking, context: Context, node: NodeProto, inputs: Sequence[Value | None]
) -> Sequence[Value | None]:
    """The states behind a scan, and what its steps gave, stacked."""
    if context.opsets[""] < 9:
        return walking.on_host(context, node, inputs, "a Scan over batches")
    values = [value for value in inputs if isinstance(value, TensorValue)]
    if len(values) < len(inputs):
        raise GinghamError("a Scan takes tensors only")
    scan = _scan_of(node, values)
    if not _is_small(scan.body, scan.steps):
        return _scan_on_host(walking, context, node, scan, values)
    names = [each.name for each in scan.body.input]
    states: list[Value | None] = [*values[: scan.states]]
    stacks: list[list[Value]] = [[] for _ in scan.output_axes]
    for step in range(scan.steps):
        kept = [v for v in [*values, *states, *(v for s in stacks for v in s)] if v]
        with walking.holding(kept):
            parts = [
                _part(walking, value, scan.input_axes[n], scan.position(n, step))
                for n, value in enumerate(values[scan.states :])
            ]
            given = dict(zip(names, [*states, *parts], strict=True))
            results = walking.walk_inner(scan.body, _present(given))
        states = results[: scan.states]
        for stack, value in zip(stacks, results[scan.states :], strict=True):
            if value is None:
                raise GinghamError("a body of a Scan does not compute its outputs")
            stack.append(value)
    stacked = [
        _stacked(walking, stack[::-1] if backward else stack, axis)
        for stack, axis, backward in zip(
            stacks, scan.output_axes, scan.output_backward, strict=True
        )
    ]
    return [*states, *stacked]


def _scan_of(node: NodeProto, values: Sequence[TensorValue]) -> _Scan:
    attributes = _attributes(node)
    body: GraphProto = attributes["body"]
    count = attributes["num_scan_inputs"]
    states = len(values) - count
    outputs = len(body.output) - states
    axes: Sequence[int] = attributes.get("scan_input_axes") or [0] * count
    shapes = [value.shape for value in values[states:]]
    sizes: set[int] = {shape[axis] for shape, axis in zip(shapes, axes, strict=True)}
    if len(sizes) != 1:
        raise GinghamError(f"a Scan takes inputs of one length, got {sorted(sizes)}")
    return _Scan(
        body,
        states,
        sizes.pop(),
        axes,
        attributes.get("scan_input_directions") or [0] * count,
        attributes.get("scan_output_axes") or [0] * outputs,
        attributes.get("scan_output_directions") or [0] * outputs,
    )


def _part(walking: Walking, value: TensorValue, axis: int, position: int) -> Value:
    """What an input is at a position of an axis."""
    from ...frontend.onnx.joining import part_at

    axis %= len(value.shape)
    if value.is_known:
        return walking.constant(walking.array(value).take(position, axis))
    shape = (*value.shape[:axis], *value.shape[axis + 1 :])
    made = part_at(walking.tensor(value), value.shape, axis, position)
    return walking.computed(TensorValue(value.dtype, shape, tensor=made))


def _scan_on_host(
    walking: Walking,
    context: Context,
    node: NodeProto,
    scan: _Scan,
    values: Sequence[TensorValue],
) -> Sequence[Value | None]:
    """A scan of many steps."""
    import numpy as np

    run_body, outside = _compiled(walking, context, node, scan.body)
    count = len(values)

    def run(given: Sequence[Any]) -> list[Any]:
        states, captured = [*given[: scan.states]], given[count:]
        scanned = [np.asarray(each) for each in given[scan.states : count]]
        stacks: list[list[Any]] = [[] for _ in scan.output_axes]
        for step in range(scan.steps):
            parts = [
                np.take(each, scan.position(n, step), scan.input_axes[n])
                for n, each in enumerate(scanned)
            ]
            results = run_body([*states, *parts, *captured])
            states = results[: scan.states]
            for stack, value in zip(stacks, results[scan.states :], strict=True):
                stack.append(value)
        stacked = [
            np.stack(stack[::-1] if backward else stack, axis)
            for stack, axis, backward in zip(
                stacks, scan.output_axes, scan.output_backward, strict=True
            )
        ]
        return [*states, *stacked]

    return walking.step(
        described(node), f"it takes {scan.steps} steps", run, [*values, *outside]
    )


CONTROL: Mapping[str, Control] = {
    "If": _if,
    "Loop": _loop,
    "Scan": _scan,
    "Identity": _identity,
}
"""The operators of ONNX that rows cannot say, by name."""
