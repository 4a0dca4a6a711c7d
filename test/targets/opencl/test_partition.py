"""Parts of devices: named, found again, computing, refused where there are none."""

from __future__ import annotations

import numpy as np
import pytest

import gingham
from gingham.errors import GinghamError
from gingham.runtime.hardware import hardware_of
from gingham.targets.opencl.devices import partition
from gingham.targets.opencl.devices.device import OpenCLDevice


@pytest.fixture(scope="module")
def whole() -> OpenCLDevice:
    device = gingham.devices()[0]
    if not isinstance(device, OpenCLDevice) or device.details.compute_units < 2:
        pytest.skip("there is no device of two cores")
    if device.kind == "gpu":
        pytest.skip("most drivers of GPUs do not divide them")
    return device


def test_a_part_has_a_name_that_finds_it_again(whole: OpenCLDevice) -> None:
    units = whole.details.compute_units
    first, rest = whole.split([1, units - 1])
    assert first.name == f"{whole.name}/0:1"
    assert rest.name == f"{whole.name}/1:{units}"
    assert gingham.device(first.name) is first
    assert gingham.device(rest.name) is rest
    assert first.details.compute_units == hardware_of(first).cores == 1
    assert hardware_of(rest).cores == units - 1


def test_all_of_it_is_a_part(whole: OpenCLDevice) -> None:
    (part,) = whole.split([whole.details.compute_units])
    assert part is not whole
    assert part.details == whole.details


def test_parts_compute(whole: OpenCLDevice) -> None:
    text = "function (A[N]) -> (B) { B = A * 2.0; }"
    a = np.arange(100, dtype=np.float32)
    for part in whole.split([1, 1]):
        assert part.failure() is None
        assert gingham.compile(text, device=part)(a).tolist() == (a * 2).tolist()


@pytest.mark.parametrize("text", ["0:0", "1:0", "0:1000", "x", "0-1", ":1", "0:1/0:1"])
def test_what_is_no_part(whole: OpenCLDevice, text: str) -> None:
    with pytest.raises(GinghamError, match="compute units") as raised:
        gingham.device(f"{whole.name}/{text}")
    assert whole.name in str(raised.value)


def test_what_can_not_be_divided(
    whole: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(GinghamError, match="can not be divided"):
        gingham.device("reference/0:1")
    with pytest.raises(GinghamError, match="at least one compute unit, got 0"):
        whole.split([0, 1])
    other = OpenCLDevice("other.0", "gpu", whole.details, whole.handle)

    def never(device: OpenCLDevice) -> bool:
        return False

    monkeypatch.setattr(partition, "_divides_by_counts", never)
    with pytest.raises(GinghamError, match="can not be divided"):
        other.split([1])
