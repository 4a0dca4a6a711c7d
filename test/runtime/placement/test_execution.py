"""In which order the inputs of a segment get to its device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gingham
from gingham.runtime import starter
from gingham.runtime.placement import execution


@pytest.mark.parametrize("other", ["", "E = D * 2;"])
def test_what_other_devices_have_is_on_its_way_while_the_host_copies(
    monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    """On one device, and where another one has something to do, too."""
    here = gingham.devices()[0]
    if here.is_reference:
        pytest.skip("there is no OpenCL device")
    order: list[str] = []
    from_host, to = execution.from_host, gingham.Array.to

    def copied(host: Any, device: Any, *arguments: Any, **named: Any) -> gingham.Array:
        if device is here:
            order.append("copied")
        return from_host(host, device, *arguments, **named)

    def sent(array: gingham.Array, device: Any, *arguments: Any) -> gingham.Array:
        if array.device is not here and device is here:
            order.append("sent")
        return to(array, device, *arguments)

    monkeypatch.setattr(execution, "from_host", copied)
    monkeypatch.setattr(starter, "from_host", copied)
    monkeypatch.setattr(gingham.Array, "to", sent)
    results = "D, E" if other else "D"
    f = gingham.compile(
        f"function (A[N], B[N], C[N]) -> ({results}) {{ D = A * B + C; {other} }}",
        device=[here.name, "reference"],
        place={"D": here.name} | ({"E": "reference"} if other else {}),
    )
    host = np.arange(5, dtype=np.float32)
    there = gingham.asarray(host, "reference")
    found = f(host, there, host)
    sums = found[0] if other else found
    np.testing.assert_array_equal(sums.numpy(), host * host + host)
    assert order == ["sent", "copied", "copied"]
