"""The stripe level: programs of nested blocks against NumPy and plain loops."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gingham.targets.reference import stripe as stripe_module

Array = np.ndarray[Any, Any]
Run = Callable[..., list[Array]]


@pytest.fixture(params=["at once", "in parts"], autouse=True)
def in_parts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every program runs with all points at once, and a few at a time."""
    if request.param == "in parts":
        monkeypatch.setattr(stripe_module, "PART", 7)
        monkeypatch.setattr(stripe_module, "CELLS", 40)


def small(random: np.random.Generator, *shape: int) -> Array:
    return random.integers(-4, 5, shape).astype(np.float32)


def test_matrix_product_as_one_block(run: Run, random: np.random.Generator) -> None:
    m, n, k = (int(size) for size in random.integers(1, 9, 3))
    a, b = small(random, m, k), small(random, k, n)
    (got,) = run(
        f"""
        func.func @main(%A : !stripe.view<{m}x{k}xf32>, %B : !stripe.view<{k}x{n}xf32>)
            -> !stripe.view<{m}x{n}xf32> {{
          %C = stripe.alloc : !stripe.view<{m}x{n}xf32>
          stripe.block "C" [%i : {m}, %k : {k}, %j : {n}]
              in %a = %A[%i, %k] : 1x1
              in %b = %B[%k, %j] : 1x1
              out %c = %C[%i, %j] : 1x1 add init 0 {{
            %x = stripe.load %a : !stripe.view<1x1xf32>
            %y = stripe.load %b : !stripe.view<1x1xf32>
            %z = eltwise.mul %x, %y : f32
            stripe.store %z, %c : !stripe.view<1x1xf32>
          }}
          func.return %C : !stripe.view<{m}x{n}xf32>
        }}""",
        a,
        b,
    )
    np.testing.assert_array_equal(got, a @ b)


@pytest.mark.parametrize("tile", [(3, 4, 2), (2, 3, 5), (8, 8, 8)])
def test_matrix_product_in_uneven_tiles(
    run: Run, random: np.random.Generator, tile: tuple[int, int, int]
) -> None:
    m, n, k = 7, 9, 5
    ti, tj, tk = tile
    a, b = small(random, m, k), small(random, k, n)
    oi, oj, ok = math.ceil(m / ti), math.ceil(n / tj), math.ceil(k / tk)
    (got,) = run(
        f"""
        func.func @main(%A : !stripe.view<{m}x{k}xf32>, %B : !stripe.view<{k}x{n}xf32>)
            -> !stripe.view<{m}x{n}xf32> {{
          %C = stripe.alloc : !stripe.view<{m}x{n}xf32>
          stripe.block "C" [%io : {oi} grid, %jo : {oj} group, %ko : {ok}]
              in %at = %A[{ti} * %io, {tk} * %ko] : {ti}x{tk}
              in %bt = %B[{tk} * %ko, {tj} * %jo] : {tk}x{tj}
              out %ct = %C[{ti} * %io, {tj} * %jo] : {ti}x{tj} add init 0 {{
            stripe.block [%i : {ti} unroll, %j : {tj}, %k : {tk}]
                in %a = %at[%i, %k] : 1x1
                in %b = %bt[%k, %j] : 1x1
                out %c = %ct[%i, %j] : 1x1 add
                where -{ti} * %io - %i + {m - 1} >= 0,
                      -{tj} * %jo - %j + {n - 1} >= 0,
                      -{tk} * %ko - %k + {k - 1} >= 0 {{
              %x = stripe.load %a : !stripe.view<1x1xf32>
              %y = stripe.load %b : !stripe.view<1x1xf32>
              %z = eltwise.mul %x, %y : f32
              stripe.store %z, %c : !stripe.view<1x1xf32>
            }}
          }}
          func.return %C : !stripe.view<{m}x{n}xf32>
        }}""",
        a,
        b,
    )
    np.testing.assert_array_equal(got, a @ b)


