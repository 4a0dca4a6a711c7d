"""Recurrent layers, whose gates stand in another order than those of PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ... import op
from ...edsl.tensors import Tensor
from ..node import Node, Unsupported
from ..table import operator

_ACTIVATIONS = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"]}

_ORDERS = {"LSTM": (0, 2, 3, 1), "GRU": (1, 0, 2), "RNN": (0,)}
"""Which gate of ONNX stands at each place of PyTorch's weights."""


_Weights: TypeAlias = tuple[Tensor, Tensor, Tensor | None, Tensor | None]


class _Layer:
    """What is the same for all directions of a layer."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.kind = node.op_type
        direction = node.attribute("direction", "forward")
        self.directions = {
            "forward": [False],
            "reverse": [True],
            "bidirectional": [False, True],
        }[direction]
        self.is_batch_first = bool(node.attribute("layout", 0))
        self.hidden = node.shape(2)[2]
        self._check()

    def _check(self) -> None:
        given, node = self.node.attribute("activations"), self.node
        wanted = _ACTIVATIONS.get(self.kind)
        if wanted is not None and given and given != wanted * len(self.directions):
            raise Unsupported(f"activations {', '.join(given)}")
        if node.attribute("clip"):
            raise Unsupported("a clip of what goes into gates")
        if node.attribute("input_forget", 0):
            raise Unsupported("coupled gates")
        if self.kind == "LSTM" and node.has(7):
            raise Unsupported("peepholes")

    @property
    def x(self) -> Tensor:
        """The input as [length, batch, elements]."""
        x = self.node[0]
        return op.transpose(x, [1, 0, 2]) if self.is_batch_first else x

    def gates(self, x: Tensor, first: int = 0) -> Tensor:
        """A tensor of gates along its first axis in the order of PyTorch."""
        order, size = _ORDERS[self.kind], self.hidden
        if len(order) == 1:
            return op.slice(x, [first], [first + size], [0])
        parts = [
            op.slice(x, [first + gate * size], [first + (gate + 1) * size], [0])
            for gate in order
        ]
        return op.concatenate(parts, 0)

    def weights(self, number: int) -> _Weights:
        """The weights and biases of a direction, as PyTorch has them."""
        node, count = self.node, len(_ORDERS[self.kind])
        first, second = (
            self.gates(op.select_index(node[position], number)) for position in (1, 2)
        )
        if not node.has(3):
            return first, second, None, None
        bias = op.select_index(node[3], number)
        behind = self.gates(bias, count * self.hidden)
        return first, second, self.gates(bias), behind

    def state(self, position: int, number: int) -> Tensor | None:
        """The first state of a direction: [batch, hidden]."""
        if not self.node.has(position):
            return None
        return op.select_index(
            self.node[position], number, 1 if self.is_batch_first else 0
        )

    def lengths(self) -> Tensor | None:
        """How long each sequence is; None where all are whole."""
        node = self.node
        if not node.has(4):
            return None
        known = node.array(4) if node.is_known(4) else None
        length = node.shape(0)[1 if self.is_batch_first else 0]
        return None if known is not None and (known == length).all() else node[4]

    def results(self, several: Sequence[Sequence[Tensor]]) -> list[Tensor]:
        """All states and the last ones, of all directions."""
        outputs = op.stack([each[0] for each in several], 0)
        order = (2, 1, 0, 3) if self.is_batch_first else (1, 0, 2, 3)
        place = 1 if self.is_batch_first else 0
        last = [
            op.stack([each[n] for each in several], place)
            for n in range(1, len(several[0]))
        ]
        return [op.transpose(outputs, order), *last]


def _layers(
    node: Node, run: Callable[[_Layer, int, bool], Sequence[Tensor]]
) -> list[Tensor]:
    layer = _Layer(node)
    return layer.results(
        [run(layer, number, back) for number, back in enumerate(layer.directions)]
    )


@operator("LSTM")
def lstm(node: Node) -> Sequence[Tensor]:
    """Layers of an LSTM."""

    def run(layer: _Layer, number: int, reverse: bool) -> Sequence[Tensor]:
        hidden, cell = layer.state(5, number), layer.state(6, number)
        state: Any = None
        if hidden is not None or cell is not None:
            known = hidden if hidden is not None else cell
            zeros = known * 0 if known is not None else None
            state = (
                zeros if hidden is None else hidden,
                zeros if cell is None else cell,
            )
        return op.lstm(
            layer.x,
            *layer.weights(number),
            state=state,
            reverse=reverse,
            lengths=layer.lengths(),
        )

    return _layers(node, run)


@operator("GRU")
def gru(node: Node) -> Sequence[Tensor]:
    """Layers of a GRU."""
    is_linear = bool(node.attribute("linear_before_reset", 0))

    def run(layer: _Layer, number: int, reverse: bool) -> Sequence[Tensor]:
        return op.gru(
            layer.x,
            *layer.weights(number),
            state=layer.state(5, number),
            linear_before_reset=is_linear,
            reverse=reverse,
            lengths=layer.lengths(),
        )

    return _layers(node, run)


@operator("RNN")
def rnn(node: Node) -> Sequence[Tensor]:
    """Plain recurrent layers."""
    names = node.attribute("activations") or ["Tanh"]

    def run(layer: _Layer, number: int, reverse: bool) -> Sequence[Tensor]:
        name = names[number % len(names)]
        if name not in ("Tanh", "Relu"):
            raise Unsupported(f"the activation {name}")
        return op.rnn(
            layer.x,
            *layer.weights(number),
            state=layer.state(5, number),
            nonlinearity=name.lower(),
            reverse=reverse,
            lengths=layer.lengths(),
        )

    return _layers(node, run)
