"""Files that are read: arrays, settings, hardware, saved functions, the cache."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import gingham
from gingham import plaidml
from gingham.errors import GinghamError
from gingham.runtime.parsed import text_program
from gingham.targets.hardware import HARDWARE_NAMES
from gingham.tools import run, settings
from gingham.tools.optimizer import driver

from .cases import ROOT, Case, Finding, check_message, run_command
from .mutations import mutated, mutated_bytes

_PROGRAM = (
    "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }"
)
_SETTINGS = (
    'device = "reference"\ncache = "off"\ncache_size = "1 GiB"\nrecords = "off"\n',
    'memory_budget = "80%"\ndebug = 0\nlargest_program = 100000\n',
    'hardware = "cpu-avx2"\ninterpreted_points = 1_000_000\ncheck = false\n',
)


class FileFuzzer:
    """Files with changes, as texts or as bytes, each given to what reads it."""

    name = "files"

    @cached_property
    def readers(self) -> dict[str, Callable[[], None]]:
        """What reads each kind of file."""
        return {
            "array.npy": _read_array,
            "settings.toml": _read_settings,
            "hardware.toml": _read_hardware,
            "function.json": _read_function,
            "store": _read_store,
        }

    @cached_property
    def corpus(self) -> dict[str, list[bytes]]:
        """Right files by their kind."""
        hardware = ROOT / "targets" / "hardware"
        return {
            "array.npy": [_npy(dtype, order) for dtype in "fdiB?" for order in "CF"],
            "settings.toml": [text.encode() for text in _SETTINGS],
            "hardware.toml": [
                (hardware / f"{name}.toml").read_bytes() for name in HARDWARE_NAMES
            ],
            "function.json": _functions(),
            "store": [b""],
        }

    def draw(self, random: Random) -> Case:
        """A kind of file, changed."""
        kind = random.choice(list(self.corpus))
        content = random.choice(self.corpus[kind])
        if kind == "store":
            content = str(random.getrandbits(32)).encode()
        elif kind == "array.npy" or random.random() < 0.3:
            content = mutated_bytes(content, random)
        else:
            donors = [each.decode() for each in self.corpus[kind]]
            content = mutated(content.decode(), donors, random).encode(
                errors="surrogatepass"
            )
        return Case({kind: content}, (kind,))

    def run(self, case: Case) -> None:
        """Let it be read, and what it says be used."""
        self.readers[case.options[0]]()


def _npy(dtype: str, order: str) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.ones((4, 5), dtype).copy(order="C" if order == "C" else "F"))
    return stream.getvalue()


def _functions() -> list[bytes]:
    context = plaidml.Context()
    with plaidml.Device(context, "reference") as device:
        text = plaidml.Function(_PROGRAM, fid="product")
        tensor = plaidml.Tensor(
            device, plaidml.Shape(context, plaidml.DType.FLOAT32, 5, 3)
        )
        tensor.fill(np.ones((5, 3), np.float32))
        composed = plaidml.Function.of_module(text.module, {}, [tensor])
        found: list[bytes] = []
        for function in (text, composed):
            function.save("saved.json")
            found.append(Path("saved.json").read_bytes())
    os.unlink("saved.json")
    return found


def _read_array() -> None:
    Path("case.tile").write_text(_PROGRAM)
    run_command(run.main, ["case.tile", "--input", "A=array.npy", "--shape", "B=5x3"])


def _read_settings() -> None:
    # A process reads the file of a name once.
    os.environ["GINGHAM_SETTINGS"] = os.path.abspath("settings.toml")
    try:
        Path("case.tile").write_text(_PROGRAM)
        run_command(settings.main, [])
        run_command(run.main, ["case.tile", "--shape", "A=4x5", "B=5x3"])
    finally:
        os.environ["GINGHAM_SETTINGS"] = "off"


def _read_hardware() -> None:
    Path("case.tile").write_text(_PROGRAM)
    specialize = 'tile-specialize{arguments="17x64xf32","64x33xf32"}'
    status, text = run_command(driver.run, ["case.tile", f"--passes={specialize}"])
    if status:
        raise Finding("specialize", text)
    Path("case.mlir").write_text(text)
    run_command(
        driver.run,
        ["case.mlir", "--hardware=hardware.toml", "--pipeline=opencl-cpu-avx2"],
    )


def _read_function() -> None:
    context = plaidml.Context()
    with plaidml.Device(context, "reference") as device:
        _expect_errors(lambda: _use_function(context, device))


def _use_function(context: Any, device: Any) -> None:
    function = plaidml.load_function(context, device, "function.json")
    invoker = plaidml.Invoker(context, function)
    rng = np.random.default_rng(0)
    for name, shape in zip(function.input_names, ((4, 5), (5, 3)), strict=False):
        tensor = plaidml.Tensor(
            device, plaidml.Shape(context, plaidml.DType.FLOAT32, *shape)
        )
        tensor.fill(rng.random(shape, np.float32))
        invoker.set_input(name, tensor)
    for name in function.output_names:
        shape = invoker.get_output_shape(name)
        invoker.set_output(name, plaidml.Tensor(device, shape))
    invoker.invoke()


def _read_store() -> None:
    """A folder of compiled programs in which files are changed."""
    random = Random(Path("store").read_bytes())
    folder = os.path.abspath("cache")
    os.environ["GINGHAM_CACHE"] = folder
    Path("case.tile").write_text(_PROGRAM + f"\n// {random.random()}\n")
    a, b = np.ones((4, 5), np.float32), np.ones((5, 3), np.float32)
    try:
        for _ in range(2):
            f = gingham.compile_file("case.tile", device="reference")
            np.testing.assert_array_equal(f(a, b), a @ b)
            files = [path for path in Path(folder).rglob("*") if path.is_file()]
            for path in random.sample(files, min(len(files), 2)):
                path.chmod(0o600)
                path.write_bytes(mutated_bytes(path.read_bytes(), random))
            text_program.cache_clear()
    finally:
        os.environ["GINGHAM_CACHE"] = "off"


def _expect_errors(action: Callable[[], object]) -> None:
    """Let an action succeed, or fail as it should."""
    try:
        action()
    except GinghamError as error:
        check_message(1, error.render())
