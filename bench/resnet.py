"""ResNet-50 in Tile, its weights as inputs: what start-up is measured with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from .growing import Lines, ProgramText

CLASSES = 1000
BLOCKS = (3, 4, 6, 3)
"""The blocks of each stage of ResNet-50."""


def resnet50(size: int = 224, channels: int = 64) -> ProgramText:
    """The program and the shapes of its inputs, for one image of `size` x `size`.

    Batch normalization is part of the weights and biases, as when training has ended.
    """
    network = _Inference(1, size)
    result = network.classes(network.features(channels))
    return network.lines.program([result])


@dataclass(frozen=True)
class Image:
    """A tensor of the network: images of a size with so many channels."""

    name: str
    size: int
    channels: int


class ResNet(ABC):
    """The lines of a program, layer by layer."""

    def __init__(self, batch: int, size: int) -> None:
        self.lines = Lines()
        self.batch = batch
        name = self.lines.input("X", batch, size, size, 3, is_weight=False)
        self._image = Image(name, size, 3)
        self._count = 0

    @abstractmethod
    def normalized(self, value: str, number: int, size: int, channels: int) -> str:
        """An expression: the results of a convolution as other layers want them."""

    def features(self, channels: int, stages: Sequence[int] = BLOCKS) -> Image:
        """All layers up to the last one, of so many channels in the first.

        `stages` has the number of blocks of each.
        """
        value = self.max_pool(self.convolution(self._image, channels, 7, 2))
        for stage, blocks in enumerate(stages):
            width = channels << stage
            for block in range(blocks):
                stride = 2 if stage > 0 and block == 0 else 1
                short = value
                if block == 0:
                    short = self.convolution(value, 4 * width, 1, stride, "{}")
                inner = self.convolution(value, width, 1)
                inner = self.convolution(inner, width, 3, stride)
                result = f"relu({{}} + {short.name})"
                value = self.convolution(inner, 4 * width, 1, 1, result)
        return value

    def convolution(
        self,
        image: Image,
        channels: int,
        window: int,
        stride: int = 1,
        result: str = "relu({})",
    ) -> Image:
        """A convolution whose results are normalized, and what `result` makes of it."""
        self._count += 1
        n, size = self._count, -(-image.size // stride)
        padding = (window - 1) // 2
        kernel = self.lines.input(f"K{n}", window, window, image.channels, channels)
        y, x = (f"{stride}*{i} + {k} - {padding}" for i, k in ("yi", "xj"))
        value = self.lines.add(
            f"Y{n}[n, y, x, o : {self.batch}, {size}, {size}, {channels}]",
            f"+({image.name}[n, {y}, {x}, c] * {kernel}[i, j, c, o])",
        )
        expression = self.normalized(value, n, size, channels)
        name = self.lines.add(f"Z{n}", result.format(f"({expression})"))
        return Image(name, size, channels)

    def max_pool(self, image: Image) -> Image:
        """The largest of each 3 x 3 values, at every other place."""
        size = -(-image.size // 2)
        value = self.lines.add(
            f"P[n, y, x, c : {self.batch}, {size}, {size}, {image.channels}]",
            f">({image.name}[n, 2*y + i - 1, 2*x + j - 1, c]), i < 3, j < 3",
        )
        return Image(value, size, image.channels)

    def classes(self, image: Image) -> str:
        """The last layer, of the mean of each channel: the name of its result."""
        lines = self.lines
        kernel = lines.input("KL", image.channels, CLASSES)
        bias = lines.input("BL", CLASSES)
        total = lines.add(
            f"S[n, c : {self.batch}, {image.channels}]", f"+({image.name}[n, y, x, c])"
        )
        mean = lines.add("M", f"{total} / {image.size**2}.0")
        product = lines.product("F", mean, kernel, self.batch, CLASSES)
        return lines.add("Z", f"{product} + {bias}")


class _Inference(ResNet):
    def normalized(self, value: str, number: int, size: int, channels: int) -> str:
        return f"{value} + {self.lines.input(f'B{number}', channels)}"
