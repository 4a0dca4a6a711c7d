"""Nodes of a graph with a device each, put together into groups that are run at once.

A group must not need what is computed of its own results elsewhere: else neither could
go first. Two numbers of a node see to that. Its level counts how often data has changed
devices on the way there, its urgency how often it will on the way to the end; along
every edge the first grows or stays and the second falls or stays. So nodes of one
device, one level and one urgency are a group, and groups need each other in no circle.

That is finer than it has to be, and often good so: what others wait for is not held up
by what they do not need. Where that is not worth a launch of its own, groups are put
together as far as no way from one to the other leads through a third.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

KeepApart = Callable[["NodeGroup", "NodeGroup"], bool]


@dataclass(eq=False)
class NodeGroup:
    """Nodes, by their numbers, that run on one device in one go."""

    device: str
    nodes: list[int]
    level: int
    urgency: int
    needs: set[NodeGroup] = field(default_factory=set["NodeGroup"])
    """The groups that it uses values of."""


def group(
    needs: Sequence[Sequence[int]],
    devices: Sequence[str],
    keep_apart: KeepApart | None = None,
) -> list[NodeGroup]:
    """The groups of a graph, each behind those it needs.

    `needs` are the nodes that each node needs, all of lower numbers; nodes in a group
    are in order of their numbers. `keep_apart` tells of two groups of one device that
    could be one, the first of which comes before, whether they should not; without it
    groups are as large as they can be.
    """
    levels, urgencies = _ranks(needs, devices)
    found: dict[tuple[str, int, int], NodeGroup] = {}
    places: list[NodeGroup] = []
    for node, key in enumerate(zip(devices, levels, urgencies, strict=True)):
        own = found.setdefault(key, NodeGroup(key[0], [], key[1], key[2]))
        own.nodes.append(node)
        places.append(own)
        own.needs |= {places[other] for other in needs[node]} - {own}
    # Along every edge between groups a level is higher or an urgency lower.
    ordered = sorted(found.values(), key=lambda each: (each.level, -each.urgency))
    return _join(ordered, keep_apart)


def _ranks(
    needs: Sequence[Sequence[int]], devices: Sequence[str]
) -> tuple[list[int], list[int]]:
    """The level and the urgency of each node."""
    levels = [0] * len(needs)
    urgencies = [0] * len(needs)
    for node, others in enumerate(needs):
        for other in others:
            step = devices[other] != devices[node]
            levels[node] = max(levels[node], levels[other] + step)
    for node in reversed(range(len(needs))):
        for other in needs[node]:
            step = devices[other] != devices[node]
            urgencies[other] = max(urgencies[other], urgencies[node] + step)
    return levels, urgencies


def _join(groups: list[NodeGroup], keep_apart: KeepApart | None) -> list[NodeGroup]:
    """Put groups together until no two can be, each behind those it needs."""
    position = 0
    before = _before(groups)
    while position < len(groups):
        first = groups[position]
        for number in range(position + 1, len(groups)):
            second = groups[number]
            if second.device != first.device:
                continue
            if _has_way_round(first, second, before):
                continue
            if keep_apart is not None and keep_apart(first, second):
                continue
            groups = _joined(groups, first, second)
            before = _before(groups)
            # What is one now can take in groups that neither part could.
            position = 0
            break
        else:
            position += 1
    return groups


def _before(groups: Sequence[NodeGroup]) -> dict[NodeGroup, set[NodeGroup]]:
    """All that each group comes behind."""
    found: dict[NodeGroup, set[NodeGroup]] = {}
    for each in groups:
        found[each] = set(each.needs).union(*(found[other] for other in each.needs))
    return found


def _has_way_round(
    first: NodeGroup, second: NodeGroup, before: dict[NodeGroup, set[NodeGroup]]
) -> bool:
    """Whether a way from the first to the second leads through another group."""
    return any(first in before[other] for other in before[second] if other is not first)


def _joined(
    groups: list[NodeGroup], first: NodeGroup, second: NodeGroup
) -> list[NodeGroup]:
    """The groups with two of them as one, each behind those it needs."""
    both = NodeGroup(
        first.device,
        sorted(first.nodes + second.nodes),
        max(first.level, second.level),
        max(first.urgency, second.urgency),
        (first.needs | second.needs) - {first, second},
    )
    left = [both if each is first else each for each in groups if each is not second]
    for each in left:
        if each.needs & {first, second}:
            each.needs = (each.needs - {first, second}) | {both}
    return _in_order(left)


def _in_order(groups: Sequence[NodeGroup]) -> list[NodeGroup]:
    done: dict[NodeGroup, None] = {}
    left = [*groups]
    while left:
        ready = [each for each in left if each.needs <= done.keys()]
        if not ready:
            raise ValueError("groups need each other in a circle")
        done |= dict.fromkeys(ready)
        left = [each for each in left if each not in done]
    return [*done]
