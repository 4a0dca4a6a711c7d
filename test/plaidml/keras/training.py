"""Keras 2.2.4 trains small models by PlaidML's own backend, and writes what happened.

`python -m gingham.plaidml training.py OUTPUT.npz [MODEL ...]`: for each model its data,
its weights before and after, the losses of the epochs, and what it predicts then.
"""

import collections
import collections.abc
import inspect
import sys

import numpy as np

# Keras 2.2.4 is of 2018. What Python has renamed since:
collections.Iterable = collections.abc.Iterable
inspect.getargspec = inspect.getfullargspec

import plaidml.keras

plaidml.keras.install_backend()

import keras.backend as K
from keras import Model, layers, optimizers
from keras.callbacks import Callback
from keras.models import Sequential

EPOCHS = 2
RATE = 0.1
RANDOM = np.random.default_rng(0)


def one_hot(count, classes):
    return np.eye(classes)[RANDOM.integers(0, classes, count)]


def dense():
    model = Sequential()
    model.add(layers.Dense(128, activation="relu", input_shape=(784,)))
    model.add(layers.Dense(10, activation="softmax"))
    return model, "categorical_crossentropy", RANDOM.random((64, 784)), 10


def convolution():
    model = Sequential()
    model.add(layers.Conv2D(8, (3, 3), padding="same", input_shape=(28, 28, 1)))
    model.add(layers.Activation("relu"))
    model.add(layers.MaxPooling2D())
    model.add(layers.Flatten())
    model.add(layers.Dense(10, activation="softmax"))
    return model, "categorical_crossentropy", RANDOM.random((16, 28, 28, 1)), 10


def normalization():
    model = Sequential()
    model.add(layers.Dense(64, input_shape=(100,)))
    model.add(layers.BatchNormalization())
    model.add(layers.Activation("tanh"))
    model.add(layers.Dense(10, activation="sigmoid"))
    return model, "mean_squared_error", RANDOM.normal(size=(64, 100)), 10


def recurrence():
    model = Sequential()
    model.add(layers.LSTM(32, input_shape=(2, 16)))
    model.add(layers.Dense(2, activation="softmax"))
    return model, "categorical_crossentropy", RANDOM.normal(size=(32, 2, 16)), 2


class Weights(Callback):
    """Writes down the weights before the first epoch and after each."""

    def __init__(self, found):
        super().__init__()
        self.found = found

    def on_train_begin(self, logs=None):
        self.on_epoch_end(-1)

    def on_epoch_end(self, epoch, logs=None):
        for number, weight in enumerate(self.model.get_weights()):
            self.found[f"weights{epoch + 1}.{number}"] = weight


def train(make, found):
    model, loss, x, classes = make()
    y = one_hot(len(x), classes)
    model.compile(optimizers.SGD(RATE), loss)
    fitted = model.fit(x, y, len(x), EPOCHS, verbose=0, callbacks=[Weights(found)])
    found["x"], found["y"] = x, y
    found["losses"] = fitted.history["loss"]
    found["evaluated"] = model.evaluate(x, y, len(x), verbose=0)
    found["predicted"] = model.predict(x)


def dropout(found):
    """What is left of ones, twice in training and once else, and losses of epochs."""
    x = layers.Input(shape=(500,))
    y = layers.Dropout(0.4)(x)
    f = K.function([x, K.learning_phase()], [y])
    ones = np.ones((20, 500), np.float32)
    found["first"], found["second"] = f([ones, 1])[0].copy(), f([ones, 1])[0].copy()
    found["none"] = f([ones, 0])[0]
    model = Sequential()
    model.add(layers.Dense(16, activation="relu", input_shape=(5,)))
    model.add(layers.Dropout(0.5))
    model.add(layers.Dense(1, activation="sigmoid"))
    model.compile(optimizers.SGD(0.5), "binary_crossentropy")
    x = RANDOM.normal(size=(32, 5))
    y = x[:, :1] > 0
    found["before"] = model.evaluate(x, y, 32, verbose=0)
    found["losses"] = model.fit(x, y, 32, 20, verbose=0).history["loss"]
    found["after"] = model.evaluate(x, y, 32, verbose=0)


def seeds(found):
    """A sum and two models that predict, as a page about PlaidML shows them."""
    a = K.constant(np.array([1, 2, 3, 4], dtype="float32"))
    b = K.constant(np.array([5, 6, 7, 8], dtype="float32"))
    # The page has K.add(a, b), which no backend of Keras has.
    found["sum"] = K.function([], [a + b])([])[0]
    image = layers.Input(shape=(32, 32, 3))
    conv = layers.Conv2D(32, (3, 3), activation="relu")(image)
    model = Model(inputs=image, outputs=conv)
    found["image"] = np.random.rand(1, 32, 32, 3).astype("float32")
    found["kernel"], found["bias"] = model.get_weights()
    found["filtered"] = model.predict(found["image"])
    vector = layers.Input(shape=(10,))
    activation = layers.Activation("relu")(layers.Dense(20)(vector))
    model = Model(inputs=vector, outputs=activation)
    found["vector"] = np.random.rand(1, 10).astype("float32")
    found["weights"], found["offset"] = model.get_weights()
    found["activated"] = model.predict(found["vector"])


def main():
    wanted = sys.argv[2:]
    results = {}
    for model in (dense, convolution, normalization, recurrence, dropout, seeds):
        name = model.__name__
        if wanted and name not in wanted:
            continue
        found = {}
        # First weights, and the states that dropout draws from.
        np.random.seed(0)
        if model in (dropout, seeds):
            model(found)
        else:
            train(model, found)
        results.update({f"{name}.{key}": value for key, value in found.items()})
    np.savez(sys.argv[1], backend=K.backend(), **results)


main()
