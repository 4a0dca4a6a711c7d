"""A stage on the device: one program from tensors of PyTorch to tensors of PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter, is_
from typing import TYPE_CHECKING, Any, NamedTuple

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

if TYPE_CHECKING:
    from ...targets.backend import FixedInputs
    from ..function import Function


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
        named = {f"O{n}": each for n, each in enumerate(_distinct(outputs))}
        program = Program("graph", inputs, named)
        kept = [n for n, node in enumerate(stage.inputs) if node in constants]
        self.function = program.compile(
            options.device,
            fast_math=options.fast_math,
            tuned=options.tuned,
            constants=kept,
        )
        self._kept = _Kept(kept, self.function)
        self.function.prepare([_shaped(tensor) for tensor in inputs])

    def run(self, tensors: Sequence[Any]) -> list[Any]:
        """The outputs for inputs in the order of the stage."""
        orders = self._input_orders
        taken = self._kept.taken(tensors, orders)
        arrays = [*taken.arrays]
        for position in taken.fixed.others:
            arrays[position] = as_array(tensors[position], orders[position])
        results = self.function.run_fixed(arrays, taken.fixed)
        return [*map(as_tensor, results, self._output_orders)]


class _Taken(NamedTuple):
    """The constant tensors of a call, and what is kept of them."""

    tensors: Sequence[Any]
    versions: Sequence[int]
    """How often each was changed in place."""
    arrays: Sequence[Any]
    """By their positions among all inputs; the others are None."""
    fixed: FixedInputs
    """Stands for these arrays."""


_VERSION = attrgetter("_version")


class _Kept:
    """Arrays of inputs, of which those that are constant are kept from call to call."""

    def __init__(self, positions: Sequence[int], function: Function) -> None:
        self._positions = positions
        self._function = function
        self._last = _Taken((), (), (), function.fixed(positions))

    def taken(self, tensors: Sequence[Any], orders: Sequence[Order]) -> _Taken:
        """What is kept for a call, which is known where no constant is another one.

        The function reads anew what was changed in place.
        """
        last = self._last
        constants = [tensors[position] for position in self._positions]
        versions = [*map(_VERSION, constants)]
        is_same = len(last.arrays) == len(tensors)
        is_same = is_same and all(map(is_, constants, last.tensors))
        if is_same and versions == last.versions:
            return last
        arrays: list[Any] = [None] * len(tensors)
        for position, tensor in zip(self._positions, constants, strict=True):
            arrays[position] = as_array(tensor, orders[position])
        fixed = self._function.fixed(self._positions)
        self._last = taken = _Taken(constants, versions, arrays, fixed)
        before = zip(last.tensors, last.versions, strict=True)
        now = zip(constants, versions, strict=True)
        if any(a is b and n != m for (a, n), (b, m) in zip(before, now, strict=False)):
            self._function.refresh()
        return taken


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
