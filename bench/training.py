"""A training step of ResNet-50 in Tile, about five thousand operations on tensors.

Convolutions, batch normalization by the statistics of the batch, which moving averages
follow, relu, cross-entropy, the gradients of all weights, and their updates by
Adam: what a framework for deep learning hands to a compiler.
"""

from __future__ import annotations

from .growing import Lines, Program

_BLOCKS = (3, 4, 6, 3)
_CLASSES = 1000


def resnet50_training(batch: int = 4, size: int = 64, channels: int = 64) -> Program:
    """The program and the shapes of its inputs, for images of `size` x `size`.

    Its results are the loss, the new averages, weights and moments.
    """
    network = _Network(batch, size)
    value = network.relu(network.convolution(network.image, channels, 7, 2))
    value = network.max_pool(value)
    for stage, blocks in enumerate(_BLOCKS):
        width = channels << stage
        for block in range(blocks):
            stride = 2 if stage > 0 and block == 0 else 1
            short = value
            if block == 0:
                short = network.convolution(value, 4 * width, 1, stride)
            inner = network.relu(network.convolution(value, width, 1))
            inner = network.relu(network.convolution(inner, width, 3, stride))
            inner = network.convolution(inner, 4 * width, 1)
            value = network.relu(inner, f" + {short.name}")
    return network.finish(value)


class _Image:
    """A tensor of the network: images of a size with so many channels."""

    def __init__(self, name: str, size: int, channels: int) -> None:
        self.name = name
        self.size = size
        self.channels = channels


class _Network:
    """The lines of the program, layer by layer."""

    def __init__(self, batch: int, size: int) -> None:
        self._lines = Lines()
        self._batch = batch
        self._count = 0
        self._averages: list[str] = []
        name = self._lines.input("X", batch, size, size, 3, is_weight=False)
        self.image = _Image(name, size, 3)

    def convolution(
        self, image: _Image, channels: int, window: int, stride: int = 1
    ) -> _Image:
        """A convolution whose results are normalized."""
        self._count += 1
        n, size = self._count, -(-image.size // stride)
        padding = (window - 1) // 2
        kernel = self._lines.input(f"K{n}", window, window, image.channels, channels)
        y, x = (f"{stride}*{i} + {k} - {padding}" for i, k in ("yi", "xj"))
        value = self._lines.add(
            f"Y{n}[n, y, x, o : {self._batch}, {size}, {size}, {channels}]",
            f"+({image.name}[n, {y}, {x}, c] * {kernel}[i, j, c, o])",
        )
        return _Image(self._normalized(value, n, size, channels), size, channels)

    def _normalized(self, value: str, n: int, size: int, channels: int) -> str:
        """Batch normalization, and the averages that are used after training."""
        lines, pixels = self._lines, f"{self._batch * size * size}.0"
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
        return lines.add(f"Z{n}", f"{normal} * {scale} + {shift}")

    def relu(self, image: _Image, added: str = "") -> _Image:
        """What is positive, of a sum where something is added."""
        name = f"R{len(self._lines.statements)}"
        value = self._lines.add(name, f"relu({image.name}{added})")
        return _Image(value, image.size, image.channels)

    def max_pool(self, image: _Image) -> _Image:
        """The largest of each 3 x 3 values, at every other place."""
        size = -(-image.size // 2)
        value = self._lines.add(
            f"P[n, y, x, c : {self._batch}, {size}, {size}, {image.channels}]",
            f">({image.name}[n, 2*y + i - 1, 2*x + j - 1, c]), i < 3, j < 3",
        )
        return _Image(value, size, image.channels)

    def finish(self, image: _Image) -> Program:
        """The last layer, the loss, and the updates of all weights."""
        lines, sizes = self._lines, f"{self._batch}, {_CLASSES}"
        kernel = lines.input("KL", image.channels, _CLASSES)
        bias = lines.input("BL", _CLASSES)
        truth = lines.input("YT", self._batch, _CLASSES, is_weight=False)
        pixels = f"{image.size**2}.0"
        total = lines.add(
            f"S[n, c : {self._batch}, {image.channels}]", f"+({image.name}[n, y, x, c])"
        )
        mean = lines.add("M", f"{total} / {pixels}")
        product = lines.add(f"F[n, o : {sizes}]", f"+({mean}[n, c] * {kernel}[c, o])")
        lines.add("Z", f"{product} + {bias}")
        lines.add(f"ZM[n, 0 : {self._batch}, 1]", ">(Z[n, o])")
        lines.add("E", "exp(Z - ZM)")
        lines.add(f"ES[n, 0 : {self._batch}, 1]", "+(E[n, o])")
        lines.add("LP", f"{truth} * (Z - ZM - log(ES))")
        lines.add("LS[]", "+(LP[n, o])")
        lines.add("L", f"-LS / {self._batch}.0")
        updates = [
            each
            for weight, shape in [*zip(lines.weights, lines.weight_shapes, strict=True)]
            for each in self._update(weight, shape)
        ]
        return lines.program(["L", *self._averages, *updates])

    def _update(self, weight: str, shape: tuple[int, ...]) -> tuple[str, str, str]:
        """Adam with weight decay: the new weights and both moments."""
        lines = self._lines
        first = lines.input(f"FIRST_{weight}", *shape, is_weight=False)
        second = lines.input(f"SECOND_{weight}", *shape, is_weight=False)
        slope = lines.add(f"SLOPE_{weight}", f"gradient(L, {weight})")
        first = lines.add(f"NEW_{first}", f"{first} * 0.9 + {slope} * 0.1")
        square = f"{slope} * {slope}"
        second = lines.add(f"NEW_{second}", f"{second} * 0.999 + {square} * 0.001")
        step = lines.add(f"STEP_{weight}", f"{first} / (sqrt({second}) + 1e-8)")
        change = f"({step} + {weight} * 0.0001) * 0.001"
        return lines.add(f"NEW_{weight}", f"{weight} - {change}"), first, second
