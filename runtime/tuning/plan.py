"""What there is to tune in a program: its units, their leaves, and what to try."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from ...dialects.stripe.block import BlockOp
from ...dialects.stripe.schedule import Schedule
from ...passes.pipelines import TargetOptions
from ...passes.stripe.analysis.nests import reduction_indices, top_level_blocks
from ...passes.stripe.decide.recall.unit import key_of, leaves_of, unit_block, unit_of
from ...targets.hardware import Hardware
from .lowering import passes_around, run_passes

if TYPE_CHECKING:
    from ...passes.stripe.decide.candidate import Candidate

_LOOKED_AT = 20
"""Decisions that are looked at for each that is measured."""


@dataclass(frozen=True)
class Choice:
    """A decision that the model proposes."""

    rank: int
    """Its place in the model's list, 0 the best."""
    predicted_seconds: float
    schedule: str
    """As text, without the reason."""


@dataclass(frozen=True)
class Question:
    """A leaf of a unit, and the decisions that are worth measuring for it."""

    unit: str
    """The key of the unit."""
    block: str
    """The name of the block in the program."""
    ir: str
    """The unit before anything is decided."""
    leaf: int
    choices: tuple[Choice, ...]


@dataclass(frozen=True)
class Plan:
    """All questions of a program, and the passes that units go through."""

    questions: tuple[Question, ...]
    passes: str


def plan_of(
    module: ModuleOp, options: TargetOptions, count: int, spread: bool = False
) -> Plan:
    """What to measure for a program.

    That is the `count` best choices for every leaf, or such that are spread over all
    there are. `module` is specialized to its shapes, and taken through the passes in
    place.
    """
    before, after = passes_around(options)
    run_passes(module, before)
    # The vectors that a work-item computes with, as the deciding pass is told, too.
    hardware = options.hardware
    if hardware.has_vectors:
        hardware = hardware.with_vectors(options.vector_bits)
    questions = _questions(module, hardware, count, spread)
    return Plan(tuple(questions), after)


def _questions(
    module: ModuleOp, hardware: Hardware, count: int, spread: bool
) -> Iterator[Question]:
    seen: set[str] = set()
    for block in top_level_blocks(module):
        unit = unit_of(block)
        if unit is None:
            continue
        key = key_of(unit)
        if key in seen:
            continue
        seen.add(key)
        ir = str(unit)
        for number, leaf in enumerate(leaves_of(unit_block(unit))):
            choose = choices_over if spread else choices_for
            choices = choose(leaf, hardware, count)
            if len(choices) > 1:
                name = leaf.block_name or block.block_name
                shown = name.data if name is not None else f"leaf {number}"
                yield Question(key, shown, ir, number, tuple(choices))


def choices_for(leaf: BlockOp, hardware: Hardware, count: int) -> list[Choice]:
    """What is worth measuring for a block without blocks inside, by the cost model.

    The best decision of each kind comes first, then the second of each: neighbours in
    the model's list are often the same but for a detail, and a measurement is to tell
    what the model can not.
    """
    from ...passes.stripe.decide.candidates import candidates

    kinds: dict[object, list[Choice]] = {}
    found = candidates(leaf, hardware, _LOOKED_AT * count)
    for rank, candidate in enumerate(found):
        choice = _choice(leaf, rank, candidate)
        kinds.setdefault(_kind(candidate.schedule), []).append(choice)
    taken = [each for turn in zip_longest(*kinds.values()) for each in turn if each]
    return sorted(taken[:count], key=lambda choice: choice.rank)


def choices_over(leaf: BlockOp, hardware: Hardware, count: int) -> list[Choice]:
    """Decisions all over the space, good and bad ones: how well does the model rank?"""
    from ...passes.stripe.decide.candidates import candidates

    found = candidates(leaf, hardware, count, spread_out=True)
    return [_choice(leaf, rank, candidate) for rank, candidate in enumerate(found)]


def _choice(leaf: BlockOp, rank: int, candidate: Candidate) -> Choice:
    # The same loops are one record, however they are found.
    schedule = candidate.schedule.unexplained()
    normal = schedule.normalized(leaf.index_ranges, reduction_indices(leaf))
    return Choice(rank, candidate.seconds, str(normal))


def _kind(schedule: Schedule) -> object:
    """What decisions of one kind have in common: the innermost tile, what is staged."""
    return schedule.tile, bool(schedule.stages)
