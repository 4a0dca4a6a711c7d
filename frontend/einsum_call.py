"""What the arguments of an einsum say, whatever its operands are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, TypeAlias, cast

from ..errors import GinghamError
from .einsum_equation import (
    Equation,
    Label,
    Product,
    equation_of_lists,
    parse_equation,
)
from .einsum_path import Path, assumed, checked, greedy, left_to_right

Optimize: TypeAlias = bool | str | Sequence[Any]
"""How operands are ordered: see `gingham.einsum`."""


def einsum_arguments(arguments: Sequence[Any]) -> tuple[Equation, Sequence[Any]]:
    """The equation and the operands of a call in either form.

    Raises GinghamError for what is neither.
    """
    if not arguments:
        raise GinghamError("expected an equation and its operands, got nothing")
    first, *rest = arguments
    if isinstance(first, str):
        return parse_equation(first), rest
    operands, labels = arguments[0::2], arguments[1::2]
    has_output = len(operands) > len(labels)
    lists = [*labels, operands[-1]] if has_output else labels
    if len(arguments) < 2 or not all(isinstance(item, list | tuple) for item in lists):
        raise GinghamError(
            "expected an equation such as 'ij,jk->ik', or a list of labels behind "
            "each operand"
        )
    output = cast("Sequence[object]", operands[-1]) if has_output else None
    return equation_of_lists(labels, output), operands[: len(labels)]


def einsum_path(
    optimize: Optimize, product: Product, sizes: Mapping[Label, int | None]
) -> Path:
    """The order in which the operands are contracted; `sizes` are those of labels.

    Raises GinghamError for a path that does not fit, and for an optimizer that is not
    there.
    """
    if optimize is False:
        return left_to_right(product)
    if not isinstance(optimize, bool | str):
        steps = list(optimize)
        if steps[:1] == ["einsum_path"]:
            del steps[0]
        if all(isinstance(step, list | tuple) for step in steps):
            return checked(steps, len(product.operands))
        raise GinghamError(f"expected a path of tuples of positions, got {optimize!r}")
    if len(product.operands) <= 2:
        return left_to_right(product)
    try:
        opt_einsum: Any = import_module("opt_einsum")
    except ModuleNotFoundError:
        if optimize is True or optimize == "greedy":
            return greedy(product, sizes)
        raise GinghamError(
            f"optimize='{optimize}' needs the package opt_einsum",
            hint="pip install opt_einsum, or use optimize='greedy'",
        ) from None
    kind = "auto" if optimize is True else optimize
    try:
        steps = _found_path(opt_einsum, product, sizes, kind)
    except KeyError:
        raise GinghamError(f"opt_einsum has no optimizer '{optimize}'") from None
    return checked(steps, len(product.operands))


def _found_path(
    opt_einsum: Any, product: Product, sizes: Mapping[Label, int | None], kind: str
) -> Sequence[Sequence[int]]:
    """The path that opt_einsum finds for a product with labels of these sizes."""
    symbols = {label: opt_einsum.get_symbol(n) for n, label in enumerate(sizes)}
    terms = [[label for label in axes if label] for axes in product.operands]
    texts = [
        "".join(symbols[label] for label in term) for term in (*terms, product.output)
    ]
    shapes = [[assumed(sizes[label]) for label in term] for term in terms]
    path, _ = opt_einsum.contract_path(
        f"{','.join(texts[:-1])}->{texts[-1]}", *shapes, shapes=True, optimize=kind
    )
    return path
