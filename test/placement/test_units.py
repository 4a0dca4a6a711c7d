"""What is a unit, its key, and its program."""

from __future__ import annotations

import re
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import HealthCheck, given
from numpy.typing import NDArray
from placed_programs import (
    ATTENTION,
    ATTENTION_TYPES,
    BRANCHES,
    BRANCHES_TYPES,
    flat,
    function_of,
)
from random_programs import Program, programs
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue

from gingham.dialects.constants import mark_constants
from gingham.dialects.eltwise.ops import ConstantOp
from gingham.errors import GinghamError
from gingham.frontend.tile_text import parse_tile
from gingham.passes.tile.argument_types import parse_argument_type
from gingham.passes.tile.specialize import specialize
from gingham.placement.grouping import units_of
from gingham.placement.units import Unit, unit_key, unit_module
from gingham.targets.reference import interpret


def units(text: str, *types: str) -> list[Unit]:
    return units_of(function_of(flat(text, *types)))


def names(found: list[Unit]) -> list[str]:
    return [unit.name for unit in found]


def by_units(module: ModuleOp, arrays: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """The results of running a program unit by unit."""
    function = function_of(module)
    body = function.body.block
    known: dict[SSAValue, NDArray[Any]] = dict(zip(body.args, arrays, strict=True))
    for unit in units_of(function):
        program = unit_module(unit)
        program.verify()
        results = interpret(program, [known[value] for value in unit.inputs])
        known |= dict(zip(unit.outputs, results, strict=True))
    last = body.last_op
    assert isinstance(last, ReturnOp)
    for value in last.arguments:
        if isinstance(value.owner, ConstantOp):
            known[value] = np.array(value.owner.number)
    return [known[value] for value in last.arguments]


@hypothesis.settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    derandomize=True,
)
@given(programs())
def test_units_one_after_the_other_are_the_program(program: Program) -> None:
    if program.collides:
        return
    arrays = [tensor.array() for tensor in program.inputs.values()]
    types = [
        "x".join([*map(str, each.shape), each.type]) for each in program.inputs.values()
    ]
    results = by_units(flat(program.text, *types), arrays)
    for name, result in zip(program.outputs, results, strict=True):
        np.testing.assert_array_equal(result, program.tensors[name].array())


def test_a_contraction_and_what_is_elementwise_after_it_is_a_unit() -> None:
    found = units(BRANCHES, *BRANCHES_TYPES)
    assert names(found) == ["A2", "A", "B2", "C", "Y"]
    module = flat(BRANCHES, *BRANCHES_TYPES)
    random = np.random.default_rng(0)
    shapes = ((64, 96), (96, 128), (128, 96), (96, 128), (128, 96))
    arrays: list[NDArray[Any]] = [
        random.integers(-3, 4, shape).astype(np.float32) for shape in shapes
    ]
    expected = interpret(module, arrays)
    np.testing.assert_array_equal(by_units(module, arrays), expected)


def test_the_chain_of_a_softmax_is_one_unit() -> None:
    found = units(ATTENTION, *ATTENTION_TYPES)
    assert names(found) == ["W", "O"]
    assert len(found[0].ops) > 5


def test_what_is_elementwise_over_inputs_joins_its_only_user() -> None:
    text = """function (A[M, K], B[K, N], S) -> (C, D) {
      Z = exp(A * S);
      C[m, n : M, N] = +(Z[m, k] * B[k, n]);
      T = B * S;
      D[n, p : N, N] = +(T[k, n] * T[k, p]);
    }"""
    found = units(text, "32x32xf32", "32x32xf32", "f32")
    assert names(found) == ["C", "D"]
    several = text.replace("T[k, n]", "Z[k, n]").replace("T = B * S;", "")
    found = units(several.replace("T[k, p]", "Z[k, p]"), *["32x32xf32"] * 2, "f32")
    assert names(found) == ["Z", "C", "D"]


def test_no_value_leaves_a_unit_and_comes_back() -> None:
    """`R` could join `C`, but `D` is between them."""
    text = """function (A[M, M]) -> (R) {
      C[i, j : M, M] = +(A[i, k] * A[k, j]);
      D[i, j : M, M] = +(C[i, k] * C[k, j]);
      E[i, j : M, M] = +(D[i, k] * A[k, j]);
      R = C + E;
      S = R + C;
    }"""
    found = units(text.replace("-> (R)", "-> (R, S)"), "32x32xf32")
    assert names(found) == ["C", "D", "S"]
    place = {op: number for number, unit in enumerate(found) for op in unit.ops}
    for number, unit in enumerate(found):
        for value in unit.inputs:
            if isinstance(value.owner, Operation):
                assert place[value.owner] < number


