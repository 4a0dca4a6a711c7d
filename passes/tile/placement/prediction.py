"""The time of a unit on a device, predicted by the cost model.

The unit is lowered for the device up to where `stripe-autotile` decides. A block that
is one contraction takes what the cost model predicts for its best nest. Any other takes
as long as its arithmetic or its traffic, whichever is larger, and a part of the other:

    launch + work-groups + max(arithmetic, traffic) + 0.3 * min(arithmetic, traffic)

Equal units are predicted once for a device, whatever they are called.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from threading import Lock
from typing import TYPE_CHECKING

from ....dialects.stripe.block import BlockOp
from ....dialects.work import work_of
from ....targets.hardware.description import Hardware
from .units import Unit, unit_module

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

_EXPOSED = 0.3
"""The part of the smaller of arithmetic and traffic that the larger does not hide."""
_FITS = 0.5
"""The part of the last cache that data may be and still be there from before."""
_KNOWN = 4096
"""Predictions that are kept."""
_DECIDES = ",stripe-autotile"

_lock = Lock()
_predicted: dict[tuple[str, Hardware], float] = {}


def predicted_seconds(unit: Unit, hardware: Hardware) -> float:
    """The predicted time of a unit on a device with such figures, in seconds."""
    place = unit.key, hardware
    with _lock:
        found = _predicted.get(place)
    if found is None:
        found = module_seconds(unit_module(unit), hardware)
        with _lock:
            while len(_predicted) >= _KNOWN:
                del _predicted[next(iter(_predicted))]
            _predicted[place] = found
    return found


def module_seconds(module: ModuleOp, hardware: Hardware) -> float:
    """The predicted time of a flattened program, one launch after the other.

    The module is lowered in place.
    """
    from ...stripe.blocks.nests import top_level_blocks

    _lower(module, hardware)
    return sum(_block_seconds(block, hardware) for block in top_level_blocks(module))


def _lower(module: ModuleOp, hardware: Hardware) -> None:
    from xdsl.passes import PassPipeline

    from ... import get_all_passes
    from ...pipelines import stage_passes
    from ...target_options import TargetOptions

    options = TargetOptions(hardware=hardware)
    passes, _, _ = stage_passes(options)["stripe"].partition(_DECIDES)
    context = _context()
    for each in PassPipeline.parse_spec(get_all_passes(), passes).passes:
        each.apply(context, module)


def _context() -> Context:
    from xdsl.context import Context

    from ....dialects import get_all_dialects

    context = Context()
    for name, factory in get_all_dialects().items():
        context.register_dialect(name, factory)
    return context


def _block_seconds(block: BlockOp, hardware: Hardware) -> float:
    """The time of a block that becomes a kernel."""
    from ...stripe.blocks.nests import is_leaf
    from ...stripe.cost import best, problem_of

    if not all(block.index_ranges):
        return 0.0
    if is_leaf(block) and not block.is_serial:
        problem = problem_of(block, hardware.vector_bits)
        if problem.aggregates and not problem.uncut:
            return best(problem, hardware).seconds
    arithmetic = sum(_leaf_seconds(leaf, hardware) for leaf in _leaves(block))
    traffic = _traffic_seconds(block, hardware)
    busy = max(arithmetic, traffic) + _EXPOSED * min(arithmetic, traffic)
    groups = prod(block.index_ranges) if not is_leaf(block) else hardware.cores
    starting = groups * hardware.group_nanoseconds * 1e-9 / hardware.cores
    return hardware.launch_microseconds * 1e-6 + starting + busy


def _leaves(block: BlockOp) -> Iterator[BlockOp]:
    from ...stripe.blocks.nests import all_blocks, is_leaf

    return (each for each in all_blocks(block) if is_leaf(each))


def _leaf_seconds(leaf: BlockOp, hardware: Hardware) -> float:
    """The arithmetic of a block in all its runs, on the cores that share it."""
    from ...stripe.blocks.nests import is_top_level, points_around
    from ...stripe.cost import problem_of

    problem = problem_of(leaf, hardware.vector_bits)
    points = prod(leaf.index_ranges) * points_around(leaf)
    lanes = 1 if problem.vector is None and not problem.aggregates else problem.lanes
    serial = leaf.is_serial and is_top_level(leaf)
    cores = 1 if serial else hardware.cores
    rate = lanes * hardware.multiply_adds_per_cycle * hardware.clock_gigahertz * 1e9
    return points * problem.operations / (rate * cores)


def _traffic_seconds(block: BlockOp, hardware: Hardware) -> float:
    """The time to read and write what a block uses of the memory outside, once."""
    from ...stripe.count_work import count_work

    work = work_of(block) or count_work(block)
    size = work.bytes_read + work.bytes_written
    memory = hardware.memory_gigabytes_per_second * 1e9
    last = hardware.caches[-1]
    everywhere = last.size_bytes * (1 if last.is_shared else hardware.cores)
    if size > _FITS * everywhere:
        return size / memory
    cached = last.bytes_per_cycle * hardware.clock_gigahertz * 1e9 * hardware.cores
    return size / max(cached, memory)
