"""The programs that PlaidML's documentation shows, with the import changed."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

import gingham
from gingham import plaidml

EXAMPLE = Path(__file__).parents[2] / "examples" / "crossentropy.py"


def test_the_documented_program_runs_unchanged() -> None:
    # It forgets writeback, which keeps the contents and warns.
    with pytest.warns(plaidml.ViewWarning, match="without writeback"):
        names = runpy.run_path(str(EXAMPLE))
    expected = -np.log(names["O"][:, 0])
    np.testing.assert_allclose(names["R"], expected, rtol=1e-5)


def test_the_program_that_its_compiler_prints_runs() -> None:
    """As the documentation shows it, with names of the compiler's own."""
    function = gingham.compile(
        """
        function (
          X_I_0[X_I_0_0, X_I_0_1],
          X_I_1[X_I_1_0, X_I_1_1]
        ) -> (
          X_T3
        ) {
          X_T2 = log(X_I_0);
          _T1 = 3;
          X_T0[x : _T1] = +(X_T2[x, y] * X_I_1[x, y]);
          X_T3 = neg(X_T0);
        }
        """
    )
    outputs, targets = np.random.default_rng(0).random((2, 3, 4), np.float32) + 0.1
    expected = -(np.log(outputs) * targets).sum(1)
    np.testing.assert_allclose(function(outputs, targets), expected, rtol=1e-5)
