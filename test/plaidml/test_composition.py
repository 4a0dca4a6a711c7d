"""Functions put together: what is computed, by what, and that views are not needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plaidml_tensors import PRODUCT, SCALE, SUM, Array, empty, integers, tensor

import gingham
from gingham import edsl, plaidml
from gingham.errors import GinghamError
from gingham.plaidml import tile


def applied(ctx: plaidml.Context, code: str, output: str, **inputs: Any) -> plaidml.Var:
    applier = plaidml.Applier(ctx, plaidml.Function(code))
    for name, value in inputs.items():
        applier.add_input(name, value)
    return applier.add_output(output)


def result(
    ctx: plaidml.Context,
    dev: plaidml.Device,
    f: plaidml.Function,
    output: str,
    **inputs: Array,
) -> Array:
    """The output of a function, in a tensor of the shape that it says."""
    invoker = plaidml.Invoker(ctx, f)
    for name, array in inputs.items():
        invoker.set_input(name, tensor(ctx, dev, array))
    made = plaidml.Tensor(dev, invoker.get_output_shape(output))
    invoker.set_output(output, made)
    invoker.invoke()
    return made.as_ndarray(ctx)


def test_appliers_compose(ctx: plaidml.Context, dev: plaidml.Device) -> None:
    """The sizes of each application are its own, though their names are the same."""
    a, b, c = integers(3, 5), integers(5, 4), integers(4, 2)
    placeholders = [plaidml.Placeholder(2) for _ in range(3)]
    first = applied(ctx, PRODUCT, "C", A=placeholders[0], B=placeholders[1])
    second = applied(ctx, PRODUCT, "C", A=first, B=placeholders[2])
    third = applied(ctx, SCALE, "Y", X=second, F=plaidml.Integer(3))
    composer = plaidml.Composer()
    for name, placeholder in zip("PQR", placeholders, strict=True):
        composer.add_input(name, placeholder)
    composer.add_output("S", applied(ctx, SCALE, "Y", X=third, F=plaidml.Real(0.5)))
    f = composer.build()
    assert (f.input_names, f.output_names) == (["P", "Q", "R"], ["S"])
    found = result(ctx, dev, f, "S", P=a, Q=b, R=c)
    np.testing.assert_array_equal(found, a @ b @ c * 1.5)


def test_sizes_that_must_agree_do(ctx: plaidml.Context, dev: plaidml.Device) -> None:
    x, y = plaidml.Placeholder(2), plaidml.Placeholder(2)
    composer = plaidml.Composer()
    composer.add_input("X", x)
    composer.add_input("Y", y)
    composer.add_output("Z", applied(ctx, PRODUCT, "C", A=x, B=y))
    with pytest.raises(GinghamError, match="size K") as raised:
        result(ctx, dev, composer.build(), "Z", X=integers(2, 3), Y=integers(4, 2))
    assert "function (A[I, K], B[K, J])" in str(raised.value)


def test_a_composed_function_is_one_program(
    ctx: plaidml.Context, dev: plaidml.Device
) -> None:
    x = plaidml.Placeholder(1)
    y = applied(ctx, SCALE, "Y", X=applied(ctx, SCALE, "Y", X=x, F=2.0), F=3.0)
    composer = plaidml.Composer()
    composer.add_input("X", x)
    composer.add_output("Y", y)
    compiled = composer.build().compiled(dev)
    names = compiled.ir(integers(8))
    assert names.count("func.func") == 1
    if not dev.device.is_reference:
        assert compiled.source(integers(8)).count("__kernel") == 1


def test_tensors_are_captured(ctx: plaidml.Context, dev: plaidml.Device) -> None:
    """A captured tensor has the contents of the moment of the run."""
    a, b = integers(3, 3), tensor(ctx, dev, integers(3, 3, seed=1))
    x = plaidml.Placeholder(2)
    composer = plaidml.Composer()
    composer.add_input("B", x)
    composer.add_output("C", applied(ctx, PRODUCT, "C", A=x, B=b))
    f = composer.build()
    assert f.input_names == ["B"]
    for factor in (1, 2):
        with b.mmap_current(ctx) as view:
            view[:] = view[:] * factor
            view.writeback()
        expected = a @ (integers(3, 3, seed=1) * factor)
        np.testing.assert_array_equal(result(ctx, dev, f, "C", B=a), expected)


def test_output_shapes_of_appliers(ctx: plaidml.Context, dev: plaidml.Device) -> None:
    applier = plaidml.Applier(ctx, plaidml.Function(SUM))
    applier.add_input("X", empty(ctx, dev, 4, 5))
    assert applier.get_output_shape("S").sizes == (4,)
    with pytest.raises(GinghamError, match="too late"):
        applier.add_input("X", empty(ctx, dev, 4, 5))
    unbound = plaidml.Applier(ctx, plaidml.Function(SUM))
    unbound.add_input("X", plaidml.Placeholder(2))
    with pytest.raises(GinghamError, match="used, but no input"):
        unbound.get_output_shape("S")


def test_updates(ctx: plaidml.Context, dev: plaidml.Device) -> None:
    """All is computed with old contents; then the tensors have new ones."""
    total, count = tensor(ctx, dev, np.zeros(3, np.float32)), empty(ctx, dev)
    with count.mmap_discard(ctx) as view:
        view[0] = 0
        view.writeback()
    x = tile.Value.from_ndims(1)
    old, one = tile.Value.from_var(total), tile.Value.from_var(count)
    updates = [(old, old + x), (count, one + 1.0)]
    f = tile.compose(ctx, dev, [("X", x)], [("Old", old * 1.0)], updates)
    before = empty(ctx, dev, 3)
    for step in range(1, 4):
        inputs = {"X": tensor(ctx, dev, integers(3))}
        plaidml.run(ctx, f, inputs, {"Old": before})
        np.testing.assert_array_equal(before.as_ndarray(), (step - 1) * integers(3))
    np.testing.assert_array_equal(total.as_ndarray(ctx), 3 * integers(3))
    assert count.as_ndarray(ctx) == 3
    with pytest.raises(GinghamError, match="updates tensors cannot be saved"):
        f.save("f.json")


def test_composed_functions_are_saved(
    ctx: plaidml.Context, dev: plaidml.Device, tmp_path: Path
) -> None:
    x = plaidml.Placeholder(2)
    weights = tensor(ctx, dev, integers(3, 4, seed=2))
    composer = plaidml.Composer()
    composer.add_input("X", x)
    constant = np.array([1, 2, 3, 4], np.float32)
    product = applied(ctx, PRODUCT, "C", A=x, B=weights)
    composer.add_output("Y", applied(ctx, SCALE, "Y", X=product, F=constant))
    file = str(tmp_path / "f.json")
    f = composer.build()
    f.save(file)
    loaded = plaidml.load_function(ctx, dev, file)
    found = result(ctx, dev, loaded, "Y", X=integers(2, 3))
    expected = integers(2, 3) @ integers(3, 4, seed=2) * constant
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(GinghamError, match="is composed"):
        plaidml.Applier(ctx, f)


def test_gradients_are_those_of_the_frontend(
    ctx: plaidml.Context, dev: plaidml.Device
) -> None:
    x, w = plaidml.Placeholder(2), plaidml.Placeholder(2)
    product = applied(ctx, PRODUCT, "C", A=x, B=w)
    loss = applied(ctx, "function (X) -> (L) { L = X * X; }", "L", X=product)
    slopes = plaidml.gradients(loss, [x, w])
    (only,) = plaidml.gradients(loss, w)

    @gingham.jit
    def expected(a: Any, b: Any) -> Any:
        return edsl.gradients((a @ b) * (a @ b), [a, b])

    a, b = integers(4, 3), integers(3, 5)
    wanted = expected(a, b)
    for slope, truth in zip([*slopes, only], [*wanted, wanted[1]], strict=True):
        composer = plaidml.Composer()
        composer.add_input("X", x)
        composer.add_input("W", w)
        composer.add_output("G", slope)
        found = result(ctx, dev, composer.build(), "G", X=a, W=b)
        np.testing.assert_array_equal(found, truth)
    assert plaidml.gradients(loss, []) == []


class Scale(tile.Operation):
    """Each element times a factor."""

    def __init__(self, value: tile.Value, factor: Any) -> None:
        super().__init__(SCALE, [("X", value), ("F", factor)], [("Y", value.shape)])


def test_operations(ctx: plaidml.Context, dev: plaidml.Device) -> None:
    x = tile.Value.from_dimensions([None, 3], plaidml.DType.FLOAT32, "x")
    y: tile.Value = Scale.function(x, 2.0) + 1.0
    z = Scale(y, tile.Value.from_python_value(3.0)).sole_output()
    assert (z.ndims, z.shape.dtype) == (2, plaidml.DType.FLOAT32)
    assert z.shape.dims == (x.shape.dims[0], 3)
    f = tile.compose(ctx, dev, [("X", x)], [("Z", z - x)], name="affine")
    found = result(ctx, dev, f, "Z", X=integers(4, 3))
    np.testing.assert_array_equal(found, 5 * integers(4, 3) + 3)


def test_arithmetic_of_values(ctx: plaidml.Context, dev: plaidml.Device) -> None:
    a, b = integers(3, 4), integers(4, seed=3) + 9
    x, y = tile.Value.from_ndims(2), tile.Value.from_ndims(1)
    array = np.arange(3, dtype=np.float32)[:, None]
    z: Any = (-x + y) * 2.0 - array / abs(y)
    assert z.ndims == 2
    truth: Any = x > y
    assert truth.shape.dtype == plaidml.DType.BOOLEAN
    assert truth.shape.dims[0] is x.shape.dims[0]
    assert isinstance(truth.shape.dims[1], tile.Value)
    f = tile.compose(ctx, dev, [("X", x), ("Y", y)], [("Z", z)])
    found = result(ctx, dev, f, "Z", X=a, Y=b)
    np.testing.assert_allclose(found, (-a + b) * 2 - array / abs(b), rtol=1e-6)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    "key",
    [
        np.s_[1],
        np.s_[-2, 3],
        np.s_[1:4],
        np.s_[:, -3:],
        np.s_[:-1, ::2],
        np.s_[1:99:3, -99:4],
        np.s_[4:2],
        np.s_[2, 1:6:2],
        np.s_[..., 1],
        np.s_[::-1, 5:1:-2],
        np.s_[-2::-3, -99:4:-1],
        np.s_[1:3:-1, 99:2:-1],
    ],
)
def test_parts_of_values(
    ctx: plaidml.Context, dev: plaidml.Device, known: bool, key: Any
) -> None:
    array = integers(5, 7)
    x = tile.Value.from_dimensions(array.shape if known else [None, None])
    part = x[key]
    assert part.ndims == array[key].ndim
    if known:
        assert part.shape.dims == array[key].shape
    f = tile.compose(ctx, dev, [("X", x)], [("Y", part)])
    np.testing.assert_array_equal(result(ctx, dev, f, "Y", X=array), array[key])


def test_parts_that_are_not_there() -> None:
    x = tile.Value.from_dimensions([3, None])
    with pytest.raises(IndexError, match="axis 0 has 3"):
        x[3]
    with pytest.raises(IndexError, match="3 indices for a tensor of 2 axes"):
        x[0, 0, 0]
    with pytest.raises(GinghamError, match="step of axis 0 is 0"):
        x[::0]
    with pytest.raises(IndexError, match="is there twice"):
        x[..., 0, ...]
    with pytest.raises(GinghamError, match="an integer or a slice"):
        x["a"]


def test_sizes_that_are_not_known_stay_the_same() -> None:
    """So recurrences do not collect a size for each step."""
    x, y = tile.Value.from_ndims(3), tile.Value.from_ndims(2)
    size, other = x.shape.dims[0], y.shape.dims[0]
    state: Any = x[:, 0]
    for step in range(1, 4):
        state = state + x[:, step] * y
    assert x[:, 0].shape.dims[0] is size
    (operation, _) = state.shape.dims[0].source
    assert [*operation.inputs.values()] == [size, other]
    assert x[1:, 0].shape.dims[0] is not size


def test_wrong_operations() -> None:
    x = tile.Value.from_ndims(2)
    with pytest.raises(GinghamError, match="missing input F"):
        tile.Operation(SCALE, [("X", x)], [])
    with pytest.raises(GinghamError, match="no input 'G'"):
        tile.Operation(SCALE, [("G", x)], [])
    with pytest.raises(GinghamError, match="no output 'Z'"):
        tile.Operation(SCALE, [("X", x), ("F", 1)], [("Z", x.shape)])
    with pytest.raises(GinghamError, match="1 axes, its shape 2"):
        tile.Operation(SUM, [("X", x)], [("S", x.shape)], name="sum")
    with pytest.raises(GinghamError, match=r"<sum>:1:.*\n.*\n.*\^"):
        tile.Operation("function (X) -> (Y) { Y = ; }", [], [], name="sum")
    with pytest.raises(GinghamError, match=r"expected 2 axes \(I, J\), got 1"):
        tile.Operation(SUM, [("X", tile.Value.from_ndims(1))], [])
    code = "function (X) -> (Y, Z) { Y = X; Z = X; }"
    two = tile.Operation(code, [("X", x)], [("Y", x.shape), ("Z", x.shape)])
    with pytest.raises(GinghamError, match="2 outputs"):
        two.sole_output()


def test_wrong_compositions(ctx: plaidml.Context, dev: plaidml.Device) -> None:
    x: Any = tile.Value.from_ndims(1)
    y: Any = tile.Value.from_ndims(1)
    for inputs, outputs, message in (
        ([("X", x)], [], "an output or an update"),
        ([("X", x)], [("Z", x + y)], "used, but no input"),
        ([("X", x), ("Y", x)], [("Z", x)], "an input twice"),
        ([("X", x), ("X", y)], [("Z", x)], "two inputs have the name"),
        ([("X", x)], [("Z", x), ("Z", x)], "two outputs have the name"),
        ([("X", x + 1)], [("Z", x)], "no placeholder"),
    ):
        with pytest.raises(GinghamError, match=message):
            tile.compose(ctx, dev, inputs, outputs)
    made = empty(ctx, dev, 2)
    with pytest.raises(GinghamError, match="updated twice"):
        tile.compose(ctx, dev, [("X", x)], [], [(made, x), (made, x)])
    with pytest.raises(GinghamError, match="a tensor to update, got Var"):
        tile.compose(ctx, dev, [("X", x)], [], [(x + 1, x)])
    with pytest.raises(GinghamError, match="number of axes is negative"):
        plaidml.Placeholder(-1)
    with pytest.raises(GinghamError, match="got str"):
        plaidml.Applier(ctx, plaidml.Function(SUM)).add_input("X", "x")
    with pytest.raises(GinghamError, match="missing input X"):
        plaidml.Applier(ctx, plaidml.Function(SUM)).add_output("S")
