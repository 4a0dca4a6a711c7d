"""The options of several commands that say what a program is run with.

Its inputs are random numbers of a shape (`--shape A=64x128`) or the contents of files
(`--input A=a.npy`).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from ..errors import GinghamError
from ..limits import MOST_AXES
from ..suggestions import did_you_mean

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..runtime.function import Function

_MAX_RANDOM_BYTES = 2**34
_NPY_MAGIC = b"\x93NUMPY"


def add_input_options(parser: argparse.ArgumentParser) -> None:
    """The options that name the program and its inputs, for `input_arrays`."""
    parser.add_argument("file", help="the program; `-` is the standard input")
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


def assignments(
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
                hint=did_you_mean(name, names)
                or f"it has {', '.join(names) or 'none'}",
            )
        if name in values:
            raise GinghamError(f"{option} {text}: '{name}' is given twice")
        values[name] = value
    return values


def _is_size(text: str) -> bool:
    # Beyond 18 digits an integer of 64 bits may not hold it.
    return text.isascii() and text.isdecimal() and len(text) < 19


@dataclass(frozen=True)
class RandomShape:
    """What random numbers are wanted of."""

    sizes: tuple[int, ...]
    dtype: np.dtype[Any]
    origin: str
    """What asks for it, for errors."""

    @staticmethod
    def parse(name: str, text: str) -> RandomShape:
        """The shape in `64x128xf32`, `64x128`, `f32` or nothing."""
        from ..runtime.arguments import dtype_named

        option = f"--shape {name}={text}"
        parts = text.split("x") if text else []
        element = "f32"
        if parts and parts[-1][:1].isalpha():
            element = parts.pop()
        if not all(_is_size(part) for part in parts):
            raise GinghamError(f"{option}: expected sizes such as 64x128, got '{text}'")
        try:
            dtype = dtype_named(element)
        except GinghamError as error:
            raise GinghamError(f"{option}: {error.message}", hint=error.hint) from None
        return RandomShape(tuple(int(part) for part in parts), dtype, option)

    def random(self, seed: Sequence[int]) -> NDArray[Any]:
        """Numbers in [0.1, 1.1), or integers from 0 to 9; positive, so logs exist.

        Raises GinghamError for more of them, or more axes, than arrays may have.
        """
        import numpy as np

        if len(self.sizes) > MOST_AXES:
            raise GinghamError(
                f"{self.origin} has {len(self.sizes)} axes: more than {MOST_AXES}"
            )
        size = prod(self.sizes) * self.dtype.itemsize
        if size > _MAX_RANDOM_BYTES:
            raise GinghamError(f"{self.origin} needs {size} bytes, too many")

        generator = np.random.default_rng(seed)
        if self.dtype.kind == "b":
            return generator.integers(0, 2, self.sizes).astype(self.dtype)
        if self.dtype.kind in "iu":
            return generator.integers(0, 10, self.sizes).astype(self.dtype)
        return np.asarray(generator.random(self.sizes) + 0.1).astype(self.dtype)


def input_arrays(function: Function, options: argparse.Namespace) -> list[NDArray[Any]]:
    """The inputs that the options of `add_input_options` ask for."""
    names = function.input_names
    shapes = assignments(options.shape, "--shape", names)
    files = assignments(options.input, "--input", names)
    arrays: list[NDArray[Any]] = []
    for number, name in enumerate(names):
        if name in shapes and name in files:
            raise GinghamError(f"input '{name}' is given by --shape and by --input")
        if name in files:
            arrays.append(load_array(files[name]))
        elif name in shapes:
            shape = RandomShape.parse(name, shapes[name])
            arrays.append(shape.random([options.seed, number]))
        else:
            raise GinghamError(
                f"missing input '{name}'",
                hint=f"--shape {name}=64x128 or --input {name}=FILE.npy",
            )
    return arrays


def load_array(path: str) -> NDArray[Any]:
    """The array in a .npy file. Raises GinghamError for what is none."""
    import numpy as np

    try:
        with open(path, "rb") as file:
            # NumPy takes whatever else a file holds for pickled objects, and tells how
            # to load these.
            if file.read(len(_NPY_MAGIC)) != _NPY_MAGIC:
                raise GinghamError(f"cannot read '{path}': it is not a .npy file")
        # A pickled file could run code.
        return np.load(path, allow_pickle=False)
    except GinghamError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise GinghamError(f"cannot read '{path}': {reason}") from error
    except Exception as error:
        # NumPy meets a header that is none with whatever Python has for its text.
        raise GinghamError(f"cannot read '{path}': {error}") from error
