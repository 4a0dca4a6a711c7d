"""Whole networks compared with eager mode: `python -m test.networks_of_torch`.

Each predicts at two sizes of batches, and those that are not too deep train for ten
steps. The networks are those that are measured, `bench/models`, with random weights. It
takes minutes; a name or several choose.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from gingham.bench.models import mobilenet, resnet, transformers, unet
from gingham.runtime.torch.backend import backend
from test.networks import compare_all, largest_difference


class Network(NamedTuple):
    """A network, and what it is called with for a size of batches."""

    build: Callable[[], Any]
    arguments: Callable[[int], tuple[Any, ...]]
    learner: Callable[[], Any] | None = None
    """A small one that is trained."""


def _images(size: int) -> Callable[[int], tuple[Any, ...]]:
    return lambda batch: (torch.randn(batch, 3, size, size),)


def _tokens(batch: int) -> tuple[Any, ...]:
    return (torch.randint(1, 200, (batch, 32)),)


def _masked_tokens(batch: int) -> tuple[Any, ...]:
    counts = (torch.arange(32) < torch.randint(8, 32, (batch, 1))).long()
    return (*_tokens(batch), counts)


NETWORKS = {
    "resnet18": Network(resnet.resnet18, _images(64), lambda: resnet.resnet18(10, 8)),
    "resnet50": Network(resnet.resnet50, _images(64)),
    "mobilenetv2": Network(mobilenet.MobileNetV2, _images(64)),
    "unet": Network(
        lambda: unet.UNet(width=16), _images(32), lambda: unet.UNet(2, 8, 2)
    ),
    "bert": Network(
        lambda: transformers.Bert(4, 256, 4, 1000),
        _masked_tokens,
        lambda: transformers.Bert(2, 64, 4, 200),
    ),
    "gpt2": Network(
        lambda: transformers.Gpt2(4, 256, 4, 1000),
        _tokens,
        lambda: transformers.Gpt2(2, 64, 4, 200),
    ),
    "llama": Network(
        transformers.LlamaBlock,
        lambda batch: (torch.randn(batch, 24, 512),),
        transformers.LlamaBlock,
    ),
}


def _inference(network: Network) -> float:
    """The largest difference for two batches, as a share of the largest result."""
    model = network.build().eval()
    for layer in model.modules():
        if isinstance(layer, nn.BatchNorm2d):
            # As behind a training: otherwise these layers do nothing.
            layer.running_mean.normal_(0, 0.2)
            layer.running_var.uniform_(0.5, 1.5)
    fast, worst = torch.compile(model, backend=backend), 0.0
    with torch.no_grad():
        for batch in (2, 5):
            arguments = network.arguments(batch)
            expected = model(*arguments)
            found = fast(*arguments)
            worst = max(worst, largest_difference(found, expected))
    return worst


def _training(network: Network) -> float:
    """The largest difference of ten losses, as a share of each.

    In double precision: in single precision a ReLU that is 0 but for rounding has
    another gradient now and then, and losses part, in eager mode as here.
    """
    if network.learner is None:
        return 0.0
    model = network.learner().double().train()
    other = copy.deepcopy(model)
    batches = [network.arguments(4) for _ in range(10)]
    batches = [tuple(map(_double, batch)) for batch in batches]
    ours = _losses(model, torch.compile(model, backend=backend), batches)
    theirs = _losses(other, other, batches)
    return max(abs(a - b) / abs(b) for a, b in zip(ours, theirs, strict=True))


def _double(x: Any) -> Any:
    return x.double() if x.is_floating_point() else x


def _losses(model: Any, call: Any, batches: list[tuple[Any, ...]]) -> list[float]:
    torch.manual_seed(1)  # of dropouts
    optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)
    losses: list[float] = []
    for batch in batches:
        optimizer.zero_grad()
        scores = call(*batch)
        scores = scores.movedim(1, -1) if scores.dim() == 4 else scores
        flat = scores.reshape(-1, scores.shape[-1])
        loss = cross_entropy(flat, torch.arange(len(flat)) % flat.shape[1])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def _compare(name: str) -> dict[str, float]:
    """How far a network is off, predicting and learning."""
    torch.manual_seed(0)
    torch._dynamo.reset()
    network = NETWORKS[name]
    return {"inference": _inference(network), "training": _training(network)}


if __name__ == "__main__":
    sys.exit(compare_all("Networks of PyTorch on Gingham.", NETWORKS, _compare))
