"""Indices that only count points are counted, not run over."""

from __future__ import annotations

from itertools import product
from time import process_time
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gingham

HUGE = 2**62
DEVICES = ["reference", None]


def run(body: str, *inputs: Any, device: str | None, parameters: str = "A[N]") -> Any:
    start = process_time()
    program = gingham.compile(
        f"function ({parameters}) -> (S) {{ {body} }}", device=device
    )
    result = program(*inputs)
    assert process_time() - start < 10
    return result


COUNTED = "k + m < 7, k < 5, m < 7, l < 3"
"""How often that is, see `TIMES`."""
TIMES = 3 * sum(k + j < 7 for k, j in product(range(5), range(7)))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "dtype", [np.float32, np.float16, ml_dtypes.bfloat16, np.int8, np.uint32, np.int64]
)
def test_sums_and_products(device: str | None, dtype: Any) -> None:
    a = np.array([1, 2, 0, 3], np.int64).astype(dtype)
    wide = a.astype(np.float64 if np.dtype(dtype).kind not in "iu" else dtype)
    total = run(f"S[i : N] = +(A[i]), {COUNTED};", a, device=device)
    np.testing.assert_array_equal(total, (wide * TIMES).astype(dtype))
    power = run("S[i : N] = *(A[i]), k < 3;", a, device=device)
    np.testing.assert_array_equal(power, (wide * wide * wide).astype(dtype))
    top = run(f"S[] = >(A[i]), {COUNTED};", a, device=device)
    assert top == 3


@pytest.mark.parametrize("device", DEVICES)
def test_combinations(device: str | None) -> None:
    a = np.array([1, 2, 1, 4], np.float32)
    equal = (a[:, None] == a[None, :]).sum(1)
    bodies = {
        "A[i] + A[j]": (a[:, None] + a[None, :]).sum(1),
        "A[i] * A[j]": a * a.sum(),
        "A[i] == A[j]": equal,
        "A[i] == A[j] ? A[i]": equal * a,
    }
    for combined, once in bodies.items():
        total = run(f"S[i : N] = +({combined}), {COUNTED};", a, device=device)
        np.testing.assert_array_equal(total, once * TIMES)


@pytest.mark.parametrize("device", DEVICES)
def test_the_default_is_kept_where_no_point_is(device: str | None) -> None:
    a, d = np.arange(4, dtype=np.float32), np.full(6, 5, np.float32)
    total = run(
        f"S[i + 1 : N + 2] = +(A[i]), {COUNTED} default D;",
        a,
        d,
        device=device,
        parameters="A[N], D",
    )
    assert total.tolist() == [5, 0, TIMES, 2 * TIMES, 3 * TIMES, 5]


@pytest.mark.parametrize("device", DEVICES)
def test_more_than_can_be_enumerated(device: str | None) -> None:
    a = np.array([-1, 2, -3], np.float32)
    total = run(f"S[] = +(A[0]), k < {HUGE};", a, device=device)
    assert total == -float(HUGE)
    sign = run(f"S[] = *(A[0]), k < {HUGE - 1};", a, device=device)
    assert sign == -1
    assert run(f"S[] = <(A[i]), k < {HUGE};", a, device=device) == -3
    triangle = run(
        f"S[i : N] = +(A[i]), j + k < {HUGE}, j < {HUGE}, k < {HUGE};", a, device=device
    )
    np.testing.assert_allclose(triangle, a * 2.0**123, rtol=1e-6)
    b = a.astype(np.int32)
    wrapped = run(f"S[i : N] = +(A[i]), k < {HUGE + 7};", b, device=device)
    assert wrapped.tolist() == [-7, 14, -21]


@pytest.mark.parametrize("device", DEVICES)
def test_two_points_of_one_cell_are_found_at_once(device: str | None) -> None:
    with pytest.raises(gingham.GinghamError, match=r"twice|takes .* points"):
        run(f"S[i : N] = =(A[i]), k < {HUGE};", [1.0, 2.0], device=device)


def test_names_and_attributes_stay() -> None:
    program = gingham.compile(
        "function (A[N]) -> (S) { [[pid(x)]] S[i : N] = +(A[i]), k < 3; }"
    )
    text = program.ir(np.ones(4, np.float32), stage="tile")
    assert "%S = eltwise.mul" in text
    assert 'tile.pid = "x"' in text
