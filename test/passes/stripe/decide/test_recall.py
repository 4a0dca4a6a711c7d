"""Recalling decisions: what a unit is, what a file of records holds, what is taken."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stripe_programs import CONTEXT, run
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from gingham.dialects import make_context
from gingham.dialects.stripe.block import BlockOp
from gingham.dialects.stripe.schedule import parse_schedule, schedule_of
from gingham.passes.stripe.analysis.nests import top_level_blocks
from gingham.passes.stripe.decide.recall import (
    WORTH,
    RecordsWarning,
    StripeRecallPass,
    best_of,
)
from gingham.passes.stripe.decide.recall.database import (
    Database,
    DatabaseError,
    Record,
)
from gingham.passes.stripe.decide.recall.unit import (
    covered_outputs,
    decide,
    key_of,
    leaves_of,
    unit_block,
    unit_of,
)
from gingham.targets.reference import interpret

PRODUCT = """
func.func @main(%{a}: !stripe.view<{m}x4xf32>, %{b}: !stripe.view<4x8xf32>{mark})
    -> !stripe.view<{m}x8xf32> {{
  %{c} = stripe.alloc : !stripe.view<{m}x8xf32>
  stripe.block "{name}" [%i : {m}, %j : 8, %k : 4]
      in %x = %{a}[%i, %k] : 1x1
      in %y = %{b}[%k, %j] : 1x1
      out %z = %{c}[%i, %j] : 1x1 add init 0 {{
    %0 = stripe.load %x : !stripe.view<1x1xf32>
    %1 = stripe.load %y : !stripe.view<1x1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %z : !stripe.view<1x1xf32>
  }}
  func.return %{c} : !stripe.view<{m}x8xf32>
}}
"""

TILE = "<tile [2, 8, 4]>"


def product(**values: object) -> ModuleOp:
    names: dict[str, object] = {"a": "A", "b": "B", "c": "C", "name": "C", "m": 6}
    return module(PRODUCT.format(**(names | {"mark": ""} | values)))


def module(text: str) -> ModuleOp:
    return Parser(make_context(), text).parse_module()


def block_of(program: ModuleOp) -> BlockOp:
    return next(iter(top_level_blocks(program)))


def unit(program: ModuleOp) -> ModuleOp:
    found = unit_of(block_of(program))
    assert found is not None
    found.verify()
    return found


def record(**values: Any) -> Record:
    base = Record(
        unit=key_of(unit(product())),
        leaf=0,
        target="device",
        compiler="1",
        schedule=TILE,
        program="product.tile",
        block="C",
        rank=3,
        predicted_seconds=1e-3,
        status="ok",
        seconds=1e-3,
        model_seconds=2e-3,
        message="",
        ir=str(unit(product())),
        passes="stripe-tile",
    )
    return replace(base, **values)


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database(tmp_path / "folder" / "records.sqlite3")


def recall(program: ModuleOp, database: Database, target: str = "device") -> None:
    StripeRecallPass(str(database.path), target, "1").apply(CONTEXT, program)
    program.verify()


def tile_of(program: ModuleOp) -> str:
    return str(schedule_of(block_of(program)))


def test_unit_computes_what_the_block_computes() -> None:
    random = np.random.default_rng(1)
    inputs = [random.integers(-4, 5, s).astype(np.float32) for s in ((6, 4), (4, 8))]
    (wanted,), (got,) = interpret(product(), inputs), interpret(unit(product()), inputs)
    np.testing.assert_array_equal(got, wanted)


def test_unit_of_a_block_that_reads_one_buffer_twice() -> None:
    program = module("""
      func.func @main(%A: !stripe.view<4xf32>) -> !stripe.view<4xf32> {
        %B = stripe.alloc : !stripe.view<4xf32>
        stripe.block [%i : 4]
            in %x = %A[%i] : 1
            in %y = %A[3 - %i] : 1
            out %z = %B[%i] : 1 {
          %0 = stripe.load %x : !stripe.view<1xf32>
          %1 = stripe.load %y : !stripe.view<1xf32>
          %2 = eltwise.sub %0, %1 : f32
          stripe.store %2, %z : !stripe.view<1xf32>
        }
        func.return %B : !stripe.view<4xf32>
      }""")
    (result,) = interpret(unit(program), [np.arange(4, dtype=np.float32)])
    np.testing.assert_array_equal(result, [-3, -1, 1, 3])


def test_a_block_that_changes_its_input_stays_where_it_is() -> None:
    program = module("""
      func.func @main(%A: !stripe.view<4xf32>) -> !stripe.view<4xf32> {
        %B = stripe.alloc : !stripe.view<4xf32>
        stripe.block [%i : 4]
            in %x = %A[%i] : 1
            inout %z = %B[%i] : 1 {
          %0 = stripe.load %x : !stripe.view<1xf32>
          stripe.store %0, %z : !stripe.view<1xf32>
        }
        func.return %B : !stripe.view<4xf32>
      }""")
    assert unit_of(block_of(program)) is None


def test_names_do_not_count() -> None:
    key = key_of(unit(product()))
    assert key == key_of(unit(product(a="X", b="Y", c="Z", name="dense")))
    explained = product()
    assert key != key_of(unit(product(m=7)))
    assert key != key_of(unit(product(mark=" {tile.constant}")))
    decided = product()
    decide(block_of(decided), TILE)
    assert key != key_of(unit(decided))
    explained = product()
    decide(block_of(explained), TILE, "because it is fast")
    assert key_of(unit(explained)) == key_of(unit(decided))


def test_key_leaves_the_unit_as_it_is() -> None:
    found = unit(product(name="dense"))
    before = str(found)
    key_of(found)
    assert str(found) == before
    assert '"dense"' in before


def test_leaves_are_the_innermost_blocks() -> None:
    program = product()
    run(program, "stripe-tile{sizes=2,8,4}")
    outer = block_of(program)
    (leaf,) = leaves_of(outer)
    assert leaf.parent_op() is outer
    assert unit_block(unit(program)).index_ranges == outer.index_ranges


@pytest.mark.parametrize(
    ("access", "ranges", "extra", "covered"),
    [
        ("%i", "%i : 12", "", True),
        ("%i", "%i : 11", "", False),
        ("11 - %i", "%i : 12", "", True),
        ("%i + 1", "%i : 11", "", False),
        ("2 * %i", "%i : 6", "", False),
        ("3 * %i + %j", "%i : 4, %j : 3", "", True),
        ("3 * %i + %j", "%i : 4, %j : 2", "", False),
        ("%i", "%i : 12", "where 5 - %i >= 0", False),
    ],
)
def test_covered_outputs(access: str, ranges: str, extra: str, covered: bool) -> None:
    program = module(f"""
      func.func @main() -> !stripe.view<12xf32> {{
        %B = stripe.alloc : !stripe.view<12xf32>
        stripe.block [{ranges}] out %z = %B[{access}] : 1 {extra} {{
          %0 = eltwise.constant 1.0 : f32
          stripe.store %0, %z : !stripe.view<1xf32>
        }}
        func.return %B : !stripe.view<12xf32>
      }}""")
    assert covered_outputs(unit(program)) == [covered]


def test_a_diagonal_covers_nothing() -> None:
    program = module("""
      func.func @main() -> !stripe.view<4x4xf32> {
        %B = stripe.alloc : !stripe.view<4x4xf32>
        stripe.block [%i : 4] out %z = %B[%i, %i] : 1x1 {
          %0 = eltwise.constant 1.0 : f32
          stripe.store %0, %z : !stripe.view<1x1xf32>
        }
        func.return %B : !stripe.view<4x4xf32>
      }""")
    assert covered_outputs(unit(program)) == [False]


def test_recalled_decision_is_applied_with_its_reason(database: Database) -> None:
    database.add([record()])
    program = product(name="elsewhere", a="P")
    recall(program, database)
    reason = schedule_of(block_of(program)).reason
    assert schedule_of(block_of(program)).tile == (2, 8, 4)
    assert "measured: 1 ms, 2.00 times as fast as the model's choice" in reason
    inputs = [np.ones((6, 4), np.float32), np.ones((4, 8), np.float32)]
    run(program, "stripe-autotile,stripe-partition-edges,stripe-tile")
    np.testing.assert_array_equal(interpret(program, inputs)[0], np.full((6, 8), 4))


def test_fastest_is_recalled(database: Database) -> None:
    other = "<tile [3, 8, 4]>"
    slow = "<tile [6, 8, 4]>"
    database.add([record(), record(schedule=other, seconds=5e-4)])
    database.add([record(schedule=slow, seconds=1.5e-3)])
    program = product()
    recall(program, database)
    assert schedule_of(block_of(program)).tile == (3, 8, 4)
    speedups = [found.speedup for found in database.records()]
    assert speedups == sorted(speedups, reverse=True)


@pytest.mark.parametrize(
    "values",
    [
        {"target": "another device"},
        {"compiler": "2"},
        {"unit": "0" * 64},
        {"leaf": 1},
        {"status": "wrong"},
        {"seconds": None},
        {"model_seconds": None},
        {"seconds": 0.0},
        {"model_seconds": 1e-3 * (WORTH - 0.01)},
    ],
)
def test_left_alone(values: dict[str, Any], database: Database) -> None:
    database.add([record(**values)])
    program = product()
    recall(program, database)
    assert tile_of(program) == "<>"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "'<' expected"),
        ("<tile [2", "']' expected"),
        ("<tiles [2, 8, 4]>", "'tiles' is no part of a schedule"),
        ("<tile [2, 8, 4]> more", "expected nothing behind a schedule"),
        ("<tile [2, 8]>", "expected 3 tile size"),
        ("<tile [2, 8, 4], stage input 2 at 0 of 0 order [] global>", "is no input"),
    ],
)
def test_schedules_that_do_not_fit_are_a_warning(
    text: str, message: str, database: Database
) -> None:
    database.add([record(schedule=text)])
    program = product()
    with pytest.warns(RecordsWarning, match=re.escape(message)):
        recall(program, database)
    assert tile_of(program) == "<>"


def test_earlier_decisions_are_part_of_what_was_measured(database: Database) -> None:
    """A record holds for blocks that came with the same decision, and replaces it."""
    program = product()
    decide(block_of(program), "<tile [1, 1, 1], points order [1]>")
    database.add([record()])
    recall(program, database)
    assert tile_of(program) == "<tile [1, 1, 1], points order [1]>"
    database.add([record(unit=key_of(unit(program)))])
    recall(program, database)
    assert schedule_of(block_of(program)) == parse_schedule(TILE)


def test_leaf_below_other_blocks(database: Database) -> None:
    program = product()
    run(program, "stripe-tile{sizes=3,8,4}")
    key = key_of(unit(program))
    database.add([record(unit=key)])
    recall(program, database)
    (leaf,) = leaves_of(block_of(program))
    assert schedule_of(leaf).levels


def test_no_file_is_no_record(database: Database) -> None:
    assert database.records() == []
    assert database.remove_failed() == 0
    assert not database.path.parent.exists()


def test_records_come_back_as_they_were(database: Database) -> None:
    records = [record(), record(leaf=1, status="crash", seconds=None, message='"x"')]
    database.add(records)
    assert database.records() == records
    assert database.records(leaf=1) == records[1:]
    database.add([record(leaf=1)])
    assert database.records() == [record(), record(leaf=1)]
    database.add([record(leaf=2, status="timeout")])
    assert database.remove_failed() == 1
    assert len(database.records()) == 2


def spoil(path: Path, how: str) -> None:
    if how == "text":
        path.write_text("these are no records" * 100)
    elif how == "cut":
        path.write_bytes(path.read_bytes()[:5000])
    elif how == "folder":
        path.unlink()
        path.mkdir()
    else:
        with sqlite3.connect(path) as connection:
            connection.execute(how)
        connection.close()


@pytest.mark.parametrize(
    "how", ["text", "cut", "folder", "PRAGMA user_version = 1", "DROP TABLE records"]
)
def test_spoilt_file_is_a_warning_to_the_compiler(how: str, database: Database) -> None:
    database.add([record(leaf=n) for n in range(40)])
    spoil(database.path, how)
    with pytest.raises(DatabaseError, match="cannot use the records in"):
        database.records()
    program = product()
    with pytest.warns(RecordsWarning, match="cannot use the records in"):
        recall(program, database)
    assert tile_of(program) == "<>"
    if how == "folder":
        with pytest.raises(DatabaseError, match="it is not a file"):
            database.set_aside()
        return
    aside = database.set_aside()
    assert aside.name == "records.sqlite3.bad1"
    database.add([record()])
    assert database.records() == [record()]


def test_rows_of_other_types_are_no_records(database: Database) -> None:
    database.add([record(), record(leaf=1), record(leaf=2)])
    with sqlite3.connect(database.path) as connection:
        connection.execute("UPDATE records SET seconds = 'fast' WHERE leaf = 1")
        connection.execute("UPDATE records SET schedule = x'00ff' WHERE leaf = 2")
    connection.close()
    assert database.records() == [record()]


def test_best_of_each_leaf() -> None:
    slow = record(seconds=1.9e-3)
    worthless = record(leaf=1, seconds=1.99e-3)
    key = record().unit
    assert best_of([slow, record(), worthless]) == {(key, 0): record()}
