"""Bindings: what the values of a block's index become on the device.

An index is bound where that is decided: `%i : 64 grid`. `%k : 32` is undecided: passes
such as `stripe-map` may bind it, and what they leave is a loop. They keep what is bound
by hand, or by a schedule. Whatever the bindings, a block computes the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache

from xdsl.dialects.builtin import ArrayAttr
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.str_enum import StrEnum

from ..hints import HintedVerifyException


class Binding(StrEnum):
    """What the values of a block's index become on the device."""

    UNDECIDED = "_"
    """A loop, unless a pass binds it; it is not written on an index."""
    GRID = "grid"
    """Work-groups, of a top-level block."""
    GROUP = "group"
    """Work-items of one work-group, all of them."""
    SUBGROUP = "subgroup"
    """Sub-groups of one work-group; blocks inside may be bound to their lanes."""
    LANE = "lane"
    """Work-items of one sub-group."""
    LOOP = "loop"
    """A loop, one value after the other."""
    UNROLL = "unroll"
    """A loop that is unrolled completely."""
    VECTOR = "vector"
    """Lanes of vectors, which `stripe-vectorize` makes: then the index counts them."""


PARALLEL = (Binding.GRID, Binding.GROUP, Binding.SUBGROUP, Binding.LANE)
"""Those of which different values are different work-items, outer ones first."""
IN_GROUP = PARALLEL[1:]
"""Those of which different values are work-items of the same group."""


@irdl_attr_definition
class BindingAttr(EnumAttribute[Binding], SpacedOpaqueSyntaxAttribute):
    """A binding as an attribute: `#stripe<binding grid>`; `_` is undecided."""

    name = "stripe.binding"


def bindings_array(bindings: Iterable[Binding]) -> ArrayAttr[BindingAttr]:
    """What the indices of a block are bound to, as one attribute."""
    return _array(tuple(bindings))


@lru_cache(maxsize=1024)
def _array(bindings: tuple[Binding, ...]) -> ArrayAttr[BindingAttr]:
    return ArrayAttr([BindingAttr(each) for each in bindings])


def index_name(index: SSAValue, number: int) -> str:
    """An index as it is written: `%i`, or its number where it has no name."""
    return f"%{index.name_hint or number}"


def check_bindings(
    indices: Sequence[SSAValue],
    bindings: Sequence[Binding],
    around: Collection[Binding],
    *,
    is_nested: bool,
    is_serial: bool = False,
) -> None:
    """Raise HintedVerifyException unless the indices of a block may be bound so.

    `around` has the bindings of all blocks around it, and `is_nested` is whether there
    are some.
    """
    for number, binding in enumerate(bindings):
        if binding not in PARALLEL and binding is not Binding.VECTOR:
            continue
        before = bindings[:number]
        reason = _conflict(binding, before, around, is_nested, is_serial)
        if reason is not None:
            message, hint = reason
            name = index_name(indices[number], number)
            raise HintedVerifyException(
                f"cannot bind index '{name}' to '{binding.value}': {message}", hint
            )


def _conflict(
    binding: Binding,
    before: Collection[Binding],
    around: Collection[Binding],
    is_nested: bool,
    is_serial: bool,
) -> tuple[str, str] | None:
    """Why an index cannot be bound, and what could be done; None if it can."""
    if binding is Binding.VECTOR:
        if binding not in before:
            return None
        return "another one is", "vectors run along one index; unroll the others"
    if is_serial:
        return (
            "the points of a serial block have an order",
            "bind it to 'loop', 'unroll' or 'vector'",
        )
    if binding is Binding.GRID:
        if not is_nested:
            return None
        return (
            "the block is inside of another one",
            "only top-level blocks run as work-groups; bind it to 'group' to spread it "
            "over the work-items of one",
        )
    for other in IN_GROUP:
        pair = {binding, other}
        if other in around and (other, binding) != (Binding.SUBGROUP, Binding.LANE):
            return (
                f"a block around it has an index that is bound to '{other.value}'",
                "the work-items of a group are divided once; only lanes may be inside "
                "of sub-groups",
            )
        if other in before and Binding.GROUP in pair and len(pair) > 1:
            return (
                f"another one is bound to '{other.value}'",
                "the work-items of a group are divided by 'group', or else by "
                "'subgroup' and 'lane'",
            )
    return None
