"""`Applier` and `Composer`: functions of variables, put together to one function."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any

from ..errors import GinghamError
from ..frontend.edsl import tensors as edsl
from ..frontend.edsl.emission import build_program, placeholders
from ..frontend.edsl.graph import Input, Node
from ..frontend.edsl.locations import here
from ..frontend.edsl.operands import tensor_node
from ..frontend.edsl.text import apply_text, texts_of
from .context import Context
from .devices import Device
from .errors import check_name
from .functions import Function
from .shapes import Shape
from .tensors import BoundInput, Tensor
from .variables import Var, as_symbol

_naming = Lock()


class Applier:
    """A function that is applied to variables, tensors and numbers."""

    def __init__(self, ctx: Context, f: Function) -> None:
        ctx.check()
        if f.tile is None:
            raise GinghamError(
                f"{f.name} is composed, and only functions of Tile text are applied",
                hint="apply the functions that it is composed of",
            )
        self._ctx = ctx
        self._function = f
        self._tile = f.tile
        self._inputs: dict[str, Any] = {}
        self._outputs: dict[str, edsl.Tensor] | None = None

    def add_input(self, name: str, value: Any) -> None:
        """Say what an input is. Raises GinghamError after an output was asked for."""
        self._ctx.check()
        check_name("input", name, self._tile.input_names)
        if self._outputs is not None:
            raise GinghamError(f"input '{name}' is too late: the function is applied")
        self._inputs[name] = as_symbol(value)

    def add_output(self, name: str) -> Var:
        """An output, as a variable."""
        self._ctx.check()
        check_name("output", name, self._tile.output_names)
        if self._outputs is None:
            missing = [n for n in self._tile.input_names if n not in self._inputs]
            if missing:
                raise GinghamError(f"missing input {', '.join(missing)}")
            inputs = [self._inputs[name] for name in self._tile.input_names]
            results = apply_text(self._tile, inputs)
            self._outputs = dict(zip(self._tile.output_names, results, strict=True))
        return Var(self._outputs[name])

    def get_output_shape(self, name: str) -> Shape:
        """The shape of an output, where all that it depends on are tensors."""
        output = self.add_output(name)
        function = compose_function([], [(name, output)])
        if not function.bound:
            raise GinghamError(f"the shape of output '{name}' depends on no tensor")
        device = function.bound[0].device
        arrays = [tensor.buffer.array for tensor in function.bound]
        return function.output_shapes(self._ctx, device, arrays)[0]


class Composer:
    """Makes one function of what was computed from variables."""

    def __init__(self) -> None:
        self._inputs: list[tuple[str, Var]] = []
        self._outputs: list[tuple[str, Var]] = []
        self._updates: list[tuple[Tensor, Var]] = []

    def add_input(self, name: str, val: Var) -> None:
        """Make a placeholder an input of the function."""
        self._inputs.append((name, val))

    def add_output(self, name: str, val: Any) -> None:
        """Make a variable an output of the function."""
        self._outputs.append((name, Var(as_symbol(val))))

    def add_dependency(self, applier: Applier) -> None:
        """Do nothing: functions have no effects but their outputs."""

    def add_update(self, dest: Tensor, src: Any) -> None:
        """Write a variable to a tensor in each run, after all else is computed."""
        self._updates.append((check_tensor(dest), Var(as_symbol(src))))

    def build(self) -> Function:
        """The function. Raises GinghamError for what it needs and is not given."""
        return compose_function(self._inputs, self._outputs, self._updates)


def compose_function(
    inputs: Sequence[tuple[str, Any]],
    outputs: Sequence[tuple[str, Any]],
    updates: Sequence[tuple[Tensor, Any]] = (),
    name: str = "",
    device: Device | None = None,
) -> Function:
    """A function of named placeholders; tensors that it uses are bound to it.

    Outputs and updates are variables, tensors or numbers. Without any tensor the
    function runs on `device`.
    """
    if not outputs and not updates:
        raise GinghamError("expected an output or an update")
    nodes = _input_nodes(inputs)
    _check_names("outputs", [name for name, _ in outputs])
    updated = [tensor for tensor, _ in updates]
    if len(set(map(id, updated))) != len(updated):
        raise GinghamError("a tensor is updated twice")
    wanted: list[tuple[str | None, Node]] = [
        (name, tensor_node(as_symbol(var))) for name, var in outputs
    ]
    taken = {name for name, _ in outputs}
    for number, (_, var) in enumerate(updates):
        hidden = f"update{number}"
        while hidden in taken:
            hidden += "_"
        wanted.append((hidden, tensor_node(as_symbol(var))))
    bound = [
        node
        for node in placeholders([node for _, node in wanted])
        if isinstance(node, BoundInput)
    ]
    # A placeholder may be part of several functions, under names of each.
    with _naming:
        for (given, _), node in zip(inputs, nodes, strict=True):
            node.name = given
        built = build_program([*nodes, *bound], wanted, here())
    tensors = [node.tensor for node in bound]
    texts = texts_of([node for _, node in wanted])
    return Function.of_module(
        built.module, built.constants, tensors, updated, name, texts, device
    )


def check_tensor(value: object) -> Tensor:
    """A tensor, which an update can be written to."""
    if isinstance(value, Tensor):
        return value
    raise GinghamError(f"expected a tensor to update, got {type(value).__name__}")


def _input_nodes(inputs: Sequence[tuple[str, Any]]) -> list[Input]:
    _check_names("inputs", [name for name, _ in inputs])
    nodes: list[Input] = []
    for name, var in inputs:
        node = as_symbol(var).node
        if not isinstance(node, Input) or isinstance(node, BoundInput):
            raise GinghamError(
                f"input '{name}' is no placeholder",
                hint="Placeholder(ndims) makes what an input can be",
            )
        if node in nodes:
            raise GinghamError(f"the placeholder of input '{name}' is an input twice")
        nodes.append(node)
    return nodes


def _check_names(kind: str, names: Sequence[str]) -> None:
    for number, name in enumerate(names):
        if name in names[:number]:
            raise GinghamError(f"two {kind} have the name '{name}'")
