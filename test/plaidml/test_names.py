"""`plaidml` and its modules by their own names, and the settings of a process."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plaidml_tensors import SCALE, empty, integers, tensor

import gingham
from gingham import plaidml
from gingham.errors import GinghamError
from gingham.plaidml import exceptions, settings, tile

PROGRAM = """\
import sys
import plaidml
import plaidml.context, plaidml.exceptions, plaidml.settings, plaidml.tile
import plaidml.op as op
from plaidml.tile import Value

ctx = plaidml.context.Context()
plaidml.settings.device_ids = ["reference"]
plaidml.quiet()
with plaidml.open_first_device(ctx) as dev:
    print(dev.id, sys.argv[1:], __name__)
    x = Value.from_python_value(__import__("numpy").ones(3, "float32"))
    f = plaidml.tile.compose(ctx, dev, [], [("S", op.summation(x))])
    out = plaidml.Tensor(dev, plaidml.Shape(ctx, plaidml.DType.FLOAT32))
    plaidml.run(ctx, f, outputs={"S": out})
    print(out.as_ndarray(ctx))
    try:
        plaidml.Function("function (")
    except plaidml.exceptions.PlaidMLError as error:
        print("refused")
"""


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_programs_run_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    done = run("-m", "gingham.plaidml", "program.py", "a", "--b", folder=tmp_path)
    lines = done.stdout.splitlines()
    assert lines[:3] == ["reference ['a', '--b'] __main__", "3.0", "refused"]
    done = run("-m", "gingham.plaidml", "no.py", folder=tmp_path)
    assert (done.returncode, done.stderr) == (
        1,
        "error: cannot read 'no.py': no such file\n",
    )
    assert "usage:" in run("-m", "gingham.plaidml", folder=tmp_path).stderr


CHOICE = """\
import json
import plaidml

ctx = plaidml.Context()
plaidml.quiet()
plaidml.settings._setup_for_test(plaidml.settings.user_settings)
plaidml.settings.experimental = True
devices, _ = plaidml.devices(ctx, limit=100, return_all=True)
found = {each.id.decode(): json.loads(each.details.decode()) for each in devices}
chosen = next(name for name in found if found[name]["type"] == "INTERPRETER")
print([each.description.decode() for each in devices if b"NumPy" in each.description])
plaidml.settings.device_ids = [chosen]
plaidml.settings.save(plaidml.settings.user_settings)
plaidml._internal_set_vlog(1)
print(plaidml.devices(ctx)[0], plaidml.__version__)
"""


def test_programs_choose_devices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `plaidml-setup` and programs with a choice of their own do."""
    (tmp_path / "choice.py").write_text(CHOICE)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PLAIDML_DEVICE_IDS", "no such device")
    done = run("-m", "gingham.plaidml", "choice.py", folder=tmp_path)
    described = [gingham.device("reference").description]
    lines = [str(described), f"reference {gingham.__version__}"]
    assert done.stdout.splitlines() == lines, done.stderr
    assert json.loads((tmp_path / ".plaidml").read_text()) == {
        "PLAIDML_DEVICE_IDS": ["reference"],
        "PLAIDML_EXPERIMENTAL": "1",
    }


def test_finders_of_the_old_kind_are_asked(tmp_path: Path) -> None:
    """As Python does up to 3.11; PlaidML's backend of Keras comes by one."""
    code = """
import sys, types
import gingham.plaidml as plaidml

class Old:
    def find_module(self, fullname, path=None):
        return self if fullname == "found" else None
    def load_module(self, fullname):
        module = sys.modules[fullname] = types.ModuleType(fullname)
        module.answer, module.__path__ = 42, ["here"]
        return module

plaidml.install()
sys.meta_path.append(Old())
import found
print(found.answer, found.__path__, sys.modules["found"] is found)
try:
    import missing
except ModuleNotFoundError as error:
    print(error)
"""
    done = run("-c", code, folder=tmp_path)
    lines = ["42 ['here'] True", "No module named 'missing'"]
    assert done.stdout.splitlines() == lines, done.stderr


def test_another_plaidml_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "plaidml.py").write_text("")
    code = (
        "import plaidml, gingham.plaidml as ours\n"
        "try:\n    ours.install()\n"
        "except ours.PlaidMLError as error:\n    print(error.message)\n"
    )
    done = run("-c", code, folder=tmp_path)
    assert "another plaidml is imported already" in done.stdout
    assert "plaidml.py" in done.stdout


