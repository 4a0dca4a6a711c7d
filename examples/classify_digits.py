"""An image classifier learns to read digits, then shows what it reads.

`python examples/classify_digits.py [STEPS]`. The images, 16 by 16, are drawn here:
digits of another size and place each time, with noise.
"""

import sys

import numpy as np

import gingham
from gingham import op

DIGITS = """
.###. ..#.. .###. .###. ...#. ##### .###. ##### .###. .###.
#...# .##.. #...# #...# ..##. #.... #.... ....# #...# #...#
#..## ..#.. ....# ...#. .#.#. ####. ####. ...#. .###. #...#
#.#.# ..#.. ..##. ....# #..#. ....# #...# ..#.. #...# .####
##..# ..#.. .#... #...# ##### #...# #...# ..#.. #...# ....#
.###. .###. ##### .###. ...#. .###. .###. ..#.. .###. .###.
"""
SHAPES = np.array([[[c == "#" for c in word] for word in row.split()]
                   for row in DIGITS.split("\n")[1:-1]]).swapaxes(0, 1)  # fmt: skip
"""Ten digits of 6 by 5 cells."""

BATCH = 64

random = np.random.default_rng(0)


def drawn(count):
    """Images [count, 1, 16, 16] and the digits that they show."""
    images = random.normal(0, 0.3, (count, 1, 16, 16)).astype(np.float32)
    digits = random.integers(0, 10, count).astype(np.int32)
    for image, digit in zip(images, digits):
        height, width = random.integers(7, 15), random.integers(6, 13)
        rows, columns = np.arange(height) * 6 // height, np.arange(width) * 5 // width
        top, left = random.integers(0, 17 - height), random.integers(0, 17 - width)
        shape = SHAPES[digit][rows][:, columns]
        image[0, top : top + height, left : left + width] += shape
    return images, digits


def first_weights():
    """Random weights of three convolutions and a layer."""

    def normal(*shape):
        scale = np.sqrt(2 / np.prod(shape[1:]))
        return random.normal(0, scale, shape).astype(np.float32)

    def bias(count):
        return np.zeros(count, np.float32)

    convolutions = [normal(16, 1, 3, 3), normal(32, 16, 3, 3), normal(64, 32, 3, 3)]
    biases = [bias(16), bias(32), bias(64), bias(10)]
    return [*convolutions, normal(10, 256), *biases]


def scores(weights, images):
    """How much each image looks like each digit: [images, 10]."""
    *convolutions, last = weights[:4]
    *biases, last_bias = weights[4:]
    x = images
    for weight, bias in zip(convolutions, biases):
        x = op.relu(op.conv(x, weight, bias, padding=1))
        x = op.max_pool(x, 2)
    return op.linear(op.flatten(x, 1), last, last_bias)


@gingham.jit
def step(weights, speeds, images, digits, rate):
    """A step down the gradient, with momentum: the loss, weights and speeds."""
    likely = op.log_softmax(scores(weights, images)) * op.one_hot(digits, 10)
    loss = -op.mean(op.sum(likely, -1))
    gradients = gingham.gradient(loss, weights)
    speeds = [0.9 * speed + each for speed, each in zip(speeds, gradients)]
    return loss, [w - rate * each for w, each in zip(weights, speeds)], speeds


@gingham.jit
def read(weights, images):
    """The most likely digits, and how likely they are."""
    chances = op.softmax(scores(weights, images))
    return op.argmax(chances, -1), op.max(chances, -1)


def main(steps):
    """Learn, and read images that were not learnt from."""
    weights = first_weights()
    speeds = [np.zeros_like(each) for each in weights]
    for number in range(steps):
        rate = np.float32(0.03 * (1 - number / steps))
        loss, weights, speeds = step(weights, speeds, *drawn(BATCH), rate)
        if number % 100 == 0:
            print(f"step {number}: loss {float(loss):.2f}")
    images, digits = drawn(1000)
    found, chances = read(weights, images)
    print(f"{np.mean(found == digits):.1%} of 1,000 new images are read rightly")
    for image, digit, chance in zip(images[:2, 0], found, chances):
        print(f"\nread as a {digit}, {chance:.0%} sure:")
        for row in image:
            print("".join(" .:+#"[int(np.clip(v * 3 + 1, 0, 4))] * 2 for v in row))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 600)
