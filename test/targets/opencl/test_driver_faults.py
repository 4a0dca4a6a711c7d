"""Programs that the compiler of a driver was found to break are right on the device."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import gingham

CLASSIFIER = """
function (X[B, K], W[K, D], C[D], T[B]) -> (L, GZ) {
  A[b, j : B, D] = +(X[b, k] * W[k, j]); Z = A + C;
  Top[m, 0 : B, 1] = >(Z[m, n]); E = exp(Z - Top); S[m, 0 : B, 1] = +(E[m, n]);
  LP = Z - Top - log(S);
  T2 = reshape(T, B, 1); P = index(LP, 1) == T2 ? LP : 0.0;
  Tot[] = +(P[m, n]); L = -Tot / B; GZ = gradient(L, Z);
}"""


@pytest.mark.parametrize("classes", [10, 14, 38, 44, 54])
def test_gradient_of_a_classifier(classes: int) -> None:
    """Several sums of negative numbers in one loop, which a compiler vectorized."""
    random = np.random.default_rng(classes)
    rows, features = 64, 16
    x = random.standard_normal((rows, features)).astype(np.float32)
    w = random.standard_normal((features, classes)).astype(np.float32)
    c = random.standard_normal(classes).astype(np.float32)
    labels = random.integers(0, classes, rows).astype(np.int32)
    z = x.astype(np.float64) @ w + c
    exponential = np.exp(z - z.max(1, keepdims=True))
    softmax = exponential / exponential.sum(1, keepdims=True)
    picked = np.eye(classes)[labels]
    loss, gradient = gingham.compile(CLASSIFIER)(x, w, c, labels)
    np.testing.assert_allclose(loss, -np.log(softmax)[picked > 0].mean(), rtol=1e-5)
    np.testing.assert_allclose(gradient, (softmax - picked) / rows, atol=1e-6)


@pytest.mark.parametrize("hardware", [None, "nvidia-rtx-4090"])
def test_loop_that_ends(hardware: str | None) -> None:
    """Kernels that are made for another device, whose loops a compiler vectorized."""
    text = """function (I[N, M]) -> (T) {
      T[k, m : 131, 16] = *(I[i, i + 3 * j] == I[k, m]), j < 5;
    }"""
    x = np.zeros((131, 16), np.uint8)
    x[130] = 1
    result = gingham.compile(text, hardware=hardware)(x)
    np.testing.assert_array_equal(result, x == 0)


@pytest.mark.parametrize("hardware", [None, "nvidia-h200"])
@pytest.mark.parametrize("complement", ["~X", "-1 - X", "-X - 1"])
@pytest.mark.parametrize("shape", [(10, 1), (50, 3), (3, 50)])
def test_extremes_of_complements(
    shape: tuple[int, ...], complement: str, hardware: str | None
) -> None:
    """Choices among complements, which a compiler confused with their operands."""
    text = f"""function (X[A, B]) -> (S, T) {{
      Z = {complement}; S[] = <(Z[a, b]); T[a : A] = >(Z[a, b]);
    }}"""
    x = np.random.default_rng(0).integers(-9, 9, shape).astype(np.int64)
    least, most = gingham.compile(text, hardware=hardware)(x)
    np.testing.assert_array_equal(least, ~x.max())
    np.testing.assert_array_equal(most, ~x.min(1))


CHAIN = """
import numpy as np
import gingham

names = "ABCDE"
chain = "".join(f"{y} = sin({x});" for x, y in zip(names, names[1:]))
body = f"{chain} L[] = +(E[i]); G = gradient(L, A);"
f = gingham.compile(f"function (A[N]) -> (G) {{ {body} }}")
a = x = np.linspace(-4, 4, 37, dtype=np.float32)
want = 1.0
for _ in chain.split(";")[:-1]:
    want, x = want * np.cos(x), np.sin(x)
np.testing.assert_allclose(f(a), want, atol=1e-6)
"""


def test_sines_and_cosines_of_each_other() -> None:
    """A compiler crashed; in a process of its own, which may end so."""
    result = subprocess.run(
        [sys.executable, "-c", CHAIN], capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0, result.stderr
