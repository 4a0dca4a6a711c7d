"""In which order the inputs of a segment get to its device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gingham
from gingham.runtime.placement import execution


def test_what_other_devices_have_is_on_its_way_while_the_host_copies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = gingham.devices()[0]
    if here.is_reference:
        pytest.skip("there is no OpenCL device")
    order: list[str] = []
    from_host, to = execution.from_host, gingham.Array.to

    def copied(host: Any, *arguments: Any, **named: Any) -> gingham.Array:
        order.append("copied")
        return from_host(host, *arguments, **named)

    def sent(array: gingham.Array, *arguments: Any) -> gingham.Array:
        if array.device is not here:
            order.append("sent")
        return to(array, *arguments)

    monkeypatch.setattr(execution, "from_host", copied)
    monkeypatch.setattr(gingham.Array, "to", sent)
    f = gingham.compile(
        "function (A[N], B[N], C[N]) -> (D) { D = A * B + C; }",
        device=[here.name, "reference"],
        place={"D": here.name},
    )
    host = np.arange(5, dtype=np.float32)
    there = gingham.asarray(host, "reference")
    np.testing.assert_array_equal(f(host, there, host).numpy(), host * host + host)
    assert order == ["sent", "copied", "copied"]
