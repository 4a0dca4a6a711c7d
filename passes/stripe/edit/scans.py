"""The blocks of a running aggregation: sums of chunks, their starts, and the walks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from ....affine.form import LinearForm
from ....dialects.aggregation import Aggregation
from ....dialects.stripe.attributes import (
    Direction,
    MemorySpace,
    Refinement,
    view_type,
)
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.ops import AllocOp, StoreOp
from ...locations import located
from .blocks import retarget
from .copies import copy_block, fill_block
from .point_block import PointBlock, identity_access
from .scan import Piece, Scan, Space, Target, derived
from .split import Tiled, tile_block


def walk(
    scan: Scan,
    pieces: Sequence[Piece],
    index: int | None,
    step: int,
    cut: Callable[[Scan], None] | None = None,
) -> None:
    """Add the blocks that compute a scan, cut into pieces.

    `step` values of `index` take turns in one work-item. What chunks start from is
    scanned by `cut`, if it is given, else in one serial walk.
    """
    scan = replace(scan, lane=index)
    starts: dict[int, SSAValue | None] = {n: None for n in scan.outputs}
    if len(pieces) > 1 or pieces[0].chunks > 1:
        whole = pieces[0]
        sums = add_sums(scan, whole)
        if cut is None:
            starts |= _add_starts(scan, whole, sums)
        else:
            starts |= {n: scan_sums(scan, n, sums[n], cut) for n in scan.outputs}
    first = 0
    for piece in pieces:
        _add_walk(scan, piece, starts, first, step)
        first += piece.chunks


def _space(scan: Scan, piece: Piece, order: Sequence[int]) -> tuple[Space, int]:
    """Indices of rows, steps and chunks; those in `order` come last, of chunks too.

    And the place of the chunks among the rows.
    """
    block = scan.block
    rows = [n for n in scan.others if n not in order]
    steps, chunks = len(rows), len(rows) + 1
    rank = chunks + 1 + len(order)
    numbers = [*rows, scan.source, scan.target, *order]
    places = {n: place for place, n in enumerate(numbers)}
    forms = {n: LinearForm.dimension(places[n], rank) for n in scan.others}
    walked = (
        LinearForm.dimension(chunks, rank, piece.steps)
        + LinearForm.dimension(steps, rank)
        + piece.first
    )
    forms |= scan.ends(walked)
    names = [block.indices[n].name_hint for n in numbers]
    names[steps], names[chunks] = "t", "c"
    ranges = [block.index_ranges[n] for n in numbers]
    ranges[steps], ranges[chunks] = piece.steps, piece.chunks
    return Space(names, ranges, forms), chunks


def add_sums(scan: Scan, piece: Piece) -> dict[int, SSAValue]:
    """A block that aggregates each chunk; the buffer of each output's sums."""
    space, chunks = _space(scan, piece, [])
    rank = len(space.ranges)
    access = (
        LinearForm.dimension(chunks, rank),
        *(space.forms[n] for n in scan.others),
    )
    sums = {
        n: scan.allocate(n, [piece.chunks, *scan.row_shape], "chunks")
        for n in scan.outputs
    }
    targets = [
        Target(n, sums[n], access, scan.block.refinement(n)) for n in scan.outputs
    ]
    scan.add(derived(scan, space, targets, "_chunks"))
    return sums


def _add_starts(
    scan: Scan, piece: Piece, sums: Mapping[int, SSAValue]
) -> dict[int, SSAValue]:
    """Blocks that aggregate the sums of all chunks before each one."""
    shape = [piece.chunks + 1, *scan.row_shape]
    starts = {n: scan.allocate(n, shape, "starts") for n in scan.outputs}
    rows = len(scan.others)
    names = [f"r{n}" for n in range(rows)]
    for number, buffer in starts.items():
        outer = PointBlock(scan.row_shape, names, scan.block)
        corner = (LinearForm.constant_of(0, rows), *identity_access(rows))
        ones = [1] * rows
        chunks = outer.window(
            sums[number], Refinement(Direction.IN, corner), [piece.chunks, *ones]
        )
        window = outer.window(
            buffer, Refinement(Direction.INOUT, corner), [piece.chunks + 1, *ones]
        )
        how = scan.block.refinement(number)
        first = PointBlock([], [], scan.block)
        origin = (LinearForm.constant_of(0, 0),) * (rows + 1)
        element = view_type(buffer).element_type
        identity = how.aggregation.identity(element)
        first.store(first.constant(identity, element), window, origin)
        outer.nest(first.finish(None))
        inner = PointBlock([piece.chunks], ["c"], scan.block)
        zeros = (LinearForm.constant_of(0, 1),) * rows
        here = LinearForm.dimension(0, 1)
        before = inner.load(window, (here, *zeros))
        chunk = inner.load(chunks, (here, *zeros))
        function = how.aggregation.function
        if function is None:
            raise ValueError("expected an output that aggregates")
        after = inner.apply(function, [before, chunk], element)
        inner.store(after, window, (here + 1, *zeros))
        outer.nest(inner.finish(None, serial=True))
        scan.add(outer.finish(scan.name("_starts")))
    return starts


