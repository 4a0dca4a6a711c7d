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

ROOT = Path(__file__).resolve().parents[3]


def run(subject: str) -> None:
    """Run a test in a process of its own, which has to end well."""
    command = [sys.executable, "-m", "test.runtime.keras.keras_runs", subject]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("model", ["functional", "sequential", "subclassed"])
def test_a_model_predicts_and_learns_the_same(model: str) -> None:
    run(model)


def test_mistakes() -> None:
    run("mistakes")
