"""Models that Keras 3 ships, compared with Keras: `python -m test.networks_of_keras`.

One of each family that Keras ships, with random weights and small images, predicts by
`gingham.keras.compile` and by Keras's own backend, PyTorch. It takes minutes; a name or
several choose.
"""

from __future__ import annotations

import sys

import numpy as np

import gingham
from test.keras3 import keras
from test.networks import compare_all, largest_difference

APPLICATIONS = {
    "ConvNeXtTiny": 32,
    "DenseNet121": 32,
    "EfficientNetB0": 32,
    "EfficientNetV2B0": 32,
    "InceptionResNetV2": 75,
    "InceptionV3": 75,
    "MobileNet": 32,
    "MobileNetV2": 32,
    "MobileNetV3Small": 32,
    "ResNet50": 32,
    "ResNet50V2": 32,
    "VGG16": 32,
    "Xception": 71,
}
"""The names of models, and the least size of images that each takes."""


def _set_random_weights(
    model: keras.Model, images: np.ndarray, random: np.random.Generator
) -> None:
    """Draw weights with which results differ, by statistics as behind a training.

    With Keras's own, batch norms do nothing and scales of layers are next to nothing.
    """
    for variable in model.trainable_variables:
        variable.assign(_weights(variable.path, variable.shape, random))
    for layer in model.layers:
        if isinstance(layer, keras.layers.BatchNormalization):
            layer.momentum = 0.0
    model(images, training=True)


def _weights(
    path: str, shape: tuple[int, ...], random: np.random.Generator
) -> np.ndarray:
    """Random numbers for a variable; kernels keep the scale of what they multiply."""
    name = path.rpartition("/")[2]
    if "kernel" in name:
        # A depthwise kernel sums over its window alone, and has a channel each.
        summed = shape[:2] if "depthwise" in path else shape[:-1]
        return random.normal(0, (2 / np.prod(summed)) ** 0.5, shape)
    if name == "gamma":
        return random.uniform(0.5, 1.5, shape)
    # Most elements pass a ReLU: where half do, rounding grows from layer to layer.
    return random.normal(1 if name == "beta" else 0, 0.1, shape)


def _images(count: int, size: int, random: np.random.Generator) -> np.ndarray:
    """Images of squares: of single points drawn at random all means are alike."""
    squares = random.uniform(0, 255, (count, -(-size // 16), -(-size // 16), 3))
    return squares.repeat(16, 1).repeat(16, 2)[:, :size, :size].astype(np.float32)


def _compare(name: str) -> dict[str, float]:
    """How far an application model is off."""
    random = np.random.default_rng(0)
    keras.backend.clear_session()
    size = APPLICATIONS[name]
    build = getattr(keras.applications, name)
    # No softmax, which makes large differences small.
    model = build(
        weights=None,
        input_shape=(size, size, 3),
        classes=50,
        classifier_activation=None,
    )
    images = _images(16, size, random)
    _set_random_weights(model, images, random)
    expected = model.predict(images, verbose=0)
    gingham.keras.compile(model)
    found = model.predict(images, verbose=0)
    deviation = expected.std(0).mean() / abs(expected).max()
    assert deviation > 0.01, "images that give the same show nothing"
    return {"inference": largest_difference(found, expected)}


if __name__ == "__main__":
    sys.exit(compare_all("Models of Keras on Gingham.", APPLICATIONS, _compare))
