"""Memory with very many shapes: `python -m bench.shapes --shapes 20000`.

A function is called with a new shape each time, compared with NumPy, and every tenth
call is with a shape of long ago, of which the programs have mostly gone by then. What
the process has in memory is printed as it goes: compiled programs are kept by the
setting `program_memory`, so that it must stay under a limit. `--way` chooses who calls:
`compile`, `jit`, `einsum`, `program` (a further `gingham.Program` for each shape),
`plaidml` (PlaidML's API), or `placed` (a function on two devices).

Nothing is kept on disk meanwhile, as that would be 20,000 files.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

import gingham

from .memory import resident_bytes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[np.float32]
    Call: TypeAlias = Callable[[Array, Array], Array]

TEXT = "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }"
_MEBIBYTE = 1 << 20
_PER_SIZE = 150
"""How many columns there are of each number of rows."""
_LOOKS = 20


def main(arguments: Sequence[str] | None = None) -> int:
    """Call, and print the memory: 1 for a wrong result or too much memory."""
    parser = argparse.ArgumentParser(prog="python -m bench.shapes")
    parser.add_argument("--shapes", type=int, default=20_000)
    parser.add_argument("--way", choices=[*WAYS], default="compile")
    parser.add_argument(
        "--limit",
        type=float,
        default=1000.0,
        metavar="MB",
        help="the most memory that the process may have (default 1000)",
    )
    options = parser.parse_args(arguments)
    os.environ["GINGHAM_CACHE"] = "off"
    call, largest, started = WAYS[options.way](), 0, time.monotonic()
    for number, shape in enumerate(_shapes(options.shapes), 1):
        if not _is_right(call, shape):
            print(f"wrong for {shape}", file=sys.stderr)
            return 1
        if number % max(1, options.shapes // _LOOKS) == 0:
            now = resident_bytes()
            largest = max(largest, now)
            seconds = time.monotonic() - started
            print(f"{number} shapes  {now / 1e6:.0f} MB  {seconds:.0f} s", flush=True)
    print(f"at most {largest / 1e6:.0f} MB (allowed: {options.limit:.0f})")
    return 1 if largest > 1e6 * options.limit else 0


def _shapes(count: int) -> Iterator[tuple[int, int]]:
    """Rows and columns of the product: so many, with some of long ago in between."""
    known: list[tuple[int, int]] = []
    for number in range(count):
        shape = 1 + number // _PER_SIZE, 1 + number % _PER_SIZE
        known.append(shape)
        yield shape
        if number % 10 == 9:
            yield known[number // 2]


def _is_right(call: Call, shape: tuple[int, int]) -> bool:
    import numpy as np

    rows, columns = shape
    random = np.random.default_rng(shape)
    # Small integers, so that any order of the sums gives the same.
    a = random.integers(-8, 9, (rows, 7)).astype(np.float32)
    b = random.integers(-8, 9, (7, columns)).astype(np.float32)
    return np.array_equal(call(a, b), a @ b)


# Each makes a call


def _compile() -> Call:
    return gingham.compile(TEXT)


def _placed() -> Call:
    working = [d for d in gingham.devices() if d.has_buffers and not d.failure()]
    return gingham.compile(TEXT, device=[working[0], working[min(1, len(working) - 1)]])


def _jit() -> Call:
    from gingham.edsl import Tensor

    def product(a: Tensor, b: Tensor) -> Tensor:
        return a @ b

    return gingham.jit(product)


def _einsum() -> Call:
    import numpy as np

    return lambda a, b: np.asarray(gingham.einsum("ik,kj->ij", a, b))


def _program() -> Call:
    from gingham.edsl import Placeholder

    def call(a: Array, b: Array) -> Array:
        inputs = [Placeholder("float32", list(x.shape)) for x in (a, b)]
        return gingham.Program("product", inputs, inputs[0] @ inputs[1])(a, b)

    return call


def _plaidml() -> Call:
    plaidml = gingham.plaidml
    ctx = plaidml.Context()
    device = plaidml.Device(ctx, gingham.default_device().name)
    product = plaidml.Function(TEXT)

    def tensor(*shape: int) -> gingham.plaidml.Tensor:
        return plaidml.Tensor(device, plaidml.Shape(ctx, "float32", *shape))

    def call(a: Array, b: Array) -> Array:
        x, y, out = tensor(*a.shape), tensor(*b.shape), tensor(len(a), b.shape[1])
        for array, target in ((a, x), (b, y)):
            with target.mmap_discard(ctx) as view:
                view.copy_from_ndarray(array)
                view.writeback()
        plaidml.run(ctx, product, {"A": x, "B": y}, {"C": out})
        return out.as_ndarray(ctx)

    return call


WAYS: dict[str, Callable[[], Call]] = {
    "compile": _compile,
    "jit": _jit,
    "einsum": _einsum,
    "program": _program,
    "plaidml": _plaidml,
    "placed": _placed,
}


if __name__ == "__main__":
    sys.exit(main())
