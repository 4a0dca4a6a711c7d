"""The derivative of every element-wise function, against differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradients import Array, assert_gradient, gradients

from gingham.dialects.eltwise.derivatives import DERIVATIVES
from gingham.dialects.eltwise.table import FUNCTIONS, TypeRule

NO_FLOATS = {
    TypeRule.COMPARE,
    TypeRule.BITS,
    TypeRule.SHIFT,
    TypeRule.LOGICAL,
    TypeRule.TEST,
}

UNARY = [f.name for f in FUNCTIONS.values() if f.arity == 1 and f.rule not in NO_FLOATS]
BINARY = (
    "add sub mul div mod max min pow hypot atan2 atan2pi copysign remainder fdim fmax "
    "fmin ldexp"
).split()
FLAT = ("ceil", "floor", "round", "trunc", "sign", "logb")

# Where a function is defined and has no corner, away from the ends.
DOMAINS = {
    "sqrt": (0.2, 3.0),
    "log": (0.2, 3.0),
    "recip": (0.5, 2.0),
    "asin": (-0.9, 0.9),
    "acos": (-0.9, 0.9),
    "atanh": (-0.9, 0.9),
    "acosh": (1.2, 3.0),
    "tan": (-1.2, 1.2),
    "tanpi": (-0.4, 0.4),
    "asinpi": (-0.9, 0.9),
    "acospi": (-0.9, 0.9),
    "rsqrt": (0.2, 3.0),
    "cbrt": (0.2, 3.0),
    "log2": (0.2, 3.0),
    "log10": (0.2, 3.0),
    "log1p": (-0.8, 3.0),
    "hypot": (0.3, 2.0),
    "atan2": (0.3, 2.0),
    "atan2pi": (-2.0, -0.3),
    "pow": (0.3, 2.0),
    "div": (0.5, 2.0),
    "mod": (0.6, 0.9),
    "remainder": (0.7, 0.9),
}


def drawn(name: str, shape: tuple[int, ...], seed: int) -> Array:
    low, high = DOMAINS.get(name, (-2.0, 2.0))
    return np.asarray(np.random.default_rng(seed).uniform(low, high, shape))


def test_every_function_has_a_row() -> None:
    assert DERIVATIVES.keys() == FUNCTIONS.keys()
    for name, rules in DERIVATIVES.items():
        assert len(rules) == FUNCTIONS[name].arity


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one(name: str) -> None:
    x = drawn(name, (17,), 1)
    (found,) = assert_gradient(f"function (X) -> (Y) {{ Y = {name}(X); }}", [x])
    assert np.any(found != 0) == (name not in FLAT)


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize(
    "shapes", [((3, 4), (3, 4)), ((3, 4), (4,)), ((1, 4), (3, 1)), ((), (2, 1, 3))]
)
def test_functions_of_two_broadcast(
    name: str, shapes: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    x, y = (drawn(name, shape, seed) for seed, shape in enumerate(shapes))
    if name == "mod":
        x *= 5
    assert_gradient(
        f"function (X, Y) -> (Z) {{ Z = {name}(X, Y) * {name}(X, Y); }}", [x, y]
    )


@pytest.mark.parametrize("name", ["fma", "mix", "clamp", "smoothstep"])
def test_functions_of_three_broadcast(name: str) -> None:
    random = np.random.default_rng(8)
    low, high, x = (random.uniform(*ends, size) for ends, size in THREE)
    arrays = [x, low, high] if name == "clamp" else [low, high, x]
    text = f"function (X, Y, Z) -> (R) {{ V = {name}(X, Y, Z); R = V * V; }}"
    found = assert_gradient(text, arrays)
    assert all(np.any(gradient != 0) for gradient in found)


THREE = (((-1.0, 0.0), (3, 1)), ((0.5, 1.0), (4,)), ((-2.0, 2.0), (2, 3, 4)))


def test_operators_and_the_conditional() -> None:
    x, y = drawn("", (5,), 3), drawn("", (4, 1), 4)
    assert_gradient(
        "function (X, Y) -> (Z) { Z = (X < Y ? X * Y : Y - X / 2) * -X; }", [x, y]
    )


def test_a_condition_gets_nothing() -> None:
    x = drawn("", (5,), 3)
    (found,) = gradients("function (X) -> (Y) { Y = (X < 0.5 ? 1.0 : 2.0); }", [x])
    np.testing.assert_array_equal(found, np.zeros(5))


def test_reversed_gradients() -> None:
    x = drawn("", (5,), 3)
    text = "function (X) -> (Y) { Z = reverse_grad(X, 0.25); Y = Z * Z; }"
    (found,) = gradients(text, [x])
    np.testing.assert_allclose(found, -0.25 * 2 * x)


def test_replaced_gradients() -> None:
    """What comes behind does not count, unless nothing comes of it."""
    x, y = drawn("", (2, 5), 3), drawn("", (5,), 4)
    text = "function (X, Y) -> (Z) { R = replace_grad(X * Y, Y); Z = 7.0 * R * R; }"
    by_x, by_y = gradients(text, [x, y])
    np.testing.assert_allclose(by_x, np.broadcast_to(y * y, x.shape))
    np.testing.assert_allclose(by_y, (x * y).sum(0))
    (found,) = gradients(
        "function (X) -> (Y) { Z = replace_grad(X, 2.0); Y = X; }", [y]
    )
    np.testing.assert_array_equal(found, np.ones(5))


def test_functions_made_of_others() -> None:
    x = drawn("", (3, 4), 5)
    for name in ("builtin_softmax", "builtin_logsoftmax"):
        text = f"function (X[N, M], W) -> (Z) {{ Y = {name}(X, N, M); Z = Y * W; }}"
        assert_gradient(text, [x, drawn("", (3, 4), 6)])


@pytest.mark.parametrize("scale", ["1", "4", "N", "2.5"])
def test_gradient_of_the_cross_entropy(scale: str) -> None:
    """It is that of the value, of which the scale is no part."""
    o, t = np.array([0.25, 0.5, 0.9]), np.array([0.0, 0.5, 1.0])
    text = f"""function (O[N], T[N]) -> (L) {{
      L = builtin_binary_crossentropy(O, T, {scale});
    }}"""
    by_output, by_target = gradients(text, [o, t])
    np.testing.assert_allclose(by_output, (1 - t) / (1 - o) - t / o)
    np.testing.assert_allclose(by_target, np.log(1 - o) - np.log(o))


@pytest.mark.parametrize(
    ("call", "x", "wanted"),
    [
        ("abs(X)", [0.0, -2.0], [0, -1]),
        ("relu(X)", [0.0, -2.0, 3.0], [0, 0, 1]),
        ("max(X, 1.0)", [1.0, 0.0, 2.0], [0.5, 0, 1]),
        ("min(X, 1.0)", [1.0, 0.0, 2.0], [0.5, 1, 0]),
        ("pow(X, 0.0)", [0.0, 2.0], [0, 0]),
        ("pow(X, 2.0)", [0.0, -3.0], [0, -6]),
        ("pow(X, 1.0)", [0.0, -3.0], [1, 1]),
        ("pow(2.0, X)", [0.0, 1.0], [np.log(2), 2 * np.log(2)]),
        ("pow(0.0, X)", [0.0, 2.0], [0, 0]),
        ("fmax(X, 1.0)", [1.0, 0.0, 2.0], [0.5, 0, 1]),
        ("fmin(X, 1.0)", [np.nan, 0.0, 1.0], [0, 1, 0.5]),
        ("hypot(X, 0.0)", [0.0, -2.0], [0, -1]),
        ("fdim(X, 1.0)", [1.0, 3.0], [0, 1]),
        ("clamp(X, -1.0, 1.0)", [-1.0, 1.0, 2.0], [1, 1, 0]),
        ("copysign(X, -1.0)", [2.0, -3.0, 0.0], [-1, 1, 0]),
        ("ldexp(X, 2.5)", [1.0, -3.0], [4, 4]),
        ("step(1.0, X)", [1.0, 3.0], [0, 0]),
        ("smoothstep(0.0, 1.0, X)", [-1.0, 0.5, 2.0], [0, 1.5, 0]),
        ("mod(X, 2.0)", [3.0, -3.5], [1, 1]),
        ("mod(7.0, X)", [2.0, -4.0], [-3, 1]),
    ],
)
def test_choices_at_corners(call: str, x: list[float], wanted: list[float]) -> None:
    (found,) = gradients(f"function (X) -> (Y) {{ Y = {call}; }}", [np.array(x)])
    np.testing.assert_allclose(found, wanted)


def test_nothing_infinite_comes_from_a_choice_not_taken() -> None:
    x = np.array([0.0, -1.0, 4.0])
    text = "function (X) -> (Y) { Y = (X > 0 ? sqrt(X > 0 ? X : 1.0) : 0.0); }"
    (found,) = gradients(text, [x])
    np.testing.assert_allclose(found, [0, 0, 0.25])


@pytest.mark.parametrize("name", [n for n in UNARY if n not in ("abs", "sign")])
def test_second_derivatives(name: str) -> None:
    """The gradient of the gradient is the slope of the gradient."""
    x = drawn(name, (5,), 6)
    first = f"function (X) -> (Y) {{ Y = {name}(X); }}"
    text = f"function (X) -> (G) {{ Y = {name}(X); G = gradient(Y, X); }}"
    (found,) = gradients(text, [x])
    step = 1e-5
    above, below = (gradients(first, [x + s])[0] for s in (step, -step))
    np.testing.assert_allclose(
        found, (above - below) / (2 * step), rtol=1e-5, atol=1e-6
    )


CORNERS = [-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0]


def test_choices_are_those_of_pytorch() -> None:
    """At zeros, halves and where operands are equal.

    At the origin atan2 has no gradient; there PyTorch's depends on its version.
    """
    torch: Any = pytest.importorskip("torch")
    names = {"recip": "reciprocal", "max": "maximum", "min": "minimum", "mod": "fmod"}
    x, y = (a.ravel() for a in np.meshgrid(CORNERS, CORNERS))
    for name in [*UNARY, *BINARY]:
        function = getattr(torch, names.get(name, name), None)
        # PyTorch's remainder and ldexp are others.
        if name in ("ident", "remainder", "ldexp") or function is None:
            continue
        arrays = [x, y][: FUNCTIONS[name].arity]
        found = gradients(
            f"function ({', '.join('XY'[: len(arrays)])}) -> (Z) "
            f"{{ Z = {name}({', '.join('XY'[: len(arrays)])}); }}",
            arrays,
        )
        tensors = [torch.tensor(a, requires_grad=True) for a in arrays]
        function(*tensors).sum().backward()
        for one, tensor in zip(found, tensors, strict=True):
            finite = np.isfinite(tensor.grad.numpy())
            if name.startswith("atan2"):
                finite &= (x != 0) | (y != 0)
            np.testing.assert_allclose(
                one[finite], tensor.grad.numpy()[finite], atol=1e-12, err_msg=name
            )
