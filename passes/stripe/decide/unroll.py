"""`stripe-unroll`: mark the short loops of registers to be unrolled.

An array of a work-item stays in registers only when every position in it is known when
the kernel is compiled. So the indices of an innermost block that occur in the access of
a private buffer are bound to `unroll`, if together they have at most the
hardware's `unrolled_copies` values. Those of a buffer with more do not count: it is too
long for registers. Buffers in which subscripts choose places do not count: they are in
memory anyway.

Buffers that nothing is aggregated into may be in memory, too: each cell is stored and
loaded once, which is little beside what there is to compute. So where unrolling makes
more than `unrolled_statements`, only the indices of accumulators count, which a loop
loads and stores in each step. Long code takes the device's compiler most of its time.

Around such a tile of registers, loops are unrolled with it of which the steps read the
same cells again, where those fit into the registers with the tile: in
`I[%y + %j]` with 8 values of `%y` and 3 of `%j` there are 10 cells to load, not 24.

Before:

```mlir
stripe.block [%k : 32, %i : 8, %j : 2] ...
    out %c = %acc[%i, %j] : 1x1 add { ... }
```

After:

```mlir
stripe.block [%k : 32, %i : 8 unroll, %j : 2 unroll] ...
    out %c = %acc[%i, %j] : 1x1 add { ... }
```
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from ....dialects.stripe.attributes import Aggregation, MemorySpace, ViewType
from ....dialects.stripe.binding import Binding, index_name
from ....dialects.stripe.block import BlockOp
from ....targets.hardware import Hardware
from ...hardware_pass import HardwarePass
from ...kernel_pass import KernelPass
from ..analysis.kernels import blocks_of_kernels
from ..analysis.nests import is_leaf, is_subscripted, root_buffer
from ..analysis.window_reuse import reusing_loops
from ..edit.schedules import bind


@dataclass(frozen=True)
class StripeUnrollPass(KernelPass, HardwarePass):
    """Mark the short loops of registers to be unrolled."""

    name = "stripe-unroll"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Bind short loops of leaves to `unroll`.

        Raises GinghamError for hardware that is not known.
        """
        hardware = self.figures
        leaves = [block for block in blocks_of_kernels(op) if is_leaf(block)]
        places = _places(leaves)
        accumulators = _accumulators(leaves)
        for block in leaves:
            _mark(block, places, accumulators, hardware)


def _mark(
    block: BlockOp,
    places: Mapping[SSAValue, int],
    accumulators: Collection[SSAValue],
    hardware: Hardware,
) -> None:
    ranges, limit = block.index_ranges, hardware.overheads.unrolled_copies
    most = hardware.overheads.unrolled_statements
    private: set[int] = set()
    near: set[int] = set()
    for number in range(len(block.refinements)):
        indices = _private_indices(block, number, places)
        if indices and prod(ranges[index] for index in indices) <= limit:
            near |= indices
            buffer = root_buffer(block.view(number))
            if buffer in accumulators and places[buffer] <= limit:
                private |= indices
    copies = prod(ranges[index] for index in near)
    if copies <= limit and copies * len(block.body.block.ops) <= most:
        private = near
    if not private or prod(ranges[index] for index in private) > limit:
        return
    again = _reusing(block, private, hardware, places)
    chosen = [
        index
        for index, own in enumerate(block.index_bindings)
        if own is Binding.UNDECIDED and index in private | again
    ]
    if chosen:
        held = [
            f"%{root_buffer(block.view(number)).name_hint or 'buffer'}"
            for number in range(len(block.refinements))
            if _private_indices(block, number, places) & private
        ]
        bind(block, chosen, Binding.UNROLL, _reason(block, held, again))


def _reason(block: BlockOp, held: Sequence[str], again: Collection[int]) -> str:
    """Why indices are unrolled: buffers in registers, and loops that read again."""
    reason = f"registers hold {' and '.join(dict.fromkeys(held))}"
    if not again:
        return reason
    loops = [index_name(block.indices[index], index) for index in sorted(again)]
    return f"{reason}, and what steps of {' and '.join(loops)} read again"


def _reusing(
    block: BlockOp,
    private: set[int],
    hardware: Hardware,
    places: Mapping[SSAValue, int],
) -> frozenset[int]:
    """The loops around the tile of registers that read the same cells in each step."""
    ranges = block.index_ranges
    loops = [
        index
        for index, binding in enumerate(block.index_bindings)
        if binding is Binding.UNDECIDED and index not in private
    ]
    inputs: list[list[tuple[int, ...]]] = []
    accumulators = 0
    for number, refinement in enumerate(block.refinement_list):
        if refinement.direction.writes:
            held = _private_indices(block, number, places)
            accumulators += prod(ranges[index] for index in held)
        elif is_subscripted(block.view(number)):
            return frozenset()
        elif block.view_type(number).space.data is not MemorySpace.PRIVATE:
            rows = [form.coefficients[: len(ranges)] for form in refinement.access]
            inputs.append([tuple(map(int, row)) for row in rows])
    return reusing_loops(ranges, private, loops, inputs, hardware, accumulators)


def _places(leaves: Sequence[BlockOp]) -> dict[SSAValue, int]:
    """How many registers each private buffer would take: its widest windows.

    Without those in which subscripts choose.
    """
    widest: dict[SSAValue, int] = {}
    for block in leaves:
        for number in range(len(block.refinements)):
            window = block.view_type(number)
            if window.space.data is MemorySpace.PRIVATE:
                buffer = root_buffer(block.view(number))
                widest[buffer] = max(widest.get(buffer, 1), prod(window.sizes))
    return {
        buffer: prod(buffer.type.sizes) // width
        for buffer, width in widest.items()
        if isinstance(buffer.type, ViewType) and not is_subscripted(buffer)
    }


def _accumulators(leaves: Sequence[BlockOp]) -> set[SSAValue]:
    """The buffers that blocks aggregate into."""
    return {
        root_buffer(block.view(number))
        for block in leaves
        for number, refinement in enumerate(block.refinement_list)
        if refinement.aggregation is not Aggregation.ASSIGN
    }


def _private_indices(
    block: BlockOp, number: int, places: Mapping[SSAValue, int]
) -> set[int]:
    """The indices of a block in the access of a private buffer; none of any other."""
    if block.view_type(number).space.data is not MemorySpace.PRIVATE:
        return set()
    if root_buffer(block.view(number)) not in places:
        return set()
    return {
        index
        for form in block.refinement(number).access
        for index in form.support
        if index < len(block.index_ranges)
    }
