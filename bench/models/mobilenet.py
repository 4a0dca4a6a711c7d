"""MobileNetV2: inverted residuals (Sandler, Howard, Zhu, Zhmoginov and Chen, 2018)."""

from __future__ import annotations

from torch import Tensor, nn

_STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)
"""Expansion, channels, blocks and stride: table 2 of the paper."""


def _layer(
    inputs: int, outputs: int, size: int, stride: int = 1, groups: int = 1
) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU6(),
    )


class InvertedResidual(nn.Module):
    """Channels are widened, filtered each for itself, and narrowed."""

    def __init__(self, inputs: int, outputs: int, stride: int, expansion: int) -> None:
        super().__init__()
        width = inputs * expansion
        layers: list[nn.Module] = []
        if expansion != 1:
            layers.append(_layer(inputs, width, 1))
        self.body = nn.Sequential(
            *layers,
            _layer(width, width, 3, stride, width),
            nn.Conv2d(width, outputs, 1, bias=False),
            nn.BatchNorm2d(outputs),
        )
        self.is_residual = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        """Images to images."""
        return x + self.body(x) if self.is_residual else self.body(x)


class MobileNetV2(nn.Module):
    """Images [N, 3, H, W] to scores [N, classes]."""

    def __init__(self, classes: int = 1000) -> None:
        super().__init__()
        layers: list[nn.Module] = [_layer(3, 32, 3, 2)]
        inputs = 32
        for expansion, outputs, blocks, stride in _STAGES:
            for position in range(blocks):
                step = 1 if position else stride
                layers.append(InvertedResidual(inputs, outputs, step, expansion))
                inputs = outputs
        layers.append(_layer(inputs, 1280, 1))
        self.layers = nn.Sequential(*layers)
        self.dropout = nn.Dropout(0.2)
        self.classify = nn.Linear(1280, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Scores of classes."""
        return self.classify(self.dropout(self.layers(x).mean((2, 3))))
