"""Keras 3 with PyTorch as backend: `from test.keras3 import keras` before all others.

Keras takes its backend when it is imported, and Keras 2.2.4, for PlaidML's backend, may
be installed beside Keras 3: a process has the first Keras 3 that there is.
"""

from __future__ import annotations

import os
import sys
from importlib.metadata import distributions

os.environ["KERAS_BACKEND"] = "torch"
_FOUND = [
    str(each.locate_file(""))
    for each in distributions(name="keras")
    if each.version.startswith("3.")
]
if not _FOUND:
    sys.exit("no Keras 3")
sys.path.insert(0, _FOUND[0])

import keras

__all__ = ["keras"]
