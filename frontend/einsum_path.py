"""In which order the operands of an einsum are contracted, two at a time.

A path is a list of steps. A step names operands by their position in the list of those
that are left; they leave it, and their product joins it at the end. It is the form that
NumPy's `einsum_path` and opt_einsum have.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import combinations
from math import prod
from typing import TypeAlias

from ..errors import GinghamError
from .einsum_equation import Label, Product

Step: TypeAlias = tuple[int, ...]
Path: TypeAlias = tuple[Step, ...]


_TYPICAL_SIZE = 32


def assumed(size: int | None) -> int:
    """A size, or the one that is assumed where it is not known."""
    return _TYPICAL_SIZE if size is None else size


def labels_of(product: Product) -> list[frozenset[Label]]:
    """The labels of each operand."""
    return [
        frozenset(label for label in operand if label is not None)
        for operand in product.operands
    ]


def kept_labels(
    step: Sequence[frozenset[Label]],
    others: Sequence[frozenset[Label]],
    output: Sequence[Label],
) -> frozenset[Label]:
    """The labels of the product of the operands of a step: those that others need."""
    needed = {*output, *(label for labels in others for label in labels)}
    return frozenset(label for labels in step for label in labels if label in needed)


def left_to_right(product: Product) -> Path:
    """The first two, then their product with the third, and so on."""
    count = len(product.operands)
    steps = [(0, 1), *((last, 0) for last in range(count - 2, 0, -1))]
    return tuple(steps[: count - 1])


def greedy(product: Product, sizes: Mapping[Label, int | None]) -> Path:
    """Again and again the pair with the fewest multiplications.

    Pairs that share a label come before those that do not, and among equals the one
    furthest left is taken.
    """
    # By numbers in the order in which operands and products join the list.
    left = dict(enumerate(labels_of(product)))
    path: list[Step] = []

    def cost(i: int, j: int) -> tuple[bool, int, int, int]:
        multiplications = prod(assumed(sizes[label]) for label in left[i] | left[j])
        return left[i].isdisjoint(left[j]), multiplications, i, j

    pairs = [cost(i, j) for i, j in combinations(left, 2)]
    heapify(pairs)
    for made in range(len(left), 2 * len(left) - 1):
        i, j = _cheapest(pairs, left)
        places = list(left)
        path.append((places.index(i), places.index(j)))
        pair = [left.pop(i), left.pop(j)]
        others = list(left)
        left[made] = kept_labels(pair, list(left.values()), product.output)
        for other in others:
            heappush(pairs, cost(other, made))
    return tuple(path)


def _cheapest(
    pairs: list[tuple[bool, int, int, int]], left: Container[int]
) -> tuple[int, int]:
    """Take the first pair from a heap of which both are left."""
    while True:
        *_, i, j = heappop(pairs)
        if i in left and j in left:
            return i, j


def checked(steps: Sequence[Sequence[int]], count: int) -> Path:
    """A path that somebody wrote, for so many operands.

    Raises GinghamError where it does not end in a single one, or names an operand that
    is not there.
    """
    left = count
    for step in steps:
        if not step or len(set(step)) != len(step):
            raise GinghamError(f"expected different operands in a step, got {step}")
        for position in step:
            if not 0 <= position < left:
                raise GinghamError(
                    f"the path takes operand {position} when {left} are left",
                    hint="a product joins the list at its end",
                )
        left -= len(step) - 1
    if left > 1:
        raise GinghamError(
            f"the path leaves {left} operands", hint="its steps end in a single one"
        )
    return tuple(tuple(step) for step in steps)
