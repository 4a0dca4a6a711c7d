"""Runs what a test of models of Keras asks for, in a process of its own."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pytest

import gingham
from test.keras3 import keras

layers = keras.layers


def _residual() -> keras.Model:
    inputs = layers.Input((8, 8, 3))
    x = layers.Conv2D(4, 3, padding="same", strides=2)(inputs)
    y = layers.BatchNormalization()(x)
    y = layers.SeparableConv2D(4, 3, padding="same", activation="relu")(y)
    x = layers.SpatialDropout2D(0.2, seed=1)(layers.add([x, y]))
    x = layers.GlobalAveragePooling2D()(x)
    return keras.Model(inputs, layers.Dense(3, activation="softmax")(x))


def _sequence() -> keras.Model:
    return keras.Sequential(
        [
            layers.Input((6, 5)),
            layers.GaussianNoise(0.1, seed=3),
            layers.LSTM(4, return_sequences=True),
            layers.LayerNormalization(),
            layers.Dropout(0.3, seed=2),
            layers.Flatten(),
            layers.Dense(3, activation="softmax"),
        ]
    )


class _Attention(keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.attend = layers.MultiHeadAttention(2, 4)
        self.classify = layers.Dense(3, activation="softmax")

    def call(self, x: object, training: bool = False) -> object:
        x = self.attend(x, x, training=training)
        return self.classify(keras.ops.mean(keras.ops.gelu(x), axis=1))


MODELS = {
    "functional": (_residual, (8, 8, 3)),
    "sequential": (_sequence, (6, 5)),
    "subclassed": (_Attention, (6, 5)),
}


def compare(name: str) -> None:
    """A model predicts, learns and is evaluated as without Gingham."""
    build, shape = MODELS[name]
    random = np.random.default_rng(0)
    images = random.normal(size=(10, *shape)).astype(np.float32)
    kinds = random.integers(0, 3, 10)
    found: list[tuple[object, ...]] = []
    for is_compiled in (False, True):
        keras.utils.set_random_seed(5)
        model = build()
        first = model.predict(images, batch_size=4, verbose=0)
        if is_compiled:
            gingham.keras.compile(model)
            again = model.predict(images, batch_size=4, verbose=0)
            np.testing.assert_allclose(again, first, rtol=1e-4, atol=1e-6)
        model.compile(keras.optimizers.SGD(0.1), "sparse_categorical_crossentropy")
        history = model.fit(images, kinds, 5, 3, verbose=0, shuffle=False)
        loss = model.evaluate(images, kinds, 5, verbose=0)
        found.append((history.history["loss"], loss))
    (losses, loss), (ours, our) = found
    np.testing.assert_allclose(ours, losses, rtol=1e-4)
    np.testing.assert_allclose(our, loss, rtol=1e-4)


def mistakes() -> None:
    """What no model can be compiled of is an error that says what to do."""
    with pytest.raises(gingham.GinghamError, match="expected a model of Keras, got"):
        gingham.keras.compile(layers.Dense(3))


if __name__ == "__main__":
    # Keras 3.15 itself is deprecated in places by the newest NumPy.
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", DeprecationWarning)
    if sys.argv[1] == "mistakes":
        mistakes()
    else:
        compare(sys.argv[1])
