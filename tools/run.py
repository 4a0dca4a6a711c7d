"""`tile-run`: compile a Tile file, run it, check it and time it.

tile-run FILE.tile --shape A=64x128 B=128x32 --check --time
tile-run FILE.tile --input A=a.npy --shape B=128x32 --output C=c.npy
tile-run FILE.tile --shape A=64x128 B=128x32 --emit=source
tile-run FILE.tile --shape A=64x128 B=128x32 --profile --trace=t.json --roofline=r.svg
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..errors import GinghamError
from .command import ArgumentParser, run_command

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..runtime.function import Function
    from ..runtime.profiling.profile import Profile

EMISSIONS = ("tile", "stripe", "opencl", "source")
_MAX_RANDOM_BYTES = 2**34
_RUNS = ("output", "check", "time", "profile", "trace", "roofline", "memory")
"""The options that need a run."""
_PROFILED_CALLS = 10


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0, or 1 after an error or a failed check."""
    return run_command(lambda: _run(_parse(arguments)))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = ArgumentParser(
        prog="tile-run",
        description="Compile a Tile file, run it, check it and time it.",
        allow_abbrev=False,
    )
    add_input_options(parser)
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


def add_input_options(parser: argparse.ArgumentParser) -> None:
    """The options that name the program and its inputs, for `input_arrays`."""
    parser.add_argument("file", help="the Tile program")
    parser.add_argument(
        "--shape",
        metavar="NAME=SIZES",
        nargs="+",
        action="extend",
        default=[],
        help="the shape of an input that is filled with random numbers: A=64x128, "
        "A=64x128xf16 with an element type, A= or A=f64 for a single number",
    )
    parser.add_argument(
        "--input",
        metavar="NAME=FILE",
        nargs="+",
        action="extend",
        default=[],
        help="an input from a .npy file",
    )
    parser.add_argument(
        "--seed", type=_seed, default=0, help="the seed of random inputs (default 0)"
    )


def _seed(text: str) -> int:
    try:
        seed = int(text)
    except ValueError:
        message = f"invalid int value: '{text}'"
        raise argparse.ArgumentTypeError(message) from None
    if seed < 0:
        raise argparse.ArgumentTypeError(f"expected 0 or more, got {text}")
    return seed


def add_device_options(parser: argparse.ArgumentParser) -> None:
    """The options that say what a program is compiled for."""
    parser.add_argument("--device", metavar="NAME", help="a device of tile-devices")
    parser.add_argument(
        "--hardware",
        metavar="FILE",
        help="compile by this hardware description, a .toml file or a name such as "
        "cpu-avx2 (default: the one that fits the device)",
    )


def _run(options: argparse.Namespace) -> int:
    from ..runtime.compilation import compile_file

    function = compile_file(
        options.file,
        device=options.device,
        hardware=options.hardware,
        tuned=not options.untuned,
        fast_math=options.fast_math,
    )
    outputs = _assignments(options.output, "--output", function.output_names)
    inputs = input_arrays(function, options)
    if options.explain:
        explanation = function.explain(*inputs)
        as_json = explanation.as_json()
        print(json.dumps(as_json, indent=2) if options.json else explanation)
        return 0
    if options.emit is not None:
        text = (
            function.source(*inputs)
            if options.emit == "source"
            else function.ir(*inputs, stage=options.emit)
        )
        print(text.rstrip())
        return 0
    print(f"device: {function.device.name}, {function.device.description}")
    for name, array in zip(function.input_names, inputs, strict=True):
        print(f"input {name}: {_describe(array)}")
    start = time.perf_counter()
    with _profile(options) as measured:
        results = _as_tuple(function(*inputs))
        first_call = time.perf_counter() - start
        for _ in range(_PROFILED_CALLS if measured is not None else 0):
            function(*inputs)
    for name, array in zip(function.output_names, results, strict=True):
        print(f"output {name}: {_describe(array)}")
    for name, path in outputs.items():
        _save(path, results[function.output_names.index(name)])
        print(f"wrote {path}")
    if options.memory:
        print(function.memory(*inputs))
    if options.time:
        _show_time(function, inputs, first_call)
    if measured is not None:
        _show_profile(measured, options)
    if options.check:
        return _check(options.file, function, inputs, results)
    return 0


def _profile(options: argparse.Namespace) -> AbstractContextManager[Profile | None]:
    """What measures calls, where an option needs it."""
    if not (options.profile or options.trace or options.roofline):
        return nullcontext()
    from ..runtime.profiling.profile import profile

    return profile()


def _show_profile(measured: Profile, options: argparse.Namespace) -> None:
    if options.profile:
        print(measured)
    if options.trace:
        measured.save_trace(options.trace)
        print(f"wrote {options.trace}")
    if options.roofline:
        measured.save_roofline(options.roofline)
        print(f"wrote {options.roofline}")


def _as_tuple(result: Any) -> tuple[NDArray[Any], ...]:
    if isinstance(result, tuple):
        return cast("tuple[NDArray[Any], ...]", result)
    return (result,)


def _describe(array: NDArray[Any]) -> str:
    sizes = "x".join(str(size) for size in array.shape) or "a number"
    return f"{sizes}, {array.dtype}"


def _assignments(
    texts: Sequence[str], option: str, names: Sequence[str]
) -> dict[str, str]:
    """`NAME=VALUE` texts by name; each name is one of `names`, at most once."""
    values: dict[str, str] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator:
            raise GinghamError(f"{option} {text}: expected NAME=..., got '{text}'")
        if name not in names:
            raise GinghamError(
                f"{option} {text}: the program has no '{name}'",
                hint=f"it has {', '.join(names) or 'none'}",
            )
        if name in values:
            raise GinghamError(f"{option} {text}: '{name}' is given twice")
        values[name] = value
    return values


