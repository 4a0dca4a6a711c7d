"""The work of blocks, against an account of every point."""

from __future__ import annotations

import itertools
from random import Random

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from random_blocks import ProgramText
from stripe_programs import CONTEXT, choose_tiles, run
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import BlockArgument, SSAValue
from xdsl.parser import Parser

from gingham.dialects.aggregation import Aggregation
from gingham.dialects.eltwise.element_types import bit_width
from gingham.dialects.eltwise.ops import ElementwiseOp
from gingham.dialects.stripe.attributes import ViewType
from gingham.dialects.stripe.block import BlockOp
from gingham.dialects.stripe.ops import LoadOp, StoreOp
from gingham.dialects.work import Work, work_of
from gingham.errors import GinghamError
from gingham.frontend.tile_text import parse_tile
from gingham.passes.stripe.analysis.count_work import count_work
from gingham.passes.stripe.analysis.nests import root_buffer, top_level_blocks
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.specialize import specialize

Cell = tuple[SSAValue, tuple[int, ...]]


class Account:
    """Runs through every point of a nest of blocks, and notes what it touches."""

    def __init__(self, block: BlockOp) -> None:
        self.operations = 0
        self.read: set[Cell] = set()
        self.written: set[Cell] = set()
        self._written_before: set[SSAValue] = set()
        self._outer = {*block.buffers}
        self._run(block, {}, {b: (0,) * len(sizes(b)) for b in block.buffers})

    @property
    def work(self) -> Work:
        return Work(
            self.operations, sum(map(size, self.read)), sum(map(size, self.written))
        )

    def _run(
        self,
        block: BlockOp,
        indices: dict[SSAValue, int],
        origins: dict[SSAValue, tuple[int, ...]],
    ) -> None:
        for point in itertools.product(*map(range, block.index_ranges)):
            values = indices | dict(zip(block.indices, point, strict=True))
            numbers = [values[value] for value in block.form_values]
            inner = dict(origins)
            for number, refinement in enumerate(block.refinement_list):
                base = origins[block.buffers[number]]
                moved = [int(form.evaluate(numbers)) for form in refinement.access]
                view = block.view(number)
                inner[view] = tuple(a + b for a, b in zip(base, moved, strict=True))
                if refinement.init is not None:
                    self._touch(self.written, view, inner[view])
            if any(form.evaluate(numbers) < 0 for form in block.conditions):
                continue
            self._statements(block, values, inner)

    def _statements(
        self,
        block: BlockOp,
        values: dict[SSAValue, int],
        origins: dict[SSAValue, tuple[int, ...]],
    ) -> None:
        for op in block.body.ops:
            if isinstance(op, BlockOp):
                self._run(op, values, origins)
            elif isinstance(op, LoadOp):
                self._touch(self.read, op.view, origins[op.view])
            elif isinstance(op, StoreOp):
                self._store(op, origins[op.view])
            elif isinstance(op, ElementwiseOp):
                is_counted = not isinstance(op.result.type, IndexType)
                self.operations += is_counted and not op.function.moves

    def _store(self, op: StoreOp, origin: tuple[int, ...]) -> None:
        chain: list[object] = []
        aggregation = None
        view: SSAValue = op.view
        while isinstance(view, BlockArgument):
            block = view.block.parent_op()
            if not isinstance(block, BlockOp):
                break
            number = view.index - len(block.index_ranges)
            refinement = block.refinement(number)
            aggregation = aggregation or refinement.aggregation
            chain.append(refinement.init)
            view = block.buffers[number]
        if aggregation is not None and aggregation is not Aggregation.ASSIGN:
            self.operations += 1
            if not any(init is not None for init in chain):
                self._touch(self.read, op.view, origin)
        self._touch(self.written, op.view, origin)

    def _touch(self, cells: set[Cell], view: SSAValue, origin: tuple[int, ...]) -> None:
        root = root_buffer(view)
        for offset in itertools.product(*map(range, sizes(view))):
            cell = tuple(a + b for a, b in zip(origin, offset, strict=True))
            if all(0 <= c < n for c, n in zip(cell, sizes(root), strict=True)):
                cells.add((root, cell))


def sizes(view: SSAValue) -> tuple[int, ...]:
    assert isinstance(view.type, ViewType)
    return view.type.sizes


def size(cell: Cell) -> int:
    assert isinstance(cell[0].type, ViewType)
    return bit_width(cell[0].type.element_type) // 8


def lowered(text: str, *types: str, passes: str = "") -> ModuleOp:
    module = specialize(parse_tile(text), [parse_argument_type(t) for t in types])
    run(module, "tile-canonicalize,tile-flatten,lower-tile-to-stripe" + passes)
    return module


