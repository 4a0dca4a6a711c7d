"""What `tile` IR an einsum becomes, and in which order operands are contracted."""

from __future__ import annotations

import re

import pytest
from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute

from gingham.dialects.eltwise.element_types import si32
from gingham.errors import SourceLocation
from gingham.frontend.builder import ProgramBuilder
from gingham.frontend.einsum import build_einsum
from gingham.frontend.einsum_equation import parse_equation
from gingham.frontend.einsum_path import Path, left_to_right

HERE = SourceLocation("program.py", 1, 1)


def built(
    equation: str,
    *shapes: tuple[int, ...],
    path: Path | None = None,
    element: Attribute | None = None,
) -> list[str]:
    """The casts and contractions of an einsum of A, B, ..., without their types."""
    product, _ = parse_equation(equation).product(shapes)
    builder = ProgramBuilder()
    tensors = [
        builder.add_input(
            name, [label or f"one_{name}{n}" for n, label in enumerate(axes)], HERE
        )
        for name, axes in zip("ABCD", product.operands, strict=False)
    ]
    chosen = left_to_right(product) if path is None else path
    result = build_einsum(
        builder, product, chosen, tensors, builder.sizes, HERE, element=element
    )
    module = builder.finish([("O", result)], HERE)
    module.verify()
    lines = re.findall(r"%\w+ = (?:tile.contract|eltwise.cast) .*", str(module))
    return [line.partition(" : (")[0] for line in lines]


def test_a_chain_goes_from_left_to_right() -> None:
    assert built("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)) == [
        "%0 = tile.contract add over [i, k, j] %A[i, j] * %B[j, k] -> [i : %i, k : %k]",
        "%1 = tile.contract add over [i, l, k] %0[i, k] * %C[k, l] -> [i : %i, l : %l]",
    ]


def test_a_path_is_followed() -> None:
    steps = ((1, 2), (0, 1))
    assert built("ij,jk,k->i", (2, 3), (3, 4), (4,), path=steps) == [
        "%0 = tile.contract add over [j, k] %B[j, k] * %C[k] -> [j : %j]",
        "%1 = tile.contract add over [i, j] %A[i, j] * %0[j] -> [i : %i]",
    ]


def test_a_step_of_three_is_two_contractions() -> None:
    steps = ((0, 1, 2),)
    assert built("i,i,i->", (2,), (2,), (2,), path=steps) == [
        "%0 = tile.contract add over [i] %A[i] * %B[i] -> [i : %i]",
        "%1 = tile.contract add over [i] %0[i] * %C[i] -> []",
    ]


def test_a_label_that_only_one_operand_has_is_summed_with_it() -> None:
    assert built("ij,k->", (2, 3), (4,)) == [
        "%0 = tile.contract add over [i, j, k] %A[i, j] * %B[k] -> []"
    ]


def test_an_axis_that_is_repeated_is_read_at_0() -> None:
    assert built("ij,ij->i", (2, 1), (2, 3)) == [
        "%0 = tile.contract add over [i, j] %A[i, 0] * %B[i, j] -> [i : %i]"
    ]


def test_axes_of_an_ellipsis_have_names() -> None:
    (line,) = built("...i,i->...", (4, 3, 2), (2,))
    assert "add over [e2, e1, i] %A[e2, e1, i] * %B[i] -> [e2 : " in line


@pytest.mark.parametrize(
    ("equation", "aggregation"),
    [("ij->ji", "assign"), ("ii->i", "assign"), ("ij->i", "add"), ("ii->", "add")],
)
def test_only_sums_add(equation: str, aggregation: str) -> None:
    (line,) = built(equation, (3, 3))
    assert f"tile.contract {aggregation} over" in line


def test_a_sum_of_truth_values_is_whether_one_is_true() -> None:
    lines = built("i,i->", (2,), (2,), element=i1)
    contractions = [line for line in lines if "contract" in line]
    assert [line.split()[3] for line in contractions] == ["max"]
    assert "eltwise.cast" in lines[-1]


def test_operands_are_converted_first() -> None:
    lines = built("i,i->", (2,), (2,), element=si32)
    assert ["cast" in line for line in lines] == [True, True, False]