def _is_size(text: str) -> bool:
    # Beyond 18 digits an integer of 64 bits may not hold it.
    return text.isascii() and text.isdecimal() and len(text) < 19


@dataclass(frozen=True)
class _Shape:
    sizes: tuple[int, ...]
    dtype: np.dtype[Any]

    @staticmethod
    def parse(name: str, text: str) -> _Shape:
        """The shape in `64x128xf32`, `64x128`, `f32` or nothing."""
        from ..runtime.arguments import dtype_named

        parts = text.split("x") if text else []
        element = "f32"
        if parts and not parts[-1].isdecimal():
            element = parts.pop()
        if not all(_is_size(part) for part in parts):
            raise GinghamError(
                f"--shape {name}={text}: expected sizes such as 64x128, got '{text}'"
            )
        shape = _Shape(tuple(int(part) for part in parts), dtype_named(element))
        size = shape.dtype.itemsize
        for extent in shape.sizes:
            size *= extent
        if size > _MAX_RANDOM_BYTES:
            raise GinghamError(f"--shape {name}={text} needs {size} bytes, too many")
        return shape

    def random(self, seed: Sequence[int]) -> NDArray[Any]:
        """Numbers in [0.1, 1.1), or integers from 0 to 9; positive, so logs exist."""
        import numpy as np

        generator = np.random.default_rng(seed)
        if self.dtype.kind == "b":
            return generator.integers(0, 2, self.sizes).astype(self.dtype)
        if self.dtype.kind in "iu":
            return generator.integers(0, 10, self.sizes).astype(self.dtype)
        return np.asarray(generator.random(self.sizes) + 0.1).astype(self.dtype)


def input_arrays(function: Function, options: argparse.Namespace) -> list[NDArray[Any]]:
    """The inputs that the options of `add_input_options` ask for."""
    names = function.input_names
    shapes = _assignments(options.shape, "--shape", names)
    files = _assignments(options.input, "--input", names)
    arrays: list[NDArray[Any]] = []
    for number, name in enumerate(names):
        if name in shapes and name in files:
            raise GinghamError(f"input '{name}' is given by --shape and by --input")
        if name in files:
            arrays.append(_load(files[name]))
        elif name in shapes:
            shape = _Shape.parse(name, shapes[name])
            arrays.append(shape.random([options.seed, number]))
        else:
            raise GinghamError(
                f"missing input '{name}'",
                hint=f"--shape {name}=64x128 or --input {name}=FILE.npy",
            )
    return arrays


def _load(path: str) -> NDArray[Any]:
    import numpy as np

    try:
        # A pickled file could run code.
        array = np.load(path, allow_pickle=False)
    except OSError as error:
        reason = error.strerror or str(error)
        raise GinghamError(f"cannot read '{path}': {reason}") from error
    except (ValueError, EOFError, MemoryError) as error:
        raise GinghamError(f"cannot read '{path}': {error}") from error
    if not isinstance(array, np.ndarray):
        raise GinghamError(f"cannot read '{path}': it is not a .npy file")
    return array


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


def _show_time(
    function: Function, inputs: Sequence[NDArray[Any]], first_call: float
) -> None:
    """Time further calls for about a second, at least three."""
    import numpy as np

    times: list[float] = []
    while len(times) < 3 or (sum(times) < 1.0 and len(times) < 1000):
        start = time.perf_counter()
        function(*inputs)
        times.append(time.perf_counter() - start)
    print(
        f"time: {np.median(times) * 1e3:.3f} ms a call (median of {len(times)}, "
        f"fastest {min(times) * 1e3:.3f} ms), first call with compilation "
        f"{first_call * 1e3:.0f} ms"
    )


def _check(
    file: str,
    function: Function,
    inputs: Sequence[NDArray[Any]],
    results: Sequence[NDArray[Any]],
) -> int:
    """Compare with the reference interpreter; the exit status."""
    from ..runtime.compilation import compile_file

    expected = _as_tuple(compile_file(file, device="reference")(*inputs))
    status = 0
    for name, got, want in zip(function.output_names, results, expected, strict=True):
        error = relative_error(got, want)
        tolerance = tolerance_of(want)
        verdict = "ok" if error <= tolerance else "WRONG"
        status = status if verdict == "ok" else 1
        print(
            f"check {name}: {verdict}, largest error {error:.1e} of the largest value "
            f"(tolerance {tolerance:.0e})"
        )
    return status


def relative_error(got: NDArray[Any], want: NDArray[Any]) -> float:
    """The largest difference, relative to the largest magnitude of `want`.

    0 where both are the same infinity or not a number; infinite where one alone is.
    """
    import numpy as np

    if got.shape != want.shape:
        return float("inf")
    if not want.size:
        return 0.0
    left, right = got.astype(np.float64), want.astype(np.float64)
    same = (left == right) | (np.isnan(left) & np.isnan(right))
    if same.all():
        return 0.0
    if not (np.isfinite(left[~same]) & np.isfinite(right[~same])).all():
        return float("inf")
    finite = np.abs(right[np.isfinite(right)])
    scale = max(float(finite.max(initial=0.0)), np.finfo(np.float64).tiny)
    return float(np.abs(left[~same] - right[~same]).max()) / scale


def tolerance_of(array: NDArray[Any]) -> float:
    """How far two right results may be apart: rounding in another order."""
    import numpy as np

    if array.dtype.kind in "biu":
        return 0.0
    name = array.dtype.name
    epsilon = 2.0**-8 if name == "bfloat16" else float(np.finfo(array.dtype).eps)
    return 64 * epsilon


if __name__ == "__main__":
    sys.exit(main())
