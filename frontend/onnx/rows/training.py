"""Steps of training: new values of variables by their gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...edsl.functions import pow as power
from ...edsl.functions import select, sqrt
from ...edsl.tensors import Tensor, cast
from ..node import Node
from ..table import operator

_DOMAIN = "ai.onnx.preview.training"


def _steps(
    node: Node, step: Callable[..., Sequence[Tensor]], count: int
) -> list[Tensor]:
    """New values of each variable and of what is kept of it, those of one kind first.

    `count` is how many tensors a variable has, among them its gradient.
    """
    rate, time, *tensors = node.tensors
    number = len(tensors) // count
    groups = [tensors[n::number] for n in range(number)]
    time = cast(time, node.dtype(0))
    found = [step(node, rate, time, *group) for group in groups]
    return [each for kind in zip(*found, strict=True) for each in kind]


def _regularized(node: Node, x: Tensor, slope: Tensor) -> Tensor:
    return x * node.attribute("norm_coefficient", 0.0) + slope


@operator("Adagrad", domain=_DOMAIN)
def adagrad(node: Node) -> Sequence[Tensor]:
    """A step by gradients over the root of the sum of their squares."""
    return _steps(node, _adagrad, 3)


def _adagrad(
    node: Node, rate: Tensor, time: Tensor, x: Tensor, slope: Tensor, squares: Tensor
) -> Sequence[Tensor]:
    rate = rate / (time * node.attribute("decay_factor", 0.0) + 1.0)
    slope = _regularized(node, x, slope)
    squares = squares + slope * slope
    length = sqrt(squares) + node.attribute("epsilon", 1e-6)
    return x - rate * slope / length, squares


@operator("Momentum", domain=_DOMAIN)
def momentum(node: Node) -> Sequence[Tensor]:
    """A step by a mean of gradients."""
    return _steps(node, _momentum, 3)


def _momentum(
    node: Node, rate: Tensor, time: Tensor, x: Tensor, slope: Tensor, speed: Tensor
) -> Sequence[Tensor]:
    alpha = node.attribute("alpha")
    slope = _regularized(node, x, slope)
    speed = speed * alpha + slope * select(time > 0, node.attribute("beta"), 1.0)
    is_nesterov = node.attribute("mode") == "nesterov"
    return x - rate * (slope + speed * alpha if is_nesterov else speed), speed


@operator("Adam", domain=_DOMAIN)
def adam(node: Node) -> Sequence[Tensor]:
    """A step by a mean of gradients over the root of that of their squares."""
    return _steps(node, _adam, 4)


def _adam(
    node: Node,
    rate: Tensor,
    time: Tensor,
    x: Tensor,
    slope: Tensor,
    mean: Tensor,
    squares: Tensor,
) -> Sequence[Tensor]:
    alpha, beta = node.attribute("alpha", 0.9), node.attribute("beta", 0.999)
    slope = _regularized(node, x, slope)
    mean = mean * alpha + slope * (1 - alpha)
    squares = squares * beta + slope * slope * (1 - beta)
    length = sqrt(squares) + node.attribute("epsilon", 1e-6)
    scale = sqrt(1.0 - power(beta, time)) / (1.0 - power(alpha, time))
    x = x - rate * select(time > 0, scale, 1.0) * mean / length
    return x * (1 - node.attribute("norm_coefficient_post", 0.0)), mean, squares
