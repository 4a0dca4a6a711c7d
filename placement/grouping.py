"""Which operations are a unit: what fusion keeps together anyway.

Operations join units in program order:

* a contraction that uses each element it reads many times, and whatever is neither
  element-wise nor a reduction, starts a unit;
* an element-wise operation, or a change of shape, joins the unit of the latest of its
  operands, unless that unit would then have to wait for another one that it could
  run beside: what joins two branches is a unit of its own;
* a reduction of what one unit computes joins that unit, as in a softmax;
* what is element-wise over inputs alone and has one user's unit joins that.

No operation joins where a value would leave the unit and come back into it. Operations
that are forced onto different devices are in different units.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects.builtin import StringAttr, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation

from ..dialects.eltwise.ops import CastOp, ConstantOp, ElementwiseOp
from ..dialects.tile.contract import ContractOp
from ..dialects.tile.special import IndexOp, ReshapeOp
from ..passes.locations import error_at
from ..passes.reuse import is_reused
from .units import DEVICE_ATTRIBUTE, Unit


def units_of(function: FuncOp) -> list[Unit]:
    """The units of a specialized and flattened function, in an order to run them.

    Each comes after those it needs. Constants are in none.

    Raises GinghamError, located, where shapes are not known.
    """
    groups = _Groups()
    for op in function.body.block.ops:
        _check(op)
        if not isinstance(op, ConstantOp | ReturnOp):
            groups.add(op)
    groups.join_prologues()
    return [Unit(tuple(group.ops)) for group in groups.in_order()]


def _check(op: Operation) -> None:
    for value in op.results:
        if not (isinstance(value.type, TensorType) and value.type.has_static_shape()):
            raise error_at(
                op,
                f"cannot place '{op.name}': the shape of its result is not known",
                "run tile-specialize first",
            )
    if isinstance(op, ContractOp) and not op.is_flat:
        raise error_at(
            op,
            "cannot place a contraction before its indices have ranges",
            "run tile-flatten first",
        )


def device_of(op: Operation) -> str | None:
    """The device that an operation is placed on or forced onto."""
    found = op.attributes.get(DEVICE_ATTRIBUTE)
    return found.data if isinstance(found, StringAttr) else None


def _is_light(op: Operation) -> bool:
    """Whether it is worth as little as moving its operands is."""
    if isinstance(op, ContractOp):
        return not _reuses(op)
    return isinstance(op, ElementwiseOp | CastOp | ReshapeOp | IndexOp)


def _reuses(op: ContractOp) -> bool:
    """Whether a contraction uses the elements that it reads many times."""
    if op.flat_output_rank == len(op.flat_ranges):
        return False
    read = 0
    for value in op.inputs:
        assert isinstance(value.type, TensorType)
        read += prod(value.type.get_shape())
    return is_reused(prod(op.flat_ranges), read)


def _reduces(op: Operation) -> bool:
    return isinstance(op, ContractOp) and op.flat_output_rank < len(op.flat_ranges)


@dataclass(eq=False)
class _Cluster:
    number: int
    ops: list[Operation]
    device: str | None
    before: int = 0
    """The groups that it needs, as bits by their numbers."""
    is_elementwise: bool = True
    """Whether nothing in it aggregates or computes from other groups."""


@dataclass
class _Groups:
    """The groups so far."""

    groups: list[_Cluster] = field(default_factory=list[_Cluster])
    place: dict[Operation, _Cluster] = field(default_factory=dict[Operation, _Cluster])

    def add(self, op: Operation) -> None:
        """Let an operation join a group, or start one."""
        needed = self._needed(op)
        device = device_of(op)
        group = next(
            (g for g in self._candidates(op, needed) if self._may_join(g, op, needed)),
            None,
        )
        if group is None:
            group = _Cluster(len(self.groups), [], device)
            self.groups.append(group)
        group.ops.append(op)
        group.device = group.device or device
        self.place[op] = group
        before = group.before
        for other in needed:
            if other is not group:
                before |= other.before | 1 << other.number
        self._set_before(group, before)
        is_plain = _is_light(op) and not _reduces(op)
        group.is_elementwise &= is_plain and not group.before

    def _needed(self, op: Operation) -> list[_Cluster]:
        """The groups that an operation uses values of, the latest first."""
        found: dict[_Cluster, None] = {}
        owners = [o.owner for o in op.operands if isinstance(o.owner, Operation)]
        made = [owner for owner in owners if owner in self.place]
        made.sort(key=lambda owner: self.place[owner].number, reverse=True)
        for owner in made:
            found[self.place[owner]] = None
        return [*found]

    def _candidates(self, op: Operation, needed: list[_Cluster]) -> list[_Cluster]:
        if not _is_light(op) or (_reduces(op) and len(needed) > 1):
            return []
        return needed

    def _may_join(self, group: _Cluster, op: Operation, needed: list[_Cluster]) -> bool:
        if device_of(op) not in (None, group.device):
            return False
        bit = 1 << group.number
        others = [other for other in needed if other is not group]
        if any(other.before & bit for other in others):
            return False
        known = group.before
        return all(o.is_elementwise or known & 1 << o.number for o in others)

    def _set_before(self, group: _Cluster, before: int) -> None:
        if before == group.before:
            return
        group.before = before
        bit = 1 << group.number
        for other in self.groups:
            if other.before & bit:
                other.before |= before

    def join_prologues(self) -> None:
        """What is element-wise over inputs alone goes to the one group that uses it."""
        for group in self.groups:
            if not group.ops or not group.is_elementwise or group.before:
                continue
            users = {self.place.get(user) for user in _users(group.ops)}
            users.discard(group)
            (user, *others) = users or {None}
            if user is None or others or not _agree(group, user):
                continue
            user.ops = self._in_program([*group.ops, *user.ops])
            user.device = user.device or group.device
            self.place |= dict.fromkeys(group.ops, user)
            group.ops = []

    def _in_program(self, ops: list[Operation]) -> list[Operation]:
        return sorted(ops, key=[*self.place].index)

    def in_order(self) -> Iterator[_Cluster]:
        """The groups that are left, each after those it needs."""
        left = [group for group in self.groups if group.ops]
        done: set[_Cluster] = set()
        while left:
            waiting: list[_Cluster] = []
            for group in left:
                owners = (o.owner for op in group.ops for o in op.operands)
                needed = {self.place.get(o) for o in owners if isinstance(o, Operation)}
                if needed - done - {None, group}:
                    waiting.append(group)
                    continue
                done.add(group)
                yield group
            left = waiting


def _agree(group: _Cluster, user: _Cluster) -> bool:
    """Whether both may be on one device, as far as they are forced onto any."""
    return group.device is None or group.device == user.device


def _users(ops: list[Operation]) -> Iterator[Operation]:
    """What uses results of operations; what is in no group, too."""
    for op in ops:
        for result in op.results:
            for use in result.uses:
                yield use.operation
