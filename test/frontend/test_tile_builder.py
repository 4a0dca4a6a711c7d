"""The builder that frontends share, used as a frontend would."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import FileLineColLoc, f32
from xdsl.ir import SSAValue

from gingham.dialects.aggregation import Aggregation, Combination
from gingham.dialects.eltwise.table import FUNCTIONS
from gingham.dialects.tile import ContractOp
from gingham.dialects.tile.attributes import Constraint
from gingham.errors import GinghamError, SourceLocation
from gingham.frontend.builder import Operand, ProgramBuilder
from gingham.frontend.index_space import IndexSpace, Size

HERE = SourceLocation("program.py", 12, 3)
THERE = SourceLocation("program.py", 14, 5)


def number_of(size: object) -> object:
    assert isinstance(size, Size)
    return size.value


def test_a_matrix_product() -> None:
    builder = ProgramBuilder()
    a = builder.add_input("A", ["M", "K"], HERE)
    b = builder.add_input("B", ["K", "N"], HERE)
    space = IndexSpace()
    i, j, k = (space.index(name, HERE) for name in "ijk")
    product = builder.contract(
        Aggregation.ADD,
        Combination.MUL,
        space,
        [i, j],
        [builder.sizes["M"], builder.sizes["N"]],
        [Operand(a, (i, k), "A", HERE), Operand(b, (k, j), "B", HERE)],
        THERE,
        constraints=[Constraint(k, space.size(builder.sizes["K"]))],
    )
    builder.name(product, "C")
    module = builder.finish([("C", product)], HERE)
    module.verify()
    text = str(module)
    assert "%K_1, %N = tile.sizes %B" in text
    assert (
        "%C = tile.contract add over [i, j, k] %A[i, k] * %B[k, j] -> [i : %M, j : %N] "
        "where 0 <= k < %K :"
    ) in text
    assert 'tile.inputs = ["A", "B"], tile.outputs = ["C"]' in text
    owner = product.owner
    assert isinstance(owner, ContractOp)
    assert str(owner.location) == 'loc("program.py":14:5)'


def test_size_arithmetic_folds_numbers_and_keeps_symbols() -> None:
    builder = ProgramBuilder()
    builder.add_input("A", ["N"], HERE)
    n = builder.sizes["N"]
    half = builder.apply(FUNCTIONS["div"], [n, 2], HERE)
    assert isinstance(number_of(half), SSAValue)
    assert number_of(builder.apply(FUNCTIONS["div"], [7, 2], HERE)) == 3
    assert number_of(builder.apply(FUNCTIONS["div"], [-7, Size(2)], HERE)) == -3
    condition = builder.apply(FUNCTIONS["cmp_lt"], [2, 3], HERE)
    assert condition == Size(1, is_condition=True)
    chosen = builder.apply(FUNCTIONS["cond"], [condition, 4, n], HERE)
    assert isinstance(chosen, Size)
    assert not chosen.is_condition


def test_a_float_literal_stays_one_when_negated() -> None:
    assert ProgramBuilder().apply(FUNCTIONS["neg"], [1.5], HERE) == -1.5


def test_values_mix() -> None:
    builder = ProgramBuilder()
    a = builder.add_input("A", ["N"], HERE)
    scaled = builder.apply(FUNCTIONS["mul"], [a, 2], HERE)
    mean = builder.apply(FUNCTIONS["div"], [scaled, builder.sizes["N"]], HERE)
    result = builder.cast(mean, f32, THERE)
    assert builder.cast(result, f32, HERE) is result
    module = builder.finish(
        [("O", result), ("N", builder.sizes["N"]), ("F", 0.5)], HERE
    )
    module.verify()
    assert str(result.type) == "tensor<?xf32>"


def test_every_op_has_a_location() -> None:
    builder = ProgramBuilder()
    a = builder.add_input("A", ["N"], HERE)
    value = builder.apply(FUNCTIONS["add"], [a, 1.5], THERE)
    module = builder.finish([("O", value)], HERE)
    assert all(isinstance(op.location, FileLineColLoc) for op in module.walk())


def contract(
    builder: ProgramBuilder,
    tensor: SSAValue,
    access: Callable[[IndexSpace], list[str]],
    sizes: list[Size],
    default: Operand | None = None,
) -> SSAValue:
    space = IndexSpace()
    names = access(space)
    indices = tuple(space.index(name, THERE) for name in names)
    return builder.contract(
        Aggregation.ADD,
        Combination.NONE,
        space,
        indices[: len(sizes)],
        sizes,
        [Operand(tensor, indices, "A", THERE, "it comes from elsewhere")],
        HERE,
        default=default,
    )


def test_errors_are_located() -> None:
    builder = ProgramBuilder()
    a = builder.add_input("A", ["N"], HERE)
    with pytest.raises(GinghamError) as caught:
        contract(builder, a, lambda _: ["i", "j"], [Size(3)])
    assert caught.value.message == "'A' has 1 axis, got 2 indices"
    assert caught.value.hint == "it comes from elsewhere"
    assert caught.value.location == THERE
    with pytest.raises(GinghamError) as caught:
        contract(builder, a, lambda _: ["i"], [Size(-3)])
    assert caught.value.message == "the size of the output is negative: -3"
    assert caught.value.location == HERE
    with pytest.raises(GinghamError) as caught:
        contract(builder, a, unused_index, [Size(3)])
    assert caught.value.message == "nothing bounds the index 'k'"
    with pytest.raises(GinghamError) as caught:
        builder.apply(FUNCTIONS["exp"], [a, a], HERE)
    assert caught.value.message == "'exp' takes 1 argument, got 2"
    assert caught.value.location == HERE


def unused_index(space: IndexSpace) -> list[str]:
    space.index("k", THERE)
    return ["i"]


def test_the_number_of_sizes() -> None:
    builder = ProgramBuilder()
    a = builder.add_input("A", ["N"], HERE)
    space = IndexSpace()
    i = space.index("i", HERE)
    with pytest.raises(GinghamError) as caught:
        builder.contract(
            Aggregation.ADD,
            Combination.NONE,
            space,
            [i],
            [],
            [Operand(a, (i,), "A", HERE)],
            HERE,
        )
    assert caught.value.message == (
        "expected 1 size, one for each index of the output, got 0"
    )


def test_the_default_has_no_more_axes_than_the_output() -> None:
    builder = ProgramBuilder()
    a = builder.add_input("A", ["N"], HERE)
    plane = builder.add_input("Plane", ["N", "M"], HERE)
    default = Operand(plane, (), "Plane", THERE)
    with pytest.raises(GinghamError) as caught:
        contract(builder, a, lambda _: ["i"], [Size(3)], default)
    assert caught.value.message == (
        "expected the default 'Plane' to have at most 1 axis as the output has, got 2"
    )


def test_indices_bounded_only_together() -> None:
    space = IndexSpace()
    i, j = space.index("i", HERE), space.index("j", THERE)
    space.check_bounded([i + j, i - j], [])
    space.check_bounded([i + j], [Constraint(j, space.size(Size(3)))])
    with pytest.raises(GinghamError) as caught:
        space.check_bounded([i + j], [Constraint(j)])
    assert caught.value.message == "nothing bounds the index 'i'"
    assert caught.value.location == HERE


def test_a_symbolic_stride_is_taken_to_bound() -> None:
    builder = ProgramBuilder()
    builder.add_input("A", ["N"], HERE)
    space = IndexSpace()
    i, j = space.index("i", HERE), space.index("j", HERE)
    n = space.size(builder.sizes["N"])
    space.check_bounded([n * i + j], [])
