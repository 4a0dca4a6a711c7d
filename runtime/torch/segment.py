"""A stage on the device: one program from tensors of PyTorch to tensors of PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...frontend.edsl.functions import ident
from ...frontend.edsl.graph import Input
from ...frontend.edsl.inputs import Placeholder
from ...frontend.edsl.tensors import Tensor
from ...frontend.op import transpose
from ...frontend.torch.graphs import lower, result_of
from ..options import CompileOptions
from ..program import Program
from .exchange import Order, as_array, as_tensor, inverse, memory_order
from .plan import Stage


class Segment:
    """The program of a stage, for tensors of the sizes that the graph says.

    Raises `Refused` for a node that has no lowering, and GinghamError where the program
    cannot be compiled.
    """

    def __init__(
        self, stage: Stage, options: CompileOptions, constants: set[Any]
    ) -> None:
        """`constants` are inputs that hardly ever change, such as weights."""
        self.stage = stage
        self._input_orders = [_order(node) for node in stage.inputs]
        self._output_orders = [_order(node) for node in stage.outputs]
        inputs = [
            _input(node, order)
            for node, order in zip(stage.inputs, self._input_orders, strict=True)
        ]
        known = {
            node: transpose(tensor, inverse(order))
            for node, tensor, order in zip(
                stage.inputs, inputs, self._input_orders, strict=True
            )
        }
        values = lower(stage.nodes, known)
        outputs = [
            transpose(values[node], order)
            for node, order in zip(stage.outputs, self._output_orders, strict=True)
        ]
        self._kept = _Kept(
            [n for n, node in enumerate(stage.inputs) if node in constants]
        )
        named = {f"O{n}": each for n, each in enumerate(_distinct(outputs))}
        program = Program("graph", inputs, named)
        self.function = program.compile(
            options.device,
            fast_math=options.fast_math,
            tuned=options.tuned,
            constants=self._kept.positions,
        )
        self.function.prepare([_shaped(tensor) for tensor in inputs])

    def run(self, tensors: Sequence[Any]) -> list[Any]:
        """The outputs for inputs in the order of the stage."""
        orders = self._input_orders
        arrays = self._kept.arrays(tensors, orders, self.function.refresh)
        results = self.function(*arrays)
        several = [results] if len(self._output_orders) == 1 else results
        return [*map(as_tensor, several, self._output_orders)]


class _Kept:
    """Arrays of inputs, of which those that are constant are kept from call to call."""

    def __init__(self, positions: Sequence[int]) -> None:
        self.positions = positions
        self._tensors: dict[int, Any] = {}
        self._versions: dict[int, int] = {}
        self._arrays: dict[int, Any] = {}

    def arrays(
        self, tensors: Sequence[Any], orders: Sequence[Order], refresh: Any
    ) -> list[Any]:
        """The arrays of a call; `refresh` is called where a constant has changed."""
        is_changed = False
        kept = self._arrays
        for position in self.positions:
            tensor = tensors[position]
            version = tensor._version
            if self._tensors.get(position) is tensor:
                if self._versions[position] == version:
                    continue
                is_changed = True
            self._tensors[position] = tensor
            self._versions[position] = version
            kept[position] = as_array(tensor, orders[position])
        if is_changed:
            refresh()
        return [
            kept[n] if n in kept else as_array(tensor, orders[n])
            for n, tensor in enumerate(tensors)
        ]


def _order(node: Any) -> Order:
    value = node.meta["val"]
    return memory_order(value) or tuple(range(value.dim()))


def _input(node: Any, order: Order) -> Tensor:
    result = result_of(node.meta["val"])
    if result is None:
        raise ValueError(f"{node} is no tensor")
    sizes = [result.sizes[axis] for axis in order]
    return Placeholder(result.dtype, sizes, node.name)


def _shaped(tensor: Tensor) -> Any:
    """An array of the type of an input, without memory of its own."""
    from ...dialects.eltwise.numpy_types import numpy_dtype
    from ...frontend.edsl.dtypes import element_type

    zero = np.zeros((), numpy_dtype(element_type(tensor.dtype)))
    return np.broadcast_to(zero, [size or 0 for size in tensor.known_sizes])


def _distinct(outputs: Sequence[Tensor]) -> list[Tensor]:
    """Each output as a tensor of its own: not an input, nor twice the same."""
    found: set[Any] = set()
    result: list[Tensor] = []
    for output in outputs:
        if output.node in found or isinstance(output.node, Input):
            output = ident(output)
        found.add(output.node)
        result.append(output)
    return result