def test_forced_operations_are_in_units_of_their_own() -> None:
    module = flat(BRANCHES, *BRANCHES_TYPES)
    for op in function_of(module).body.block.ops:
        if op.results and op.results[0].name_hint == "A2":
            op.attributes["tile.device"] = StringAttr("far")
    found = units_of(function_of(module))
    assert names(found)[:3] == ["A1", "A2", "A"]


def test_keys_do_not_depend_on_names_places_or_surroundings() -> None:
    first = units(BRANCHES, *BRANCHES_TYPES)
    renamed = re.sub(r"\bh\b", "column", re.sub(r"\bA1\b", "Long", BRANCHES))
    renamed = "// Elsewhere.\n\n" + renamed.replace("-> (Y)", "-> (Y, C)")
    second = units(renamed, *BRANCHES_TYPES)
    keys = [[unit.key for unit in found] for found in (first, second)]
    assert keys[0][0] == keys[1][0]
    assert keys[0][1] == keys[1][1]
    # Equal work in one program has one key.
    assert keys[0][0] != keys[0][2]
    assert len({*keys[0]}) == 4
    assert keys[0][1] == keys[0][3]
    assert all(unit_key(unit.ops) == unit.key for unit in first)


@pytest.mark.parametrize(
    "changed",
    [
        BRANCHES.replace("A2 = A1 < 0 ? 0 : A1", "A2 = A1 < 1 ? 0 : A1"),
        BRANCHES.replace("A2 = A1 < 0 ? 0 : A1", "A2 = A1 < 0 ? A1 : A1"),
        BRANCHES.replace("-> (Y)", "-> (Y, A1)"),
    ],
)
def test_keys_depend_on_what_is_computed(changed: str) -> None:
    before, after = units(BRANCHES, *BRANCHES_TYPES), units(changed, *BRANCHES_TYPES)
    assert before[0].key != after[0].key


def test_keys_depend_on_types_and_on_constant_inputs() -> None:
    keys = {unit.key for unit in units(BRANCHES, *BRANCHES_TYPES)}
    halves = [type.replace("f32", "f16") for type in BRANCHES_TYPES]
    assert keys.isdisjoint(unit.key for unit in units(BRANCHES, *halves))
    module = flat(BRANCHES, *BRANCHES_TYPES)
    mark_constants(function_of(module), [1])
    marked = units_of(function_of(module))
    assert marked[0].key not in keys
    assert marked[1].key in keys
    program = unit_module(marked[0])
    assert "tile.constant" in str(program)


def test_placing_leaves_keys_and_programs_as_they_are() -> None:
    found = units(BRANCHES, *BRANCHES_TYPES)
    keys, programs_before = [u.key for u in found], [str(unit_module(u)) for u in found]
    for unit in found:
        for op in unit.ops:
            op.attributes["tile.device"] = StringAttr("far")
            op.attributes["tile.device_reason"] = StringAttr("why not")
    assert [unit_key(unit.ops) for unit in found] == keys
    assert [str(unit_module(unit)) for unit in found] == programs_before


def test_equal_names_are_told_apart_in_the_program_of_a_unit() -> None:
    module = flat(BRANCHES, *BRANCHES_TYPES)
    function = function_of(module)
    for value in function.body.block.args:
        value.name_hint = "same"
    program = unit_module(units_of(function)[0])
    text = str(function_of(program).attributes["tile.inputs"])
    assert len({*text.strip("[]").split(", ")}) == 2


def test_what_is_not_specialized_or_flattened_is_an_error() -> None:
    parsed = parse_tile(BRANCHES)
    with pytest.raises(GinghamError, match="shape of its result is not known") as error:
        units_of(function_of(parsed))
    assert error.value.hint == "run tile-specialize first"
    types = [parse_argument_type(type) for type in BRANCHES_TYPES]
    with pytest.raises(GinghamError, match="before its indices have ranges") as error:
        units_of(function_of(specialize(parsed, types)))
    assert error.value.location is not None
