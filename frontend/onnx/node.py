"""`Node`: what the row of an operator is given, and by which it says what it needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from .attributes import value_of, with_defaults
from .model import described
from .tensors import is_computable
from .values import HostValue, TensorValue, Value

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from onnx import NodeProto
    from onnx.defs import OpSchema

    from ..edsl.tensors import Tensor


class Unsupported(Exception):
    """A row does not know its operator in this form, which the host has to run.

    The text says what it does not know.
    """


class Walk(Protocol):
    """What gives rows the values of a graph."""

    def tensor(self, value: TensorValue) -> Tensor:
        """A value as a tensor of the program that is being built."""
        ...

    def array(self, value: TensorValue) -> NDArray[Any]:
        """The elements of a value, which what is built is for from now on."""
        ...


class Node:
    """A node of a graph whose inputs are known as far as they can be."""

    def __init__(
        self,
        proto: NodeProto,
        schema: OpSchema,
        opset: int,
        inputs: Sequence[Value | None],
        outputs: Mapping[str, TensorValue],
        walk: Walk,
    ) -> None:
        """`outputs` says types and sizes of outputs by name, where they are known."""
        self.proto = proto
        self.opset = opset
        """The version of its domain."""
        self.inputs = inputs
        self._schema = schema
        self._outputs = outputs
        self._walk = walk
        self._attributes = with_defaults(proto, schema)

    @property
    def op_type(self) -> str:
        """The name of its operator."""
        return self.proto.op_type

    def __str__(self) -> str:
        return described(self.proto)

    # Inputs

    def has(self, position: int) -> bool:
        """Whether it has this input."""
        return position < len(self.inputs) and self.inputs[position] is not None

    def input(self, position: int) -> TensorValue:
        """An input that has to be there, and a tensor."""
        value = self.inputs[position] if self.has(position) else None
        if isinstance(value, TensorValue):
            return value
        if isinstance(value, HostValue):
            raise Unsupported("a sequence, an optional or a text is no tensor")
        raise Unsupported(f"input {position} is missing")

    def __getitem__(self, position: int) -> Tensor:
        """An input as a tensor of the eDSL."""
        value = self.input(position)
        if not is_computable(value.dtype):
            raise Unsupported(f"elements of type {value.dtype.name}")
        return self._walk.tensor(value)

    def optional(self, position: int) -> Tensor | None:
        """An input that may be left out."""
        return self[position] if self.has(position) else None

    @property
    def tensors(self) -> list[Tensor]:
        """All inputs, of an operator that takes any number of them."""
        return [self[position] for position in range(len(self.inputs))]

    def shape(self, position: int) -> tuple[int, ...]:
        """The sizes of an input."""
        return self.input(position).shape

    def rank(self, position: int) -> int:
        """The number of axes of an input."""
        return len(self.shape(position))

    def dtype(self, position: int) -> np.dtype[Any]:
        """The element type of an input."""
        return self.input(position).dtype

    def is_float(self, position: int) -> bool:
        """Whether the elements of an input are floats."""
        return self.dtype(position).name in (
            "float16",
            "bfloat16",
            "float32",
            "float64",
        )

    def is_known(self, position: int) -> bool:
        """Whether the elements of an input are known without asking for them."""
        return self.input(position).is_known

    def array(self, position: int) -> NDArray[Any]:
        """The elements of an input on which sizes depend, or what is to be built."""
        return self._walk.array(self.input(position))

    def integers(self, position: int) -> list[int]:
        """As `array`, of integers."""
        return [int(each) for each in self.array(position).ravel()]

    def optional_integers(self, position: int) -> list[int] | None:
        """As `integers`, of an input that may be left out."""
        return self.integers(position) if self.has(position) else None

    # Attributes and outputs

    def attribute(self, name: str, default: Any = None) -> Any:
        """What an attribute says, or the operator when nothing is said."""
        found = self._attributes.get(name)
        return default if found is None else value_of(found, self.proto)

    def says(self, name: str) -> bool:
        """Whether the node itself has this attribute."""
        return any(each.name == name for each in self.proto.attribute)

    def wants(self, position: int) -> bool:
        """Whether something uses this output."""
        return position < len(self.proto.output) and bool(self.proto.output[position])

    def output(self, position: int = 0) -> TensorValue:
        """Type and sizes of an output. Raises Unsupported where they are not known."""
        name = self.proto.output[position] if self.wants(position) else ""
        if name not in self._outputs:
            raise Unsupported(f"the type of output {position} is not known")
        return self._outputs[name]
