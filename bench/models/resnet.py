"""ResNet: deep residual learning (He, Zhang, Ren and Sun, 2015), 18 and 50 layers."""

from __future__ import annotations

from torch import Tensor, nn


def _convolution(inputs: int, outputs: int, size: int, stride: int = 1) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False)


class Basic(nn.Module):
    """Two convolutions of 3x3, and what came in added."""

    expansion = 1

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            _convolution(inputs, width, 3, stride),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            _convolution(width, width, 3),
            nn.BatchNorm2d(width),
        )
        self.shortcut = _shortcut(inputs, width, stride)

    def forward(self, x: Tensor) -> Tensor:
        """Images to images."""
        return nn.functional.relu(self.body(x) + self.shortcut(x))


class Bottleneck(nn.Module):
    """Convolutions of 1x1, 3x3 and 1x1, and what came in added."""

    expansion = 4

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            _convolution(inputs, width, 1),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            _convolution(width, width, 3, stride),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            _convolution(width, 4 * width, 1),
            nn.BatchNorm2d(4 * width),
        )
        self.shortcut = _shortcut(inputs, 4 * width, stride)

    def forward(self, x: Tensor) -> Tensor:
        """Images to images."""
        return nn.functional.relu(self.body(x) + self.shortcut(x))


def _shortcut(inputs: int, outputs: int, stride: int) -> nn.Module:
    if inputs == outputs and stride == 1:
        return nn.Identity()
    return nn.Sequential(
        _convolution(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs)
    )


class ResNet(nn.Module):
    """Images [N, 3, H, W] to scores [N, classes]."""

    def __init__(
        self,
        block: type[Basic] | type[Bottleneck],
        depths: tuple[int, int, int, int],
        classes: int = 1000,
        width: int = 64,
    ) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            _convolution(3, width, 7, 2),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.MaxPool2d(3, 2, 1),
        )
        layers: list[nn.Module] = []
        inputs = width
        for number, depth in enumerate(depths):
            for position in range(depth):
                stride = 2 if number and not position else 1
                layers.append(block(inputs, width * 2**number, stride))
                inputs = width * 2**number * block.expansion
        self.layers = nn.Sequential(*layers)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classify = nn.Linear(inputs, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Scores of classes."""
        return self.classify(self.pool(self.layers(self.stem(x))).flatten(1))


def resnet18(classes: int = 1000, width: int = 64) -> ResNet:
    """The network of 18 layers."""
    return ResNet(Basic, (2, 2, 2, 2), classes, width)


def resnet50(classes: int = 1000, width: int = 64) -> ResNet:
    """The network of 50 layers."""
    return ResNet(Bottleneck, (3, 4, 6, 3), classes, width)