def test_settings_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = settings
    file = tmp_path / "settings"
    file.write_text('{"PLAIDML_DEVICE_IDS": ["a", "b"], "PLAIDML_EXPERIMENTAL": true}')
    monkeypatch.setenv("PLAIDML_SETTINGS", str(file))
    assert (module.device_ids, module.experimental) == (["a", "b"], True)
    monkeypatch.setenv("PLAIDML_DEVICE_IDS", "c")
    assert module.device_ids == ["c"]
    monkeypatch.setenv("PLAIDML_ENABLE_WINOGRAD", "0")
    assert not module.enable_winograd
    module.prohibit_winograd = False
    assert (module.enable_winograd, module.prohibit_winograd) == (True, False)
    other = tmp_path / "other"
    module.save(str(other))
    assert json.loads(other.read_text()) == {
        "PLAIDML_DEVICE_IDS": ["c"],
        "PLAIDML_ENABLE_WINOGRAD": "1",
        "PLAIDML_EXPERIMENTAL": "1",
    }
    monkeypatch.setenv("PLAIDML_SESSION", "mine")
    module.start_session()
    assert (module.session, module.setup, module.config) == ("mine", True, None)
    for text, message in (
        ("[", "cannot read the settings"),
        ("[1]", "cannot read the settings"),
        ('{"PLAIDML_X": 1}', "no setting 'PLAIDML_X'"),
    ):
        file.write_text(text)
        with pytest.raises(exceptions.PlaidMLError, match=message):
            _ = module.telemetry
    file.write_text("{}")
    with pytest.raises(exceptions.PlaidMLError, match="cannot write"):
        module.save(str(tmp_path / "no" / "file"))


def test_numbers_have_the_type_that_is_chosen(
    ctx: plaidml.Context, dev: plaidml.Device
) -> None:
    invoker = plaidml.Invoker(ctx, plaidml.Function("function (X) -> (Y) { Y = X; }"))
    output = empty(ctx, dev, dtype="float64")
    assert plaidml.floatx() is plaidml.DType.FLOAT32
    try:
        plaidml.set_floatx("float64")
        invoker.set_input("X", plaidml.Real(0.1))
        invoker.set_output("Y", output)
        invoker.invoke()
    finally:
        plaidml.set_floatx(plaidml.DType.FLOAT32)
    assert output.as_ndarray(ctx) == 0.1
    for dtype, message in (("int32", "numbers with a point"), ("x", "no element type")):
        with pytest.raises(ValueError, match=message):
            plaidml.set_floatx(dtype)


def test_backtraces_and_counters(
    ctx: plaidml.Context, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "plaidml")
    x = tile.Value.from_ndims(1)
    assert (plaidml.Function(SCALE).backtrace, plaidml.is_backtrace_enabled()) == (
        None,
        False,
    )
    plaidml.set_backtrace(True)
    try:
        made, value = plaidml.Function(SCALE), tile.unary_op(x, "exp(I)")
        given = plaidml.Function(SCALE, backtrace="mine")
    finally:
        plaidml.set_backtrace(False)
    assert value.source is not None
    for backtrace in (made.backtrace, value.source.op.backtrace):
        assert backtrace is not None
        assert "test_backtraces_and_counters" in backtrace
    assert given.backtrace == "mine"
    assert SCALE in caplog.text
    plaidml.quiet()
    assert logging.getLogger("plaidml").level == logging.WARNING
    assert plaidml.get_perf_counter("of the test") == 0
    plaidml.set_perf_counter("of the test", 3)
    assert plaidml.get_perf_counter("of the test") == 3


def test_runs_are_written_down(
    ctx: plaidml.Context, dev: plaidml.Device, tmp_path: Path
) -> None:
    file = tmp_path / "log"
    ctx.set_eventlog_filename(str(file))
    x, y = tensor(ctx, dev, integers(3)), empty(ctx, dev, 3)
    f = plaidml.Function(SCALE, fid="scale")
    for factor in (2, 3):
        plaidml.run(ctx, f, {"X": x, "F": factor}, {"Y": y})
    events = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(e["function"], e["device"]) for e in events] == [("scale", dev.id)] * 2
    assert events[0]["inputs"] == ["float32[3]", "()"]
    with pytest.raises(GinghamError, match="cannot write"):
        ctx.set_eventlog_filename(str(tmp_path / "no" / "log"))