def test_accumulator_of_each_point(run: Run, random: np.random.Generator) -> None:
    """Each outer point has its own allocation, initialised over the whole window."""
    a, b = small(random, 6, 5), small(random, 5, 8)
    (got,) = run(
        """
        func.func @main(%A : !stripe.view<6x5xf32>, %B : !stripe.view<5x8xf32>)
            -> !stripe.view<6x8xf32> {
          %C = stripe.alloc : !stripe.view<6x8xf32>
          stripe.block [%io : 3, %jo : 2]
              in %at = %A[2 * %io, 0] : 2x5
              in %bt = %B[0, 4 * %jo] : 5x4
              out %ct = %C[2 * %io, 4 * %jo] : 2x4 {
            %acc = stripe.alloc : !stripe.view<2x4xf32, private>
            stripe.block [%k : 5, %i : 2]
                in %a = %at[%i, %k] : 1x1
                in %b = %bt[%k, 0] : 1x4
                out %c = %acc[%i, 0] : 1x4 add init 0.5
                where 2 * %io + %i - 1 >= 0 {
              %x = stripe.load %a : !stripe.view<1x1xf32>
              %xs = eltwise.broadcast %x : f32 to vector<4xf32>
              %y = stripe.load %b : !stripe.view<1x4xf32>
              %z = eltwise.mul %xs, %y : vector<4xf32>
              stripe.store %z, %c : !stripe.view<1x4xf32, private>
            }
            stripe.block [%i : 2] in %a = %acc[%i, 0] : 1x4 out %c = %ct[%i, 0] : 1x4 {
              %x = stripe.load %a : !stripe.view<1x4xf32, private>
              stripe.store %x, %c : !stripe.view<1x4xf32>
            }
          }
          func.return %C : !stripe.view<6x8xf32>
        }""",
        a,
        b,
    )
    expected = a @ b
    expected[0] = 0  # the constraint leaves out row 0, but not its initial value
    np.testing.assert_array_equal(got, expected + 0.5)


def test_convolution_with_padding(run: Run, random: np.random.Generator) -> None:
    x, w = small(random, 11), small(random, 3)
    (got,) = run(
        """
        func.func @main(%X : !stripe.view<11xf32>, %W : !stripe.view<3xf32>)
            -> !stripe.view<6xf32> {
          %Y = stripe.alloc : !stripe.view<6xf32>
          stripe.block [%i : 6]
              in %xs = %X[2 * %i - 1] : 3
              in %ws = %W[0] : 3
              out %ys = %Y[%i] : 1 add init 0 {
            stripe.block [%k : 3]
                in %a = %xs[%k] : 1
                in %b = %ws[%k] : 1
                out %y = %ys[0] : 1 add
                where 2 * %i + %k - 1 >= 0, -2 * %i - %k + 11 >= 0 {
              %p = stripe.load %a : !stripe.view<1xf32>
              %q = stripe.load %b : !stripe.view<1xf32>
              %r = eltwise.mul %p, %q : f32
              stripe.store %r, %y : !stripe.view<1xf32>
            }
          }
          func.return %Y : !stripe.view<6xf32>
        }""",
        x,
        w,
    )
    padded = np.concatenate([[0], x, [0, 0]])
    expected = [padded[2 * i : 2 * i + 3] @ w for i in range(6)]
    np.testing.assert_array_equal(got, expected)


def largest_from_2_5(row: list[float]) -> float:
    return max(2.5, *row)


@pytest.mark.parametrize(
    ("aggregation", "initial", "expected"),
    [
        ("add", "0", sum),
        ("mul", "1", math.prod),
        ("max", "-inf", max),
        ("min", "inf", min),
        ("max", "2.5", largest_from_2_5),
    ],
)
def test_aggregations(
    run: Run,
    random: np.random.Generator,
    aggregation: str,
    initial: str,
    expected: Callable[[list[float]], float],
) -> None:
    a = small(random, 4, 6)
    (got,) = run(
        f"""
        func.func @main(%A : !stripe.view<4x6xf32>) -> !stripe.view<4xf32> {{
          %C = stripe.alloc : !stripe.view<4xf32>
          stripe.block [%i : 4, %j : 6] in %a = %A[%i, %j] : 1x1
              out %c = %C[%i] : 1 {aggregation} init {initial} {{
            %x = stripe.load %a : !stripe.view<1x1xf32>
            stripe.store %x, %c : !stripe.view<1xf32>
          }}
          func.return %C : !stripe.view<4xf32>
        }}""",
        a,
    )
    assert got.tolist() == [expected(row) for row in a.tolist()]