@given(st.integers(0, 2**32))
def test_random_blocks(seed: int) -> None:
    """Operations are exact, and bytes are no fewer than those of all cells."""
    module = Parser(CONTEXT, str(ProgramText(Random(seed)))).parse_module()
    for block in top_level_blocks(module):
        expected, found = Account(block).work, count_work(block)
        assert found.flops == expected.flops
        assert found.bytes_read >= expected.bytes_read
        assert found.bytes_written >= expected.bytes_written


@given(st.integers(0, 2**32))
def test_tiled_blocks(seed: int) -> None:
    """Tiles change nothing of what points compute."""
    module = Parser(CONTEXT, str(ProgramText(Random(seed)))).parse_module()
    choose_tiles(module, Random(seed))
    run(module, "stripe-partition-edges")
    plain = [count_work(block).flops for block in top_level_blocks(module)]
    try:
        run(module, "stripe-tile")
    except GinghamError:
        # Some tiles would leave gaps.
        reject()
    tiled = [count_work(block).flops for block in top_level_blocks(module)]
    assert tiled == plain == [Account(b).work.flops for b in top_level_blocks(module)]


PRODUCT = (
    "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }"
)
CONVOLUTION = (
    "function (I[N, X, Y, CI], K[KX, KY, CI, CO]) -> (O) {"
    " O[n, x, y, co : N, X, Y, CO] ="
    " +(I[n, x + kx - 1, y + ky - 1, ci] * K[kx, ky, ci, co]); }"
)
EXACT = [
    (PRODUCT, ["5x6xf32", "6x7xf32"]),
    (CONVOLUTION, ["1x5x6x2xf32", "3x3x2x4xf32"]),
    ("function (A[N]) -> (B) { B[i : N / 2] = >(A[2 * i + j]), j < 3; }", ["9xf32"]),
    ("function (A[N, N]) -> (B) { B[i : N] = +(A[i, i]); }", ["6x6xf64"]),
    ("function (A[N]) -> (B) { B[i : N] = +(A[i - k]), k < N; }", ["9xf32"]),
    ("function (A[N, M]) -> (B) { B[i : N] = +(A[i, j]), i - j < 3; }", ["9x7xf32"]),
    ("function (A[N]) -> (B) { B[3 * i : 3 * N] = +(A[i]); }", ["5xf32"]),
    ("function (A[N]) -> (B) { B = cond(A < 2, exp(-A), A * A); }", ["5xf32"]),
    ("function (A[N, L], B[M]) -> (C) { C = sqrt(A) + B / 3; }", ["4x1xf16", "5xf16"]),
]


@pytest.mark.parametrize(("text", "types"), EXACT)
def test_programs(text: str, types: list[str]) -> None:
    for block in top_level_blocks(lowered(text, *types)):
        assert count_work(block) == Account(block).work


def test_product_of_matrices() -> None:
    (block,) = top_level_blocks(lowered(PRODUCT, "64x32xf32", "32x48xf32"))
    read, written = 4 * (64 * 32 + 32 * 48), 4 * 64 * 48
    assert count_work(block) == Work(2 * 64 * 32 * 48, read, written)


def test_convolution_counts_what_is_inside() -> None:
    """Of 3 x 3 pixels around each, some are outside of the image."""
    types = ["1x56x56x64xf32", "3x3x64x64xf32"]
    (block,) = top_level_blocks(lowered(CONVOLUTION, *types))
    assert count_work(block).flops == 2 * (3 * 56 - 2) ** 2 * 64 * 64


def test_fused_members_pass_nothing_through_memory() -> None:
    text = "function (A[N, M]) -> (C) { B = A * 2; C = B + exp(B); }"
    passes = ",stripe-fuse"
    (block,) = top_level_blocks(lowered(text, "8x9xf32", passes=passes))
    assert count_work(block) == Work(3 * 72, 4 * 72, 4 * 72)


def test_a_gather_reads_no_more_than_it_asks_for() -> None:
    text = "function (X[N], I[K]) -> (Y) { Y = gather(X, I); }"
    (block,) = top_level_blocks(lowered(text, "1000xf32", "10xsi32"))
    assert count_work(block).bytes_read == 4 * 10 + 4 * 10


def test_what_is_counted_stays() -> None:
    module = lowered(PRODUCT, "8x8xf32", "8x8xf32")
    (block,) = top_level_blocks(module)
    Work(1, 2, 3).write_to(block)
    run(module, "stripe-count-work")
    assert work_of(block) == Work(1, 2, 3)
