"""`tile-run`: compile a Tile file, run it, check it and time it.

tile-run FILE.tile --shape A=64x128 B=128x32 --check --time
tile-run FILE.tile --input A=a.npy --shape B=128x32 --output C=c.npy
tile-run FILE.tile --shape A=64x128 B=128x32 --emit=source
tile-run FILE.tile --shape A=64x128 B=128x32 --profile --trace=t.json --roofline=r.svg
tile-run FILE.mlir --check --time
tile-run MODEL.onnx --check --time
tile-opt FILE.mlir -p PASSES | tile-run - --check --time
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from ..errors import GinghamError
from .command import ArgumentParser, run_command, show
from .inputs import add_device_options, add_input_options, assignments, input_arrays
from .results import describe, show_check, show_time

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..runtime.function import Function
    from ..runtime.profiling.profile import Profile
    from .optimizer.input import Source

EMISSIONS = ("tile", "stripe", "opencl", "source")
_RUNS = ("output", "check", "time", "profile", "trace", "roofline", "memory")
"""The options that need a run."""
_PROFILED_CALLS = 10


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0, or 1 after an error or a failed check."""
    return run_command(lambda: _run(_parse(arguments)))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = ArgumentParser(
        prog="tile-run",
        description="Compile a Tile file or a model of ONNX, run it, check it and time "
        "it. An .mlir file, which `tile-opt` has written, is run as it is. The file "
        "`-` is the standard input.",
        allow_abbrev=False,
    )
    add_input_options(parser)
    parser.add_argument(
        "-f",
        "--frontend",
        choices=("mlir", "onnx", "tile"),
        help="what the file holds (default: what its name says, and of the standard "
        "input what it begins with)",
    )
    parser.add_argument(
        "--output",
        metavar="NAME=FILE",
        nargs="+",
        action="extend",
        default=[],
        help="write an output to a .npy file",
    )
    add_device_options(parser)
    parser.add_argument(
        "--fast-math",
        action="store_true",
        help="let compilers reorder sums and functions lose digits",
    )
    parser.add_argument(
        "--untuned",
        action="store_true",
        help="leave out what tile-tune has measured: the model decides alone",
    )
    _add_reports(parser)
    options = parser.parse_args(arguments)
    if options.explain and options.emit is not None:
        parser.error("--explain and --emit print different things")
    if options.json and not options.explain:
        parser.error("--json is for --explain")
    if options.emit is not None:
        for name in _RUNS:
            if getattr(options, name):
                parser.error(f"--{name} runs the program, and --emit does not")
    return options


def _add_reports(parser: argparse.ArgumentParser) -> None:
    """The options that say what is shown of a program."""
    parser.add_argument(
        "--check",
        action="store_true",
        help="compare the outputs with the reference interpreter, which runs on NumPy",
    )
    parser.add_argument(
        "--time", action="store_true", help="run again several times and show the time"
    )
    parser.add_argument(
        "--profile",
        action="store_true",
        help="run again several times and show what each kernel and each step costs",
    )
    parser.add_argument(
        "--trace",
        metavar="FILE",
        help="write what happened when, as JSON that Perfetto opens",
    )
    parser.add_argument(
        "--roofline",
        metavar="FILE",
        help="write a picture (SVG) of what kernels reach of what the device can do",
    )
    parser.add_argument(
        "--memory",
        action="store_true",
        help="show what memory a call needs, and which buffers share it",
    )
    parser.add_argument(
        "--explain",
        action="store_true",
        help="show what was fused, and for each block the ten nests that the cost "
        "model holds for the fastest, with the parts of their times; runs nothing",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="let --explain print JSON instead of a table",
    )
    parser.add_argument(
        "--emit",
        choices=EMISSIONS,
        help="print the IR at a level, or the OpenCL C, instead of running",
    )


def _run(options: argparse.Namespace) -> int:
    program = _program(options)
    if program is None:
        return _run_module(options)
    function = program.function(_device(options), options.hardware)
    outputs = assignments(options.output, "--output", function.output_names)
    inputs = program.inputs(function)
    if options.explain or options.emit is not None:
        _print_compiled(function, inputs, options)
        return 0
    show(f"device: {function.device.name}, {function.device.description}")
    for name, array in zip(function.input_names, inputs, strict=True):
        show(f"input {name}: {describe(array)}")
    start = time.perf_counter()
    with _profile(options) as measured:
        results = _as_tuple(function(*inputs))
        first_call = time.perf_counter() - start
        for _ in range(_PROFILED_CALLS if measured is not None else 0):
            function(*inputs)
    _show_results(function.output_names, results, outputs)
    if options.memory:
        show(function.memory(*inputs))
    if options.time:
        show_time(lambda: function(*inputs), first_call)
    if measured is not None:
        _show_profile(measured, options)
    if options.check:
        expected = _as_tuple(program.function("reference", None)(*inputs))
        return show_check(function.output_names, results, expected)
    return 0


