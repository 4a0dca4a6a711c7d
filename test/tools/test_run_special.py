"""`tile-run` with each special operation, on the reference interpreter."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gingham.tools.run import main

SHAPES = ["--shape", "A=4x6", "B=6", "I=5xsi32", "S=3x8xui32"]

PROGRAMS = {
    "reshape": ("O = reshape(A, N, M);", (6, 4)),
    "shape": ("O = shape(A);", (2,)),
    "index": ("O = index(A, 1);", (4, 6)),
    "gather": ("O = gather(A, I);", (5, 6)),
    "gather nd": ("O = gather(A, shape(A), mode=nd);", ()),
    "gather between cells": ("O = gather(A, B, interpolation=cubic);", (6, 6)),
    "scatter": ("O = scatter(I, I, B);", (6,)),
    "scatter slices": ("O = scatter(A, index(B, 0), A, axis=1, mode=update_slice);",
                       (4, 6)),
    "scatter elements": ("O = scatter(A, index(A, 1), A, mode=update_elt);", (4, 6)),
    "scatter nd": ("O = scatter(1, shape(A), A, mode=update_nd);", (4, 6)),
    "argsort": ("O = argsort(A, order=descending);", (4, 6)),
    "prng": ("P = prng_step(S, M, 3); O = prng_value(P);", (4, 3)),
    "state": ("P = prng_step(S, M, 3); O = prng_state(P);", (3, 8)),
    "assert": ("C = assert_wide(M < N); O[i : N] = +(A[j, i]);", (6,)),
    "simple_reduce": ("O = simple_reduce(A, 1, N);", (1, 6)),
    "tuple": ("T = tuple(A, I); O = element(T, 1);", (5,)),
    "softmax": ("O = builtin_softmax(A, M, N);", (4, 6)),
}  # fmt: skip


@pytest.mark.parametrize(("body", "shape"), PROGRAMS.values(), ids=PROGRAMS)
def test_runs_on_the_reference_interpreter(
    body: str,
    shape: tuple[int, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    program, output = tmp_path / "program.tile", tmp_path / "output.npy"
    program.write_text(f"function (A[M, N], B[N], I[K], S) -> (O) {{ {body} }}")
    command = [str(program), *SHAPES, "--device", "reference", "--output"]
    assert main([*command, f"O={output}"]) == 0
    assert "output O" in capsys.readouterr().out
    assert np.load(output).shape == shape