def test_integers_and_booleans(run: Run) -> None:
    a = np.array([100, 100, 100, -3], np.int8)
    total, some = run(
        """
        func.func @main(%A : !stripe.view<4xsi8>)
            -> (!stripe.view<si8>, !stripe.view<i1>) {
          %S = stripe.alloc : !stripe.view<si8>
          %N = stripe.alloc : !stripe.view<i1>
          %zero = eltwise.constant 0 : si8
          stripe.block [%i : 4] in %a = %A[%i] : 1 out %s = %S[] add init 0
              out %n = %N[] max init 0 {
            %x = stripe.load %a : !stripe.view<1xsi8>
            stripe.store %x, %s : !stripe.view<si8>
            %y = eltwise.cmp_lt %x, %zero : (si8, si8) -> i1
            stripe.store %y, %n : !stripe.view<i1>
          }
          func.return %S, %N : !stripe.view<si8>, !stripe.view<i1>
        }""",
        a,
    )
    assert total.shape == ()
    assert total == 297 - 256  # wraps around
    assert some.dtype == np.bool_
    assert bool(some)


@pytest.mark.parametrize("in_parts", ["at once"], indirect=True)
@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_half_precision_is_rounded_after_the_sum(run: Run, name: str) -> None:
    import ml_dtypes

    dtype = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}[name]
    (got,) = run(
        f"""
        func.func @main(%A : !stripe.view<4096x{name}>) -> !stripe.view<{name}> {{
          %S = stripe.alloc : !stripe.view<{name}>
          stripe.block [%i : 4096] in %a = %A[%i] : 1 out %s = %S[] add init 0 {{
            %x = stripe.load %a : !stripe.view<1x{name}>
            stripe.store %x, %s : !stripe.view<{name}>
          }}
          func.return %S : !stripe.view<{name}>
        }}""",
        np.ones(4096, dtype),
    )
    assert float(got) == 4096


def test_blocks_run_in_order(run: Run, random: np.random.Generator) -> None:
    """A row softmax: four blocks that communicate through buffers."""
    a = random.random((3, 5))
    view = "!stripe.view<3x5xf64>"
    (got,) = run(
        f"""
        func.func @main(%A : {view}) -> {view} {{
          %M = stripe.alloc : !stripe.view<3xf64>
          %E = stripe.alloc : {view}
          %S = stripe.alloc : !stripe.view<3xf64>
          %R = stripe.alloc : {view}
          stripe.block [%i : 3, %j : 5] in %a = %A[%i, %j] : 1x1
              out %m = %M[%i] : 1 max init -inf {{
            %x = stripe.load %a : !stripe.view<1x1xf64>
            stripe.store %x, %m : !stripe.view<1xf64>
          }}
          stripe.block [%i : 3, %j : 5] in %a = %A[%i, %j] : 1x1
              in %m = %M[%i] : 1 out %e = %E[%i, %j] : 1x1
              out %s = %S[%i] : 1 add init 0 {{
            %x = stripe.load %a : !stripe.view<1x1xf64>
            %y = stripe.load %m : !stripe.view<1xf64>
            %d = eltwise.sub %x, %y : f64
            %p = eltwise.exp %d : f64
            stripe.store %p, %e : !stripe.view<1x1xf64>
            stripe.store %p, %s : !stripe.view<1xf64>
          }}
          stripe.block [%i : 3] in %es = %E[%i, 0] : 1x5 in %s = %S[%i] : 1
              out %rs = %R[%i, 0] : 1x5 {{
            %t = stripe.load %s : !stripe.view<1xf64>
            stripe.block [%j : 5] in %e = %es[0, %j] : 1x1 out %r = %rs[0, %j] : 1x1 {{
              %x = stripe.load %e : !stripe.view<1x1xf64>
              %q = eltwise.div %x, %t : f64
              stripe.store %q, %r : !stripe.view<1x1xf64>
            }}
          }}
          func.return %R : {view}
        }}""",
        a,
    )
    e = np.exp(a - a.max(1, keepdims=True))
    np.testing.assert_allclose(got, e / e.sum(1, keepdims=True), 1e-14)


def test_index_values_are_numbers(run: Run) -> None:
    (got,) = run(
        """
        func.func @main() -> !stripe.view<3x4xsi32> {
          %C = stripe.alloc : !stripe.view<3x4xsi32>
          stripe.block [%i : 3] out %cs = %C[%i, 0] : 1x4 {
            %a = eltwise.cast %i : index to si32
            %ten = eltwise.constant 10 : si32
            %b = eltwise.mul %a, %ten : si32
            stripe.block [%j : 4] out %c = %cs[0, %j] : 1x1 {
              %d = eltwise.cast %j : index to si32
              %e = eltwise.add %b, %d : si32
              stripe.store %e, %c : !stripe.view<1x1xsi32>
            }
          }
          func.return %C : !stripe.view<3x4xsi32>
        }"""
    )
    assert got.tolist() == [[10 * i + j for j in range(4)] for i in range(3)]


