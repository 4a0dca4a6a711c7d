"""Models of Keras 3 compute the same with `gingham.keras.compile` as without."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path

import pytest

_IS_THERE = find_spec("torch") is not None and any(
    each.version.startswith("3.") for each in distributions(name="keras")
)
pytestmark = pytest.mark.skipif(not _IS_THERE, reason="Keras 3 needs PyTorch")

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]


def run(*command: str | Path) -> str:
    """What a program prints, which has to end well."""
    done = subprocess.run(
        [sys.executable, *map(str, command)], capture_output=True, text=True, cwd=HERE
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("model", ["functional", "sequential", "subclassed"])
def test_a_model_predicts_and_learns_the_same(model: str) -> None:
    run("keras_runs.py", model)


def test_mistakes() -> None:
    run("keras_runs.py", "mistakes")
