"""Functions, invokers and runs: results, what is bound, and what goes wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from injected import OUT_OF_RESOURCES, FailingEvent
from plaidml_tensors import PRODUCT, SCALE, SUM, empty, integers, tensor

import gingham
from gingham import plaidml
from gingham.errors import GinghamError
from gingham.runtime.function import Function as CompiledFunction
from gingham.targets.opencl.devices.device import OpenCLDevice

WINDOWS = """function (X[I], N) -> (Y) {
  Y[i : I - N + 1] = +(X[i + k]), k < N;
}"""


def test_results_equal_those_of_gingham(
    ctx: plaidml.Context, dev: plaidml.Device
) -> None:
    a, b = integers(5, 7), integers(7, 3)
    c = empty(ctx, dev, 5, 3)
    f = plaidml.Function(PRODUCT)
    inputs = {"A": tensor(ctx, dev, a), "B": tensor(ctx, dev, b)}
    invocation = plaidml.run(ctx, f, inputs, {"C": c})
    np.testing.assert_array_equal(c.as_ndarray(ctx), a @ b)
    invocation.wait()
    assert invocation.is_done


def test_names_are_those_of_the_text() -> None:
    f = plaidml.Function(PRODUCT)
    assert (f.input_names, f.output_names) == (["A", "B"], ["C"])
    assert repr(f) == "<gingham.plaidml.Function (A, B) -> (C)>"


def test_an_invoker_runs_again(ctx: plaidml.Context, dev: plaidml.Device) -> None:
    x, y = tensor(ctx, dev, integers(4)), empty(ctx, dev, 4)
    invoker = plaidml.Invoker(ctx, plaidml.Function(SCALE))
    invoker.set_inputs({"X": x})
    invoker.set_const("F", 2.0)
    assert str(invoker.get_output_shape("Y")) == "float32[4]"
    invoker.set_output("Y", y)
    for factor in (2, 3, 4):
        invoker.set_input("F", plaidml.Real(factor))
        invoker.invoke()
        np.testing.assert_array_equal(y.as_ndarray(ctx), factor * integers(4))


def test_numbers_may_be_sizes(ctx: plaidml.Context, dev: plaidml.Device) -> None:
    x = integers(9)
    invoker = plaidml.Invoker(ctx, plaidml.Function(WINDOWS))
    invoker.set_input("X", tensor(ctx, dev, x))
    for count in (1, 4):
        invoker.set_const("N", plaidml.Integer(count))
        shape = invoker.get_output_shape("Y")
        assert shape.sizes == (10 - count,)
        y = plaidml.Tensor(dev, shape)
        invoker.set_output("Y", y)
        invoker.invoke()
        expected = np.convolve(x, np.ones(count), "valid")
        np.testing.assert_array_equal(y.as_ndarray(ctx), expected)
    invoker.set_input("N", tensor(ctx, dev, np.array(2, np.int32)))
    with pytest.raises(GinghamError, match="'N' is a size, and bound to a tensor"):
        invoker.invoke()


def test_an_input_may_be_an_output(ctx: plaidml.Context, dev: plaidml.Device) -> None:
    x = tensor(ctx, dev, integers(6))
    f = plaidml.Function("function (X[N]) -> (Y) { Y[i : N] = +(X[N - 1 - i]); }")
    plaidml.run(ctx, f, {"X": x}, {"Y": x})
    np.testing.assert_array_equal(x.as_ndarray(ctx), integers(6)[::-1])
    same = plaidml.Function("function (X) -> (X) { Z = X; }")
    y = empty(ctx, dev, 6)
    plaidml.run(ctx, same, {"X": x}, {"X": y})
    np.testing.assert_array_equal(y.as_ndarray(ctx), integers(6)[::-1])


def test_syntax_errors_have_a_caret() -> None:
    with pytest.raises(plaidml.PlaidMLError) as raised:
        plaidml.Function("function (A) -> (B) { B = A + ; }", fid="my function")
    assert str(raised.value).startswith("my function:1:31: error:")
    assert "\n                              ^" in str(raised.value)


def test_names_that_are_not_bound(ctx: plaidml.Context, dev: plaidml.Device) -> None:
    f = plaidml.Function(PRODUCT)
    a, c = empty(ctx, dev, 2, 2), empty(ctx, dev, 2, 2)
    with pytest.raises(GinghamError, match="input B is not bound"):
        plaidml.run(ctx, f, {"A": a}, {"C": c})
    with pytest.raises(GinghamError, match="output C is not bound"):
        plaidml.run(ctx, f, {"A": a, "B": a})
    with pytest.raises(GinghamError, match="no input 'X'"):
        plaidml.run(ctx, f, {"X": a})
    with pytest.raises(GinghamError, match="no output 'D'"):
        plaidml.run(ctx, f, {}, {"D": c})
    with pytest.raises(GinghamError, match="no output 'D'"):
        plaidml.Invoker(ctx, f).get_output_shape("D")
    with pytest.raises(GinghamError, match="is a tensor and no constant"):
        plaidml.Invoker(ctx, f).set_const("A", a)
    wrong: Any = np.zeros(4)
    with pytest.raises(GinghamError, match="expected a tensor, got ndarray"):
        plaidml.Invoker(ctx, f).set_output("C", wrong)


def test_shapes_and_types_that_do_not_fit(
    ctx: plaidml.Context, dev: plaidml.Device
) -> None:
    f = plaidml.Function(PRODUCT)
    a, c = empty(ctx, dev, 2, 3), empty(ctx, dev, 2, 2)
    with pytest.raises(GinghamError, match="K") as raised:
        plaidml.run(ctx, f, {"A": a, "B": a}, {"C": c})
    assert "^" in str(raised.value)
    b = empty(ctx, dev, 3, 4)
    with pytest.raises(GinghamError, match=r"'C' has shape float32\[2, 4\]"):
        plaidml.run(ctx, f, {"A": a, "B": b}, {"C": c})
    whole = empty(ctx, dev, 2, 4, dtype="int32")
    with pytest.raises(GinghamError, match=r"its tensor int32\[2, 4\]"):
        plaidml.run(ctx, f, {"A": a, "B": b}, {"C": whole})
    vector = empty(ctx, dev, 2)
    with pytest.raises(GinghamError, match=r"ax[ie]s"):
        plaidml.run(ctx, f, {"A": a, "B": vector}, {"C": c})
    two = plaidml.Function("function (A) -> (B, C) { B = A; C = A + A; }")
    with pytest.raises(GinghamError, match="bound to two outputs"):
        plaidml.run(ctx, two, {"A": a}, {"B": c, "C": c})


def test_tensors_of_two_devices(ctx: plaidml.Context, dev: plaidml.Device) -> None:
    f = plaidml.Function(SCALE)
    with plaidml.Device(ctx, "reference") as other:
        x, y = empty(ctx, dev, 2), empty(ctx, other, 2)
        with pytest.raises(GinghamError, match="tensors of two devices"):
            plaidml.run(ctx, f, {"X": x, "F": 1}, {"Y": y})


def test_functions_without_tensors(ctx: plaidml.Context) -> None:
    f = plaidml.Function("function (F) -> (B) { B = F + 1; }")
    invoker = plaidml.Invoker(ctx, f, {"F": 2})
    with pytest.raises(GinghamError, match="neither an input nor an output"):
        invoker.get_output_shape("B")


def test_closed_devices_and_contexts(ctx: plaidml.Context) -> None:
    f = plaidml.Function(SCALE)
    with plaidml.Device(ctx, "reference") as dev:
        x, y = tensor(ctx, dev, integers(2)), empty(ctx, dev, 2)
        plaidml.run(ctx, f, {"X": x, "F": 1}, {"Y": y})
    for use in (
        lambda: plaidml.run(ctx, f, {"X": x, "F": 1}, {"Y": y}),
        lambda: y.as_ndarray(ctx),
        lambda: empty(ctx, dev, 2),
        lambda: plaidml.load_function(ctx, dev, "f"),
    ):
        with pytest.raises(GinghamError, match=r"reference.* is closed"):
            use()
    ctx.close()
    for use in (
        lambda: plaidml.run(ctx, f),
        lambda: plaidml.Shape(ctx, "float32", 2),
        lambda: plaidml.open_first_device(ctx),
        lambda: plaidml.Applier(ctx, f),
    ):
        with pytest.raises(GinghamError, match="context is closed"):
            use()


def test_devices(ctx: plaidml.Context) -> None:
    (first,) = plaidml.devices(ctx)
    assert str(first) == first.id.decode() == gingham.default_device().name
    assert first.description.decode() in repr(first)
    assert len(plaidml.devices(ctx, limit=None)) == len(gingham.devices())
    valid, invalid = plaidml.devices(ctx, return_all=True)
    names = {d.name for d in gingham.devices()}
    assert {str(each) for each in valid + invalid} == names
    assert all(each.failure for each in invalid)
    assert first in valid
    for config in valid:
        details = json.loads(config.details)
        assert details["type"] in ("CPU", "GPU", "ACCELERATOR", "INTERPRETER")
        assert json.loads(config.config).keys() == {str(config)}
        memory = config.device.properties.get("global_memory_bytes")
        assert details.get("globalMemSize") == (memory and str(memory))
    with plaidml.open_first_device(ctx) as dev:
        assert dev.id == str(first)
    with plaidml.Device(ctx, device=first.id) as dev:
        assert dev.id == str(first)
    with pytest.raises(GinghamError, match="limit of at least 1"):
        plaidml.devices(ctx, limit=0)
    with pytest.raises(GinghamError, match="no device 'abacus'"):
        plaidml.Device(ctx, "abacus")


def test_functions_are_saved(
    ctx: plaidml.Context, dev: plaidml.Device, tmp_path: Path
) -> None:
    file = str(tmp_path / "f.json")
    plaidml.Function(SUM, fid="sums").save(file)
    f = plaidml.load_function(ctx, dev, file)
    s = empty(ctx, dev, 3)
    plaidml.run(ctx, f, {"X": tensor(ctx, dev, integers(3, 5))}, {"S": s})
    np.testing.assert_array_equal(s.as_ndarray(ctx), integers(3, 5).sum(1))


def test_files_that_are_no_functions(ctx: plaidml.Context, tmp_path: Path) -> None:
    file = tmp_path / "f.json"
    head = {"format": "gingham.plaidml.Function 1", "name": "f"}
    bound = {"dtype": "float32", "shape": [1], "data": "AAAAAA=="}
    ir = str(plaidml.Function(SUM).module)
    whole: dict[str, Any] = {**head, "ir": ir, "bound": [], "constants": {}}
    for wrong in (
        "",
        "[]",
        '{"format": 2}',
        json.dumps(head),
        json.dumps({**head, "ir": "no IR", "bound": [], "constants": {}}),
        json.dumps({**head, "ir": "builtin.module {}", "bound": [bound]}),
        "[" * 100_000,
        "1" * 5000,
        json.dumps({**head, "name": 5, "tile": SUM}),
        json.dumps({**whole, "ir": "builtin.module {" * 3000 + "}" * 3000}),
        json.dumps({**whole, "ir": "builtin.module {}"}),
        json.dumps({**whole, "ir": ir.replace("tile.outputs", "tile.output")}),
        json.dumps({**whole, "ir": ir.replace('"X"', '"X", "Y"')}),
        json.dumps({**whole, "constants": {"A": bound, "B": bound}}),
    ):
        file.write_text(wrong)
        with (
            plaidml.Device(ctx, "reference") as dev,
            pytest.raises(GinghamError, match="is no saved function"),
        ):
            plaidml.load_function(ctx, dev, str(file))
    with plaidml.Device(ctx, "reference") as dev:
        with pytest.raises(GinghamError, match="cannot read"):
            plaidml.load_function(ctx, dev, str(tmp_path / "missing"))
        with pytest.raises(GinghamError, match="cannot write"):
            plaidml.Function(SUM).save(str(tmp_path / "missing" / "f"))


def test_a_failure_is_raised_by_the_next_use(
    ctx: plaidml.Context, dev: plaidml.Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    f = plaidml.Function(SCALE)
    x = tensor(ctx, dev, integers(4))
    y, z, other = (empty(ctx, dev, 4) for _ in range(3))

    def failing(*_: object) -> None:
        raise RuntimeError("out of resources")

    with monkeypatch.context() as patch:
        patch.setattr(CompiledFunction, "run", failing)
        invocation = plaidml.run(ctx, f, {"X": x, "F": 2}, {"Y": y})
        with pytest.raises(GinghamError, match="out of resources"):
            invocation.wait()
    plaidml.run(ctx, f, {"X": y, "F": 2}, {"Y": z})
    plaidml.run(ctx, f, {"X": x, "F": 3}, {"Y": other})
    for poisoned in (y, z, y):
        with pytest.raises(GinghamError, match="out of resources"):
            poisoned.as_ndarray(ctx)
        with (
            pytest.raises(GinghamError, match="out of resources"),
            poisoned.mmap_current(ctx),
        ):
            pass
    np.testing.assert_array_equal(x.as_ndarray(ctx), integers(4))
    np.testing.assert_array_equal(other.as_ndarray(ctx), 3 * integers(4))
    plaidml.run(ctx, f, {"X": x, "F": 2}, {"Y": y})
    np.testing.assert_array_equal(y.as_ndarray(ctx), 2 * integers(4))
    with z.mmap_discard(ctx) as view:
        view[:] = 1
        view.writeback()
    np.testing.assert_array_equal(z.as_ndarray(ctx), np.ones(4))


def test_a_kernel_that_fails_is_told_with_its_line(
    ctx: plaidml.Context, monkeypatch: pytest.MonkeyPatch, opencl_device: OpenCLDevice
) -> None:
    """Views of what it computes raise it; other tensors and later runs are well."""
    import pyopencl as cl

    real: Any = cl.enqueue_nd_range_kernel
    failures: list[bool] = []

    def launch(*arguments: Any, **named: Any) -> Any:
        event = real(*arguments, **named)
        if failures and failures.pop():
            event = FailingEvent(event, OUT_OF_RESOURCES)
        return event

    monkeypatch.setattr(cl, "enqueue_nd_range_kernel", launch)
    f = plaidml.Function("function (X) -> (Y) {\n  Y = X + 1;\n}", fid="next")
    with plaidml.Device(ctx, opencl_device.name) as dev:
        x = tensor(ctx, dev, integers(4))
        y, z, other = (empty(ctx, dev, 4) for _ in range(3))
        plaidml.run(ctx, f, {"X": x}, {"Y": other}).wait()
        failures.append(True)
        bad = plaidml.run(ctx, f, {"X": x}, {"Y": y})
        worse = plaidml.run(ctx, f, {"X": y}, {"Y": z})
        for use in (bad.wait, worse.wait, lambda: y.as_ndarray(ctx)):
            with pytest.raises(GinghamError, match=r":2:9: error: kernel"):
                use()
        with (
            pytest.raises(GinghamError, match="OUT_OF_RESOURCES"),
            z.mmap_current(ctx),
        ):
            pass
        np.testing.assert_array_equal(other.as_ndarray(ctx), integers(4) + 1)
        np.testing.assert_array_equal(x.as_ndarray(ctx), integers(4))
        for target in (y, z):
            plaidml.run(ctx, f, {"X": x}, {"Y": target})
            np.testing.assert_array_equal(target.as_ndarray(ctx), integers(4) + 1)
