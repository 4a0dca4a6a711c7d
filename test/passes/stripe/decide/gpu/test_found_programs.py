"""Programs that were wrong on lanes, or ran in one work-item, and are neither now.

Most were found by `python -m test.training --of kernels --hardware gpus`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
import pytest
from gradients import Array
from kernel_checks import limits_passed, wrong_cells

import gingham
from gingham.dialects import make_context
from gingham.dialects.opencl import KernelOp
from gingham.passes.pipelines import TargetOptions, run_stages
from gingham.runtime.arguments import dtype_named
from gingham.targets.hardware import load_hardware


@dataclass(frozen=True)
class Found:
    """A program with the types of its inputs, and the hardware that it is for."""

    text: str
    inputs: str
    hardware: str = "nvidia-h200"
    kernels: int | None = None
    """How many there are, where that matters."""


FOUND = {
    "an epilogue of one sub-group with a minimum of one step": Found(
        "function (A[M, K], B[K, N], C[M, N]) -> (R) {"
        " P[i, j : M, N] = <(A[i, k] * B[k, j]); R = P * 0.5 + C; }",
        "50x7xf32 7x45xf32 50x45xf32",
        "nvidia-a100:parallel.subgroup.count=1",
        1,
    ),
    "no epilogue of a transposition, which has nothing in registers": Found(
        "function (A[N, A1, A2, M], B[B0, M, B2, N]) -> (R) { X = A * 2 + 1;"
        " T[b, j, a, i : 1, M, 1, N] = =(X[i, a, b, j]); R = T + B; }",
        "256x1x1x777xf32 1x777x1x256xf32",
        "gpu",
    ),
    "rows that a nest writes are not copied before it does": Found(
        "function (A[N, C, H, W], K[O, C, U, V]) -> (P, R) {"
        " P[n, o, x, y : N, O, H, W] ="
        " +(A[n, c, x + u, y + v - 1] * K[o, c, u, v]); R = P * 2; }",
        "2x3x32x24xf64 1x3x1x3xf64",
        "intel-max",
    ),
    "the last columns that are cut reach over the end": Found(
        "function (A[M, N], B[N]) -> (R) { S[0, j : 1, N] = +(A[i, j]);"
        " R = S * 0.5 + B; }",
        "1000x127xf32 127xf32",
        "gpu",
    ),
    "sums of columns and of their squares": Found(
        "function (A[M, N]) -> (V) { S[0, j : 1, N] = +(A[i, j]); D = A - S / 5000;"
        " Q = D * D; V[0, j : 1, N] = +(Q[i, j]); }",
        "5000x63xf32",
        "nvidia-rtx-4090",
    ),
    "a mask that heads share": Found(
        "function (Q[H, L, D], K[H, M, D], V[H, M, D], A[L, M]) -> (O) {"
        " S[h, q, k : H, L, M] = +(Q[h, q, d] * K[h, k, d]);"
        " Z = A == 1 ? S : -1000.0; T[h, q, 0 : H, L, 1] = >(Z[h, q, k]);"
        " E = exp(Z - T); B[h, q, 0 : H, L, 1] = +(E[h, q, k]); P = E / B;"
        " O[h, q, d : H, L, D] = +(P[h, q, k] * V[h, k, d]); }",
        "2x16x16xf32 2x100x16xf32 2x100x16xf32 16x100xsi32",
        "nvidia-a100",
        2,
    ),
    "attention of rows that no tile divides": Found(
        "function (Q[H, L, D], K[H, M, D], V[H, M, D]) -> (O) {"
        " S[h, q, k : H, L, M] = +(Q[h, q, d] * K[h, k, d]);"
        " T[h, q, 0 : H, L, 1] = >(S[h, q, k]); E = exp(S - T);"
        " B[h, q, 0 : H, L, 1] = +(E[h, q, k]); P = E / B;"
        " O[h, q, d : H, L, D] = +(P[h, q, k] * V[h, k, d]); }",
        "3x77x40xf32 3x77x40xf32 3x77x40xf32",
    ),
    "a softmax over two axes": Found(
        "function (A[N, C, L]) -> (Y) { T[n, 0, 0 : N, 1, 1] = >(A[n, c, l]);"
        " E = exp(A - T); S[n, 0, 0 : N, 1, 1] = +(E[n, c, l]); Y = E / S; }",
        "5x5x5000xf32",
        "nvidia-rtx-4090",
    ),
    "a norm of rows by the squares along two axes": Found(
        "function (A[N, L, C]) -> (Y) { Q = A * A;"
        " S[n, 0, 0 : N, 1, 1] = +(Q[n, l, c]); Y = A / sqrt(S + 0.01); }",
        "7x1000x3xf32",
        "gpu",
    ),
    "a scatter by small groups": Found(
        "function (U[K, M], I[K], S[N, M]) -> (O) { O = scatter(U, I, S); }",
        "200x48xf32 200xsi32 4x48xf32",
        "nvidia-h100:parallel.group.item_limit=128",
    ),
    "random numbers by small groups": Found(
        "function (S[A, B]) -> (R, T) { P = prng_step(S, 2, 480);"
        " R = prng_value(P); T = prng_state(P); }",
        "3x300xui32",
        "nvidia-h100:parallel.group.item_limit=64",
    ),
    "attention of numbers that are loaded one by one": Found(
        "function (Q[H, L, D], K[H, M, D], V[H, M, D]) -> (O) {"
        " S[h, q, k : H, L, M] = +(Q[h, q, d] * K[h, k, d]);"
        " T[h, q, 0 : H, L, 1] = >(S[h, q, k]); E = exp(S - T);"
        " B[h, q, 0 : H, L, 1] = +(E[h, q, k]); P = E / B;"
        " O[h, q, d : H, L, D] = +(P[h, q, k] * V[h, k, d]); }",
        "7x64x16xf32 7x64x16xf32 7x64x16xf32",
        "intel-max:parallel.lane.access_bits=32,parallel.group.memory_bytes=16384",
    ),
    "a running sum by groups of no power of two": Found(
        "function (A[N]) -> (R) { R[i : N] = +(A[z]), i - z < N; }",
        "5000xui32",
        "intel-max:parallel.group.item_limit=96",
    ),
    "copies in a loop inside the test of what they leave out": Found(
        "function (A[N, H, W, C], K[O, C, U, V], B[N, X, Y, O]) -> (R) { D = A * 2;"
        " Q[n, x, y, o : 1, 8, 5, 48] ="
        " +(D[n, 3 * x + 2 * u, y + v - 3, c] * K[o, c, u, v]); R = Q * 0.5 + B; }",
        "1x24x5x16xf32 48x16x3x7xf32 1x8x5x48xf32",
        "nvidia-h100:memory_gigabytes_per_second=10,parallel.group.item_limit=128,"
        "parallel.lane.registers=64",
    ),
    "a running sum with little local memory": Found(
        "function (A[N]) -> (R) { R[i : N] = +(A[z]), i - z < N; }",
        "4166xf32",
        "intel-arc:parallel.group.memory_bytes=1024",
    ),
}


def arrays(inputs: str) -> list[Array]:
    """Small integers of the types that are told."""
    found: list[Array] = []
    for number, text in enumerate(inputs.split()):
        *sizes, element = text.split("x")
        values = np.random.default_rng(number).integers(0, 4, tuple(map(int, sizes)))
        found.append(values.astype(dtype_named(element)))
    return found


@pytest.mark.parametrize("name", FOUND)
def test_programs_that_were_wrong(name: str) -> None:
    found, hardware = FOUND[name], load_hardware(FOUND[name].hardware)
    given, options = arrays(found.inputs), TargetOptions(hardware=hardware)
    module = gingham.compile(found.text, device="reference").specialized(*given)
    run_stages(module, make_context(), options, ["tile"])
    flattened = module.clone()
    run_stages(module, make_context(), options, ["stripe", "opencl"])
    assert [*wrong_cells(flattened, module, given, [])] == []
    assert [*limits_passed(module, hardware)] == []
    kernels = [op for op in module.walk() if isinstance(op, KernelOp)]
    assert all(prod(kernel.group_size) > 1 for kernel in kernels)
    if found.kernels is not None:
        assert len(kernels) == found.kernels
