"""The networks under examples/ learn; sizes are small here."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

classify_digits: Any = import_module("gingham.examples.classify_digits")
write_text: Any = import_module("gingham.examples.write_text")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Any:
    sizes = {"CONTEXT": 12, "WIDTH": 16, "HEADS": 2, "LAYERS": 1, "BATCH": 8}
    for name, size in sizes.items():
        monkeypatch.setattr(write_text, name, size)
    return write_text


def test_letters_depend_on_those_before_them_alone(small: Any) -> None:
    random = np.random.default_rng()
    weights = small.first_weights(9)
    text = random.integers(0, 9, (2, 12)).astype(np.int32)
    changed = text.copy()
    changed[:, 7:] = (changed[:, 7:] + 1) % 9
    first, second = small.predict(weights, text), small.predict(weights, changed)
    np.testing.assert_allclose(first[:, :7], second[:, :7], rtol=1e-4, atol=1e-5)
    assert (np.abs(first[:, 7:] - second[:, 7:]).max(axis=2) > 1e-3).all()


def test_a_text_that_repeats_itself_is_learnt(small: Any) -> None:
    text = np.tile(np.arange(5, dtype=np.int32), 40)
    weights = small.learn(text, steps=150)
    chances = small.predict(weights, text[None, :12])
    assert (chances[0, 2:].argmax(axis=1) == text[3:13]).all()
    written = small.write(weights, text[:6], 4)
    assert len(written) == 10


def test_digits_are_learnt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    few = classify_digits.drawn(16)

    def drawn(count: int) -> Any:
        return few

    monkeypatch.setattr(classify_digits, "drawn", drawn)
    classify_digits.main(steps=101)
    first, last = (float(line.split()[-1]) for line in losses(capsys))
    assert last < first / 4


def losses(capsys: pytest.CaptureFixture[str]) -> list[str]:
    lines = capsys.readouterr().out.splitlines()
    return [line for line in lines if line.startswith("step")]
