"""U-Net: images to maps, down and up again (Ronneberger, Fischer and Brox, 2015)."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def _pair(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(outputs, outputs, 3, padding=1),
        nn.ReLU(),
    )


class UNet(nn.Module):
    """Images [N, 3, H, W] to maps [N, classes, H, W]; H and W are multiples of 16."""

    def __init__(self, classes: int = 2, width: int = 64, depth: int = 4) -> None:
        super().__init__()
        widths = [width * 2**level for level in range(depth + 1)]
        self.down = nn.ModuleList(
            _pair(*each) for each in zip([3, *widths[:-1]], widths, strict=True)
        )
        self.widen = nn.ModuleList(
            nn.ConvTranspose2d(2 * outputs, outputs, 2, 2)
            for outputs in reversed(widths[:-1])
        )
        self.up = nn.ModuleList(
            _pair(2 * outputs, outputs) for outputs in reversed(widths[:-1])
        )
        self.pool = nn.MaxPool2d(2)
        self.classify = nn.Conv2d(width, classes, 1)

    def forward(self, x: Tensor) -> Tensor:
        """The maps of classes."""
        kept: list[Tensor] = []
        for level, layer in enumerate(self.down):
            x = layer(self.pool(x) if level else x)
            kept.append(x)
        for widen, layer, beside in zip(
            self.widen, self.up, reversed(kept[:-1]), strict=True
        ):
            x = layer(torch.cat((beside, widen(x)), 1))
        return self.classify(x)
