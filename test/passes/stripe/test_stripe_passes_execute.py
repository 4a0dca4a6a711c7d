"""Every stripe pass keeps the meaning of a corpus of programs, and the IR's invariants.

The programs are the functions of `programs.mlir`, `nests.mlir` and `specials.mlir`, and
Tile texts. The reference interpreter says what a program means, on small integers, so
exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from io import StringIO
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stripe_programs import CONTEXT, random_input, run, stripe_pipeline, written_in
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ModuleOp,
)
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser
from xdsl.passes import PassPipeline
from xdsl.printer import Printer

from gingham.dialects.stripe.schedule import Schedule, set_schedule
from gingham.errors import GinghamError
from gingham.frontend.tile_text import parse_tile
from gingham.passes import get_all_passes
from gingham.passes.pipelines import TargetOptions, stage_passes
from gingham.passes.stripe.analysis.nests import top_level_blocks
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.specialize import specialize
from gingham.targets.reference import interpret

Array = npt.NDArray[Any]

TILE_PROGRAMS = {
    "product": (
        "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }",
        ("13x9xf32", "9x40xf32"),
    ),
    "convolution": (
        """function (I[N, X, C], K[R, C, D]) -> (O) {
             O[n, x, d : N, X / 2, D] = +(I[n, 2 * x + r - 1, c] * K[r, c, d]);
           }""",
        ("2x11x3xf32", "3x3x20xf32"),
    ),
    "pixels": (
        """function (I[N, X, Y, C], K[C, D], B[D]) -> (R, S) {
             O[n, x, y, d : N, X, Y, D] = +(I[n, x, y, c] * K[c, d]);
             R = O + B;
             S[d : D] = >(R[n, x, y, d]);
           }""",
        ("2x3x5x4xsi32", "4x19xsi32", "19xsi32"),
    ),
    "unpool": (
        """function (I[X, C], J[Y]) -> (O, P) {
             O[2 * x + i - 1, c : 2 * X + 1, C] = +(I[x, c]), i < 4;
             P[3 * x + i : 3 * Y + 2] = <(J[x]), i < 5;
           }""",
        ("7x5xsi32", "40xsi32"),
    ),
    "pool with a default": (
        """function (I[X, C], D[Y, C]) -> (O) {
             O[x, c : Y, C] = >(I[3 * x + r - 2, c]), r < 4 default D;
           }""",
        ("20x9xsi16", "9x9xsi16"),
    ),
    "normalization": (
        """function (X[M, N], S[N]) -> (Y, T) {
             Max[m, 0 : M, 1] = >(X[m, n]);
             Y = (X - Max) * S + (X > 1 ? 2 : -X);
             T[] = +(Y[m, n]);
           }""",
        ("6x37xf32", "37xf32"),
    ),
    "transposition": (
        "function (A[M, N]) -> (O) { T[j, i : N, M] = =(A[i, j]); O = T + T * 3; }",
        ("17x8xf64",),
    ),
    "triangle": (
        "function (A[N]) -> (O) { O[i : N] = +(A[k]), i - k < N; }",
        ("21xsi32",),
    ),
    "stretched": (
        """function (A[N], B[N]) -> (O, P) {
             O[2 * i : 2 * N + 1] = +(A[i] * B[j]);
             P[i + j : 2 * N] = <(A[i] + B[j]);
           }""",
        ("9xf32", "9xf32"),
    ),
    "types": (
        """function (A[N], B[N], C[N]) -> (O, P, Q) {
             O = as_int(A * 2, 32) + B;
             P = (A < B) + (B == C);
             Q[i : N] = +(C[i] == B[j]);
           }""",
        ("33xf32", "33xsi8", "33xsi8"),
    ),
    "long rows": (
        """function (A[M, N], B[M, N]) -> (S, D, T) {
             S[i : M] = +(A[i, j]);
             D[i : M] = >(A[i, j] * B[i, j]);
             T[] = +(B[i, j]);
           }""",
        ("3x301xf32", "3x301xf32"),
    ),
}


@dataclass(frozen=True)
class Program:
    """A module with one function, and what it gives for some inputs."""

    module: ModuleOp
    entry: str
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]

    def check(self, module: ModuleOp) -> None:
        """The module is valid, located, and means what the program means."""
        module.verify()
        unknown = [op for op in module.walk() if op.location is UNKNOWN_LOC]
        assert not unknown, f"without a location: {unknown[0]}"
        outputs = interpret(module, self.inputs, self.entry)
        assert len(outputs) == len(self.outputs)
        for got, wanted in zip(outputs, self.outputs, strict=True):
            assert got.dtype == wanted.dtype
            np.testing.assert_array_equal(got, wanted)


@cache
def written_by_hand() -> dict[str, ModuleOp]:
    """The functions of all .mlir files of programs."""
    files = ("programs.mlir", "nests.mlir", "specials.mlir")
    return {name: module for file in files for name, module in written_in(file).items()}


@cache
def load(name: str) -> Program:
    """A program at the stripe level, before any stripe pass."""
    if name in TILE_PROGRAMS:
        text, arguments = TILE_PROGRAMS[name]
        types = [parse_argument_type(argument) for argument in arguments]
        module = specialize(parse_tile(text, f"{name}.tile"), types)
        run(module, f"{stage_passes(TargetOptions())['tile']},lower-tile-to-stripe")
        entry = "main"
    else:
        module, entry = written_by_hand()[name], name
    module.verify()
    (function,) = module.ops
    assert isinstance(function, FuncOp)
    random = np.random.default_rng(list(name.encode()))
    types = list(function.function_type.inputs)
    inputs = tuple(random_input(type, random) for type in types)
    outputs = tuple(interpret(module, inputs, entry))
    return Program(module, entry, inputs, outputs)


NAMES = [*written_by_hand(), *TILE_PROGRAMS]


def check_round_trip(
    module: ModuleOp, generic_forms: Sequence[bool] = (False, True)
) -> None:
    """Printed and parsed again, in these forms, it is the same module."""
    for generic in generic_forms:
        stream = StringIO()
        Printer(stream, print_generic_format=generic).print_op(module)
        again = Parser(CONTEXT, stream.getvalue()).parse_module()
        again.verify()
        assert module.is_structurally_equivalent(again), stream.getvalue()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("bits", "is_generic"), [(128, True), (512, False)])
def test_pipeline(name: str, bits: int, is_generic: bool) -> None:
    """Every pass of the pipeline, in the state in which the pipeline has it.

    What comes of one width of vectors is printed in the generic form, of the other in
    its own.
    """
    program = load(name)
    module = program.module.clone()
    pipeline = stripe_pipeline(TargetOptions().with_vectors(bits, 16))
    for module_pass in PassPipeline.parse_spec(get_all_passes(), pipeline).passes:
        before = module.clone()
        module_pass.apply(CONTEXT, module)
        if is_changed(module, before):
            program.check(module)
    check_round_trip(module, [is_generic])
    run(module, "lower-stripe-to-opencl")
    program.check(module)
    check_round_trip(module, [is_generic])


def is_changed(module: ModuleOp, before: ModuleOp) -> bool:
    return not module.is_structurally_equivalent(before)


def with_overheads(registers: int = 32, **figures: int) -> str:
    """The option of a pass for a processor with some other figures."""
    changes = [f"overheads.{name}={value}" for name, value in figures.items()]
    changes.append(f"parallel.vector.registers={registers}")
    return f'hardware="cpu-avx512:{",".join(changes)}"'


ALONE = (
    "stripe-fuse",
    f"stripe-localize{{{with_overheads(private_bytes=16)}}}",
    "stripe-scalarize",
    "stripe-dead-code-elimination",
    "stripe-merge-indices",
    "stripe-split-axes",
    "stripe-split-reduction{lanes=2 rounds=1}",
    "stripe-split-reduction{lanes=3 rounds=2 parallelism=1}",
    "stripe-split-reduction{lanes=2 parallelism=1 longest=2}",
    'stripe-plan-layout{hardware="cpu-neon:launch_microseconds=0.01" bits=64 worth=1},'
    "stripe-transpose-outputs",
    "stripe-accumulate",
    "stripe-separate{bits=64 grain=2}",
    "stripe-plan-vectors{bits=64},stripe-vectorize{bits=64}",
    f"stripe-unroll{{{with_overheads(unrolled_copies=2)}}}",
    "stripe-map",
)


@pytest.mark.parametrize("name", NAMES)
def test_alone(name: str) -> None:
    """Every pass on the program as it is written, and once more on its own result."""
    program = load(name)
    for text in ALONE:
        module = program.module.clone()
        run(module, text)
        if not is_changed(module, program.module):
            continue
        program.check(module)
        check_round_trip(module)
        before = module.clone()
        run(module, text)
        if is_changed(module, before):
            program.check(module)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "options",
    [
        with_overheads(registers=1),
        f"bits=64 {with_overheads(4, group_elements=4, stream_pieces=1)}",
        with_overheads(group_elements=100, stream_pieces=2),
    ],
)
def test_decided_tiles(name: str, options: str) -> None:
    """What stripe-autotile decides can be applied to every program."""
    program = load(name)
    module = program.module.clone()
    run(module, f"stripe-autotile{{{options}}},stripe-partition-edges")
    program.check(module)
    run(module, "stripe-tile,stripe-accumulate")
    program.check(module)


@pytest.mark.parametrize(
    ("name", "levels"),
    [
        ("matmul", [[4, 0, 0], [4, 16, 2]]),
        ("matmul", [[4, 32, 0], [2, 8, 0], [1, 4, 3]]),
        ("padded_conv", [[5, 0, 0, 0], [0, 7, 2, 2]]),
        ("max_pool", [[4, 0], [2, 2]]),
        ("strided_output", [[1, 0], [1, 2]]),
        ("backwards", [[4, 0], [2, 3]]),
        ("diagonal", [[3, 0], [1, 2]]),
        # Cells are set also by tiles whose constraints fail.
        ("constrained", [[1, 0], [1, 0]]),
        ("constrained", [[2, 0], [1, 3]]),
        ("two_outputs", [[6, 0], [2, 3]]),
        ("chain", [[3, 10], [2, 3]]),
        ("levels", [[2, 4, 0], [1, 2, 2]]),
        ("captures", [[1]]),
        ("indices", [[4], [3]]),
    ],
)
def test_levels_of_tiling(name: str, levels: list[list[int]]) -> None:
    """Several levels, applied where they are legal: for all blocks of that rank."""
    program = load(name)
    module = program.module.clone()
    blocks = [
        block
        for block in top_level_blocks(module)
        if len(block.index_ranges) == len(levels[0])
    ]
    for block in blocks:
        set_schedule(block, Schedule.of(levels))
    for text in (
        "stripe-partition-edges",
        "stripe-tile",
        "stripe-accumulate",
        "stripe-separate{bits=128 grain=5}",
        "stripe-plan-vectors{bits=128},stripe-vectorize{bits=128}",
    ):
        run(module, text)
        program.check(module)
    assert blocks
    check_round_trip(module)


ANYTIME = (
    *ALONE,
    "stripe-plan-vectors{bits=128},stripe-vectorize{bits=128}",
    "stripe-localize",
)
"""Passes that may run in any order."""

REFUSALS = ("cannot tile: ", "expected an index that only aggregates to be whole")


def is_refused(module: ModuleOp, name: str) -> bool:
    """Whether a pass says, with a place, that sizes do not fit."""
    try:
        run(module, name)
    except GinghamError as error:
        if error.location is None or not error.message.startswith(REFUSALS):
            raise
        return True
    return False


@given(data=st.data())
@settings(max_examples=40)
def test_any_tiles_in_any_order(data: st.DataObject) -> None:
    """Tile sizes are exact or refused, and passes may come in any order."""
    program = load(data.draw(st.sampled_from(NAMES), "program"))
    module = program.module.clone()
    run(module, ",".join(data.draw(st.lists(st.sampled_from(ANYTIME), max_size=2))))
    blocks = list(top_level_blocks(module))
    for block in blocks:
        levels = data.draw(st.integers(1, 2), "levels")
        sizes = [
            [data.draw(st.integers(0, extent + 1)) for extent in block.index_ranges]
            for _ in range(levels)
        ]
        set_schedule(block, Schedule.of(sizes))
    if data.draw(st.booleans(), "partitioned"):
        if is_refused(module, "stripe-partition-edges"):
            return
        program.check(module)
    if is_refused(module, "stripe-tile"):
        return
    program.check(module)
    for text in data.draw(st.lists(st.sampled_from(ANYTIME), max_size=4), "passes"):
        run(module, text)
        program.check(module)
    check_round_trip(module)
