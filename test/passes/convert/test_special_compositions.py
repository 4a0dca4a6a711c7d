"""Special operations inside programs as people write them, against NumPy.

Each program runs on the reference interpreter and on the first OpenCL device.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from special_programs import opencl_device

import gingham

Array = NDArray[Any]

DEVICES = ["reference", *([] if (d := opencl_device()) is None else [d.name])]

random = np.random.default_rng(20)


def floats(*shape: int) -> Array:
    return random.integers(-8, 9, shape).astype(np.float32)


def indices(size: int, *shape: int) -> Array:
    return random.integers(0, size, shape).astype(np.int32)


def call(text: str, device: str, *inputs: Array) -> Any:
    return gingham.compile(text, device=device)(*inputs)


@pytest.mark.parametrize("device", DEVICES)
def test_gather_between_other_operations(device: str) -> None:
    """A table that is computed, gathered, scaled and multiplied by a matrix."""
    text = """function (T[V, D], S[D], I[B], W[D, H]) -> (O) {
      Table = T * T + S;
      Rows = gather(Table, I);
      Scaled = (Rows - 3) * 2;
      O[b, h : B, H] = +(Scaled[b, d] * W[d, h]);
    }"""
    table, scale, weights = floats(23, 32), floats(32), floats(32, 20)
    index = indices(23, 9)
    expected = ((table * table + scale)[index] - 3) * 2 @ weights
    result = call(text, device, table, scale, index, weights)
    np.testing.assert_array_equal(result, expected, strict=True)


@pytest.mark.parametrize("device", DEVICES)
def test_embedding_and_its_gradient(device: str) -> None:
    """The gradient of a gather is a scatter, as the compiler finds and by hand."""
    text = """function (T[V, D], I[B], G[B, D]) -> (O, D1, D2) {
      O = gather(T, I);
      L = O * G;
      D1 = gradient(L, T);
      D2 = scatter(G, I, T);
    }"""
    table, index, weight = floats(11, 20), indices(11, 33), floats(33, 20)
    expected = np.zeros_like(table)
    np.add.at(expected, index, weight)
    rows, found, by_hand = call(text, device, table, index, weight)
    np.testing.assert_array_equal(rows, table[index], strict=True)
    np.testing.assert_array_equal(found, expected, strict=True)
    np.testing.assert_array_equal(by_hand, expected, strict=True)


@pytest.mark.parametrize("device", DEVICES)
def test_dropout(device: str) -> None:
    """Two draws in a row: numbers, mask and state, whose types differ."""
    text = """function (X[M, N], S) -> (O, P, T) {
      First = prng_step(S, M, N);
      Second = prng_step(prng_state(First), M, N);
      O = prng_value(First) < 0.5 ? 0 : X * 2;
      P = prng_value(Second);
      T = prng_state(Second);
    }"""
    x = random.random((41, 50)).astype(np.float32) + 1
    state = random.integers(2**16, 2**32, (3, 256), np.uint32)
    kept, numbers, new_state = call(text, device, x, state)
    assert new_state.dtype == np.uint32
    assert new_state.shape == state.shape
    assert not np.array_equal(new_state, state)
    assert np.isin(kept / x, [0, 2]).all()
    assert 0.4 < (kept == 0).mean() < 0.6
    assert 0.4 < numbers.mean() < 0.6
    both = "function (S, X[A, B]) -> (O) { O = prng_value(prng_step(S, A, B)); }"
    # Rows of 256 lanes: the second draw goes on where the first one stopped.
    whole = call(both, device, state, np.zeros((2, 2050), np.float32)).reshape(-1)
    np.testing.assert_array_equal(whole[:2050] < 0.5, kept.reshape(-1) == 0)


@pytest.mark.parametrize("device", DEVICES)
def test_argmax(device: str) -> None:
    """By coordinates and a minimum, and by sorting; of equal ones the first."""
    text = """function (X[M, N]) -> (A, B) {
      Max[m, 0 : M, 1] = >(X[m, n]);
      Place = X == Max ? index(X, 1) : N;
      A[m : M] = <(Place[m, n]);
      Order = argsort(X, 1, order=descending);
      B[m : M] = +(Order[m, 0]);
    }"""
    x = floats(17, 40)
    expected = x.argmax(axis=1).astype(np.int32)
    for result in call(text, device, x):
        np.testing.assert_array_equal(result, expected, strict=True)


@pytest.mark.parametrize("device", DEVICES)
def test_top_k(device: str) -> None:
    text = """function (X[M, N]) -> (Values, Places) {
      Order = argsort(X, -1, order=descending);
      Places[m, k : M, 5] = =(Order[m, k]);
      Values = gather(X, Places, axis=-1, batch_dims=1);
    }"""
    x = floats(13, 90)
    places = np.argsort(-x, axis=1, kind="stable")[:, :5].astype(np.int32)
    values, found = call(text, device, x)
    np.testing.assert_array_equal(found, places, strict=True)
    np.testing.assert_array_equal(values, np.take_along_axis(x, places, 1), strict=True)


@pytest.mark.parametrize("device", DEVICES)
def test_one_hot_times_a_matrix(device: str) -> None:
    """Coordinates that are compared, then multiplied: a gather in another form."""
    text = """function (C[B, One], T[V, D], Z[V]) -> (Code, O) {
      Code = as_float(C == index(Z, 0), 32);
      O[b, d : B, D] = +(Code[b, v] * T[v, d]);
    }"""
    table, index = floats(24, 32), indices(24, 15, 1)
    code, result = call(text, device, index, table, np.zeros(24, np.float32))
    np.testing.assert_array_equal(code, np.eye(24, dtype=np.float32)[index[:, 0]])
    np.testing.assert_array_equal(result, table[index[:, 0]], strict=True)


@pytest.mark.parametrize("device", DEVICES)
def test_cache_update_and_attention(device: str) -> None:
    """Rows of a cache are overwritten, then used as usual."""
    text = """function (K[T, D], New[N, D], At[N], Q[B, D]) -> (Cache, S) {
      Cache = scatter(New, At, K, mode=update_slice);
      S[b, t : B, T] = +(Q[b, d] * Cache[t, d]);
    }"""
    keys, new, query = floats(30, 16), floats(4, 16), floats(6, 16)
    at = np.asarray([3, 29, 3, 7], np.int32)
    expected = keys.copy()
    expected[at] = new
    cache, scores = call(text, device, keys, new, at, query)
    np.testing.assert_array_equal(cache, expected, strict=True)
    np.testing.assert_array_equal(scores, query @ expected.T, strict=True)


@pytest.mark.parametrize("device", DEVICES)
def test_update_between_elementwise_functions(device: str) -> None:
    """The block that selects between base and update takes its neighbours in."""
    text = """function (B[N, D], U[K, D], I[K]) -> (O, P) {
      P = scatter(U * 3, I, B + 1, mode=update_slice);
      O = (P - 2) * P;
    }"""
    base, updates, index = floats(17, 24), floats(9, 24), indices(17, 9)
    expected = base + 1
    for place, row in zip(index, updates, strict=True):
        expected[place] = row * 3
    result, updated = call(text, device, base, updates, index)
    np.testing.assert_array_equal(updated, expected, strict=True)
    np.testing.assert_array_equal(result, (expected - 2) * expected, strict=True)


@pytest.mark.parametrize("device", DEVICES)
def test_reshapes_on_the_way(device: str) -> None:
    """Views between contractions and element-wise functions, of inputs and results."""
    text = """function (X[M, N], W[A, B]) -> (O, P) {
      Heads = reshape(X, M, 4, N / 4);
      Sums[m, h : M, 4] = +(Heads[m, h, k]);
      Flat = reshape(Sums * 2, M * 4);
      Rows = reshape(Flat, M, A);
      O[i, b : M, B] = +(Rows[i, a] * W[a, b]);
      P = reshape(O, B, M);
    }"""
    x, weights = floats(5, 16), floats(4, 7)
    product = x.reshape(5, 4, 4).sum(axis=2) * 2 @ weights
    result, view = call(text, device, x, weights)
    np.testing.assert_array_equal(result, product, strict=True)
    np.testing.assert_array_equal(view, product.reshape(7, 5), strict=True)


def test_neighbours_share_the_kernel_of_a_gather() -> None:
    """What is computed of the gathered cells is computed where they are loaded."""
    text = """function (V[N, D], I[B], S[D]) -> (O) {
      O = exp(gather(V, I) * S) + 1;
    }"""
    function = gingham.compile(text, device=DEVICES[-1])
    inputs = floats(9, 32), indices(9, 4), floats(32)
    assert function.ir(*inputs, stage="stripe").count("stripe.alloc") == 1
