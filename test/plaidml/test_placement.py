"""Programs on a device that is several: where they run, and that nobody notices."""

from __future__ import annotations

import numpy as np
import pytest
from placed_programs import BRANCHES
from plaidml_tensors import PRODUCT, Array, empty, integers, tensor

import gingham
from gingham import plaidml
from gingham.errors import GinghamError
from gingham.plaidml import settings, tile

FIRST = next(d for d in gingham.devices() if d.failure() is None)
PAIRS = [f"{FIRST.name} reference"]
if FIRST.kind == "cpu":
    PAIRS.append(f"{FIRST.name}/0:1 {FIRST.name}/1:2")


@pytest.fixture(params=PAIRS)
def pair(request: pytest.FixtureRequest) -> str:
    return request.param


def branches(inputs: dict[str, Array]) -> Array:
    x, u1, u2, v1, v2 = inputs.values()
    return np.maximum(x @ u1, 0) @ u2 + np.tanh(x @ v1) @ v2


def test_functions_are_placed(ctx: plaidml.Context, pair: str) -> None:
    """Whatever is decided; then with a branch on each device, and results read back."""
    shapes = {"X": (4, 6), "U1": (6, 8), "U2": (8, 6), "V1": (6, 8), "V2": (8, 6)}
    inputs = {name: integers(*shape) / 8 for name, shape in shapes.items()}
    first, second = pair.split()
    function = plaidml.Function(BRANCHES)
    with plaidml.Device(ctx, pair) as dev:
        assert (dev.id, dev.device.name) == (pair, first)
        bound = {name: tensor(ctx, dev, array) for name, array in inputs.items()}
        output = empty(ctx, dev, 4, 6)
        invoker = plaidml.Invoker(ctx, function, bound, {"Y": output})
        invoker.invoke()
        np.testing.assert_allclose(output.as_ndarray(ctx), branches(inputs), rtol=1e-5)
        function.place({"A": first, "C": second})
        for _ in range(2):
            invoker.invoke()
        np.testing.assert_allclose(output.as_ndarray(ctx), branches(inputs), rtol=1e-5)
        units = invoker.explain_placement().units
        assert {unit.device for unit in units} == {first, second}
        with output.mmap_current(ctx) as view:
            assert len(view) == 24
        function.place({"A": "nowhere.0"})
        with pytest.raises(GinghamError, match=r"nowhere\.0"):
            invoker.invoke()


def test_updates_of_placed_functions(ctx: plaidml.Context, pair: str) -> None:
    """Tensors go where they are computed, and may be written to in between."""
    with plaidml.Device(ctx, pair) as dev:
        weights = tensor(ctx, dev, np.eye(3, dtype=np.float32))
        x = tensor(ctx, dev, integers(3, 3))
        old = tile.Value.from_var(weights)
        step = tile.compose(ctx, dev, [], [], [(old, old + tile.Value.from_var(x))])
        for _ in range(3):
            plaidml.run(ctx, step)
        expected = np.eye(3) + 3 * integers(3, 3)
        np.testing.assert_array_equal(weights.as_ndarray(ctx), expected)
        with weights.mmap_discard(ctx) as view:
            view.copy_from_ndarray(integers(3, 3, seed=1))
            view.writeback()
        product = empty(ctx, dev, 3, 3)
        f = plaidml.Function(PRODUCT)
        plaidml.run(ctx, f, {"A": weights, "B": x}, {"C": product})
        plaidml.run(ctx, step)
        expected = integers(3, 3, seed=1)
        np.testing.assert_array_equal(product.as_ndarray(), expected @ integers(3, 3))
        np.testing.assert_array_equal(weights.as_ndarray(), expected + integers(3, 3))


def test_settings_choose_devices(
    ctx: plaidml.Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More devices than a program wants are one, on which it is placed."""
    both = f"{FIRST.name} reference"
    monkeypatch.setenv("PLAIDML_DEVICE_IDS", both)
    (config,) = plaidml.devices(ctx)
    assert (str(config), config.id, config.failure) == (both, both.encode(), None)
    assert [str(each) for each in plaidml.devices(ctx, 2)] == both.split()
    with plaidml.open_first_device(ctx) as dev:
        assert dev.id == both
    monkeypatch.setenv("PLAIDML_DEVICE_IDS", "reference")
    assert [str(each) for each in plaidml.devices(ctx, None)] == ["reference"]
    monkeypatch.setenv("PLAIDML_DEVICE_IDS", "llvm_cpu.0")
    with pytest.raises(GinghamError, match="no device 'llvm_cpu"):
        plaidml.devices(ctx)
    setattr(settings, "device_ids", [])
    assert getattr(settings, "device_ids") == [gingham.default_device().name]
    with plaidml.Device(ctx, "auto") as dev:
        usable = [d.name for d in gingham.devices() if d.failure() is None]
        assert set(dev.id.split()) <= set(usable)


def test_one_device_is_not_placed(ctx: plaidml.Context) -> None:
    with plaidml.Device(ctx, "reference") as dev:
        f = plaidml.Function("function (X) -> (Y) { Y = X; }")
        invoker = plaidml.Invoker(ctx, f, {"X": empty(ctx, dev, 2)})
        with pytest.raises(GinghamError, match="everything runs on reference"):
            invoker.explain_placement()
    with pytest.raises(GinghamError, match="the name of a device"):
        plaidml.Device(ctx, [])
