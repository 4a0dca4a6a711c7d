"""The time of a unit on a device, predicted by the cost model.

The unit is lowered for the device up to where `stripe-autotile` decides. A block that
is one contraction takes what the cost model predicts for its best nest. Any other takes
what the model's clock says of its launch, its work-groups, its arithmetic and its data.

What is between its kernels takes memory while it runs. Equal units are predicted once
for a device, whatever they are called.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from threading import Lock
from typing import TYPE_CHECKING

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from ..dialects import make_context
from ..dialects.stripe.attributes import MemorySpace, view_type
from ..dialects.stripe.block import BlockOp
from ..dialects.stripe.ops import AllocOp
from ..dialects.stripe.schedule import Schedule, schedule_of
from ..dialects.work import work_of
from ..targets.hardware.description import Hardware
from .units import Unit, unit_module

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from ..passes.clock import Clock
    from ..passes.stripe.analysis.problem import Problem

_KNOWN = 4096
"""Predictions that are kept."""
_DECIDES = "stripe-autotile"

_lock = Lock()
_predicted: dict[tuple[str, Hardware], Prediction] = {}


@dataclass(frozen=True)
class Prediction:
    """What a unit needs on a device."""

    seconds: float
    scratch_bytes: int
    """Of memory for what is between its kernels, beside its inputs and outputs."""


def predicted(unit: Unit, hardware: Hardware) -> Prediction:
    """What a unit needs on a device with such figures."""
    place = unit.key, hardware
    with _lock:
        found = _predicted.get(place)
    if found is None:
        found = predicted_module(unit_module(unit), hardware)
        with _lock:
            while len(_predicted) >= _KNOWN:
                del _predicted[next(iter(_predicted))]
            _predicted[place] = found
    return found


def predicted_module(module: ModuleOp, hardware: Hardware) -> Prediction:
    """What a flattened program needs, one launch after the other.

    The module is lowered in place.
    """
    from ..passes.stripe.analysis.nests import top_level_blocks

    _lower(module, hardware)
    blocks: dict[Operation, Prediction] = {
        block: _predicted_block(block, hardware) for block in top_level_blocks(module)
    }
    seconds = sum(each.seconds for each in blocks.values())
    functions = (op for op in module.ops if isinstance(op, FuncOp))
    scratch = [_scratch_bytes(function, blocks) for function in functions]
    return Prediction(seconds, max(scratch, default=0))


def _scratch_bytes(function: FuncOp, blocks: Mapping[Operation, Prediction]) -> int:
    """The most that is taken at once between and for the statements of a function."""
    from ..passes.stripe.analysis.nests import statements

    last: dict[AllocOp, int] = {}
    made: dict[SSAValue, AllocOp] = {}
    steps = statements(function)
    for step, op in enumerate(steps):
        if isinstance(op, AllocOp):
            made[op.view], last[op] = op, step
            continue
        for buffer in [made[value] for value in op.operands if value in made]:
            if isinstance(op, ReturnOp):
                # A result is no scratch.
                last.pop(buffer, None)
                continue
            last[buffer] = step
            made |= dict.fromkeys(op.results, buffer)
    held = most = 0
    for step, op in enumerate(steps):
        if isinstance(op, AllocOp) and op in last:
            held += op.view.type.bytes
        own = blocks[op].scratch_bytes if op in blocks else 0
        most = max(most, held + own)
        held -= sum(each.view.type.bytes for each in last if last[each] == step)
    return most


def _lower(module: ModuleOp, hardware: Hardware) -> None:
    from ..passes.pipelines import stage_steps
    from ..passes.target_options import TargetOptions

    context = make_context()
    for each in stage_steps(TargetOptions(hardware=hardware))["stripe"]:
        if each.name == _DECIDES:
            return
        each.module_pass().apply(context, module)


def _predicted_block(block: BlockOp, hardware: Hardware) -> Prediction:
    """What a block needs that becomes a kernel, with the copies that it reads."""
    from ..passes.stripe.analysis.nests import is_leaf
    from ..passes.stripe.decide.search import best, problem_of

    if not all(block.index_ranges):
        return Prediction(0.0, 0)
    if is_leaf(block) and not block.is_serial:
        problem = problem_of(block, hardware.vector_bits)
        if problem.aggregates and not problem.uncut:
            found = best(problem, hardware)
            return Prediction(found.seconds, _staged_bytes(problem, found.nest))
    return Prediction(_stream_seconds(block, hardware), _decided_copies(block))


def _decided_copies(block: BlockOp) -> int:
    """The copies of inputs that fusion has decided on: about as large as these."""
    from ..passes.stripe.analysis.nests import all_blocks, root_buffer

    copied: dict[SSAValue, int] = {}
    for leaf in all_blocks(block):
        for stage in schedule_of(leaf).stages:
            if stage.space is MemorySpace.GLOBAL:
                buffer = root_buffer(leaf.buffer(stage.refinement))
                copied[buffer] = view_type(buffer).bytes
    return sum(copied.values())


def _staged_bytes(problem: Problem, nest: Schedule) -> int:
    """The copies of inputs that are made before the kernel starts."""
    from ..passes.stripe.analysis.nest import scratch_bytes

    return sum(
        scratch_bytes(problem, nest, stage, problem.ranges)
        for stage in nest.stages
        if stage.before == 0 and stage.space is MemorySpace.GLOBAL
    )


def _stream_seconds(block: BlockOp, hardware: Hardware) -> float:
    """The time of a block that is no contraction alone."""
    from ..passes.clock import Clock
    from ..passes.stripe.analysis.count_work import count_work
    from ..passes.stripe.analysis.nests import is_leaf

    clock = Clock(hardware)
    arithmetic = sum(_leaf_seconds(leaf, clock) for leaf in _leaves(block))
    work = work_of(block) or count_work(block)
    data = clock.handed_on(work.bytes_read + work.bytes_written)
    groups = prod(block.index_ranges) if not is_leaf(block) else hardware.cores
    return clock.kernel(arithmetic, data, groups)


def _leaves(block: BlockOp) -> Iterator[BlockOp]:
    from ..passes.stripe.analysis.nests import all_blocks, is_leaf

    return (each for each in all_blocks(block) if is_leaf(each))


def _leaf_seconds(leaf: BlockOp, clock: Clock) -> float:
    """The arithmetic of a block in all its runs, on the cores that share it."""
    from ..passes.stripe.analysis.nests import is_top_level, points_around
    from ..passes.stripe.decide.search import problem_of

    problem = problem_of(leaf, clock.hardware.vector_bits)
    is_alone = leaf.is_serial and is_top_level(leaf)
    operations = problem.vector_operations * points_around(leaf)
    return clock.operations(operations, 1 if is_alone else 0)
