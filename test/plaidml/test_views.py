"""Shapes, tensors and views: what lies where, bounds, conversions, and wrong uses."""

from __future__ import annotations

import ctypes
import operator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from plaidml_tensors import empty, integers, tensor

from gingham import plaidml
from gingham.errors import GinghamError


def shape_of(ctx: plaidml.Context, *sizes: int, **options: Any) -> plaidml.Shape:
    return plaidml.Shape(ctx, plaidml.DType.FLOAT32, *sizes, **options)


def test_dimensions_are_sizes_and_strides(ctx: plaidml.Context) -> None:
    assert shape_of(ctx, 2, 3, 4).dimensions == ((2, 12), (3, 4), (4, 1))
    assert shape_of(ctx, 2, 3, 4, layout=(2, 0, 1)).dimensions == (
        (2, 3),
        (3, 1),
        (4, 6),
    )
    assert shape_of(ctx).dimensions == ()
    shape = shape_of(ctx, 5, 6)
    assert (shape.dtype, shape.ndims, shape.count) == (plaidml.DType.FLOAT32, 2, 30)
    assert (shape.bytes, shape.offset, str(shape)) == (120, 0, "float32[5, 6]")
    assert shape == shape_of(ctx, 5, 6) != shape_of(ctx, 5, 6, layout=(1, 0))
    assert len({shape, shape_of(ctx, 5, 6)}) == 1


@pytest.mark.parametrize(
    ("sizes", "options", "message"),
    [
        ((-1,), {}, "axis 0 is negative"),
        ((2, "3"), {}, "axis 1 to be an integer"),
        ((2, 3), {"layout": (0, 0)}, "each of 2 axes once"),
        ((2**31, 2**31), {}, "no address"),
        ((0, 2**62, 2), {}, "no address"),
    ],
)
def test_wrong_shapes(
    ctx: plaidml.Context, sizes: tuple[Any, ...], options: Any, message: str
) -> None:
    with pytest.raises(GinghamError, match=message):
        shape_of(ctx, *sizes, **options)


def test_unknown_element_types(ctx: plaidml.Context) -> None:
    with pytest.raises(GinghamError, match="'float8'"):
        plaidml.Shape(ctx, "float8", 1)


def test_more_than_there_is_memory(ctx: plaidml.Context, dev: plaidml.Device) -> None:
    with pytest.raises(GinghamError, match=r"no memory for a tensor .* bytes"):
        empty(ctx, dev, 2**58)


def test_elements_by_number_and_by_axes(
    ctx: plaidml.Context, dev: plaidml.Device
) -> None:
    array = integers(3, 4)
    made = tensor(ctx, dev, array)
    with made.mmap_current(ctx) as view:
        assert len(view) == 12
        assert view[7] == array[1, 3] == view[(1, 3)] == view[1, -1] == view[-5]
        np.testing.assert_array_equal(view[2:9:3], array.reshape(-1)[2:9:3])
        part = tuple(array.reshape(-1)[2:9:3].tolist())
        assert view[2:9:3] == part == view[2:9:3]
        assert view[2:9:3] == [*part]
        assert view[2:9:3] != (*part, 0)
        assert operator.ne(view[2:9:3], view[2:9:3]) is False
        assert (view[2:9:3] == np.asarray(part)).tolist() == [True] * 3
        assert (view[2:9:3] * 2 == part[0] * 2).tolist()[0]
        assert list(view) == list(array.reshape(-1))
        np.testing.assert_array_equal(np.asarray(view), array)
        np.testing.assert_array_equal(view.as_ndarray(ctx), array)
        assert np.asarray(view, np.int32).dtype == np.int32
        target = np.zeros((3, 4))
        view.copy_to_ndarray(target)
        np.testing.assert_array_equal(target, array)
        flat = np.zeros(12)
        view.copy_to_ndarray(flat)
        np.testing.assert_array_equal(flat, array.reshape(-1))
        view.copy_from_ndarray(flat)
        view[0], view[(2, 3)], view[1:3] = 9, -9, [7, 8]
        view.writeback()
    array[0, :3], array[2, 3] = [9, 7, 8], -9
    np.testing.assert_array_equal(made.as_ndarray(ctx), array)


def test_elements_by_pointers(ctx: plaidml.Context, dev: plaidml.Device) -> None:
    made = tensor(ctx, dev, integers(2, 3))
    with made.mmap_current(ctx) as view:
        pointer = view.raw()
        assert pointer[4] == integers(2, 3)[1, 1]
        pointer[4] = 9
        view.writeback()
    assert made.as_ndarray(ctx)[1, 1] == 9
    shape = plaidml.Shape(ctx, "float16", 2, 3)
    assert (shape.ctype, shape.dimension_count) == (ctypes.c_uint16, 2)
    assert plaidml.Shape(ctx, "bool").ctype is ctypes.c_bool


