"""How many work-items of a group walk over a piece of a row, and how far each.

An item walks over some neighbouring values, 16 say. Where a row has more than a group
has then, it is cut into pieces, each of a group; where these are very many, or rows are
short, items walk further or less far. Of short rows a group has several, if there are
groups for the whole device then.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from ...edit.group_scan import Team
from ...edit.scan import Scan

_FEWEST = 8
"""Work-items of a group, however little local memory there is."""


@dataclass(frozen=True)
class Limits:
    """What a group has, and how much it should have; its items are rounded down."""

    items: int
    steps: int
    """Values of an item; twice as many where there are too many pieces of a row."""
    line: int
    """Cells of local memory that are in different banks."""
    memory: int
    """Bytes of local memory."""


def team_of(scan: Scan, limits: Limits, groups: int, most: int) -> Team:
    """The items of a group that walk over a piece of a scan's rows.

    With no more than `most` pieces of a row, if that can be, and so many groups at
    least, if there are rows for that.
    """
    block, length = scan.block, scan.length
    bytes = sum(block.view_type(number).bytes for number in scan.outputs)
    items, line = 1 << (limits.items.bit_length() - 1), _power_of_two(limits.line)
    steps = min(_power_of_two(limits.steps), _power_of_two(length))
    if length > most * items * steps:
        steps *= 2
    team = _team(scan, items, steps, line, groups)
    while team.cells_in_local_memory * bytes > limits.memory:
        if steps == 1 and items <= _FEWEST:
            break
        steps, items = (steps // 2, items) if steps > 1 else (steps, items // 2)
        team = _team(scan, items, steps, line, groups)
    return team


def _team(scan: Scan, items: int, steps: int, line: int, groups: int) -> Team:
    """So many items of a group at most, each with so many values."""
    own = min(items, _power_of_two(-(-scan.length // steps)))
    ranges = [scan.block.index_ranges[index] for index in scan.others]
    rows = 1
    if ranges:
        wanted = max(prod(ranges) // groups, line // own, 1)
        rows = _power_of_two(min(items // own, ranges[-1], wanted))
    return Team(rows, own, steps, max(min(line, own * steps), steps))


def _power_of_two(count: int) -> int:
    """The least that is not less."""
    return 1 << (count - 1).bit_length()
