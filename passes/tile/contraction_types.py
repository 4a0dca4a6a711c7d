"""Element types of contractions some of whose operands are weak numbers."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute

from ...dialects.aggregation import Aggregation, Combination
from ...dialects.eltwise.element_types import promote_weak
from ...dialects.tile.contract import contraction_signature


def infer_contraction(
    aggregation: Aggregation,
    combination: Combination,
    elements: Sequence[Attribute],
    weak: Sequence[bool],
) -> tuple[tuple[Attribute, ...], Attribute]:
    """The types that operands are cast to, and that of the result.

    As `contraction_signature`, but a weak operand, given by its default type, takes the
    type of those that it is combined with: the first two operands of `cond`, all of
    other combinations.
    """
    combined = 2 if combination is Combination.COND else len(elements)
    pairs = list(zip(elements, weak, strict=True))[:combined]
    strong = [element for element, is_weak in pairs if not is_weak]
    actual = list(elements)
    for number, (element, is_weak) in enumerate(pairs):
        if is_weak and strong:
            actual[number] = promote_weak(strong, [element])
    return contraction_signature(aggregation, combination, actual)