def test_axes_of_size_one_are_left_out(
    ctx: plaidml.Context, dev: plaidml.Device
) -> None:
    made = empty(ctx, dev, 1, 3, 1)
    with made.mmap_discard(ctx) as view:
        view.copy_from_ndarray(integers(3, 1))
        target = np.zeros((1, 1, 3))
        view.copy_to_ndarray(target)
        view.writeback()
        with pytest.raises(GinghamError, match="expected an array of shape"):
            view.copy_from_ndarray(integers(2, 3))
    np.testing.assert_array_equal(target.reshape(-1), integers(3, 1).reshape(-1))
    np.testing.assert_array_equal(made.as_ndarray(), integers(3, 1).reshape(1, 3, 1))


def test_layouts_order_memory_only(ctx: plaidml.Context, dev: plaidml.Device) -> None:
    made = plaidml.Tensor(dev, shape_of(ctx, 2, 3, layout=(1, 0)))
    array = integers(2, 3)
    with made.mmap_discard(ctx) as view:
        view.copy_from_ndarray(array)
        view.writeback()
        assert view[(1, 2)] == array[1, 2] == view[5]
        np.testing.assert_array_equal(view[:], array.T.reshape(-1))
    f = plaidml.Function("function (X[I, J]) -> (Y) { Y = X + X; }")
    twice = plaidml.Tensor(dev, shape_of(ctx, 2, 3, layout=(1, 0)))
    plaidml.run(ctx, f, {"X": made}, {"Y": twice})
    np.testing.assert_array_equal(twice.as_ndarray(ctx), 2 * array)


@pytest.mark.parametrize("index", [12, -13, (3, 0), (0, -5), (1,), (0, 0, 0)])
def test_out_of_bounds(ctx: plaidml.Context, dev: plaidml.Device, index: Any) -> None:
    with empty(ctx, dev, 3, 4).mmap_current() as view:
        with pytest.raises(IndexError):
            view[index]
        with pytest.raises(IndexError):
            view[index] = 0


def test_values_that_do_not_fit(ctx: plaidml.Context, dev: plaidml.Device) -> None:
    with empty(ctx, dev, 2, 3).mmap_discard(ctx) as view:
        with pytest.raises(GinghamError, match=r"6 value\(s\).*\(5,\)"):
            view[:] = np.zeros(5)
        with pytest.raises(GinghamError, match="expected 6"):
            view[:] = np.zeros((2, 3))
        with pytest.raises(GinghamError, match=r"shape \(2, 3\), got \(3, 2\)"):
            view.copy_from_ndarray(np.zeros((3, 2)))
        with pytest.raises(GinghamError, match=r"shape \(2, 3\), got \(5,\)"):
            view.copy_to_ndarray(np.zeros(5))
        with pytest.raises(GinghamError, match="cannot hold"):
            view[0] = "a"
        with pytest.raises(ValueError, match="copies"):
            np.array(view, copy=False)
    with empty(ctx, dev, 2, dtype="uint8").mmap_discard(ctx) as view:
        for wrong in (1.5, 256, -1):
            with pytest.raises(GinghamError, match="uint8"):
                view[0] = wrong


@pytest.mark.parametrize("dtype", [each.value for each in plaidml.DType])
def test_all_element_types(
    ctx: plaidml.Context, dev: plaidml.Device, dtype: str
) -> None:
    array = np.array([0, 1, 1, 0]).astype(
        ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
    )
    made = tensor(ctx, dev, array)
    result = made.as_ndarray(ctx)
    assert result.dtype == array.dtype
    np.testing.assert_array_equal(result, array)


@pytest.mark.parametrize("sizes", [(), (0,), (2, 0), (1,)])
def test_tensors_of_none_and_one(
    ctx: plaidml.Context, dev: plaidml.Device, sizes: tuple[int, ...]
) -> None:
    array = integers(*sizes)
    made = tensor(ctx, dev, array)
    with made.mmap_current(ctx) as view:
        assert len(view) == array.size
    np.testing.assert_array_equal(made.as_ndarray(), array)


def test_a_forgotten_writeback_warns(ctx: plaidml.Context, dev: plaidml.Device) -> None:
    made = empty(ctx, dev, 2)
    with (
        pytest.warns(plaidml.ViewWarning, match="contents are kept") as caught,
        made.mmap_discard(ctx) as view,
    ):
        view[:] = 3
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(made.as_ndarray(ctx), [3, 3])


def test_an_error_inside_is_not_hidden(
    ctx: plaidml.Context, dev: plaidml.Device
) -> None:
    def interrupted() -> None:
        with empty(ctx, dev, 2).mmap_discard(ctx) as view:
            view[0] = 1
            raise KeyError

    with pytest.raises(KeyError):
        interrupted()


def test_views_end(ctx: plaidml.Context, dev: plaidml.Device) -> None:
    made = tensor(ctx, dev, integers(2))
    with made.mmap_current(ctx) as view:
        pass
    for use in (
        lambda: len(view),
        lambda: np.asarray(view),
        lambda: view[0],
        lambda: view.writeback(),
        lambda: view.copy_from_ndarray(np.zeros(2)),
    ):
        with pytest.raises(GinghamError, match="view is closed"):
            use()
    with plaidml.Context() as other, made.mmap_current(other) as view:
        other.close()
        with pytest.raises(GinghamError, match="context is closed"):
            view[0]
    with pytest.raises(GinghamError, match="context is closed"):
        made.as_ndarray(other)
