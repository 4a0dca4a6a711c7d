"""Arrays of a device with memory of its own: a CPU that is said to be one."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from arrays_held_up import Held
from numpy.typing import NDArray

import gingham
from gingham.errors import GinghamError
from gingham.targets.opencl import device_memory
from gingham.targets.opencl.devices.device import OpenCLDevice

NEXT = "function (A[N]) -> (B) { B = A + 1; }"
PRODUCT = (
    "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }"
)
LAYER = """function (I[M, N], K[N, L]) -> (O) {
  S[n : N] = +(K[n, l]);
  O = I * S;
}"""


@pytest.fixture(scope="session")
def discrete(opencl: OpenCLDevice) -> Sequence[OpenCLDevice]:
    """Two devices, each with a context and memory of its own."""
    details = replace(
        opencl.details, host_unified_memory=False, shares_host_memory=False
    )
    return [
        OpenCLDevice(f"card.{number}", "gpu", details, opencl.handle)
        for number in range(2)
    ]


def numbers(*shape: int, seed: int = 0) -> NDArray[np.float32]:
    generator = np.random.default_rng([seed, *shape])
    return generator.integers(-4, 5, shape).astype(np.float32)


def test_arrays_are_copied(discrete: Sequence[OpenCLDevice]) -> None:
    card = discrete[0]
    host = numbers(30, 7)
    x = gingham.asarray(host, card)
    host[:] = 0
    np.testing.assert_array_equal(x.numpy(), numbers(30, 7))
    first, second = x.numpy(), x.numpy()
    first[:] = 5
    np.testing.assert_array_equal(second, numbers(30, 7))
    assert x.host is None
    assert x.device is card
    with pytest.raises(GinghamError, match="memory of its own"):
        gingham.asarray(host, card, copy=False)
    for empty in (np.zeros((0, 3), np.float32), np.float32(2)):
        np.testing.assert_array_equal(gingham.asarray(empty, card).numpy(), empty)


def test_copies_on_one_device(discrete: Sequence[OpenCLDevice]) -> None:
    for shape in ((3, 5), (0,)):
        given = np.random.default_rng(1).random(shape)
        x = gingham.asarray(given, discrete[0])
        copy = gingham.asarray(x, copy=True)
        assert copy.device is x.device
        assert copy.buffer is not x.buffer
        x.close()
        np.testing.assert_array_equal(copy.numpy(), given)


def test_dlpack_copies_when_asked(discrete: Sequence[OpenCLDevice]) -> None:
    x = gingham.asarray(numbers(5), discrete[0])
    assert x.__dlpack_device__() == (4, 0)
    with pytest.raises(BufferError, match=r"numpy\(\) copies it"):
        x.__dlpack__()
    with pytest.raises(BufferError, match=r"numpy\(\) copies it"):
        x.__dlpack__(dl_device=(1, 0), copy=False)
    assert x.__dlpack__(dl_device=(1, 0)) is not None
    np.testing.assert_array_equal(np.asarray(x), numbers(5))
    with pytest.raises(ValueError, match="must be copied"):
        np.array(x, copy=False)


def test_calls(discrete: Sequence[OpenCLDevice]) -> None:
    card = discrete[0]
    f = gingham.compile(PRODUCT, device=card)
    a, b = numbers(9, 8), numbers(8, 11)
    x, y = gingham.asarray(a, card), gingham.asarray(b, card)
    out = gingham.asarray(np.zeros((9, 11), np.float32), card)
    for _ in range(3):
        np.testing.assert_array_equal(f(x, y).numpy(), a @ b)
        assert f(x, b, out=out) is out
        np.testing.assert_array_equal(out.numpy(), a @ b)
        np.testing.assert_array_equal(f(a, b), a @ b)
    same = gingham.compile("function (A[N]) -> (A, B) { B = A + 1; }", device=card)
    v = gingham.asarray(numbers(6), card)
    again, more = same(v)
    np.testing.assert_array_equal(again.numpy(), numbers(6))
    np.testing.assert_array_equal(more.numpy(), numbers(6) + 1)


def test_constant_inputs(discrete: Sequence[OpenCLDevice]) -> None:
    card = discrete[0]
    f = gingham.compile(LAYER, device=card, constants=["K"])
    double = gingham.compile("function (A[N, M]) -> (B) { B = 2 * A; }", device=card)
    inputs = numbers(4, 6)
    for seed in range(4):
        k = numbers(6, 5, seed=seed)
        weights = double(gingham.asarray(k, card))
        expected = inputs * (2 * k).sum(1)
        np.testing.assert_array_equal(f(inputs, weights).numpy(), expected)


def test_constant_arrays_of_the_host_are_sent_once(
    discrete: Sequence[OpenCLDevice], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []
    real = device_memory.OpenCLMemory.fill

    def noted(self: Any, buffer: Any, host: Any) -> None:
        sent.append(host.size)
        real(self, buffer, host)

    monkeypatch.setattr(device_memory.OpenCLMemory, "fill", noted)
    f = gingham.compile(LAYER, device=discrete[0], constants=["K"])
    inputs, k = numbers(4, 6), numbers(6, 5)
    x = gingham.asarray(inputs, discrete[0])
    for weights in (k, k + 1):
        del sent[:]
        for _ in range(3):
            found = f(x, weights).numpy()
            np.testing.assert_array_equal(found, inputs * weights.sum(1))
        assert sent == [30]
    weights[...] = 2
    f.refresh()
    np.testing.assert_array_equal(f(x, weights).numpy(), inputs * 10)


def test_to_and_fro(discrete: Sequence[OpenCLDevice], opencl: OpenCLDevice) -> None:
    devices: list[Any] = [opencl, *discrete, gingham.device("reference")]
    functions = {
        device.name: gingham.compile(NEXT, device=device) for device in devices
    }
    x = gingham.asarray(numbers(100), opencl)
    generator = np.random.default_rng(1)
    for step in range(60):
        device = devices[generator.integers(4 if step % 9 == 0 else 3)]
        x = functions[device.name](x.to(device))
    np.testing.assert_array_equal(x.numpy(), numbers(100) + 60)
    with pytest.raises(GinghamError, match="share no memory"):
        gingham.asarray(numbers(3), discrete[0]).to(opencl, copy=False)


def test_transfers_wait_for_runs(
    discrete: Sequence[OpenCLDevice], opencl: OpenCLDevice, held_up: Held
) -> None:
    card, other = discrete
    f = gingham.compile(NEXT, device=card)
    x = gingham.asarray(numbers(50), card)
    f(x).wait()
    with held_up(card):
        y = f(x)
        moved = [y.to(opencl), y.to(other), y.to(card, copy=True)]
        assert not any(each.is_ready for each in moved)
        # What is written next comes after those who read.
        f(y, out=x)
        f(x, out=y)
    for each in moved:
        np.testing.assert_array_equal(each.numpy(), numbers(50) + 1)
    np.testing.assert_array_equal(y.numpy(), numbers(50) + 3)


def test_many_threads(discrete: Sequence[OpenCLDevice], opencl: OpenCLDevice) -> None:
    devices = [opencl, *discrete]
    functions = [gingham.compile(NEXT, device=device) for device in devices]

    def work(seed: int) -> None:
        generator = np.random.default_rng(seed)
        for n in range(10):
            a = numbers(64 + n, seed=seed)
            x = gingham.asarray(a, opencl)
            for _ in range(8):
                here = int(generator.integers(3))
                x = functions[here](x.to(devices[here]))
            np.testing.assert_array_equal(x.numpy(), a + 8)

    with ThreadPoolExecutor(6) as pool:
        for done in [pool.submit(work, seed) for seed in range(6)]:
            done.result(600)
