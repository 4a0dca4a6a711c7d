"""What is patched or plugged in is part of every key: no old results come back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cache_folders import cache_folder, forget, stored

import gingham
from gingham import passes
from gingham.dialects.eltwise.derivatives import DERIVATIVES, Rule, Term
from gingham.dialects.eltwise.ops import FUNCTION_OPS
from gingham.dialects.eltwise.table import FUNCTIONS, Function
from gingham.edsl import exp
from gingham.frontend.special_calls import SPECIAL_CALLS
from gingham.passes.pipelines import PIPELINES
from gingham.passes.stripe.decide import unroll as stripe_unroll
from gingham.passes.stripe.decide.unroll import StripeUnrollPass
from gingham.patched import patched_places, patched_state

EXP = "function (A[N]) -> (B) { B = exp(A); }"
GRADIENT = "function (A[N]) -> (G) { B = sin(A); S[] = +(B[n]); G = gradient(S, A); }"
X = np.linspace(0.0, 1.0, 7, dtype=np.float32)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with cache_folder(tmp_path, monkeypatch) as path:
        yield path


def set_spelling(monkeypatch: pytest.MonkeyPatch, name: str, spelling: str) -> None:
    """Change a row of the table, as somebody who patches has to: everywhere."""
    row = replace(FUNCTIONS[name], opencl=spelling)
    monkeypatch.setitem(FUNCTIONS, name, row)
    monkeypatch.setattr(FUNCTION_OPS[name], "FUNCTION", row)


def test_nothing_is_patched_as_it_comes() -> None:
    gingham.compile(GRADIENT)(X)
    gingham.compile(EXP).source(X)
    assert (patched_state(), [*patched_places()]) == (0, [])


def test_a_spelling(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    f = gingham.compile(EXP)
    np.testing.assert_allclose(f(X), np.exp(X), rtol=1e-6)
    with monkeypatch.context() as patch:
        set_spelling(patch, "exp", "({0} + 2)")
        np.testing.assert_allclose(gingham.compile(EXP)(X), X + 2)
        # What had compiled it before follows.
        np.testing.assert_allclose(f(X), X + 2)
        set_spelling(patch, "exp", "({0} + 3)")
        np.testing.assert_allclose(gingham.compile(EXP)(X), X + 3)
        # Other processes never see it.
        assert stored(folder) == 1
    np.testing.assert_allclose(gingham.compile(EXP)(X), np.exp(X), rtol=1e-6)
    np.testing.assert_allclose(f(X), np.exp(X), rtol=1e-6)
    forget()
    set_spelling(monkeypatch, "exp", "({0} + 4)")
    np.testing.assert_allclose(gingham.compile(EXP)(X), X + 4)


def test_a_derivative(monkeypatch: pytest.MonkeyPatch) -> None:
    f = gingham.compile(GRADIENT)
    np.testing.assert_allclose(f(X), np.cos(X), rtol=1e-5)

    def times(factor: float) -> Rule:
        def rule(d: Term, z: Term, x: Term) -> Term:
            return d * factor

        return rule

    for factor in (3.0, 4.0):
        monkeypatch.setitem(DERIVATIVES, "sin", (times(factor),))
        result = gingham.compile(GRADIENT)(X)
        np.testing.assert_allclose(result, np.full_like(X, factor))
        np.testing.assert_allclose(f(X), result)


def test_einsum_and_jit(monkeypatch: pytest.MonkeyPatch) -> None:
    @gingham.jit
    def g(x: Any) -> Any:
        return exp(x)

    np.testing.assert_allclose(g(X), np.exp(X), rtol=1e-6)
    np.testing.assert_allclose(gingham.einsum("i,i->i", X, X), X * X)
    set_spelling(monkeypatch, "exp", "({0} + 2)")
    set_spelling(monkeypatch, "mul", "({0} - {1})")
    gingham.compile(EXP)(X)
    np.testing.assert_allclose(g(X), X + 2)
    np.testing.assert_allclose(gingham.einsum("i,i->i", X, X), X - X)


def test_a_pass(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    f = gingham.compile(EXP)
    before = f.source(X)
    f(X)
    seen: list[str] = []
    run = StripeUnrollPass.apply

    def apply(self: StripeUnrollPass, context: Any, module: Any) -> None:
        seen.append(self.name)
        run(self, context, module)

    monkeypatch.setattr(StripeUnrollPass, "apply", apply)
    np.testing.assert_allclose(gingham.compile(EXP)(X), np.exp(X), rtol=1e-6)
    assert seen
    assert stored(folder) == 1
    assert f.source(X) == before
    assert len(seen) == 1


def test_what_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    row = FUNCTIONS["exp"]
    new = Function("myexp", 1, row.rule, row.meaning, "exp({0})", "Mine.")
    unchanged = StripeUnrollPass.name
    states = [patched_state()]
    changes: list[tuple[Any, Any, Any]] = [
        (FUNCTIONS, "myexp", new),
        (FUNCTIONS, "myexp", replace(new, opencl="exp2({0})")),
        (
            vars(passes)["_PASSES"],
            "stripe-map",
            "stripe.decide.unroll:StripeUnrollPass",
        ),
        (SPECIAL_CALLS, "mine", SPECIAL_CALLS["gather"]),
        (PIPELINES, "mine", next(iter(PIPELINES.values()))),
        (FUNCTION_OPS["exp"], "FUNCTION", new),
        (FUNCTION_OPS["exp"], "mine", 1),
        (stripe_unroll, "_NEW", 1),
        (StripeUnrollPass, "name", f"{unchanged}-more"),
    ]
    for place, name, value in changes:
        if hasattr(place, "keys"):
            monkeypatch.setitem(place, name, value)
        else:
            monkeypatch.setattr(place, name, value, raising=False)
        states.append(patched_state())
        assert any(each.endswith(f".{name}") for each in patched_places())
    monkeypatch.delitem(FUNCTIONS, "sin")
    states.append(patched_state())
    assert states[0] == 0
    assert len({*states}) == len(states)
    monkeypatch.undo()
    assert patched_state() == 0
