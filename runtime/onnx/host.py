"""Nodes that run on the host, by the reference implementation of ONNX in NumPy."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import GinghamError
from ...frontend.onnx.model import described

if TYPE_CHECKING:
    from onnx import NodeProto

CHANCE = frozenset(
    "Bernoulli Dropout Multinomial RandomNormal RandomNormalLike RandomUniform "
    "RandomUniformLike".split()
)
"""The operators that may give something else each time."""


class HostNode:
    """A node with the names from outside that graphs in it use."""

    def __init__(
        self, node: NodeProto, opsets: Mapping[str, int], captured: Sequence[str] = ()
    ) -> None:
        self._node = node
        self._opsets = dict(opsets)
        self.names = list(dict.fromkeys([*filter(None, node.input), *captured]))
        """What it has to be given, in order."""
        self._evaluator: Any = None

    def run(self, values: Sequence[Any]) -> list[Any]:
        """Its outputs, those without names left out.

        Raises GinghamError where the reference implementation cannot run it.
        """
        import numpy as np

        feeds = dict(zip(self.names, values, strict=True))
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                results = self._ready().run(None, feeds)
        except Exception as error:
            # The implementation raises whatever NumPy and Python do.
            reason = f"{type(error).__name__}: {error}"
            raise GinghamError(
                f"{described(self._node)} cannot run on the host either: {reason}"
            ) from error
        return [_array(result) for result in results]

    def _ready(self) -> Any:
        from onnx import helper
        from onnx.reference import ReferenceEvaluator

        if self._evaluator is None:
            graph = helper.make_graph(
                [self._node],
                "host",
                [helper.make_empty_tensor_value_info(name) for name in self.names],
                [
                    helper.make_empty_tensor_value_info(name)
                    for name in self._node.output
                    if name
                ],
            )
            self._evaluator = ReferenceEvaluator(graph, opsets=self._opsets)
        return self._evaluator


def _array(result: Any) -> Any:
    """A number of NumPy as an array of rank 0; what is no array stays what it is."""
    import numpy as np

    return np.asarray(result) if isinstance(result, np.generic) else result
