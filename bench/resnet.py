"""ResNet-50 in Tile, its weights as inputs: what start-up is measured with."""

from __future__ import annotations

from .cases.case import Shape

_BLOCKS = (3, 4, 6, 3)
_CLASSES = 1000


def resnet50(size: int = 224, channels: int = 64) -> tuple[str, list[Shape]]:
    """The program and the shapes of its inputs, for one image of `size` x `size`.

    Batch normalization is part of the weights and biases, as when training has ended.
    """
    network = _Network(size)
    value = network.convolution(network.image, channels, 7, 2)
    value = network.max_pool(value)
    for stage, blocks in enumerate(_BLOCKS):
        width = channels << stage
        for block in range(blocks):
            stride = 2 if stage > 0 and block == 0 else 1
            short = value
            if block == 0:
                short = network.convolution(value, 4 * width, 1, stride, "{}")
            inner = network.convolution(value, width, 1)
            inner = network.convolution(inner, width, 3, stride)
            value = network.convolution(
                inner, 4 * width, 1, 1, f"relu({{}} + {short.name})"
            )
    return network.finish(value), network.shapes


class _Value:
    """A tensor of the network: an image of some size, or a row where that is 0."""

    def __init__(self, name: str, size: int, channels: int) -> None:
        self.name = name
        self.size = size
        self.channels = channels


class _Network:
    """The lines of the program, layer by layer."""

    def __init__(self, size: int) -> None:
        self.image = _Value("X", size, 3)
        self.shapes: list[Shape] = [(1, size, size, 3)]
        self._inputs = ["X[N, H, W, C]"]
        self._lines: list[str] = []

    def convolution(
        self,
        value: _Value,
        channels: int,
        window: int,
        stride: int = 1,
        result: str = "relu({})",
    ) -> _Value:
        """A convolution with a bias, and what `result` makes of both."""
        number = len(self._inputs)
        size = -(-value.size // stride)
        padding = (window - 1) // 2
        self._input(f"K{number}", (window, window, value.channels, channels))
        self._input(f"B{number}", (channels,))
        self._lines += [
            f"Y{number}[n, y, x, o : N, {size}, {size}, {channels}] = "
            f"+({value.name}[n, {stride}*y + i - {padding}, {stride}*x + j - {padding},"
            f" c] * K{number}[i, j, c, o]);",
            f"Z{number} = {result.format(f'(Y{number} + B{number})')};",
        ]
        return _Value(f"Z{number}", size, channels)

    def max_pool(self, value: _Value) -> _Value:
        """The largest of each 3 x 3 values, at every other place."""
        size = -(-value.size // 2)
        self._lines.append(
            f"P[n, y, x, c : N, {size}, {size}, {value.channels}] = "
            f">({value.name}[n, 2*y + i - 1, 2*x + j - 1, c]), i < 3, j < 3;"
        )
        return _Value("P", size, value.channels)

    def finish(self, value: _Value) -> str:
        """The program with the mean of each channel and the last layer."""
        self._input("KL", (value.channels, _CLASSES))
        self._input("BL", (_CLASSES,))
        self._lines += [
            f"S[n, c : N, {value.channels}] = +({value.name}[n, y, x, c]);",
            f"M = S / {value.size**2}.0;",
            f"F[n, o : N, {_CLASSES}] = +(M[n, c] * KL[c, o]);",
            "L = F + BL;",
        ]
        lines = "\n  ".join(self._lines)
        return f"function ({', '.join(self._inputs)}) -> (L) {{\n  {lines}\n}}\n"

    def _input(self, name: str, shape: Shape) -> None:
        sizes = ", ".join(f"{name}_{axis}" for axis in range(len(shape)))
        self._inputs.append(f"{name}[{sizes}]")
        self.shapes.append(shape)
