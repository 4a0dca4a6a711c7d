"""The program that PlaidML's documentation shows, with the import changed."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

from gingham import plaidml

EXAMPLE = Path(__file__).parents[2] / "examples" / "crossentropy.py"


def test_the_documented_program_runs_unchanged() -> None:
    # It forgets writeback, which keeps the contents and warns.
    with pytest.warns(plaidml.ViewWarning, match="without writeback"):
        names = runpy.run_path(str(EXAMPLE))
    expected = -np.log(names["O"][:, 0])
    np.testing.assert_allclose(names["R"], expected, rtol=1e-5)
