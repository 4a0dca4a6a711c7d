"""What the cores of a device with lanes have for these, and what lanes lose."""

from __future__ import annotations

from dataclasses import dataclass

from .positive import require_positive


@dataclass(frozen=True)
class LaneFigures:
    """Figures of a device whose work-items are lanes; devices with vectors ask none.

    A description may leave any of them out: see `loading`.
    """

    core_registers: int
    """Registers of 32 bits that the work-items on a core share."""
    register_unit: int
    """Of which a work-item gets a multiple."""
    core_items: int
    """Work-items that a core runs at once."""
    core_groups: int
    """Work-groups that it runs at once."""
    core_memory_bytes: int
    """Local memory that the work-groups on a core share."""
    array_memory_bytes: int
    """Local memory of a work-group that the arrays of a kernel may take, where that is
    more than the device tells."""
    sector_bytes: int
    """What global memory moves at least."""
    banks: int
    """Of local memory, each of which serves a word in a cycle."""
    word_bytes: int
    """Of a word of a bank."""
    request_cycles: float
    """Of an access of a sub-group to local memory, beside those in which it is served.
    """
    line_cycles: float
    """Of an access of a sub-group to global memory, for each line that it touches."""
    access_cycles: float
    """Of an access of a sub-group to global memory at least, with the arithmetic of its
    place."""
    loop_cycles: float
    """Of such an access in a step of a loop beside that, with its tests."""
    busy_latency: float
    """How many times its latency memory takes that is busy."""
    latency_exponent: float
    """Memory is bound by its rate, and by what is on its way for a latency. The times
    of both add up like the sides of a triangle with this exponent."""
    segment_bytes: float
    """As many bytes more are moved for each contiguous segment that is read of rows
    which columns of lanes share."""
    partial_sector: float
    """How many times as long a sector takes of which only a part is written."""
    stream_overlap: float
    """The part that shows of what is not the slowest of memory, caches, accesses, local
    memory and arithmetic."""
    window_overlap: float
    """The same where work-items load all that they need into registers first."""
    tail_waves: float
    """The part of a wave of groups that cores lose in the end, one after the other."""
    alone_share: float
    """How much longer arithmetic takes on a unit that has one sub-group only."""
    local_share: float
    """The part of the accesses to local memory that arithmetic does not hide."""
    cache_share: float
    """The part of what comes from the last cache that it does not hide."""
    copy_cycles: float
    """Of a sub-group that copies to local memory, with the arithmetic of places."""
    step_wait_cycles: float
    """In which the work-items of a group wait for each other at a step of a sum."""
    step_cycles: float
    """Of such a step beside that: the loop, and places to copy from and to."""
    barrier_cycles: float
    """Until all items of a group have passed one, and what they wrote is seen."""
    launch_share: float
    """The part of a launch that shows of a kernel behind another one, which runs while
    it is launched."""
    loads_ahead: int
    """Loads of a loop that are on their way at once, by what compilers unroll."""
    walk_local_share: float
    """As `local_share`, in the products of a walk over rows."""
    walk_cache_share: float
    """As `cache_share`, in the products of a walk over rows."""
    walk_add_cycles: float
    """Of a multiply-add of a sub-group that waits for its own results."""
    walk_step_cycles: float
    """Of a step of such a product beside its arithmetic: barriers, and places."""
    walk_value_cycles: float
    """For each value that a lane stores, compares, puts into a function, adds up and
    stores again, one by one."""
    row_values: int
    """How many values of a row a work-item should have before more of them share it."""
    part_values: int
    """How many values a work-item should aggregate where another kernel takes what
    comes of it."""
    row_registers_share: float
    """The part of its registers that the cells of rows may take."""
    walked_values: int
    """Neighbouring values of a row that a work-item walks over."""

    def __post_init__(self) -> None:
        require_positive(self)
