"""The order of the loops of a block, and the attribute that says it for a nest."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerType
from xdsl.ir import Attribute, SSAValue

from ....dialects.index_sum import IndexSum
from ....dialects.stripe.attributes import LevelAttr
from ....dialects.stripe.block import BlockOp
from ....dialects.stripe.staging import ORDER_ATTRIBUTE
from ....dialects.syntax import integers
from ...locations import error_at


def loop_orders(block: BlockOp, attribute: Attribute) -> list[tuple[int, ...]]:
    """The orders that a `stripe.order` attribute gives, that of block 0 first."""
    arrays = attribute.data if isinstance(attribute, ArrayAttr) else (attribute,)
    orders: list[tuple[int, ...]] = []
    for array in arrays:
        is_order = isinstance(array, DenseArrayBase)
        if not is_order or not isinstance(array.elt_type, IntegerType):
            raise error_at(
                block,
                f"expected {ORDER_ATTRIBUTE} to be arrays of index numbers, got "
                f"{attribute}",
                f"{ORDER_ATTRIBUTE} = [array<i64: 1, 0>] lets index 0 run fastest",
            )
        order = integers(array)
        known = set(range(len(block.index_ranges)))
        if len(set(order)) != len(order) or not known.issuperset(order):
            raise error_at(
                block,
                f"expected {ORDER_ATTRIBUTE} to have numbers of the {len(known)} "
                f"indices, each once, got {list(order)}",
            )
        orders.append(order)
    return orders


def order_loops(block: BlockOp, numbers: Sequence[int], order: Sequence[int]) -> None:
    """Order the loops of a block whose indices go by these numbers."""
    listed = [numbers.index(number) for number in order if number in numbers]
    others = [place for place in range(len(numbers)) if place not in listed]
    permute_indices(block, [*listed, *others])


def permute_indices(block: BlockOp, order: Sequence[int]) -> None:
    """Let index `order[n]` of a block be index `n`, in place."""
    rank = len(order)
    if list(order) == list(range(rank)):
        return
    indices = block.indices
    uses = [list(index.uses) for index in indices]
    names = [index.name_hint for index in indices]
    ranges, levels = block.index_ranges, block.index_levels
    moved: dict[SSAValue, IndexSum] = {}
    for new, old in enumerate(order):
        moved[indices[old]] = IndexSum.value(indices[new])
        indices[new].name_hint = names[old]
        for use in uses[old]:
            use.operation.operands[use.index] = indices[new]
    block.set_ranges(ranges[old] for old in order)
    block.properties["levels"] = ArrayAttr([LevelAttr(levels[old]) for old in order])
    block.substitute(moved)
