"""The program that is being built while a graph is walked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...frontend.edsl.emission import build_program
from ...frontend.edsl.inputs import Constant, Placeholder
from ...frontend.edsl.known_types import lend_type_finder
from ...frontend.edsl.locations import here
from ...frontend.edsl.tensors import Tensor
from ...frontend.onnx.values import TensorValue
from ..parsed import ModuleProgram
from ..result_types import result_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

lend_type_finder(result_type)

_NO_NAME = re.compile(r"\W+")


class Segment:
    """A program from values at slots and constants to values that are needed later."""

    def __init__(self) -> None:
        self.nodes: list[str] = []
        """The nodes that it computes, for people."""
        self._inputs: dict[int, Tensor] = {}
        self._computed: list[TensorValue] = []

    def tensor(self, value: TensorValue) -> Tensor:
        """A value as a tensor of the program."""
        if value.tensor is not None:
            return value.tensor
        if value.array is not None:
            # A constant is the same in all programs, and on the device once.
            value.tensor = Constant(value.array, name=identifier(value.name))
            return value.tensor
        if value.slot is None:
            raise ValueError(f"'{value.name}' has gone")
        if value.slot not in self._inputs:
            self._inputs[value.slot] = Placeholder(
                value.dtype, value.shape, identifier(value.name)
            )
        return self._inputs[value.slot]

    def add(self, value: TensorValue) -> None:
        """A value that the program computes."""
        self._computed.append(value)

    @property
    def is_empty(self) -> bool:
        """Whether it computes nothing."""
        return not self._computed

    def closed(
        self, wanted: Sequence[TensorValue]
    ) -> tuple[ModuleProgram, list[NDArray[Any]], list[int]]:
        """The program of the wanted values, its constants, and the slots of its inputs.

        All that it computed and that is not wanted has gone.
        """
        outputs = [
            (identifier(value.name) or "O", self.tensor(value).node) for value in wanted
        ]
        nodes = [tensor.node for tensor in self._inputs.values()]
        built = build_program(nodes, outputs, here())
        for value in self._computed:
            value.tensor = None
        constants = [*built.constants.values()]
        return ModuleProgram(built.module), constants, [*self._inputs]


def identifier(name: str) -> str:
    """A name as programs have it, like one of ONNX."""
    text = _NO_NAME.sub("_", name)
    return f"v{text}" if text[:1].isdigit() else text
