"""PlaidML's package for Keras, `plaidml.keras`, on Gingham.

`gingham.plaidml.keras` is the package that the distribution plaidml-keras installs, as
it is, so `gingham.plaidml.keras.install_backend()` makes what it calls PlaidML the
backend of Keras. Importing it calls `gingham.plaidml.install`. Raises
ModuleNotFoundError where that distribution is not installed.
"""

from __future__ import annotations

import importlib
import sys

from .names import KERAS, install

install()
sys.modules[__name__] = importlib.import_module(KERAS)
