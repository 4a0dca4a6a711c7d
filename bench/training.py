"""A training step of ResNet-50 in Tile, about five thousand operations on tensors.

Convolutions, batch normalization by the statistics of the batch, which moving averages
follow, relu, cross-entropy, the gradients of all weights, and their updates by Adam:
what a framework for deep learning hands to a compiler.
"""

from __future__ import annotations

from collections.abc import Sequence

from .cases.case import Shape
from .growing import ProgramText
from .resnet import BLOCKS, CLASSES, ResNet


def resnet50_training(
    batch: int = 4, size: int = 64, channels: int = 64, stages: Sequence[int] = BLOCKS
) -> ProgramText:
    """The program and the shapes of its inputs, for images of `size` x `size`.

    Its results are the loss, the new averages, weights and moments. Fewer blocks in
    `stages` make a smaller network.
    """
    network = _Training(batch, size)
    return network.step(network.classes(network.features(channels, stages)))


class _Training(ResNet):
    """The network with its loss and the updates of all weights."""

    def __init__(self, batch: int, size: int) -> None:
        super().__init__(batch, size)
        self._averages: list[str] = []

    def normalized(self, value: str, number: int, size: int, channels: int) -> str:
        """Batch normalization, and the averages that are used after training."""
        n, lines, pixels = number, self.lines, f"{self.batch * size * size}.0"
        scale, shift = lines.input(f"G{n}", channels), lines.input(f"B{n}", channels)
        total = lines.add(f"S{n}[c : {channels}]", f"+({value}[n, y, x, c])")
        mean = lines.add(f"M{n}", f"{total} / {pixels}")
        centered = lines.add(f"C{n}", f"{value} - {mean}")
        square = lines.add(f"Q{n}", f"{centered} * {centered}")
        total = lines.add(f"T{n}[c : {channels}]", f"+({square}[n, y, x, c])")
        variance = lines.add(f"V{n}", f"{total} / {pixels}")
        for statistic, kept in ((mean, f"AM{n}"), (variance, f"AV{n}")):
            average = lines.input(kept, channels, is_weight=False)
            update = f"{average} * 0.9 + {statistic} * 0.1"
            self._averages.append(lines.add(f"N{kept}", update))
        deviation = lines.add(f"D{n}", f"sqrt({variance} + 0.001)")
        normal = lines.add(f"H{n}", f"{centered} / {deviation}")
        return f"{normal} * {scale} + {shift}"

    def step(self, result: str) -> ProgramText:
        """The loss of the last layer, and the updates of all weights."""
        lines = self.lines
        truth = lines.input("YT", self.batch, CLASSES, is_weight=False)
        lines.add(f"ZM[n, 0 : {self.batch}, 1]", f">({result}[n, o])")
        lines.add("E", f"exp({result} - ZM)")
        lines.add(f"ES[n, 0 : {self.batch}, 1]", "+(E[n, o])")
        lines.add("LP", f"{truth} * ({result} - ZM - log(ES))")
        lines.add("LS[]", "+(LP[n, o])")
        lines.add("L", f"-LS / {self.batch}.0")
        updates = [
            each
            for weight, shape in [*zip(lines.weights, lines.weight_shapes, strict=True)]
            for each in self._update(weight, shape)
        ]
        return lines.program(["L", *self._averages, *updates])

    def _update(self, weight: str, shape: Shape) -> tuple[str, str, str]:
        """Adam with weight decay: the new weights and both moments."""
        lines = self.lines
        first = lines.input(f"FIRST_{weight}", *shape, is_weight=False)
        second = lines.input(f"SECOND_{weight}", *shape, is_weight=False)
        slope = lines.add(f"SLOPE_{weight}", f"gradient(L, {weight})")
        first = lines.add(f"NEW_{first}", f"{first} * 0.9 + {slope} * 0.1")
        square = f"{slope} * {slope}"
        second = lines.add(f"NEW_{second}", f"{second} * 0.999 + {square} * 0.001")
        step = lines.add(f"STEP_{weight}", f"{first} / (sqrt({second}) + 1e-8)")
        change = f"({step} + {weight} * 0.0001) * 0.001"
        return lines.add(f"NEW_{weight}", f"{weight} - {change}"), first, second
