"""A device whose memory runs out, in the midst of arrays that nobody gives up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from memory_pools import like, own
from numpy.typing import NDArray

import gingham
from gingham.errors import GinghamError
from gingham.targets.opencl.devices.device import OpenCLDevice

ROWS = "function (A[N], O[M]) -> (B) { B[i, j : N, M] = +(A[i] * O[j]); }"
COLUMNS = 1 << 10
BUDGET = 64 << 20


@pytest.fixture(params=["as it is", "small"])
def device(
    request: pytest.FixtureRequest,
    opencl_device: OpenCLDevice,
    monkeypatch: pytest.MonkeyPatch,
) -> OpenCLDevice:
    """The default device where it has its own memory, or one that has little."""
    found = opencl_device
    if request.param == "small":
        found = like(own(found), global_memory_bytes=BUDGET)
    elif found.details.host_unified_memory:
        pytest.skip("the device shares the host's memory")
    else:
        budget = found.pool.used_bytes + BUDGET
        monkeypatch.setenv("GINGHAM_MEMORY_BUDGET", str(budget))
    found.trust()
    return found


def test_the_call_fails_and_every_array_is_intact(device: OpenCLDevice) -> None:
    rows = BUDGET // 5 // (4 * COLUMNS)
    ones = gingham.asarray(np.ones(COLUMNS, np.float32), device=device)
    scale = gingham.compile(ROWS, device=device)
    columns = [
        gingham.asarray(np.full(rows, n, np.float32), device=device) for n in range(9)
    ]
    small = gingham.compile("function (A[N]) -> (B) { B = A + 1; }", device=device)
    small(ones).wait()
    kept: list[gingham.Array] = []

    def fill() -> None:
        kept.extend(scale(column, ones) for column in columns)

    with pytest.raises(GinghamError, match=r"budget|memory"):
        fill()
    assert 3 <= len(kept) < 9
    # What is small still runs, and so does all when there is room again.
    assert (small(ones).numpy() == 2).all()
    first, last = kept[0], kept[-1]
    assert (some_rows(first) == 0).all()
    assert (some_rows(last) == len(kept) - 1).all()
    kept.clear()
    del first, last
    again = scale(columns[7], ones)
    assert (some_rows(again) == 7).all()


def some_rows(array: gingham.Array) -> NDArray[Any]:
    """Eight of the rows, picked by a kernel: the whole would be a long copy."""
    step = array.shape[0] // 8
    text = f"function (B[N, M]) -> (C) {{ C[i, j : 8, M] = =(B[{step} * i, j]); }}"
    return gingham.compile(text, device=array.device)(array).numpy()
