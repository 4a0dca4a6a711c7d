"""Which names are suggested in place of one that is unknown."""

from __future__ import annotations

import pytest

from gingham.suggestions import did_you_mean

NAMES = ["sin", "cos", "tanh", "softmax", "Output", "memory_budget", "sigmoid"]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("sofmax", "did you mean 'softmax'?"),
        ("SIN", "did you mean 'sin'?"),
        ("output", "did you mean 'Output'?"),
        ("sni", "did you mean 'sin'?"),
        ("mem", "did you mean 'memory_budget'?"),
        ("tan", "did you mean 'tanh'?"),
        ("convolution", None),
        ("si", "did you mean 'sin'?"),
        ("x", None),
        ("", None),
        ("s" * 10**6, None),
    ],
)
def test_hints(name: str, hint: str | None) -> None:
    assert did_you_mean(name, NAMES) == hint


def test_a_few_that_are_about_as_close() -> None:
    assert did_you_mean("X", ["X0", "X1", "X2", "X3"]) == (
        "did you mean 'X0', 'X1' or 'X2'?"
    )
    assert did_you_mean("logg", ["log", "logb"]) == "did you mean 'log' or 'logb'?"


def test_many_long_names_take_no_time() -> None:
    known = (f"{'name' * 9}{number}" for number in range(10**9))
    assert did_you_mean("name" * 9, known) is not None
