"""The walk through a graph: what runs on the device, what on the host, and when.

A walk is made for the values of a call, and runs what it has found as it goes, since
sizes behind a step on the host are known only when that has run.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import TensorType

from ...dialects.eltwise.numpy_types import NUMPY_NAMES, numpy_dtype
from ...errors import GinghamError
from ...frontend.edsl.known_types import note_type, type_of
from ...frontend.edsl.locations import one_operation
from ...frontend.edsl.tensors import Tensor, cast
from ...frontend.onnx.attributes import bound, with_defaults
from ...frontend.onnx.inference import infer_outputs
from ...frontend.onnx.model import described, domain_of, location_of
from ...frontend.onnx.node import Node, Unsupported
from ...frontend.onnx.table import rows
from ...frontend.onnx.tensors import check_sizes, is_computable
from ...frontend.onnx.values import HostValue, TensorValue, Value
from ...limits import MOST_GRAPHS, MOST_NODES
from .bodies import body_of
from .control import CONTROL
from .folding import constant, folded
from .graphs import Context, Frame, GraphSource, free_names
from .host import HostNode
from .parts import HostStep, Part, Source
from .segment import Segment

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnx import NodeProto
    from onnx.defs import OpSchema

    from ..parsed import ModuleProgram
    from .walking import Programs

MOST_PINNED = 1024
"""Elements of a value that a program may be made for."""


class Planner:
    """One walk through the graph of a session."""

    def __init__(self, session: Programs, root: Part, arrays: Sequence[Any]) -> None:
        """`root` is the part before all others, for inputs of such types."""
        self.session = session
        self.environment: dict[int, Any] = {}
        self._path = [root]
        self._birth: dict[int, Part] = {}
        self._frames: list[Frame] = []
        self._held: list[Sequence[Value]] = []
        self._segment = Segment()
        self._nodes: Sequence[str] = ()
        self._count = 0
        self.looked_at: set[TensorValue] = set()
        """The known values whose elements have decided what is made."""
        self.programs: list[tuple[ModuleProgram, Sequence[NDArray[Any]]]] = []
        """The programs so far, with the constants that are their last inputs."""
        self.outer_values: dict[str, Value] = {}
        for name, array in zip(session.source.inputs, arrays, strict=True):
            self.outer_values[name] = self.placed(name, array, root)

    # Values

    def value(self, name: str) -> Value | None:
        """What a name stands for in the graph that is being walked."""
        return self._frames[-1].value(name)

    def placed(self, name: str, value: Any, part: Part) -> Value:
        """Something that a run has, at a new slot; `part` is what filled it."""
        import numpy as np

        slot = len(self.environment)
        self.environment[slot] = value
        self._birth[slot] = part
        if not hasattr(value, "dtype") or value.dtype.kind in "OUST":
            return HostValue(slot, name)
        known = np.array(value) if 0 in value.shape else None
        return TensorValue(value.dtype, tuple(value.shape), known, slot=slot, name=name)

    def tensor(self, value: TensorValue) -> Tensor:
        """A value as a tensor of the program that is being built."""
        return self._segment.tensor(value)

    def array(self, value: TensorValue) -> NDArray[Any]:
        """The elements of a value, which what follows is made for."""
        if value.array is not None:
            self.looked_at.add(value)
            return value.array
        size = 1
        for each in value.shape:
            size *= each
        if size > MOST_PINNED:
            raise Unsupported(f"it depends on the values of {size} elements")
        if value.slot is None:
            self._close([value])
        slot = self._slot(value)
        pins = self._birth[slot].pins
        if slot not in pins:
            pins.append(slot)
            self._birth[slot].continuations.clear()
        import numpy as np

        value.array = np.array(self.environment[slot])
        value.tensor = None
        return value.array

    def _slot(self, value: Value) -> int:
        if value.slot is None:
            raise ValueError(f"'{value.name}' has no place")
        return value.slot

    @contextmanager
    def holding(self, values: Sequence[Value]) -> Generator[None]:
        """Keep values that no name of a graph stands for."""
        self._held.append(values)
        try:
            yield
        finally:
            self._held.pop()

    def source(self, value: Value) -> Source:
        """Where a step on the host finds a value; what computes it is run before."""
        if isinstance(value, TensorValue) and value.array is not None:
            return value.array
        if value.slot is None:
            self._close([])
        return self._slot(value)

    # The walk

    def run(self) -> list[Any]:
        """The outputs of the graph."""
        graph = self.session.source
        values = dict(graph.constants) | self.outer_values
        found = self.walk(graph.nodes, graph.outputs, values, graph.context)
        outputs = [value for value in found if value is not None]
        if len(outputs) < len(found):
            name = graph.outputs[found.index(None)]
            raise GinghamError(f"nothing computes the output '{name}'")
        with self.holding(outputs):
            self._close([])
        last = self._path[-1]
        last.results = [self.source(value) for value in outputs]
        for part, following in zip(self._path[:-1], self._path[1:], strict=True):
            part.continuations[part.key(self.environment)] = following
        return self.session.results(last, self.environment)

    def walk(
        self,
        nodes: Sequence[NodeProto],
        outputs: Sequence[str],
        values: dict[str, Value],
        context: Context,
        outer: Frame | None = None,
    ) -> list[Value | None]:
        """The outputs of a graph, or of the body of a function.

        None for one that nothing computes, which is right where nobody asks for it.
        """
        if len(self._frames) > 4 * MOST_GRAPHS:
            raise GinghamError("too many graphs and functions are inside each other")
        frame = Frame(nodes, outputs, values, context, outer)
        self._frames.append(frame)
        for position, node in enumerate(nodes):
            frame.position = position
            self._visit(frame, node, position)
        frame.position = len(nodes)
        self._frames.pop()
        return [frame.value(name) for name in outputs]

    def walk_inner(self, graph: Any, values: Mapping[str, Value]) -> list[Value | None]:
        """The outputs of a graph in the node that is being visited."""
        from .graphs import constants_of

        outer = self._frames[-1]
        outputs = [each.name for each in graph.output]
        inside = constants_of(graph) | dict(values)
        return self.walk(graph.node, outputs, inside, outer.context, outer)

    @property
    def host_steps(self) -> list[HostStep]:
        """What the host has run, in order."""
        return [part.host for part in self._path if part.host is not None]

    def compiled(self, source: GraphSource) -> Callable[[Sequence[Any]], list[Any]]:
        """A graph as a function of arrays."""
        return self.session.inner(source).run

    def _visit(self, frame: Frame, node: NodeProto, position: int) -> None:
        self._count += 1
        if self._count > MOST_NODES:
            raise GinghamError(
                f"{described(node)}: the model runs more than {MOST_NODES} nodes"
            )
        node = bound(node, frame.context.attributes)
        location = location_of(frame.context.file, position)
        inputs: list[Value | None] = [frame.value(name) for name in node.input]
        for name, value in zip(node.input, inputs, strict=True):
            if name and value is None:
                raise GinghamError(
                    f"{described(node)}: nothing computes '{name}'", location
                )
        try:
            with one_operation(location):
                outputs = self._outputs(frame.context, node, inputs)
        except GinghamError as error:
            if error.location is None:
                error.location = location
            if described(node) not in error.message:
                error.message = f"{described(node)}: {error.message}"
            raise
        except Exception as error:
            # A row meets what no valid model says with whatever Python has for it.
            reason = f"{type(error).__name__}: {error}"
            raise GinghamError(
                f"{described(node)} cannot be compiled: {reason}", location
            ) from error
        for name, value in zip(node.output, outputs, strict=False):
            if name and value is not None:
                value.name = value.name or name
                frame.values[name] = value

    def _outputs(
        self, context: Context, node: NodeProto, inputs: Sequence[Value | None]
    ) -> Sequence[Value | None]:
        domain = domain_of(node.domain)
        function = context.functions.get((domain, node.op_type))
        if function is not None:
            return self._called(node, function, inputs, context)
        from onnx import defs

        schema = defs.get_schema(node.op_type, context.opsets[domain], domain)
        control = CONTROL.get(node.op_type) if not domain else None
        if control is not None:
            return control(self, context, node, inputs)
        return self._computed(context, node, schema, inputs)

    def _computed(
        self,
        context: Context,
        node: NodeProto,
        schema: OpSchema,
        inputs: Sequence[Value | None],
    ) -> Sequence[Value | None]:
        """The outputs of an operator: known, on the device, expanded, on the host."""
        row = rows().get((domain_of(node.domain), node.op_type))
        reason = "there is no row for it"
        if row is not None:
            try:
                self._know(row.known, inputs)
            except Unsupported as unsupported:
                row, reason = None, str(unsupported)
        expected = infer_outputs(node, schema, inputs, context.opsets)
        opset = context.opsets[domain_of(node.domain)]
        known = folded(context, node, inputs, expected)
        if known is not None:
            self.looked_at.update(v for v in inputs if isinstance(v, TensorValue))
            return known
        if row is not None:
            view = Node(node, schema, opset, inputs, expected, self)
            try:
                return self._lowered(view, row.lower(view), expected)
            except Unsupported as unsupported:
                reason = str(unsupported)
        body = body_of(node, schema, opset, inputs)
        if body is not None:
            attributes = with_defaults(node, schema)
            return self._body(body, attributes, inputs, context)
        return self.on_host(context, node, inputs, reason)

    # Known before the model runs

    def _know(self, positions: Sequence[int], inputs: Sequence[Value | None]) -> None:
        """Know the inputs on whose values a program depends."""
        for position in positions:
            value = inputs[position] if position < len(inputs) else None
            if isinstance(value, TensorValue):
                self.array(value)

    def constant(self, array: Any) -> TensorValue:
        """An array or number of NumPy as a value."""
        return constant(array)

    # On the device

    def _lowered(
        self, node: Node, result: Any, expected: Mapping[str, TensorValue]
    ) -> list[Value | None]:
        """What a row made, as values."""
        made = several(result)
        outputs: list[Value | None] = []
        for position, name in enumerate(node.proto.output):
            tensor = made[position] if position < len(made) else None
            if not name or tensor is None:
                outputs.append(None)
                continue
            outputs.append(self._new_value(node, name, tensor, expected.get(name)))
        self._segment.nodes.append(str(node))
        return outputs

    def _new_value(
        self, node: Node, name: str, made: Any, known: TensorValue | None
    ) -> Value:
        import numpy as np

        if isinstance(made, TensorValue | HostValue):
            return made
        if isinstance(made, np.ndarray | np.generic):
            return constant(made)
        if not isinstance(made, Tensor):
            raise ValueError(f"{node}: a row gave {type(made).__name__}")
        if known is not None and _is_as_expected(node, made, known):
            note_type(made.node, TensorType(NUMPY_NAMES[known.dtype.name], known.shape))
            return self.computed(replace(known, tensor=made, name=name))
        actual = self._typed(node, made)
        if known is None:
            known = actual
        if not is_computable(known.dtype):
            raise Unsupported(f"elements of type {known.dtype.name}")
        if known.shape != actual.shape:
            raise ValueError(f"{node}: {actual.shape} is to be {known.shape}")
        if known.dtype != actual.dtype:
            made = cast(made, known.dtype)
        return self.computed(replace(known, tensor=made, name=name))

    def computed(self, value: TensorValue) -> TensorValue:
        """A value with a tensor that the program which is being built computes."""
        self._segment.add(value)
        return value

    def _typed(self, node: Node, made: Tensor) -> TensorValue:
        """The type that a tensor has."""
        type = type_of(made.node)
        dtype, sizes = numpy_dtype(type.element_type), tuple(type.get_shape())
        check_sizes(sizes, dtype.itemsize, f"{node}: an output")
        return TensorValue(dtype, sizes)

    # Functions

    def _called(
        self,
        node: NodeProto,
        function: Any,
        inputs: Sequence[Value | None],
        context: Context,
    ) -> list[Value | None]:
        """The outputs of a function of the model."""
        attributes = {each.name: each for each in function.attribute_proto}
        attributes.update({each.name: each for each in node.attribute})
        return self._body(function, attributes, inputs, context)

    def _body(
        self,
        function: Any,
        attributes: Mapping[str, Any],
        inputs: Sequence[Value | None],
        context: Context,
    ) -> list[Value | None]:
        values: dict[str, Value] = {
            name: value
            for name, value in zip(function.input, inputs, strict=False)
            if value is not None
        }
        opsets = dict(context.opsets)
        opsets.update(
            {domain_of(each.domain): each.version for each in function.opset_import}
        )
        inside = replace(context, opsets=opsets, attributes=attributes)
        with self.holding([value for value in inputs if value is not None]):
            return self.walk(function.node, function.output, values, inside)

    # On the host

    def on_host(
        self,
        context: Context,
        node: NodeProto,
        inputs: Sequence[Value | None],
        reason: str,
    ) -> list[Value | None]:
        """The outputs of a node that the reference implementation computes."""
        host = HostNode(node, context.opsets, free_names(node))
        frame = self._frames[-1]
        given = [frame.value(name) for name in host.names]
        results = self.step(
            described(node), reason, host.run, [v for v in given if v is not None]
        )
        values = iter(results)
        return [next(values) if name else None for name in node.output]

    def step(
        self,
        label: str,
        reason: str,
        run: Any,
        inputs: Sequence[Value],
    ) -> list[Value]:
        """Run something on the host; its results are values from then on."""
        if not self._segment.is_empty:
            with self.holding(inputs):
                self._close([])
        sources = [self.source(value) for value in inputs]
        part = self._path[-1]
        if part.host is not None or len(self._path) == 1:
            part = self._follow(Part())
        step = HostStep(label, reason, run, sources, ())
        part.host = step
        results = run(
            [s if not isinstance(s, int) else self.environment[s] for s in sources]
        )
        values = [self.placed("", result, part) for result in results]
        step.outputs = [self._slot(value) for value in values]
        part.born += step.outputs
        return values

    def _close(self, wanted: Sequence[TensorValue]) -> None:
        """End the program that is being built and run it."""
        live: dict[TensorValue, None] = {value: None for value in wanted}
        for values in (*(frame.live for frame in self._frames), *self._held):
            for value in values:
                if isinstance(value, TensorValue) and self._is_computed(value):
                    live[value] = None
        segment, self._segment = self._segment, Segment()
        if not live:
            return
        with one_operation(location_of(self.session.source.context.file, 0)):
            program, constants, inputs = segment.closed([*live])
        self._nodes = segment.nodes
        self.run_program(program, constants, inputs, [*live])

    def run_program(
        self,
        program: ModuleProgram,
        constants: Sequence[NDArray[Any]],
        inputs: Sequence[int],
        wanted: Sequence[TensorValue],
    ) -> None:
        """Run a program, which gives some values their slots."""
        self.programs.append((program, constants))
        function = self.session.function(program, constants)
        part = self._follow(Part(function, inputs, nodes=self._nodes))
        given = [self.environment[slot] for slot in inputs]
        part.input_types = [(tuple(each.shape), each.dtype) for each in given]
        slots: list[int] = []
        for value, result in zip(wanted, function.run(given), strict=True):
            slots.append(self._slot(self.placed(value.name, result, part)))
            value.slot = slots[-1]
        part.outputs = slots

    @property
    def parts(self) -> Sequence[Part]:
        """The parts so far."""
        return self._path

    def _is_computed(self, value: TensorValue) -> bool:
        return value.array is None and value.slot is None and value.tensor is not None

    def _follow(self, part: Part) -> Part:
        self._path.append(part)
        return part


def _is_as_expected(node: Node, made: Tensor, known: TensorValue) -> bool:
    """Whether a tensor is of a type without asking passes for it, which takes longer.

    Its sizes are known, and floats of one type, all that a node has, stay of it.
    """
    given = {each.dtype for each in node.inputs if isinstance(each, TensorValue)}
    is_float = known.dtype.name in ("float16", "bfloat16", "float32", "float64")
    sizes = made.node.known_sizes
    return is_float and given == {known.dtype} and sizes == known.shape


def several(result: Any) -> list[Any]:
    """The results of a row: one, or one for each output."""
    if isinstance(result, list | tuple):
        results: list[Any] = [*result]
        return results
    return [result]
