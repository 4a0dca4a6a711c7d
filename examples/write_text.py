"""A small language model learns from the documents for a minute, then writes.

A transformer over characters: `python examples/write_text.py [SECONDS] [FILE...]`.
"""

import sys
import time
from pathlib import Path

import numpy as np

import gingham
from gingham import op

CONTEXT, WIDTH, HEADS, LAYERS, BATCH = 64, 96, 4, 3, 24

root = Path(__file__).parents[1]
random = np.random.default_rng(0)


def first_weights(letters):
    """Random weights: arrays in dicts and lists, as all functions below take them."""

    def matrix(rows, columns):
        scale = rows**-0.5
        return random.normal(0, scale, (rows, columns)).astype(np.float32)

    def layer():
        return {
            "inputs": matrix(WIDTH, 3 * WIDTH),
            "outputs": matrix(WIDTH, WIDTH),
            "wide": matrix(WIDTH, 4 * WIDTH),
            "narrow": matrix(4 * WIDTH, WIDTH),
            "before_attention": np.ones(WIDTH, np.float32),
            "before_wide": np.ones(WIDTH, np.float32),
        }

    return {
        "letters": matrix(letters, WIDTH),
        "places": matrix(CONTEXT, WIDTH),
        "layers": [layer() for _ in range(LAYERS)],
        "last": np.ones(WIDTH, np.float32),
        "scores": matrix(WIDTH, letters),
    }


def attention(x, layer):
    """What each place takes from those before it; x is [batch, places, WIDTH]."""
    batch, places = x.shape[:2]
    parts = (x @ layer["inputs"]).reshape(batch, places, 3, HEADS, WIDTH // HEADS)
    query, key, value = op.unstack(op.transpose(parts, (2, 0, 3, 1, 4)))
    scores = query @ op.transpose(key, (0, 1, 3, 2)) * (WIDTH // HEADS) ** -0.5
    later = op.triu(op.ones_like(scores), 1) > 0
    heads = op.softmax(op.masked_fill(scores, later, -1e9)) @ value
    joined = op.transpose(heads, (0, 2, 1, 3)).reshape(batch, places, WIDTH)
    return joined @ layer["outputs"]


def scores(weights, text):
    """For each place of text [batch, places], how likely each next letter is."""
    x = op.embedding(text, weights["letters"]) + weights["places"]
    for layer in weights["layers"]:
        x = x + attention(op.rms_norm(x, layer["before_attention"]), layer)
        wide = op.rms_norm(x, layer["before_wide"]) @ layer["wide"]
        x = x + op.gelu(wide) @ layer["narrow"]
    return op.rms_norm(x, weights["last"]) @ weights["scores"]


def leaves(tree):
    """The tensors of weights, in order."""
    if isinstance(tree, (dict, list)):
        children = tree.values() if isinstance(tree, dict) else tree
        return [leaf for child in children for leaf in leaves(child)]
    return [tree]


def like(tree, values):
    """The next of the values in the places of those of weights."""
    if isinstance(tree, dict):
        return {name: like(child, values) for name, child in tree.items()}
    if isinstance(tree, list):
        return [like(child, values) for child in tree]
    return next(values)


@gingham.jit
def step(weights, means, squares, text, following, rate, steps):
    """A step of Adam: the loss, and new weights, means of gradients and of squares."""
    logarithms = op.log_softmax(scores(weights, text))
    chosen = op.one_hot(following, logarithms.shape[-1])
    loss = -op.mean(op.sum(logarithms * chosen, -1))
    gradients = gingham.gradient(loss, leaves(weights))
    new = [[], [], []]
    for gradient, *old in zip(gradients, *map(leaves, (weights, means, squares))):
        mean = 0.9 * old[1] + 0.1 * gradient
        square = 0.99 * old[2] + 0.01 * gradient * gradient
        unbiased = mean / (1 - 0.9**steps)
        size = op.sqrt(square / (1 - 0.99**steps)) + 1e-8
        for values, value in zip(new, (old[0] - rate * unbiased / size, mean, square)):
            values.append(value)
    return loss, *(like(weights, iter(values)) for values in new)


predict = gingham.jit(scores)


def learn(text, seconds=np.inf, steps=np.inf):
    """Weights that predict the letters of a text, trained so long or so often."""
    letters = int(text.max()) + 1
    weights = first_weights(letters)
    means = squares = like(weights, (np.zeros_like(each) for each in leaves(weights)))
    begin, number = time.monotonic(), 0
    while (passed := time.monotonic() - begin) < seconds and number < steps:
        number += 1
        starts = random.integers(0, len(text) - CONTEXT, BATCH)
        windows = text[starts[:, None] + np.arange(CONTEXT + 1)]
        left = 1 - max(passed / seconds, number / steps)
        rate = np.float32(3e-3 * (0.1 + 0.9 * left))
        loss, weights, means, squares = step(
            weights,
            means,
            squares,
            windows[:, :-1],
            windows[:, 1:],
            rate,
            np.float32(number),
        )
        if number % 100 == 1:
            print(f"{passed:4.0f} s, step {number}: loss {float(loss):.2f}", flush=True)
    return weights


def write(weights, text, count):
    """Go on with a text, letter by letter."""
    for _ in range(count):
        window = text[-CONTEXT:]
        last = len(window) - 1
        window = np.pad(window, (0, CONTEXT - len(window)))[None]
        chances = np.exp(predict(weights, window)[0, last] / 0.7)
        letter = random.choice(len(chances), p=chances / chances.sum())
        text = np.append(text, np.int32(letter))
    return text


def main():
    """Learn from files, and go on with their first words."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60
    files = sys.argv[2:] or sorted(root.glob("docs/*.md"))
    content = "\n".join(Path(file).read_text() for file in files)
    letters = sorted(set(content))
    text = np.array([letters.index(letter) for letter in content], np.int32)
    print(f"{len(text):,} letters, {len(letters)} of them different")
    weights = learn(text, seconds)
    start = content.index("\n\n") + 2
    written = write(weights, text[start : start + 32], 400)
    print("".join(letters[number] for number in written))


if __name__ == "__main__":
    main()