def test_buffer_of_vectors(run: Run, random: np.random.Generator) -> None:
    a = small(random, 3, 8)
    (got,) = run(
        """
        func.func @main(%A : !stripe.view<3x8xf32>) -> !stripe.view<3x8xf32> {
          %C = stripe.alloc : !stripe.view<3x8xf32>
          stripe.block [%i : 3] in %as = %A[%i, 0] : 1x8 out %cs = %C[%i, 0] : 1x8 {
            %t = stripe.alloc : !stripe.view<2xvector<4xf32>, private>
            stripe.block [%j : 2] in %a = %as[0, 4 * %j] : 1x4 out %v = %t[%j] : 1 {
              %x = stripe.load %a : !stripe.view<1x4xf32>
              stripe.store %x, %v : !stripe.view<1xvector<4xf32>, private>
            }
            stripe.block [%j : 2] in %v = %t[-%j + 1] : 1
                out %c = %cs[0, 4 * %j] : 1x4 {
              %x = stripe.load %v : !stripe.view<1xvector<4xf32>, private>
              stripe.store %x, %c : !stripe.view<1x4xf32>
            }
          }
          func.return %C : !stripe.view<3x8xf32>
        }""",
        a,
    )
    np.testing.assert_array_equal(got, np.concatenate([a[:, 4:], a[:, :4]], axis=1))


def test_a_vector_of_one_lane(run: Run, random: np.random.Generator) -> None:
    a = small(random, 3)
    (got,) = run(
        """
        func.func @main(%A : !stripe.view<3xf32>) -> !stripe.view<3xf32> {
          %C = stripe.alloc : !stripe.view<3xf32>
          stripe.block [%i : 3] in %a = %A[%i] : 1 out %c = %C[%i] : 1 {
            %t = stripe.alloc : !stripe.view<1xvector<1xf32>, private>
            %x = stripe.load %a : !stripe.view<1xf32>
            %v = eltwise.broadcast %x : f32 to vector<1xf32>
            %w = eltwise.add %v, %v : vector<1xf32>
            stripe.store %w, %t : !stripe.view<1xvector<1xf32>, private>
            stripe.store %x, %c : !stripe.view<1xf32>
          }
          func.return %C : !stripe.view<3xf32>
        }""",
        a,
    )
    np.testing.assert_array_equal(got, a)


def test_init_covers_windows_within_the_buffer_only(run: Run) -> None:
    (got,) = run(
        """
        func.func @main() -> !stripe.view<10xf32> {
          %C = stripe.alloc : !stripe.view<10xf32>
          %one = eltwise.constant 1.0 : f32
          stripe.block [%i : 10] out %c = %C[%i] : 1 {
            stripe.store %one, %c : !stripe.view<1xf32>
          }
          stripe.block [%i : 3, %k : 2] out %c = %C[4 * %i - 1] : 3 add init -2
              where %k - 5 >= 0 {
          }
          func.return %C : !stripe.view<10xf32>
        }"""
    )
    assert got.tolist() == [-2, -2, 1, -2, -2, -2, 1, -2, -2, -2]


def test_an_empty_block_does_nothing(run: Run) -> None:
    (got,) = run(
        """
        func.func @main(%A : !stripe.view<2xf32>) -> !stripe.view<2xf32> {
          stripe.block [%i : 0] in %a = %A[%i] : 1 {
            %x = stripe.load %a : !stripe.view<1xf32>
          }
          func.return %A : !stripe.view<2xf32>
        }""",
        np.array([1, 2], np.float32),
    )
    assert got.tolist() == [1, 2]


def test_two_stores_of_one_point_run_in_order(run: Run) -> None:
    (got,) = run(
        """
        func.func @main() -> !stripe.view<3xsi32> {
          %C = stripe.alloc : !stripe.view<3xsi32>
          %one = eltwise.constant 1 : si32
          stripe.block [%i : 3] out %c = %C[%i] : 1 {
            stripe.store %one, %c : !stripe.view<1xsi32>
            %x = eltwise.cast %i : index to si32
            stripe.store %x, %c : !stripe.view<1xsi32>
          }
          func.return %C : !stripe.view<3xsi32>
        }"""
    )
    assert got.tolist() == [0, 1, 2]
