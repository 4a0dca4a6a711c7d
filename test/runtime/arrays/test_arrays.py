"""`gingham.asarray` and `gingham.Array`: NumPy, DLPack, and what is refused."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

import gingham
from gingham.errors import GinghamError
from gingham.targets.opencl.devices.device import OpenCLDevice

TYPES = [
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
]


def numbers(*shape: int, seed: int = 0) -> NDArray[np.float32]:
    generator = np.random.default_rng([seed, *shape])
    return generator.integers(-4, 5, shape).astype(np.float32)


def unaligned(count: int) -> NDArray[np.float32]:
    return np.zeros(4 * count + 1, np.uint8)[1:].view(np.float32)


def test_what_an_array_says_of_itself(device: str) -> None:
    x = gingham.asarray(numbers(3, 5), device)
    assert (x.shape, x.ndim, x.size, x.nbytes, len(x)) == ((3, 5), 2, 15, 60, 3)
    assert x.dtype == np.float32
    assert x.device is gingham.device(device)
    assert x.is_ready
    assert repr(x) == f"<gingham.Array 3x5, float32, of {device}: ready>"
    assert x.wait() is x
    assert not x.is_closed


def test_default_device() -> None:
    assert gingham.asarray([1.0]).device is gingham.default_device()


@pytest.mark.parametrize("dtype", TYPES)
def test_numpy_memory_is_used_in_place(in_place: str, dtype: str) -> None:
    host = np.arange(6).reshape(2, 3).astype(dtype)
    for copy in (None, False):
        x = gingham.asarray(host, in_place, copy=copy)
        assert x.dtype == dtype
        assert np.shares_memory(x.numpy(), host)
    host[1, 2] = 0
    np.testing.assert_array_equal(gingham.asarray(host, in_place).numpy(), host)


def test_bfloat16(device: str) -> None:
    host = np.arange(6).astype(ml_dtypes.bfloat16)
    x = gingham.asarray(host, device)
    f = gingham.compile("function (A[N]) -> (B) { B = A + A; }", device=device)
    y = f(x)
    assert y.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(y.numpy().astype(int), 2 * np.arange(6))


def test_a_copy_has_memory_of_its_own(device: str) -> None:
    host = numbers(4)
    x = gingham.asarray(host, device, copy=True)
    before = host.copy()
    host[:] = 99
    np.testing.assert_array_equal(x.numpy(), before)
    again = gingham.asarray(x, copy=True).wait()
    x.numpy()[:] = 7
    np.testing.assert_array_equal(again.numpy(), before)


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (3, None, "int32"),
        (2.5, None, "float32"),
        (True, None, "bool"),
        ([[1, 2], [3, 4]], None, "int64"),
        ((1.0, 2.0), "float32", "float32"),
        (np.arange(4), np.float16, "float16"),
        (np.arange(4, dtype=">i4"), None, "int32"),
    ],
)
def test_values_that_are_converted(
    device: str, value: Any, dtype: Any, expected: str
) -> None:
    x = gingham.asarray(value, device, dtype)
    assert x.dtype.name == expected
    np.testing.assert_array_equal(x.numpy(), np.asarray(value, dtype))


def test_layouts_that_need_a_copy(opencl: OpenCLDevice) -> None:
    for host in (numbers(4, 6).T, numbers(8)[::2], numbers(3)[::-1], unaligned(4)):
        x = gingham.asarray(host, opencl)
        np.testing.assert_array_equal(x.numpy(), host)
        assert not np.shares_memory(x.numpy(), host)
        with pytest.raises(GinghamError, match="can not be used in place"):
            gingham.asarray(host, opencl, copy=False)


def test_copies_that_are_refused(device: str) -> None:
    for value, dtype in (([1.0], None), (numbers(3), "float64"), (2, None)):
        with pytest.raises(GinghamError, match="can not be used in place"):
            gingham.asarray(value, device, dtype, copy=False)


@pytest.mark.parametrize(
    ("value", "dtype", "message"),
    [
        (np.zeros(3, complex), None, "elements of type complex128"),
        (np.array(["text"]), None, "elements of type"),
        (np.zeros(3, object), None, "elements of type object"),
        ([[1], [2, 3]], None, "is not an array"),
        (2**40, None, "needs a NumPy type"),
        (numbers(2), "complex64", "complex64"),
        (numbers(2), "no type", "is no type of elements"),
    ],
)
def test_values_that_no_tensor_holds(
    device: str, value: Any, dtype: Any, message: str
) -> None:
    with pytest.raises(GinghamError, match=message):
        gingham.asarray(value, device, dtype)


def test_devices_that_are_refused() -> None:
    with pytest.raises(GinghamError, match="no device 'abacus'"):
        gingham.asarray([1.0], "abacus")
    wrong: Any = 5
    with pytest.raises(GinghamError, match="expected a device or its name"):
        gingham.asarray([1.0], wrong)
    with pytest.raises(GinghamError, match="expected a device"):
        gingham.asarray([1.0]).to(wrong)


def test_sizes_beyond_the_address_space(device: str) -> None:
    """A view may be larger than all memory; making an array of it must not crash."""
    huge = np.broadcast_to(np.float32(1), (1 << 30, 1 << 20))
    kept = gingham.asarray(numbers(3), device)
    if device != "reference":
        with pytest.raises(GinghamError, match=r"1073741824x1048576"):
            gingham.asarray(huge, device)
    f = gingham.compile(
        "function (A[N], B[M]) -> (C) { C[i, j : N, M] = +(A[i] * B[j]); }",
        device=device,
    )
    wide = gingham.asarray(np.zeros(1 << 22, np.float32), device)
    with pytest.raises(GinghamError, match=r"4194304x4194304|points: more than"):
        f(wide, wide)
    np.testing.assert_array_equal(kept.numpy(), numbers(3))
    np.testing.assert_array_equal(f(kept, kept).numpy(), np.outer(kept, kept))


def test_empty_arrays_and_scalars(device: str) -> None:
    f = gingham.compile("function (A, B) -> (C) { C = A * B; }", device=device)
    for shape in ((0,), (3, 0), ()):
        x = gingham.asarray(np.full(shape, 3, np.float32), device)
        y = f(x, x)
        assert y.shape == shape
        np.testing.assert_array_equal(y.numpy(), np.full(shape, 9, np.float32))
    number = gingham.asarray(3, device)
    assert (int(number), float(number), bool(number)) == (3, 3.0, True)
    assert [10, 11, 12, 13][number] == 13
    with pytest.raises(TypeError, match="no length"):
        len(number)


def test_numpy_takes_arrays(in_place: str) -> None:
    host = numbers(2, 3)
    x = gingham.asarray(host, in_place)
    np.testing.assert_array_equal(x, host)
    assert np.shares_memory(np.asarray(x), host)
    assert np.asarray(x, np.float64).dtype == np.float64
    assert not np.shares_memory(np.array(x), host)
    assert not np.shares_memory(np.array(x, copy=True), host)
    assert np.shares_memory(np.array(x, copy=False), host)
    with pytest.raises(ValueError, match="copy"):
        np.array(x, np.float64, copy=False)
    np.testing.assert_array_equal(np.add(x, x), 2 * host)


# DLPack


def test_dlpack_to_numpy(in_place: str) -> None:
    host = numbers(2, 3)
    x = gingham.asarray(host, in_place)
    assert x.__dlpack_device__() == (1, 0)
    other = np.from_dlpack(x)
    np.testing.assert_array_equal(other, host)
    assert np.shares_memory(other, host)
    copy = np.from_dlpack(x, copy=True)
    assert not np.shares_memory(copy, host)
    for version in (None, (0, 8), (1, 0), (1, 1), (2, 0)):
        assert x.__dlpack__(max_version=version) is not None
    with pytest.raises(BufferError, match="stream"):
        x.__dlpack__(stream=1)
    with pytest.raises(BufferError, match="device"):
        x.__dlpack__(dl_device=(2, 0))


def test_dlpack_of_results_that_are_computed_still(in_place: str) -> None:
    f = gingham.compile("function (A[N]) -> (B) { B = A + 1; }", device=in_place)
    y = gingham.asarray(numbers(2000), in_place)
    for _ in range(20):
        y = f(y)
    np.testing.assert_array_equal(np.from_dlpack(y), numbers(2000) + 20)


class FromElsewhere:
    """An array of some other library."""

    def __init__(self, array: NDArray[Any], kind: int = 1) -> None:
        self._array = array
        self._kind = kind

    def __dlpack__(self, **named: Any) -> object:
        return self._array.__dlpack__(**named)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._kind, 0


def test_dlpack_from_other_libraries(in_place: str) -> None:
    host = numbers(4, 3)
    x = gingham.asarray(FromElsewhere(host), in_place, copy=False)
    assert np.shares_memory(x.numpy(), host)
    copy = gingham.asarray(FromElsewhere(host), in_place, copy=True)
    assert not np.shares_memory(copy.numpy(), host)
    with pytest.raises(GinghamError, match="not in the memory of the host"):
        gingham.asarray(FromElsewhere(host, kind=2), in_place)
    complex_numbers = np.zeros(3, complex)
    with pytest.raises(GinghamError, match="complex128"):
        gingham.asarray(FromElsewhere(complex_numbers), in_place)


class Refusing:
    """What no library gives, as a tensor of PyTorch on its device `meta`."""

    def __array__(self, *_: object, **named: object) -> object:
        raise RuntimeError("it needs gradients")

    def __dlpack__(self, **named: object) -> object:
        raise BufferError("it is nowhere")

    def __dlpack_device__(self) -> tuple[int, int]:
        raise ValueError("it is nowhere")


def test_what_a_library_does_not_give(device: str) -> None:
    with pytest.raises(GinghamError, match="Refusing can not be taken over: it is now"):
        gingham.asarray(Refusing(), device)
    f = gingham.compile("function (A[N]) -> (B) { B = A; }", device=device)
    with pytest.raises(GinghamError, match="'A' is not an array: it needs gradients"):
        f(Refusing())


def test_dlpack_of_bfloat16(in_place: str) -> None:
    """NumPy has no such type, so it is taken over and given by ourselves."""
    host = np.arange(12).astype(ml_dtypes.bfloat16).reshape(3, 4)
    x = gingham.asarray(host, in_place)
    for version in (None, (1, 0)):
        again = gingham.asarray(BrainFloats(x, version), in_place)
        assert again.dtype == ml_dtypes.bfloat16
        np.testing.assert_array_equal(again.numpy().astype(int), host.astype(int))
        assert np.shares_memory(again.numpy(), host)
        assert not again.numpy().flags.writeable
    columns = gingham.asarray(BrainFloats(gingham.asarray(host.T, "reference"), None))
    np.testing.assert_array_equal(columns.numpy().astype(int), host.T.astype(int))


class BrainFloats:
    """An array of bfloat16 of some other library."""

    dtype = "other.bfloat16"

    def __init__(self, array: gingham.Array, version: tuple[int, int] | None) -> None:
        self._array = array
        self._version = version

    def __dlpack__(self) -> object:
        return self._array.__dlpack__(max_version=self._version)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def test_dlpack_of_bfloat16_with_torch(in_place: str) -> None:
    torch: Any = pytest.importorskip("torch")
    tensor = torch.arange(6, dtype=torch.bfloat16).reshape(2, 3)
    x = gingham.asarray(tensor, in_place)
    f = gingham.compile("function (A[N, M]) -> (B) { B = 2 * A; }", device=in_place)
    assert torch.equal(torch.from_dlpack(f(x)), 2 * tensor)
    tensor[0, 0] = 5
    assert float(x.numpy()[0, 0]) == 5


def test_dlpack_with_torch(in_place: str) -> None:
    torch: Any = pytest.importorskip("torch")
    tensor = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    x = gingham.asarray(tensor, in_place)
    f = gingham.compile("function (A[N, M]) -> (B) { B = 2 * A; }", device=in_place)
    result = torch.from_dlpack(f(x))
    assert torch.equal(result, 2 * tensor)
    tensor[0, 0] = 5
    assert x.numpy()[0, 0] == 5
    with pytest.raises(GinghamError, match="detach"):
        gingham.asarray(tensor.clone().requires_grad_(), in_place)


# Lifetimes


def test_a_closed_array_is_of_no_use(device: str) -> None:
    f = gingham.compile("function (A[N], B[N]) -> (C) { C = A * B; }", device=device)
    x, y = (gingham.asarray(numbers(5, seed=n), device) for n in range(2))
    z = f(x, y)
    view = z.numpy()
    with x:
        pass
    x.close()
    assert x.is_closed
    assert repr(x) == f"<gingham.Array 5, float32, of {device}: closed>"
    for use in (
        lambda: x.numpy(),
        lambda: x.wait(),
        lambda: x.is_ready,
        lambda: x.to("reference"),
        lambda: x.buffer,
        lambda: x.event,
        lambda: f(x, y),
        lambda: f(y, B=x),
        lambda: f(y, y, out=x),
        lambda: gingham.asarray(x),
        lambda: gingham.asarray(x, copy=True),
        lambda: np.asarray(x),
        lambda: np.from_dlpack(x),
        lambda: gingham.einsum("i,i->i", x, y, device=device),
    ):
        with pytest.raises(GinghamError, match="closed"):
            use()
    z.close()
    np.testing.assert_array_equal(view, numbers(5) * numbers(5, seed=1))
    np.testing.assert_array_equal(f(y, y).numpy(), numbers(5, seed=1) ** 2)


def test_views_outlive_the_array(device: str) -> None:
    f = gingham.compile("function (A[N]) -> (B) { B = A + 1; }", device=device)
    views: list[NDArray[Any]] = []
    for seed in range(12):
        y = f(gingham.asarray(numbers(100, seed=seed), device))
        views.append(y.numpy()[10:20])
        y.close()
    gc.collect()
    for seed, view in enumerate(views):
        np.testing.assert_array_equal(view, numbers(100, seed=seed)[10:20] + 1)


def test_memory_of_a_caller_is_kept_and_let_go(device: str) -> None:
    host = numbers(7)
    gone = weakref.ref(host)
    x = gingham.asarray(host, device)
    del host
    np.testing.assert_array_equal(x.numpy(), numbers(7))
    x.close()
    gc.collect()
    assert gone() is None


def test_memory_of_dropped_results_is_used_again(opencl: OpenCLDevice) -> None:
    f = gingham.compile("function (A[N]) -> (B) { B = A + 1; }", device=opencl)
    x = gingham.asarray(numbers(1024), opencl)
    addresses = {f(x).wait().numpy().ctypes.data for _ in range(50)}
    assert len(addresses) <= 4


@pytest.mark.parametrize(
    ("value", "dtype"),
    [([1, 2**40], np.int32), ([-1], np.uint8), (300, np.int8), ([2**70], np.int64)],
)
def test_integers_that_do_not_fit_are_refused_as_numpy_does(
    value: Any, dtype: Any, device: str
) -> None:
    with pytest.raises(OverflowError):
        np.asarray(value, dtype)
    with pytest.raises(gingham.GinghamError, match=f"no array of {dtype.__name__}"):
        gingham.asarray(value, device, dtype)
    # An array has a type already, and is converted as by NumPy.
    wide = np.array([1, 2**40 + 5])
    assert gingham.asarray(wide, device, np.int32).numpy().tolist() == [1, 5]
    assert gingham.asarray([2**40], device, np.int64).numpy().tolist() == [2**40]
