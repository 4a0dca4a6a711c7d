"""`exec.run`: programs of the eDSL with arrays, as of PlaidML 0.7 and 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import GinghamError
from ..frontend.edsl.graph import Input
from ..frontend.edsl.tensors import Tensor
from ..runtime import devices
from ..runtime.program import Program
from .buffers import Buffer

if TYPE_CHECKING:
    from numpy.typing import NDArray


def list_devices() -> list[str]:
    """The names of all devices that work."""
    return [each.name for each in devices.devices() if each.failure() is None]


class Executable:
    """A program for a device, the default one unless it is named."""

    def __init__(self, program: Program, device: str | None = None) -> None:
        self._program = program
        self._function = program.compile(device or None)

    def run(self, inputs: Sequence[Any], outputs: Sequence[Buffer]) -> None:
        """Write what the program computes of arrays or buffers to buffers.

        All are in the order of the program's. Raises GinghamError for another number
        of them, and for buffers of another shape.
        """
        results = self.results(inputs)
        if len(outputs) != len(results):
            raise GinghamError(f"expected {len(results)} outputs, got {len(outputs)}")
        for buffer, result in zip(outputs, results, strict=True):
            buffer.copy_from_ndarray(result)

    def results(self, inputs: Sequence[Any]) -> list[NDArray[Any]]:
        """What the program computes, as arrays."""
        wanted = [argument.tensor.node for argument in self._program.inputs]
        if len(inputs) != len(wanted):
            raise GinghamError(f"expected {len(wanted)} inputs, got {len(inputs)}")
        arrays = map(_converted, wanted, inputs)
        results = self._function(*arrays)
        return [*results] if isinstance(results, tuple) else [results]


def run(
    program: Program, inputs: Sequence[Any] = (), device: str | None = None
) -> list[NDArray[Any]]:
    """The outputs of a program for arrays or buffers.

    `inputs` are in the order of the program's, or pairs of a tensor and what it is.
    Elements are converted to the types that the tensors have. Raises GinghamError for
    a tensor that is no input, or that is missing.
    """
    given = list(inputs)
    if any(map(_is_pair, given)):
        given = _ordered(program, given)
    return Executable(program, device).results(given)


def _ordered(program: Program, inputs: Sequence[Any]) -> list[Any]:
    """What pairs give for the inputs of a program."""
    by_node = {_node(pair[0]): pair[1] for pair in inputs if _is_pair(pair)}
    wanted = [argument.tensor.node for argument in program.inputs]
    missing = [node.describe() for node in wanted if node not in by_node]
    unknown = [node.describe() for node in by_node if node not in wanted]
    if missing or unknown:
        what = "missing input" if missing else "no input of the program:"
        raise GinghamError(f"{what} {', '.join(missing or unknown)}")
    return [by_node[node] for node in wanted]


def _converted(node: object, value: Any) -> NDArray[Any]:
    """An array with the elements of an input, if it is known which."""
    import numpy as np

    from ..dialects.eltwise.numpy_types import numpy_dtype

    array = np.asarray(value)
    if not isinstance(node, Input) or node.element is None:
        return array
    return array.astype(numpy_dtype(node.element), copy=False)


def _is_pair(value: object) -> bool:
    return isinstance(value, tuple)


def _node(tensor: object) -> Any:
    if not isinstance(tensor, Tensor):
        raise GinghamError(f"expected a tensor, got {type(tensor).__name__}")
    return tensor.node