def scan_sums(
    scan: Scan, number: int, sums: SSAValue, cut: Callable[[Scan], None]
) -> SSAValue:
    """What the chunks of an output start from, by a scan of their sums."""
    chunks, *rows = view_type(sums).sizes
    starts = scan.allocate(number, [chunks + 1, *rows], "starts")
    aggregation = scan.block.refinement(number).aggregation
    element = view_type(starts).element_type
    identity = aggregation.identity(element)
    names = [f"r{n}" for n in range(len(rows))]
    first = PointBlock(rows, names, scan.block)
    corner = LinearForm.constant_of(0, len(rows))
    value = first.constant(identity, element)
    first.store(value, starts, (corner, *identity_access(len(rows))))
    scan.add(first.finish(scan.name("_starts")))
    rank = len(rows) + 2
    block = PointBlock([*rows, chunks, chunks], [*names, "c", "k"], scan.block)
    target, source = rank - 2, rank - 1
    row = [LinearForm.dimension(n, rank) for n in range(len(rows))]
    own, other = (LinearForm.dimension(n, rank) for n in (target, source))
    chunk = block.load(sums, (other, *row))
    block.store(chunk, starts, (own + 1, *row), aggregation, identity)
    sum_of_chunks = block.finish(scan.name("_starts"), [own - other])
    scan.add(sum_of_chunks)
    cut(Scan(sum_of_chunks, target, source, is_reversed=False))
    return starts


def _add_walk(
    scan: Scan,
    piece: Piece,
    starts: Mapping[int, SSAValue | None],
    first: int,
    step: int,
) -> None:
    """The block that walks over all chunks of a piece, the first being `first`."""
    order = [] if scan.lane is None else [scan.lane]
    space, chunks = _space(scan, piece, order)
    rank = len(space.ranges)
    rows = [space.forms[n] for n in scan.others]
    chunk = LinearForm.dimension(chunks, rank) + first
    scratch: dict[int, SSAValue] = {}
    targets: list[Target] = []
    forms = [
        space.forms.get(n, LinearForm.constant_of(0, rank))
        for n in range(len(scan.block.index_ranges))
    ]
    for number in scan.outputs:
        refinement = scan.block.refinement(number)
        buffer = starts[number]
        start = (chunk, *rows)
        if buffer is None:
            scratch[number] = buffer = scan.allocate(number, [1, *scan.row_shape], "")
            start = (LinearForm.constant_of(0, rank), *rows)
        access = tuple(form.substitute(forms) for form in refinement.access)
        how = replace(refinement, init=None)
        targets.append(
            Target(
                number, scan.block.buffer(number), access, how, start=(buffer, start)
            )
        )
    flat = derived(scan, space, targets)
    scan.add(flat)
    sizes = [1] * rank
    sizes[chunks - 1], sizes[chunks] = piece.steps, piece.chains
    if scan.lane is not None:
        sizes[-1] = step
    _make_serial(scan, tile_block(flat, sizes), is_filled=not scratch)
    for buffer in scratch.values():
        if isinstance(buffer.owner, Operation):
            Rewriter.erase_op(buffer.owner)


def _make_serial(scan: Scan, tiled: Tiled, *, is_filled: bool) -> None:
    """Let the points of a tile hand on their values in private cells.

    At first these hold what the starts are, or, if those are not filled, nothing.
    """
    outer, inner, _ = tiled
    refinements = list(inner.refinement_list)
    count = len(scan.outputs)
    begin = len(scan.inputs)
    for number in range(begin, begin + count):
        output = scan.block.refinement(scan.outputs[number - begin])
        window = outer.view_type(number)
        state = AllocOp(window.in_space(MemorySpace.PRIVATE), "state")
        view = outer.view(number)
        retarget(view, state.view)
        if is_filled:
            opening = copy_block(view, state.view)
        else:
            identity = output.aggregation.identity(window.element_type)
            opening = fill_block(state.view, identity)
        body = outer.body.block
        for operation in (state, opening):
            body.insert_op_before(located(operation, inner), inner)
        refinements[number] = replace(refinements[number], direction=Direction.INOUT)
        refinements[number + count] = replace(
            refinements[number + count], aggregation=Aggregation.ASSIGN
        )
    inner.set_refinements(refinements)
    inner.properties["serial"] = UnitAttr()
    for number in range(begin, begin + count):
        _hand_on(inner, number, number + count)
    _assign_outputs(outer, begin + count)
    if not is_filled:
        outer.drop(set(range(begin, begin + count)))


def _hand_on(block: BlockOp, state: int, output: int) -> None:
    """Store through a state what is stored through an output."""
    for use in list(block.view(output).uses):
        store = use.operation
        if isinstance(store, StoreOp) and store.parent is not None:
            both = StoreOp(store.value, block.view(state))
            store.parent.insert_op_before(located(both, store), store)


def _assign_outputs(block: BlockOp, first: int) -> None:
    """Let a block assign its outputs."""
    refinements = list(block.refinement_list)
    refinements[first:] = [
        replace(r, aggregation=Aggregation.ASSIGN) for r in refinements[first:]
    ]
    block.set_refinements(refinements)
