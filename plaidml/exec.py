"""`exec.run`: programs of the eDSL with arrays, as of PlaidML 0.7 and 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import GinghamError
from ..frontend.edsl.tensors import Tensor
from ..runtime.program import Program

if TYPE_CHECKING:
    from numpy.typing import NDArray


def run(
    program: Program, inputs: Sequence[Any] = (), device: str | None = None
) -> list[NDArray[Any]]:
    """The outputs of a program for arrays or buffers.

    `inputs` are in the order of the program's, or pairs of a tensor and what it is.
    Raises GinghamError for a tensor that is no input, or that is missing.
    """
    import numpy as np

    pairs = [each for each in inputs if _is_pair(each)]
    given = list(inputs)
    if pairs:
        by_node = {_node(tensor): value for tensor, value in pairs}
        wanted = [argument.tensor.node for argument in program.inputs]
        missing = [node.describe() for node in wanted if node not in by_node]
        unknown = [node.describe() for node in by_node if node not in wanted]
        if missing or unknown:
            what = "missing input" if missing else "no input of the program:"
            raise GinghamError(f"{what} {', '.join(missing or unknown)}")
        given = [by_node[node] for node in wanted]
    results = program.compile(device)(*map(np.asarray, given))
    return [*results] if isinstance(results, tuple) else [results]


def _is_pair(value: object) -> bool:
    return isinstance(value, tuple)


def _node(tensor: object) -> Any:
    if not isinstance(tensor, Tensor):
        raise GinghamError(f"expected a tensor, got {type(tensor).__name__}")
    return tensor.node