class _Program(Protocol):
    """What a file holds, with what the options say of it."""

    def function(self, device: str | None, hardware: str | None) -> Any:
        """The program as a function on a device."""
        ...

    def inputs(self, function: Any) -> list[NDArray[Any]]:
        """The arrays that the options ask for."""
        ...


class _TileProgram:
    """A Tile text."""

    def __init__(self, source: Source, options: argparse.Namespace) -> None:
        self._source = source
        self._options = options

    def function(self, device: str | None, hardware: str | None) -> Function:
        """The program as a function on a device."""
        from ..runtime.compilation import compile_source

        return compile_source(
            self._source.text,
            self._source.file,
            device=device,
            hardware=hardware,
            tuned=not self._options.untuned,
            fast_math=self._options.fast_math,
        )

    def inputs(self, function: Function) -> list[NDArray[Any]]:
        """The arrays that the options ask for."""
        return input_arrays(function, self._options)


def _program(options: argparse.Namespace) -> _Program | None:
    """What is compiled; None for a module of IR, which is run as it is."""
    from .optimizer.input import read_program

    if options.frontend == "onnx" or (
        options.frontend is None and options.file.endswith(".onnx")
    ):
        from .run_onnx import OnnxProgram

        return OnnxProgram(options)
    source = read_program(options.file, options.frontend)
    if source.kind == "mlir":
        options.source = source
        return None
    return _TileProgram(source, options)


def _run_module(options: argparse.Namespace) -> int:
    from .run_module import run_module

    return run_module(options.source, options)


def _device(options: argparse.Namespace) -> str | None:
    """The device that is named; none where what lanes would run is only shown.

    A default device without lanes has a compiler of its own, with needs of its own.
    """
    from ..runtime.devices import default_device
    from ..runtime.hardware import hardware_of
    from ..targets.hardware import load_hardware

    runs = not options.explain and options.emit is None
    if runs or options.device is not None or options.hardware is None:
        return options.device
    has_lanes = not load_hardware(options.hardware).has_vectors
    return (
        "reference" if has_lanes and hardware_of(default_device()).has_vectors else None
    )


def _show_results(
    names: Sequence[str], results: Sequence[NDArray[Any]], files: Mapping[str, str]
) -> None:
    """Say what the outputs are, and write those that have a file."""
    for name, array in zip(names, results, strict=True):
        show(f"output {name}: {describe(array)}")
    for name, path in files.items():
        _save(path, results[names.index(name)])
        show(f"wrote {path}")


def _print_compiled(
    function: Any, inputs: Sequence[NDArray[Any]], options: argparse.Namespace
) -> None:
    """What the compiler decided, or made of the program; runs nothing."""
    if options.explain:
        explanation = function.explain(*inputs)
        as_json = explanation.as_json()
        show(json.dumps(as_json, indent=2) if options.json else explanation)
    elif options.emit == "source":
        show(function.source(*inputs).rstrip())
    else:
        show(function.ir(*inputs, stage=options.emit).rstrip())


def _profile(options: argparse.Namespace) -> AbstractContextManager[Profile | None]:
    """What measures calls, where an option needs it."""
    if not (options.profile or options.trace or options.roofline):
        return nullcontext()
    from ..runtime.profiling.profile import profile

    return profile()


def _show_profile(measured: Profile, options: argparse.Namespace) -> None:
    if options.profile:
        show(measured)
    if options.trace:
        measured.save_trace(options.trace)
        show(f"wrote {options.trace}")
    if options.roofline:
        measured.save_roofline(options.roofline)
        show(f"wrote {options.roofline}")


def _as_tuple(result: Any) -> tuple[NDArray[Any], ...]:
    if isinstance(result, tuple):
        return cast("tuple[NDArray[Any], ...]", result)
    return (result,)


def _save(path: str, array: NDArray[Any]) -> None:
    """Write a .npy file whole or not at all; what is no file stays what it is."""
    import numpy as np

    try:
        target = Path(path).resolve()
        if target.exists() and not target.is_file():
            contents = io.BytesIO()
            np.save(contents, array)
            target.write_bytes(contents.getvalue())
            return
        with tempfile.NamedTemporaryFile(
            dir=target.parent, prefix=f".{target.name}.", delete=False
        ) as file:
            temporary = Path(file.name)
            try:
                np.save(file, array)
                file.close()
                temporary.chmod(0o666 & ~_umask())
                temporary.replace(target)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise GinghamError(f"cannot write '{path}': {error.strerror}") from error


def _umask() -> int:
    # There is no way to read it but to set it.
    mask = os.umask(0)
    os.umask(mask)
    return mask


if __name__ == "__main__":
    sys.exit(main())