def test_side_effects_are_updates(ctx: plaidml.Context, dev: plaidml.Device) -> None:
    """Also of operations that others need, each once, where they are needed."""
    count = tensor(ctx, dev, np.zeros((), np.float32))
    number = tile.Value.from_var(count)

    class Counted(tile.Operation):
        def __init__(self, value: tile.Value) -> None:
            super().__init__(
                "function (X) -> (Y) { Y = X; }",
                [("X", value)],
                [("Y", value.shape)],
                side_effects=[(number, number + 1.0)],
            )

    x = tile.Value.from_ndims(1)
    value: Any = Counted.function(x)
    with_effect = tile.compose(ctx, dev, [("X", x)], [("Y", value * value + x)])
    without = tile.compose(ctx, dev, [("X", x)], [("Y", x * 2.0)])
    y = empty(ctx, dev, 3)
    for f, expected in ((with_effect, 1), (without, 1), (with_effect, 2)):
        plaidml.run(ctx, f, {"X": tensor(ctx, dev, integers(3))}, {"Y": y})
        assert count.as_ndarray(ctx) == expected
    np.testing.assert_array_equal(y.as_ndarray(), integers(3) ** 2 + integers(3))


def test_classes_may_bind_themselves(ctx: plaidml.Context, dev: plaidml.Device) -> None:
    class Stored(tile.Operation):
        """An array in memory of the device that a composition is for."""

        def __init__(self) -> None:
            shape = tile.Shape(plaidml.DType.FLOAT32, (3,))
            super().__init__(None, [], [("O", shape)])

        def bind(self, bindings: Any) -> dict[str, plaidml.Var]:
            return {"O": tensor(bindings.ctx, bindings.dev, integers(3))}

    value: Any = Stored.function() * 2.0
    assert value.var is None
    f = tile.compose(ctx, dev, [], [("Y", value)])
    y = empty(ctx, dev, 3)
    plaidml.run(ctx, f, outputs={"Y": y})
    np.testing.assert_array_equal(y.as_ndarray(), 2 * integers(3))
    plain = tile.Operation(None, [], [("O", tile.Shape(None, ()))])
    with pytest.raises(NotImplementedError, match="no code"):
        tile.compose(ctx, dev, [], [("Y", plain.sole_output())])


def test_graphs_are_drawn() -> None:
    x, w = tile.Value.from_ndims(2, name="x"), tile.Value.from_ndims(2, name="w")
    value: Any = tile.unary_op(x, "exp(I)", "Exp") * 2.0
    text = "".join(tile.to_dot([("X", x)], [("Y", value)], [(w, value)]))
    assert text.startswith('digraph "Tile" {\n')
    assert text.endswith("}\n")
    assert text.count("shape=oval") == 2
    assert text.count("style=dotted") == 1
    assert 'label="Exp"' in text


def test_common_types() -> None:
    kinds = plaidml.DType
    for types, expected in (
        ((), kinds.BOOLEAN),
        ((kinds.BOOLEAN, kinds.INT8), kinds.INT8),
        ((kinds.INT8, kinds.UINT8), kinds.INT16),
        ((kinds.INT64, kinds.UINT64), kinds.FLOAT64),
        ((kinds.FLOAT16, kinds.INT16), kinds.FLOAT32),
        ((kinds.FLOAT32, kinds.FLOAT64), kinds.FLOAT64),
        ((kinds.FLOAT64, kinds.FLOAT32), kinds.FLOAT64),
        ((kinds.FLOAT16, kinds.BFLOAT16), kinds.FLOAT32),
        ((kinds.BFLOAT16, kinds.INT32), kinds.FLOAT64),
    ):
        assert tile.common_dtype(*types) is expected
    assert tile.convert_np_dtype_to_pml(np.dtype("int16")) is kinds.INT16
    assert tile.convert_np_dtype_to_pml(np.float32) is kinds.FLOAT32
    assert tile.convert_pml_dtype_to_np(kinds.BOOLEAN) == "bool"
    for mistake in (
        lambda: tile.convert_np_dtype_to_pml("complex64"),
        lambda: tile.convert_np_dtype_to_pml(object()),
    ):
        with pytest.raises(ValueError, match="no element type"):
            mistake()
