"""Kernels of every family, run by Oclgrind: `python test/simulated_kernels.py`.

Oclgrind is a simulator of an OpenCL device (a Debian package) that sees accesses out of
bounds, data races, and uses of what was never written. This runs in a process that has
no other OpenCL runtime; `test_oclgrind.py` starts it. It prints a line of JSON for each
program: what is wrong with its results, how many kernels it has, and their source; what
Oclgrind has seen is on the other stream, behind a line for the program.

Version 21.10 has two limits. Its search for what was never written crashes when the
host writes to a buffer after the first kernel has run: so the inputs of all programs
are in buffers before, and a kernel copies them from there. And it does not know an
instruction that optimisation makes: so there is none (`OCLGRIND_BUILD_OPTIONS`).

Last come kernels that are wrong, which Oclgrind has to notice.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scheduled_products import product_text

import gingham
from gingham.runtime.arguments import dtype_named
from gingham.targets.opencl.command_queue import CommandQueue
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.events import Event
from gingham.targets.opencl.executor import OpenCLExecutable
from gingham.targets.opencl.handles.buffer import DeviceBuffer
from gingham.targets.opencl.printer import print_opencl
from gingham.targets.opencl.small_calls import SmallCalls
from gingham.targets.reference import interpret

if TYPE_CHECKING:
    from pyopencl import Buffer
    from xdsl.dialects.builtin import ModuleOp

Array = NDArray[Any]
Call = Callable[..., Any]

PRODUCT = (
    "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }"
)

SMALL_CACHES = (
    "cpu-avx512:cores=1,caches.0.size_bytes=1024,caches.1.size_bytes=2048,"
    "caches.2.size_bytes=4096,launch_microseconds=0.001,group_nanoseconds=0.001,"
    "memory_gigabytes_per_second=1"
)
"""A device for which small arrays are large ones: they are packed and streamed."""

GROUPS = product_text(
    20,
    17,
    19,
    """
    tile [8, 8, 19],
    tile [8, 8, 4],
    tile [2, 2, 4],
    stage input 0 at 2 of 2 order [0, 1] local,
    stage input 1 at 2 of 2 order [0, 1] local
    """,
)

DOT = product_text(
    6,
    5,
    8,
    """
    tile [3, 5, 8],
    tile [3, 5, 4],
    tile [1, 1, 4],
    instruction "dot_f32x4"
    """,
)


@dataclass(frozen=True)
class Program:
    """A program and its inputs, such as `3x4xsi32`; the last part may be left out.

    `shows` is a pattern of the source without which the family would not be tested, and
    `passes` lower a text of IR to kernels.
    """

    text: str
    inputs: str
    hardware: str = "cpu-avx2"
    shows: str = "__kernel"
    passes: str = ""


PROGRAMS = {
    "contraction": Program(PRODUCT, "9x10 10x17", shows=r"float8 "),
    "contraction of a GPU": Program(PRODUCT, "9x10 10x17", "nvidia-h200"),
    "contraction of a GPU, pieces copied ahead": Program(
        PRODUCT, "9x70 70x18", "nvidia-h200", shows=r"copy_asynchronously\(ca"
    ),
    "packed panels": Program(PRODUCT, "17x20 20x19", SMALL_CACHES, "local"),
    "work-groups with local memory": Program(
        GROUPS,
        "20x19 19x17",
        shows=r"(?s)__local.*barrier\(",
        passes="stripe-tile,stripe-stage,stripe-collect-outputs,stripe-distribute{items=16},stripe-tile,stripe-map,"
        "lower-stripe-to-opencl,opencl-emulate-types",
    ),
    "instruction": Program(
        DOT,
        "6x8 8x5",
        shows=r"return C \+ dot\(A, B\)",
        passes="stripe-tile,stripe-instruct,stripe-accumulate,stripe-unroll,stripe-map,"
        "lower-stripe-to-opencl",
    ),
    "fused nests": Program(
        "function (A[M, K], B[K, N], C[N]) -> (R) {"
        " P[i, j : M, N] = +(A[i, k] * B[k, j]); Z = P + C; R = Z < 0 ? 0 : Z; }",
        "9x8 8x11 11",
    ),
    "chain of contractions": Program(
        "function (A[M, K], B[K, N], C[N, L]) -> (D) {"
        " P[i, j : M, N] = +(A[i, k] * B[k, j]); Q = tanh(P);"
        " D[i, l : M, L] = +(Q[i, j] * C[j, l]); }",
        "9x8 8x11 11x6",
    ),
    "convolution": Program(
        "function (I[N, H, W, C], K[A, B, C, D]) -> (O) { O[n, y, x, d : N, H, W, D] ="
        " +(I[n, y + a - 1, x + b - 1, c] * K[a, b, c, d]); }",
        "1x5x6x3 3x3x3x5",
    ),
    "softmax": Program(
        "function (X[M, N]) -> (Y) { T[i, 0 : M, 1] = >(X[i, j]); E = exp(X - T);"
        " S[i, 0 : M, 1] = +(E[i, j]); Y = E / S; }",
        "5x37",
    ),
    "split reduction": Program(
        "function (A[N]) -> (S) { S[] = +(A[i]); }",
        "3000",
        shows="(?s)__kernel.*__kernel",
    ),
    "reduction of columns": Program(
        "function (A[M, N]) -> (S) { S[j : N] = >(A[i, j]); }", "60x20"
    ),
    "scan": Program(
        "function (I[N]) -> (O) { O[i : N] = +(I[k]), i - k < N; }",
        "400",
        shows="(?s)__kernel.*__kernel",
    ),
    "streamed stores": Program(
        "function (A[N], B[N]) -> (S) { S = A * B; }",
        "3000 3000",
        SMALL_CACHES,
        "nontemporal",
    ),
    "prefetched streams": Program(
        "function (A[N]) -> (B) { B = exp(tanh(A)) + log(A + 1); }",
        "6000",
        "cpu-avx512:cores=1,caches.0.size_bytes=1024,caches.1.size_bytes=2048,"
        "memory_gigabytes_per_second=1000,page_bytes=256",
        "fetch",
    ),
    "transposition": Program(
        "function (A[M, N]) -> (T) { T[j, i : N, M] = =(A[i, j]); }", "19x21"
    ),
    "gather": Program(
        "function (V[N, M], I[K]) -> (G) { G = gather(V, I); }", "9x7 5xsi32"
    ),
    "interpolation": Program(
        "function (V[N, M], I[K]) -> (G) { G = gather(V, I, interpolation=cubic); }",
        "9x7 5",
    ),
    "scatter": Program(
        "function (U[K, M], I[K], S[N, M]) -> (O) { O = scatter(U, I, S); }",
        "5x7 5xsi32 9x7",
    ),
    "scatter of slices": Program(
        "function (U[K, M], I[K], S[N, M]) -> (O) {"
        " O = scatter(U, I, S, mode=update_slice); }",
        "5x7 5xsi32 9x7",
    ),
    "argsort": Program("function (A[M, N]) -> (I) { I = argsort(A, 1); }", "3x19"),
    "random numbers": Program(
        "function (S[A, B]) -> (R, T) { P = prng_step(S, 100); R = prng_value(P);"
        " T = prng_state(P); }",
        "3x7xui32",
    ),
    "joined launches": Program(
        "function (A[N], B[M]) -> (X, Y) { X = A + 1; Y = B * 2; }",
        "300 40",
        "cpu-avx2:launch_microseconds=1000",
        r"(?s)^((?!__kernel).)*__kernel((?!__kernel).)*$",
    ),
    "f16": Program(PRODUCT, "9x10xf16 10x17xf16", shows="half"),
    "bf16": Program("function (A[M, K]) -> (C) { C = exp(A) + 1; }", "9x10xbf16"),
    "f64": Program(PRODUCT, "9x10xf64 10x17xf64", shows="double"),
    "bytes": Program(PRODUCT, "9x10xui8 10x17xui8", shows="uchar|int"),
    "64-bit integers": Program(
        "function (A[N], B[N]) -> (C) { C = A / (B + 1) + (A << 3); }",
        "37xsi64 37xsi64",
    ),
    "gradient": Program(
        "function (X[M, K], W[K, N]) -> (G) { P[i, j : M, N] = +(X[i, k] * W[k, j]);"
        " L[] = +(P[i, j] * P[i, j]); G = gradient(L, W); }",
        "7x6 6x9",
    ),
    "pooling": Program(
        "function (I[N, M]) -> (O) { O[x, c : N / 2, M] = >(I[2*x + k, c]), k < 2; }",
        "10x9",
    ),
}


FAULTS = {
    "out of bounds": "a[get_global_id(0) + 4096] = 1;",
    "data race": "a[get_global_id(0) / 2] = get_global_id(0);",
    "race in local memory": "local int t[8]; t[get_local_id(0)] = 1;"
    " a[get_global_id(0)] = t[7 - get_local_id(0)];",
    "never written": "int t[2]; t[get_global_id(0) & 1] = 1; a[0] = 2;"
    " if (t[1 - (get_global_id(0) & 1)] > 5) a[get_global_id(0)] = 3;",
}
"""Bodies of kernels over an array of 64 integers."""


def arrays(program: Program) -> list[Array]:
    """The inputs: small positive integers."""
    found: list[Array] = []
    for number, text in enumerate(program.inputs.split()):
        *sizes, last = text.split("x")
        element = last if last[:1].isalpha() else "f32"
        sizes += [last] if element == "f32" and last != "f32" else []
        random = np.random.default_rng(number)
        values = random.integers(0, 5, tuple(map(int, sizes)))
        found.append(values.astype(dtype_named(element)))
    return found


def main() -> None:
    """Run the programs that are named, or all."""
    names = sys.argv[1:] or list(PROGRAMS)
    device = gingham.devices()[0]
    if not isinstance(device, OpenCLDevice) or not device.name.startswith("oclgrind"):
        raise SystemExit(f"expected Oclgrind, got {device.name}")
    copier = Copier(device)
    inputs = {name: arrays(PROGRAMS[name]) for name in names}
    for each in inputs.values():
        copier.keep(each)
    for name in names:
        log(f"program: {name}")
        program = PROGRAMS[name]
        call, source, expected = prepared(program, inputs[name], device)
        results = as_list(call(*inputs[name]))
        shown = {"name": name, "wrong": wrong(results, expected), "source": source}
        print(json.dumps(shown), flush=True)
    for name, body in FAULTS.items():
        log(f"program: {name}")
        run_fault(body, device)


def run_fault(body: str, device: OpenCLDevice) -> None:
    """Run a kernel that is wrong."""
    import pyopencl as cl

    text = f"kernel void fault(global int *a) {{ {body} }}"
    kernel = cl.Program(device.context, text).build().fault
    buffer = cl.Buffer(device.context, cl.mem_flags.READ_WRITE, 256)
    kernel(device.queue.handle, (64,), (8,), buffer).wait()


def log(line: str) -> None:
    """Write a line between those of Oclgrind."""
    print(line, file=sys.stderr, flush=True)


def prepared(
    program: Program, inputs: Sequence[Array], device: OpenCLDevice
) -> tuple[Call, str, list[Array]]:
    """The program on the device, its source, and the reference's results."""
    if program.passes:
        module = lowered(program)
        expected = interpret(module, inputs)
        return OpenCLExecutable(module, device), print_opencl(module), expected
    function = gingham.compile(program.text, device=device, hardware=program.hardware)
    reference = gingham.compile(program.text, device="reference")
    return function, function.source(*inputs), as_list(reference(*inputs))


