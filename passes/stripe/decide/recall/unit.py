"""A top-level block as a program of its own, and the key that all its copies share.

The program computes what the block computes, from buffers that are its inputs. So it
can be compiled and measured apart from where the block was found, and what was measured
holds for every program with such a block: names and places in a source do not count.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace

from xdsl.dialects.builtin import ArrayAttr, FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import ParseError, VerifyException

from .....dialects.constants import is_constant_argument, mark_constants
from .....dialects.stripe.attributes import Direction, MemorySpace, ViewType
from .....dialects.stripe.block import BlockOp
from .....dialects.stripe.ops import AllocOp
from .....dialects.stripe.schedule import (
    Schedule,
    parse_schedule,
    schedule_of,
    set_schedule,
)
from ...analysis.facts import covers
from ...analysis.nests import all_blocks, is_leaf


def unit_of(block: BlockOp) -> ModuleOp | None:
    """The program of a top-level block; None for one that has to be where it is.

    That is a block that writes what it reads, or uses memory which is not global.
    """
    read, written = _buffers(block)
    if read is None or written is None:
        return None
    body = Block(arg_types=[value.type for value in read])
    mapping: dict[SSAValue, SSAValue] = dict(zip(read, body.args, strict=True))
    for value, argument in mapping.items():
        argument.name_hint = value.name_hint
    results: list[SSAValue] = []
    for value in written:
        assert isinstance(value.type, ViewType)
        allocation = AllocOp(value.type, value.name_hint)
        body.add_op(allocation)
        mapping[value] = allocation.view
        results.append(allocation.view)
    body.add_ops([block.clone(value_mapper=mapping), ReturnOp(*results)])
    types = FunctionType.from_lists([v.type for v in read], [r.type for r in results])
    function = FuncOp("main", types, Region(body))
    constants = [n for n, value in enumerate(read) if is_constant_argument(value)]
    if constants:
        mark_constants(function, constants)
    function.attributes["tile.inputs"] = _names("in", len(read))
    function.attributes["tile.outputs"] = _names("out", len(results))
    return ModuleOp([function])


def unit_block(unit: ModuleOp) -> BlockOp:
    """The block that a unit was made of."""
    return next(op for op in unit.walk() if isinstance(op, BlockOp))


def leaves_of(block: BlockOp) -> list[BlockOp]:
    """The blocks at any depth that have none inside; decisions are about these."""
    return [each for each in all_blocks(block) if is_leaf(each)]


def decide(leaf: BlockOp, text: str, reason: str = "") -> None:
    """Give a leaf the schedule of a text in place of the tiles and copies that it has.

    After an error it is as it was. Raises ValueError where the text is no schedule, or
    none of this block.
    """
    try:
        decided = replace(parse_schedule(text), reason=reason)
        decided.check(leaf)
    except ParseError as error:
        raise ValueError(error.msg) from error
    except VerifyException as error:
        raise ValueError(str(error)) from error
    given = Schedule(parts=schedule_of(leaf).parts)
    set_schedule(leaf, decided.completed_by(given))


def covered_outputs(unit: ModuleOp) -> list[bool]:
    """For each result of a unit whether certainly every cell of it is written."""
    block = unit_block(unit)
    has_gaps = any(each.conditions for each in all_blocks(block))
    covered: dict[SSAValue, bool] = {}
    for number, refinement in enumerate(block.refinement_list):
        if refinement.direction.writes:
            buffer = block.buffer(number)
            is_whole = refinement.init is not None or not has_gaps
            found = is_whole and covers(block, number)
            covered[buffer] = covered.get(buffer, False) or found
    return [*covered.values()]


def key_of(unit: ModuleOp) -> str:
    """The same text for units that only differ in names, places and explanations."""
    plain = unit.clone()
    for operation in plain.walk():
        _strip(operation)
    return hashlib.sha256(str(plain).encode()).hexdigest()


def _strip(operation: Operation) -> None:
    if isinstance(operation, BlockOp):
        operation.block_name = None
        set_schedule(operation, schedule_of(operation).unexplained())
    # Text says why something was decided, to people.
    explanations = [
        name
        for name, attribute in operation.attributes.items()
        if isinstance(attribute, StringAttr)
    ]
    for name in explanations:
        del operation.attributes[name]
    for value in _values(operation):
        value.name_hint = None


def _values(operation: Operation) -> Iterator[SSAValue]:
    yield from operation.results
    for region in operation.regions:
        for block in region.blocks:
            yield from block.args


def _buffers(
    block: BlockOp,
) -> tuple[list[SSAValue] | None, list[SSAValue] | None]:
    """What a block reads and what it writes, each once; None where it may not leave."""
    read: list[SSAValue] = []
    written: list[SSAValue] = []
    for buffer, refinement in zip(block.buffers, block.refinement_list, strict=True):
        if refinement.direction is Direction.INOUT or not _is_global(buffer):
            return None, None
        values = read if refinement.direction is Direction.IN else written
        if buffer not in values:
            values.append(buffer)
    if block.captures or set(read) & set(written):
        return None, None
    return read, written


def _is_global(buffer: SSAValue) -> bool:
    if not isinstance(buffer.type, ViewType):
        return False
    return buffer.type.space.data is MemorySpace.GLOBAL


def _names(prefix: str, count: int) -> ArrayAttr[StringAttr]:
    return ArrayAttr([StringAttr(f"{prefix}{number}") for number in range(count)])
