"""Recurrent cells and layers, beside torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from operation_checks import Array, Cases, check, normals, run

from gingham import op

torch: Any = pytest.importorskip("torch")


def _net(kind: Any, **options: Any) -> tuple[Any, list[Array]]:
    torch.manual_seed(0)
    net = kind(3, 5, **options)
    return net, [np.asarray(p.detach()) for p in net.parameters()]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", ["lstm", "gru", "rnn"])
def test_layers(name: str, reverse: bool) -> None:
    net, weights = _net(getattr(torch.nn, name.upper()))
    x = normals(4, 2, 3)
    outputs, state = net(torch.tensor(x[::-1].copy() if reverse else x))
    outputs = outputs.flip(0) if reverse else outputs
    states = [s[0] for s in (state if name == "lstm" else [state])]
    layer: Any = getattr(op, name)
    cases: Cases = {
        name: (
            lambda x, a, b, c, d: layer(x, a, b, c, d, reverse=reverse),
            [each.detach().numpy() for each in (outputs, *states)],
        )
    }
    check(cases, x, *weights, tolerance=1e-6)


def test_cells() -> None:
    x, h, c = normals(2, 3), normals(2, 5), normals(2, 5, seed=1)
    tx, th, tc = map(torch.tensor, (x, h, c))
    for name, state in (("LSTM", (th, tc)), ("GRU", th), ("RNN", th)):
        net, weights = _net(getattr(torch.nn, f"{name}Cell"))
        result = net(tx, state)
        several = result if name == "LSTM" else [result]
        cell: Any = getattr(op, f"{name.lower()}_cell")
        own = (h, c) if name == "LSTM" else h
        found = run(lambda x, cell=cell, own=own, w=weights: cell(x, own, *w), x)
        found = found if name == "LSTM" else [found]
        for one, other in zip(found, several, strict=True):
            np.testing.assert_allclose(one, other.detach(), atol=1e-6)


def test_a_state_that_is_reset_before_the_product() -> None:
    x, h = normals(2, 3), normals(2, 4)
    w, r, b = normals(12, 3), normals(12, 4), normals(12)

    def sigmoid(x: Array) -> Array:
        return 1 / (1 + np.exp(-x))

    inputs = x @ w.T
    gates = sigmoid(inputs[:, :8] + h @ r[:8].T + b[:8])
    reset, update = gates[:, :4], gates[:, 4:]
    new = np.tanh(inputs[:, 8:] + (reset * h) @ r[8:].T + b[8:])
    cases: Cases = {
        "gru": (
            lambda x, h, w, r, b: op.gru_cell(
                x, h, w, r, None, b, linear_before_reset=False
            ),
            (1 - update) * new + update * h,
        )
    }
    check(cases, x, h, w, r, b, tolerance=1e-6)


@pytest.mark.parametrize("reverse", [False, True])
def test_sequences_of_several_lengths(reverse: bool) -> None:
    net, weights = _net(torch.nn.GRU)
    x, lengths = normals(4, 3, 3), np.array([2, 4, 1])
    outputs, states = np.zeros((4, 3, 5), np.float32), np.zeros((3, 5), np.float32)
    for number, length in enumerate(lengths):
        own = torch.tensor(x[:length, number : number + 1])
        result, state = net(own.flip(0) if reverse else own)
        result = result.flip(0) if reverse else result
        outputs[:length, number] = result[:, 0].detach()
        states[number] = state[0, 0].detach()

    def layer(x: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
        return op.gru(x, a, b, c, d, reverse=reverse, lengths=lengths)

    check({"gru": (layer, [outputs, states])}, x, *weights, tolerance=1e-6)


def test_gradients_go_through_all_steps() -> None:
    import gingham

    net, weights = _net(torch.nn.LSTM)
    x = normals(3, 2, 3)
    (net(torch.tensor(x))[0] ** 2).sum().backward()

    def slopes(x: Any, *weights: Any) -> Any:
        outputs, _, _ = op.lstm(x, *weights)
        return gingham.gradient(outputs * outputs, list(weights))

    for found, parameter in zip(
        gingham.jit(device="reference")(slopes)(x, *weights),
        net.parameters(),
        strict=True,
    ):
        np.testing.assert_allclose(found, parameter.grad, atol=1e-5)
