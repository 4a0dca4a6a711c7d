"""Keras 2.2.4 learns to tell crosses from squares, by PlaidML's backend on Gingham."""

import collections
import collections.abc
import inspect

# Keras 2.2.4 is of 2018. What Python has renamed since:
collections.Iterable = collections.abc.Iterable
inspect.getargspec = inspect.getfullargspec

import numpy as np

import plaidml.keras

plaidml.keras.install_backend()

from keras import layers
from keras.models import Sequential

np.random.seed(0)  # for the weights that Keras starts with
random = np.random.default_rng(0)
cross, square = np.zeros((2, 8, 8, 1))
cross[range(8), range(8)] = cross[range(8), range(7, -1, -1)] = 1
square[0] = square[-1] = square[:, 0] = square[:, -1] = 1
kinds = random.integers(0, 2, 32)
images = np.stack([cross, square])[kinds] + random.normal(0, 0.5, (32, 8, 8, 1))

model = Sequential()
model.add(layers.Conv2D(4, (3, 3), activation="relu", input_shape=(8, 8, 1)))
model.add(layers.BatchNormalization())
model.add(layers.MaxPooling2D())
model.add(layers.Flatten())
model.add(layers.Dropout(0.25))
model.add(layers.Dense(2, activation="softmax"))
model.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
model.fit(images, np.eye(2)[kinds], batch_size=32, epochs=50, verbose=0)
_, accuracy = model.evaluate(images, np.eye(2)[kinds], verbose=0)
print(f"{accuracy:.0%} are told apart")
