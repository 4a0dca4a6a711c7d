"""Recurrent networks: cells, and layers of as many steps as a sequence has.

A layer is its cell once for each step, so the number of steps has to be known while the
program is made. Gates are in the order of torch: input, forget, cell, output of an
LSTM; reset, update, new of a GRU.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ..edsl.functions import relu, select, sigmoid, tanh
from ..edsl.locations import error
from ..edsl.tensors import Tensor
from .axes import require_choice, require_rank, sizes_of
from .creation import zeros
from .joining import split, stack
from .operation import TensorLike, as_tensor, in_type_of, operation
from .products import linear
from .slicing import select_index

__all__ = ["gru", "gru_cell", "lstm", "lstm_cell", "rnn", "rnn_cell"]

_State: TypeAlias = tuple[Tensor, ...]
_Step: TypeAlias = Callable[[Tensor, _State], _State]


@operation
def lstm_cell(
    x: TensorLike,
    state: tuple[TensorLike, TensorLike],
    weight_ih: TensorLike,
    weight_hh: TensorLike,
    bias_ih: TensorLike = None,
    bias_hh: TensorLike = None,
) -> tuple[Tensor, Tensor]:
    """A step of an LSTM, as torch's LSTMCell: the next (h, c).

    x has shape [N, I], both states [N, H], the weights [4 * H, I] and [4 * H, H].
    """
    inputs = linear(x, weight_ih, bias_ih)
    hidden, cell = (as_tensor(each) for each in state)
    return _lstm_step(inputs, hidden, cell, weight_hh, bias_hh)


def _lstm_step(
    inputs: Tensor,
    hidden: Tensor,
    cell: Tensor,
    weight: TensorLike,
    bias: TensorLike,
) -> tuple[Tensor, Tensor]:
    gates = inputs + linear(hidden, weight, bias)
    into, forget, new, out = _gates(gates, hidden, 4)
    cell = sigmoid(forget) * cell + sigmoid(into) * tanh(new)
    return sigmoid(out) * tanh(cell), cell


def _gates(x: Tensor, hidden: Tensor, count: int) -> tuple[Tensor, ...]:
    """What is for each gate: parts of the last axis, of the size of a state."""
    return split(x, [sizes_of(hidden)[-1]] * count, -1)


@operation
def gru_cell(
    x: TensorLike,
    hidden: TensorLike,
    weight_ih: TensorLike,
    weight_hh: TensorLike,
    bias_ih: TensorLike = None,
    bias_hh: TensorLike = None,
    linear_before_reset: bool = True,
) -> Tensor:
    """A step of a GRU, as torch's GRUCell: the next state.

    x has shape [N, I], the state [N, H], the weights [3 * H, I] and [3 * H, H]. The
    state is reset behind the product with the weights, or before it without
    `linear_before_reset`, as ONNX's GRU does by default.
    """
    inputs = linear(x, weight_ih, bias_ih)
    hidden = as_tensor(hidden)
    return _gru_step(inputs, hidden, weight_hh, bias_hh, linear_before_reset)


def _gru_step(
    inputs: Tensor,
    hidden: Tensor,
    weight: TensorLike,
    bias: TensorLike,
    linear_before_reset: bool,
) -> Tensor:
    reset, update, new = _gates(inputs, hidden, 3)
    if linear_before_reset:
        gates = _gates(linear(hidden, weight, bias), hidden, 3)
        reset, update = sigmoid(reset + gates[0]), sigmoid(update + gates[1])
        fresh = tanh(new + reset * gates[2])
    else:
        size = sizes_of(hidden)[-1]
        weights = split(as_tensor(weight), [2 * size, size], 0)
        parts = None if bias is None else split(as_tensor(bias), [2 * size, size], 0)
        first, second = (None, None) if parts is None else parts
        gates = split(linear(hidden, weights[0], first), [size, size], -1)
        reset, update = sigmoid(reset + gates[0]), sigmoid(update + gates[1])
        fresh = tanh(new + linear(reset * hidden, weights[1], second))
    return (1.0 - update) * fresh + update * hidden


@operation
def rnn_cell(
    x: TensorLike,
    hidden: TensorLike,
    weight_ih: TensorLike,
    weight_hh: TensorLike,
    bias_ih: TensorLike = None,
    bias_hh: TensorLike = None,
    nonlinearity: str = "tanh",
) -> Tensor:
    """A step of a plain recurrent network, as torch's RNNCell: the next state.

    x has shape [N, I], the state [N, H], the weights [H, I] and [H, H].
    """
    inputs = linear(x, weight_ih, bias_ih)
    return _rnn_step(inputs, as_tensor(hidden), weight_hh, bias_hh, nonlinearity)


def _rnn_step(
    inputs: Tensor,
    hidden: Tensor,
    weight: TensorLike,
    bias: TensorLike,
    nonlinearity: str,
) -> Tensor:
    require_choice(nonlinearity, ("tanh", "relu"), "nonlinearity")
    total = inputs + linear(hidden, weight, bias)
    return tanh(total) if nonlinearity == "tanh" else relu(total)


@operation
def lstm(
    x: TensorLike,
    weight_ih: TensorLike,
    weight_hh: TensorLike,
    bias_ih: TensorLike = None,
    bias_hh: TensorLike = None,
    state: tuple[TensorLike, TensorLike] | None = None,
    *,
    reverse: bool = False,
    lengths: TensorLike = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """A layer of an LSTM in one direction, as torch's LSTM: all h, the last h and c.

    x has shape [L, N, I]; the weights and the state are those of `lstm_cell`, the state
    zeros by default. In reverse the last step comes first. Sequences of other lengths,
    which `lengths` of shape [N] says, are 0 behind their end, as in ONNX.
    """
    x = as_tensor(x)
    inputs, zero = _inputs(x, weight_ih, bias_ih, weight_hh)
    start = (zero, zero) if state is None else tuple(as_tensor(s) for s in state)

    def step(gates: Tensor, before: _State) -> _State:
        hidden, cell = before
        return _lstm_step(gates, hidden, cell, weight_hh, bias_hh)

    outputs, (hidden, cell) = _steps(inputs, start, step, reverse, lengths)
    return outputs, hidden, cell


@operation
def gru(
    x: TensorLike,
    weight_ih: TensorLike,
    weight_hh: TensorLike,
    bias_ih: TensorLike = None,
    bias_hh: TensorLike = None,
    state: TensorLike = None,
    *,
    linear_before_reset: bool = True,
    reverse: bool = False,
    lengths: TensorLike = None,
) -> tuple[Tensor, Tensor]:
    """A layer of a GRU in one direction, as torch's GRU: all states, and the last.

    The arguments are those of `gru_cell` and `lstm`.
    """
    x = as_tensor(x)
    inputs, zero = _inputs(x, weight_ih, bias_ih, weight_hh)

    def step(gates: Tensor, before: _State) -> _State:
        (hidden,) = before
        return (_gru_step(gates, hidden, weight_hh, bias_hh, linear_before_reset),)

    start = (zero if state is None else as_tensor(state),)
    outputs, (hidden,) = _steps(inputs, start, step, reverse, lengths)
    return outputs, hidden


@operation
def rnn(
    x: TensorLike,
    weight_ih: TensorLike,
    weight_hh: TensorLike,
    bias_ih: TensorLike = None,
    bias_hh: TensorLike = None,
    state: TensorLike = None,
    *,
    nonlinearity: str = "tanh",
    reverse: bool = False,
    lengths: TensorLike = None,
) -> tuple[Tensor, Tensor]:
    """A layer of a plain recurrent network, as torch's RNN: all states, and the last.

    The arguments are those of `rnn_cell` and `lstm`.
    """
    x = as_tensor(x)
    inputs, zero = _inputs(x, weight_ih, bias_ih, weight_hh)

    def step(gates: Tensor, before: _State) -> _State:
        (hidden,) = before
        return (_rnn_step(gates, hidden, weight_hh, bias_hh, nonlinearity),)

    start = (zero if state is None else as_tensor(state),)
    outputs, (hidden,) = _steps(inputs, start, step, reverse, lengths)
    return outputs, hidden


def _inputs(
    x: Tensor, weight: TensorLike, bias: TensorLike, recurrent: TensorLike
) -> tuple[Tensor, Tensor]:
    """The products of all steps' inputs, and a state of zeros."""
    require_rank(x, 3, "the sequences")
    recurrent = as_tensor(recurrent)
    require_rank(recurrent, 2, "the recurrent weight")
    zero = in_type_of(x, zeros([sizes_of(x)[1], sizes_of(recurrent)[1]]))
    return linear(x, weight, bias), zero


def _steps(
    inputs: Tensor,
    state: _State,
    step: _Step,
    reverse: bool,
    lengths: TensorLike,
) -> tuple[Tensor, _State]:
    """The first part of all states, and the last state."""
    count = int(sizes_of(inputs)[0])
    order: Sequence[int] = range(count)
    if lengths is not None:
        lengths = as_tensor(lengths)
        require_rank(lengths, 1, "the lengths")
        lengths = lengths.reshape(sizes_of(lengths)[0], 1)
    outputs: dict[int, Tensor] = {}
    for number in reversed(order) if reverse else order:
        following = step(select_index(inputs, number), state)
        outputs[number] = following[0]
        if lengths is not None:
            is_inside = lengths > number
            outputs[number] = select(is_inside, following[0], 0.0)
            following = tuple(
                select(is_inside, new, old)
                for new, old in zip(following, state, strict=True)
            )
        state = following
    if not outputs:
        raise error("expected at least one step")
    return stack([outputs[number] for number in order]), state
