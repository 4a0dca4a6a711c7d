"""Copies into an array that is there already, which others may still use."""

from __future__ import annotations

import numpy as np
import pytest
from arrays_held_up import Held
from memory_pools import own

import gingham
from gingham.errors import GinghamError
from gingham.runtime.arrays.transfers import write_into
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.events import failed_run

SQUARE = "function (A[N]) -> (B) { B = A * A; }"


def ramp(start: int = 0) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.arange(start, start + 100, dtype=np.float32)


def on(device: OpenCLDevice | str, start: int) -> gingham.Array:
    return gingham.asarray(ramp(start), device, copy=True)


@pytest.mark.parametrize("source", range(4))
@pytest.mark.parametrize("target", range(4))
def test_from_everywhere_to_everywhere(
    opencl: OpenCLDevice, other: OpenCLDevice, source: int, target: int
) -> None:
    places = [opencl, other, own(opencl), "reference"]
    array, into = on(places[source], 5), on(places[target], 0)
    write_into(into.storage, array.storage)
    assert into.numpy().tolist() == array.numpy().tolist() == ramp(5).tolist()
    # They share nothing.
    write_into(into.storage, on(places[target], 7).storage)
    assert array.numpy().tolist() == ramp(5).tolist()


@pytest.mark.parametrize("is_own", [False, True])
def test_it_comes_after_those_who_read_the_target(
    opencl: OpenCLDevice, other: OpenCLDevice, held_up: Held, is_own: bool
) -> None:
    device = own(opencl) if is_own else opencl
    square = gingham.compile(SQUARE, device=device)
    target = on(device, 1)
    square(target).wait()
    with held_up(device):
        squares = square(target)
        write_into(target.storage, on(other, 50).storage)
        assert not squares.is_ready
        assert not target.is_ready
    assert squares.numpy().tolist() == (ramp(1) ** 2).tolist()
    assert target.numpy().tolist() == ramp(50).tolist()


def test_a_failure_of_the_source_is_one_of_the_target(
    opencl: OpenCLDevice, other: OpenCLDevice
) -> None:
    array, target = on(opencl, 1), on(other, 2)
    array.memory.written = failed_run(opencl.queue, GinghamError("it broke"))
    with pytest.raises(GinghamError, match="it broke"):
        write_into(target.storage, array.storage)
    assert target.numpy().tolist() == ramp(2).tolist()
    # A failure of who used the target before is none of what is there now.
    write_into(array.storage, target.storage)
    assert array.numpy().tolist() == ramp(2).tolist()