def lowered(program: Program) -> ModuleOp:
    """The module of a text of IR after its passes."""
    from xdsl.parser import Parser
    from xdsl.passes import PassPipeline

    from gingham.dialects import make_context
    from gingham.passes import get_all_passes

    context = make_context()
    module = Parser(context, program.text).parse_module()
    for each in PassPipeline.parse_spec(get_all_passes(), program.passes).passes:
        each.apply(context, module)
    module.verify()
    return module


def as_list(results: Any) -> list[Array]:
    """One result or several."""
    return [*results] if isinstance(results, tuple | list) else [results]


def wrong(results: Sequence[Array], expected: Sequence[Array]) -> str:
    """What is wrong with results, or nothing."""
    for number, (got, want) in enumerate(zip(results, expected, strict=True)):
        first, second = got.astype(np.float64), want.astype(np.float64)
        tolerance = 1e-2 if got.dtype.itemsize == 2 else 1e-5
        if not np.allclose(first, second, tolerance, tolerance):
            return f"result {number} is off by {np.abs(first - second).max()}"
    return ""


class Copier:
    """Gives the device inputs that it has had before any kernel ran."""

    def __init__(self, device: OpenCLDevice) -> None:
        import pyopencl as cl

        # Its memory is not the host's, so that what the host has is written to it; and
        # to try it would run a kernel.
        details = replace(
            device.details, host_unified_memory=False, shares_host_memory=False
        )
        device.details = details
        setattr(device, "_probed", True)
        self.device = device
        self.buffers: dict[bytes, Buffer] = {}
        text = """
        kernel void put(global uchar *to, global const uchar *from) {
          to[get_global_id(0)] = from[get_global_id(0)];
        }"""
        self.kernel = cl.Program(device.context, text).build().put

        def write(
            queue: CommandQueue, buffer: DeviceBuffer, source: NDArray[np.uint8]
        ) -> Event:
            return self.write(queue, buffer, source)

        setattr(CommandQueue, "write", write)
        # Small calls write to buffers, too, by the driver's own functions.
        setattr(SmallCalls, "fits", False)

    def keep(self, inputs: Sequence[Array]) -> None:
        """Make buffers with these contents."""
        import pyopencl as cl

        flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
        for array in inputs:
            content = array.tobytes()
            if content not in self.buffers:
                memory = np.frombuffer(content, np.uint8)
                self.buffers[content] = cl.Buffer(
                    self.device.context, flags, hostbuf=memory
                )

    def write(
        self, queue: CommandQueue, buffer: DeviceBuffer, source: NDArray[np.uint8]
    ) -> Event:
        """Copy one of the contents into a buffer."""
        kept = self.buffers[source.tobytes()]
        with queue.lock:
            size = (source.nbytes,)
            handle = self.kernel(queue.handle, size, None, buffer.handle, kept)
            event = Event(queue, "a copy", handle, (buffer, source))
        event.wait()
        return event


if __name__ == "__main__":
    main()
