"""What a core loses beside its work: waiting, loops, spills, copies, code.

And from which sizes on that counts: how much work is worth a work-group, how much code
its compiler makes something of, how full a cache may be.
"""

from __future__ import annotations

from dataclasses import dataclass

from .positive import require_positive


@dataclass(frozen=True)
class Overheads:
    """Figures that no manual tells, found by measuring nests of loops.

    They are much alike on processors of one kind, so that a description may leave any
    of them out: see `loading`.
    """

    overlap_exponent: float
    """Cores compute while data moves, but not all the time: the times of both add up
    like the sides of a triangle with this exponent, 1 if they followed each other,
    more the less they do."""
    step_stream_share: float
    """How much of the time that the data of a step take to come into the nearest cache
    shows beside the arithmetic of its register tile."""
    step_cycles: float
    """Of a loop's counter and jump, next to vector work."""
    loop_cycles: float
    """To enter a loop and to leave it: its end is mispredicted once."""
    unrolled_steps: int
    """Loops of so few steps are unrolled by the device's compiler."""
    tile_cycles: float
    """Until the first step of a register tile runs at full speed."""
    group_cycles: float
    """Of a work-group for its places in memory, before its first loop."""
    spill_cycles: float
    """That a step takes longer as soon as any value is spilled."""
    spilled_value_cycles: float
    """For each value that is stored and loaded again in every step."""
    collect_operations: float
    """Vector operations that put a part of a vector into its place."""
    check_cycles: float
    """Of a condition that differs between registers of a tile, in the mean: tiles at
    the borders are split off, the others check nothing."""
    store_alias_share: float
    """How long a load waits for the store of the row before, where rows are whole pages
    apart, as a part of the latency of what holds them: processors compare only the
    place in a page first."""
    jump_cycles: float
    """Until a stream from beyond the core's own caches runs again after a jump."""
    page_walk_cycles: float
    """To find a page that is not in the table of pages, with others on their way."""
    page_look_up_cycles: float
    """To find a page that only the last level of the table has, where that shows."""
    nearby_lines: int
    """Cache lines that are still at hand when a loop comes back to them at once."""
    leaf_share: float
    """The part of the time that a further leaf of a nest costs, for its place in the
    cache of instructions and its jumps."""
    leaf_nanoseconds: float
    """What it costs beside: its code comes from a cache behind the first."""
    transposed_elements: float
    """That a copy moves at once where it changes their order."""
    copied_run_cycles: float
    """Of the loops around each contiguous run that is copied."""
    leaf_build_milliseconds: float
    """The device's compiler, for each vector of cells that a leaf updates."""
    loop_build_milliseconds: float
    """The same for each loop around it."""
    cache_fits: float
    """The part of a cache that data may take so that all of them stay there."""
    cache_overflows: float
    """The part from which on nothing stays; in between misses grow linearly."""
    paged_cache_fits: float
    """As `cache_fits` where pages lie at random in a cache, as a part of it is more
    than a page: their number in one place has a Poisson distribution, and those of a
    place with more pages than ways do not stay."""
    paged_cache_overflows: float
    """As `cache_overflows` there."""
    shared_cache_fits: float
    """As `cache_fits` of a cache that other programs use, too, and of any where nothing
    is known of the loops."""
    shared_cache_overflows: float
    """As `cache_overflows` of a shared cache: behind others, which drop into it what
    they have no room for, it still has a part of more data."""
    group_elements: int
    """Elements that are worth a work-group, where little is computed of each."""
    groups_per_core: int
    """Work-groups that are worth having for each core, so that it is a small part by
    which the last one to end is late."""
    stream_pieces: int
    """Work-groups that streaming work is cut into at least, where it is long enough."""
    private_bytes: int
    """The largest buffer that a work-item has for itself: on the stack of a CPU."""
    unrolled_copies: int
    """Of a body whose accumulators the device's compiler still keeps in registers."""
    unrolled_statements: int
    """Of a body without accumulators, in all copies together."""
    interleaved_steps: int
    """Steps of a loop side by side that gain something, where registers are left."""
    interleaved_statements: int
    """Of a body that makes it long: longer ones gain nothing by steps side by side."""
    interleaved_register_share: float
    """The part of the vector registers that accumulators may take so that steps side by
    side gain."""
    interleaved_stores: int
    """Accumulators that the loops with steps side by side over the same ones may update
    in all: what is left over at borders is code, too."""
    interleaved_work: int
    """Statements that a loop runs in a work-item, all its steps together, from which
    steps side by side save in a thousand calls what they take to compile."""
    tested_code: float
    """How many times as much code a tile takes that tests each of its numbers."""

    def __post_init__(self) -> None:
        require_positive(self)
