"""The networks that are measured, and what they are called with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import nn

from .mobilenet import MobileNetV2
from .resnet import resnet50
from .transformers import Bert, Layer
from .unet import UNet


class Network(NamedTuple):
    """A network, and its arguments for a size of batches."""

    build: Callable[[], Any]
    arguments: Callable[[int], tuple[Any, ...]]


class Gpt(nn.Module):
    """The twelve layers of GPT-2, from states to states."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(768, 12, is_causal=True) for _ in range(12))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[N, T, 768] to the same."""
        for layer in self.layers:
            x = layer(x)
        return x


def _convolutional(build: Callable[[], Any]) -> Callable[[], Any]:
    """With weights by which what goes through keeps its size, so that errors show."""

    def built() -> Any:
        network = build()
        for layer in network.modules():
            if isinstance(layer, nn.Conv2d | nn.ConvTranspose2d):
                nn.init.kaiming_normal_(layer.weight)
        return network

    return built


def _images(size: int) -> Callable[[int], tuple[Any, ...]]:
    return lambda batch: (torch.randn(batch, 3, size, size),)


def _tokens(batch: int) -> tuple[Any, ...]:
    return torch.randint(1, 30000, (batch, 128)), torch.ones(batch, 128)


NETWORKS = {
    "resnet50": Network(_convolutional(resnet50), _images(224)),
    "mobilenetv2": Network(_convolutional(MobileNetV2), _images(224)),
    "bert": Network(Bert, _tokens),
    "gpt": Network(Gpt, lambda batch: (torch.randn(batch, 128, 768),)),
    "unet": Network(_convolutional(lambda: UNet(width=32)), _images(128)),
}
"""BERT and GPT with 128 tokens; U-Net with half of its channels."""
