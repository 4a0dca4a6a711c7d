"""What the definition of an operation demands, looked at without much ado.

xDSL's verifier looks the rules of an operation up again each time, in a way that could
say what is wrong. Mostly nothing is, and a large program is verified some dozen times.
So `Rules` are made once of each definition, and tell that an operation is certainly as
defined. Whoever is not told so asks xDSL, which has the words for what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Attribute, ErasedSSAValue, Operation, Region, SSAValue
from xdsl.irdl import (
    AnyAttr,
    AttrConstraint,
    AttrSizedOperandSegments,
    BaseAttr,
    OpDef,
    OptionalDef,
    OptPropertyDef,
    ParsePropInAttrDict,
    RangeConstraint,
    RangeLengthConstraint,
    RangeOf,
    RegionDef,
    SingleBlockRegionDef,
    VariadicDef,
)
from xdsl.traits import IsolatedFromAbove, IsTerminator, NoTerminator, OpTrait
from xdsl.utils.exceptions import VerifyException

from .operands import operands_of
from .syntax import integers

_Test: TypeAlias = Callable[[Attribute], bool] | None
"""What an attribute has to be; None is anything."""


class UnknownRuleError(Exception):
    """A definition has a rule of a kind that is not known here."""


@dataclass(frozen=True)
class _Values:
    """The operands, or the results: how many there are, and of what types."""

    groups: Sequence[tuple[int, int | None, _Test]]
    """The least and the largest size of each group that has a name, and its types."""
    sizes: str | None
    """The property with the sizes of groups; None where one group varies at most."""

    @staticmethod
    def of(
        defined: Sequence[tuple[object, RangeConstraint]], sizes: str | None = None
    ) -> _Values:
        """By the definition of each group. Raises UnknownRuleError."""
        groups = [(*_count(group), _test_of_all(types)) for group, types in defined]
        if sizes is None and sum(least != most for least, most, _ in groups) > 1:
            raise UnknownRuleError
        return _Values(groups, sizes)

    @cached_property
    def count(self) -> int | None:
        """How many there are, where that is all there is to say."""
        is_all = all(least == most and not test for least, most, test in self.groups)
        return len(self.groups) if is_all and self.sizes is None else None

    def hold(self, values: Sequence[SSAValue], op: Operation) -> bool:
        """Whether these are so many, of such types."""
        count = self.count
        if count is not None:
            return len(values) == count
        given = self._given(op)
        left = len(values) - sum([least for least, _, _ in self.groups])
        position = 0
        for number, (least, most, test) in enumerate(self.groups):
            size = least
            if given is not None:
                size = given[number]
            elif least != most:
                size += left
            if size < least or (most is not None and size > most):
                return False
            end = position + size
            if test is not None and not all(
                [test(value.type) for value in values[position:end]]
            ):
                return False
            position = end
        return position == len(values)

    def _given(self, op: Operation) -> Sequence[int] | None:
        """The sizes of groups that an operation says; -1 for what it does not say."""
        if self.sizes is None:
            return None
        found = op.properties.get(self.sizes)
        if isinstance(found, DenseArrayBase) and len(found) == len(self.groups):
            return integers(found)
        return [-1] * len(self.groups)


@dataclass(frozen=True)
class Rules:
    """What holds for all operations of one definition."""

    operands: _Values
    results: _Values
    properties: Mapping[str, _Test]
    required: frozenset[str]
    """The properties that must be there."""
    regions: Sequence[RegionDef]
    traits: Sequence[OpTrait]
    """Those that have something to verify."""
    ends_block: bool

    @staticmethod
    def of(definition: OpDef) -> Rules | None:
        """Those of a definition; None where some are of a kind that is not known."""
        try:
            return _rules(definition)
        except UnknownRuleError:
            return None

    def hold(self, op: Operation) -> bool:
        """Whether an operation is as defined, apart from what is inside of it."""
        operands = operands_of(op)
        if ErasedSSAValue in map(type, operands):
            return False
        properties = self.properties
        for name, found in op.properties.items():
            if name not in properties:
                return False
            test = properties[name]
            if test is not None and not test(found):
                return False
        return (
            self.operands.hold(operands, op)
            and self.results.hold(op.results, op)
            and len(op.regions) == len(self.regions)
            and (not self.regions or all(map(_is_as_defined, op.regions, self.regions)))
            and self.required <= op.properties.keys()
            and not op.successor_uses
            and (self.ends_block or not _must_end_block(op))
            and (not self.traits or all([_has_trait(op, each) for each in self.traits]))
        )


def _rules(definition: OpDef) -> Rules:
    sizes: str | None = None
    for option in definition.options:
        if isinstance(option, ParsePropInAttrDict):
            continue
        if not isinstance(option, AttrSizedOperandSegments) or not option.as_property:
            raise UnknownRuleError
        sizes = option.attribute_name
    if definition.successors or definition.attributes:
        raise UnknownRuleError
    for _, region in definition.regions:
        if isinstance(region, VariadicDef) or _test_of_all(region.entry_args):
            raise UnknownRuleError
    properties = definition.properties
    return Rules(
        _Values.of([(each, each.constr) for _, each in definition.operands], sizes),
        _Values.of([(each, each.constr) for _, each in definition.results]),
        {name: _test_of(each.constr) for name, each in properties.items()},
        frozenset(
            name
            for name, each in properties.items()
            if not isinstance(each, OptPropertyDef)
        ),
        [region for _, region in definition.regions],
        [each for each in definition.traits if type(each).verify is not OpTrait.verify],
        any(isinstance(each, IsTerminator) for each in definition.traits),
    )


def _count(group: object) -> tuple[int, int | None]:
    """How many values a group has at least, and at most."""
    if not isinstance(group, VariadicDef):
        return 1, 1
    return 0, 1 if isinstance(group, OptionalDef) else None


def _test_of_all(types: RangeConstraint) -> _Test:
    """The test of each of some types, of which the number is known otherwise."""
    if isinstance(types, RangeLengthConstraint):
        types = types.constraint
    if not isinstance(types, RangeOf):
        raise UnknownRuleError
    return _test_of(types.constr)


def _test_of(constraint: AttrConstraint) -> _Test:
    if constraint.variables():
        # What they stand for is shared with other values.
        raise UnknownRuleError
    if isinstance(constraint, AnyAttr):
        return None
    if isinstance(constraint, BaseAttr):
        base = constraint.attr
        return lambda attribute: isinstance(attribute, base)
    return constraint.verifies


def _is_as_defined(region: Region, defined: RegionDef) -> bool:
    if not isinstance(defined, SingleBlockRegionDef):
        return True
    block = region.first_block
    return block is not None and block.next_block is None


def _must_end_block(op: Operation) -> bool:
    """Whether an operation stands where only one may that ends its block."""
    if op.next_op is not None or op.parent is None or op.parent.parent is None:
        return False
    region = op.parent.parent
    around = region.parent
    if op.parent.next_block is None and region.first_block is op.parent:
        return around is not None and not around.has_trait(NoTerminator)
    return True


def _has_trait(op: Operation, trait: OpTrait) -> bool:
    if isinstance(trait, IsolatedFromAbove):
        return _is_isolated(op)
    try:
        trait.verify(op)
    except VerifyException:
        return False
    return True


def _is_isolated(op: Operation) -> bool:
    """Whether all that operations inside use is defined inside."""
    defining: set[int] = set()
    used: list[SSAValue] = []
    pending = [*op.regions]
    while pending:
        for block in pending.pop().blocks:
            defining.add(id(block))
            for each in block.ops:
                defining.add(id(each))
                used += operands_of(each)
                pending += each.regions
    return all([id(value.owner) in defining for value in used])
