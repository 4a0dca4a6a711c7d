"""What is said of mistakes in hardware descriptions, and where."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from hardware_files import replaced

from gingham.errors import GinghamError
from gingham.targets.hardware import Hardware, load_hardware
from gingham.targets.hardware.fields import FORMER, TABLES


def error_of(name_or_path: str) -> GinghamError:
    with pytest.raises(GinghamError) as raised:
        load_hardware(name_or_path)
    return raised.value


# What to write instead of what, the message, the line, and what the caret stands below.
WRONG = {
    "unknown": (
        ("clock_gigahertz = 3.4", "clock_gigaherz = 3.4"),
        "there is no field 'clock_gigaherz'",
        "clock_gigaherz",
    ),
    "text": (
        ("count = 8", 'count = "eight"'),
        "parallel.group.count: expected a whole number, got 'eight'",
        "count",
    ),
    "fraction": (
        ("count = 8", "count = 8.5"),
        "parallel.group.count: expected a whole number, got 8.5",
        "count",
    ),
    "truth": (("count = 8", "count = true"), "got True", "count"),
    "zero": (
        ("count = 8", "count = 0"),
        "parallel.group.count: expected a number above 0, got 0",
        "count",
    ),
    "infinite": (
        ("clock_gigahertz = 3.4", "clock_gigahertz = inf"),
        "clock_gigahertz: expected a number above 0, got inf",
        "clock_gigahertz",
    ),
    "tiny": (
        ("clock_gigahertz = 3.4", "clock_gigahertz = 1e-308"),
        "clock_gigahertz: expected a number from 1e-09 to 1e+15, got 1e-308",
        "clock_gigahertz",
    ),
    "whole number that is no float": (
        ("clock_gigahertz = 3.4", f"clock_gigahertz = 1{400 * '0'}"),
        "clock_gigahertz: expected a number above 0, got inf",
        "clock_gigahertz",
    ),
    "level": (
        ('name = "vector"', 'name = "vectors"'),
        "parallel.vectors.name: expected one of 'group', 'subgroup', 'lane', 'vector', "
        "got 'vectors'",
        'name = "vectors"',
    ),
    "width": (
        ("count = 8                          # AMD", "count = 3 #"),
        "parallel.vector.count: expected a power of two, got 3",
        "count = 3",
    ),
    "order of levels": (
        (
            'name = "vector"',
            'name = "lane"\ncount = 8\nregisters = 9\naccess_bits = 128\n'
            '[[parallel]]\nname = "vector"',
        ),
        "parallel.vector.name: expected nothing inside of 'lane', got 'vector'",
        'name = "vector"',
    ),
    "figure of another level": (
        ("registers = 16", "item_limit = 16\nregisters = 16"),
        "parallel.vector.item_limit: a level 'vector' has none, only count, registers",
        "item_limit = 16",
    ),
    "level without its figure": (
        ("registers = 16", ""),
        "parallel.vector.registers: expected a number above 0 for a level 'vector'",
        "[[parallel]]",
    ),
    "unknown in a level": (
        ("registers = 16", "register = 16"),
        "there is no field 'parallel.vector.register'",
        "register = 16",
    ),
    "level twice": (
        ('name = "vector"', 'name = "group"'),
        "parallel.group: a second row has this name",
        'name = "group"                    # one item',
    ),
    "level without a name": (
        ('name = "vector" ', "# "),
        "parallel.1.name: expected text, got None",
        "[[parallel]]",
    ),
    "instruction": (
        ('name = "load"', 'name = "loads"'),
        'instructions: expected one with name = "load"',
        "instructions]]",
    ),
    "name of an instruction": (
        ('name = "load"', 'name = "4 loads"'),
        "instructions.4 loads.name: expected letters, digits, '_' and '.', not a digit",
        'name = "4 loads"',
    ),
    "rate": (
        ("per_cycle = 1", "per_cycle = -1"),
        "instructions.store.per_cycle: expected a number above 0, got -1",
        "per_cycle = -1",
    ),
    "no latency": (
        ("latency_cycles = 4", ""),
        "instructions.multiply_add.latency_cycles: expected a number above 0, got 0",
        "[[instructions]]",
    ),
    "in a cache": (
        ("latency_cycles = 12", "latency_cycles = -1"),
        "caches.1.latency_cycles: expected a number above 0, got -1",
        "latency_cycles",
    ),
    "unknown in a cache": (
        ("latency_cycles = 12", "latency = 12"),
        "there is no field 'caches.1.latency'",
        "latency",
    ),
    "overhead": (
        ("[[caches]]", "[overheads]\njump_cycles = 0\n[[caches]]"),
        "overheads.jump_cycles: expected a number above 0, got 0",
        "jump_cycles",
    ),
    "unknown overhead": (
        ("[[caches]]", "[overheads]\njump_cycle = 9\n[[caches]]"),
        "there is no field 'overheads.jump_cycle'",
        "jump_cycle",
    ),
    "figure of lanes": (
        ("[[caches]]", "[lanes]\nbanks = 0\n[[caches]]"),
        "lanes.banks: expected a number above 0, got 0",
        "banks",
    ),
    "type of a figure of lanes": (
        ("[[caches]]", "[lanes]\nbanks = 1.5\n[[caches]]"),
        "lanes.banks: expected a whole number, got 1.5",
        "banks",
    ),
    "unknown figure of lanes": (
        ("[[caches]]", "[lanes]\nbank = 32\n[[caches]]"),
        "there is no field 'lanes.bank'",
        "bank",
    ),
    "no table": (
        ("page_entries", "overheads = 8\npage_entries"),
        "overheads: expected a table with fields, got 8",
        "overheads",
    ),
    "base": (
        ("page_entries =", 'base = "z80"#'),
        "base: expected a name, got 'z80'",
        "base",
    ),
    "syntax": (("count = 8", "count = = 8"), "not TOML: invalid value", "= 8"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_file(name: str, mine: Path) -> None:
    change, message, below = WRONG[name]
    error = error_of(replaced(mine, *change))
    assert message in error.message
    assert error.location is not None
    assert error.location.file == str(mine)
    line = mine.read_text().splitlines()[error.location.line - 1]
    assert line[error.location.column - 1 :].startswith(below)
    if "in a cache" in name:
        before = mine.read_text().splitlines()[: error.location.line]
        assert before.count("[[caches]]") == 2


def without_rows(lines: list[str], name: str) -> list[str]:
    kept: list[str] = []
    inside = False
    for line in lines:
        inside = line == f"[[{name}]]" if line.startswith("[") else inside
        kept += [] if inside else [line]
    return kept


@pytest.mark.parametrize(
    "field", [field.name for field in dataclasses.fields(Hardware)]
)
def test_missing_field(field: str, mine: Path) -> None:
    optional = ("origin", "near_page_entries", "compute_units_per_core")
    if field in (*optional, *TABLES):
        return
    lines = mine.read_text().splitlines()
    if f"[[{field}]]" in lines:
        lines = without_rows(lines, field)
    kept = [line for line in lines if not line.startswith(f"{field} =")]
    mine.write_text("\n".join(kept))
    error = error_of(str(mine))
    assert error.message.startswith(f"the field '{field}' is missing: expected ")
    assert error.location is not None
    assert error.hint is not None
    assert "base" in error.hint


def test_missing_field_of_a_cache(mine: Path) -> None:
    error = error_of(replaced(mine, "ways = 16", "# ways"))
    assert "the field 'caches.2.ways' is missing" in error.message
    assert error.location is not None
    lines = mine.read_text().splitlines()
    assert lines[error.location.line - 1] == "[[caches]]"
    assert "[[caches]]" not in lines[error.location.line :]


@pytest.mark.parametrize("name", ["caches", "parallel", "instructions"])
@pytest.mark.parametrize("value", ["3", "[]", "[1]"])
def test_rows_are_tables(name: str, value: str, mine: Path) -> None:
    lines = without_rows(mine.read_text().splitlines(), name)
    mine.write_text("\n".join([f"{name} = {value}", *lines]))
    error = error_of(str(mine))
    assert error.message.startswith(f"{name}: expected ")
    assert error.location is not None
    assert error.location.line == 1


@pytest.mark.parametrize("name", FORMER)
def test_figure_that_a_row_has(name: str, mine: Path) -> None:
    mine.write_text(f"{name} = 1\n{mine.read_text()}")
    error = error_of(str(mine))
    assert error.message == f"there is no field '{name}'"
    assert error.hint is not None
    assert "[[parallel]]" in error.hint or "[[instructions]]" in error.hint


def test_mistake_in_a_row_over_a_base(tmp_path: Path) -> None:
    """Is found there, wherever the base has the row."""
    path = tmp_path / "mine.toml"
    row = '[[parallel]]\nname = "vector"\ncount = 12\n'
    path.write_text(f'base = "cpu-avx2"\n{row}')
    error = error_of(str(path))
    assert error.message == "parallel.vector.count: expected a power of two, got 12"
    assert error.location is not None
    assert error.location.line == 4


def test_unknown_name() -> None:
    error = error_of("cpu-avx513")
    assert error.message == "unknown hardware description 'cpu-avx513'"
    assert error.hint is not None
    assert "did you mean 'cpu-avx512'?" in error.hint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cpu-avx2:cors=3", "hardware descriptions have no field 'cors'"),
        (
            "cpu-avx2:cores=",
            "'cores=': parallel.group.count: expected a whole number, got ''",
        ),
        (
            "cpu-avx2:cores=0",
            "'cores=0': parallel.group.count: expected a number above 0, got 0",
        ),
        (
            "cpu-avx2:cores=2,cores",
            "parallel.group.count: expected a whole number, got ''",
        ),
        ("cpu-avx2:caches.7.ways=2", "no field 'caches.7.ways'"),
        ("cpu-avx2:loads_per_cycle=3", "no field 'loads_per_cycle'"),
        ("cpu-avx2:parallel.lane.count=3", "no field 'parallel.lane.count'"),
        ("cpu-avx2:caches=4", "'caches=4': 'cpu-avx2' has 3 caches"),
        ("cpu-avx2:caches=0", "caches: expected one [[caches]] or more"),
        ("./no/such.toml", "cannot read 'no/such.toml': No such file or directory"),
        ("/", "cannot read '/': Is a directory"),
    ],
)
def test_wrong_text(text: str, message: str) -> None:
    assert message in error_of(text).message


def test_file_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "binary.toml"
    path.write_bytes(b"\xff\xfe\x00")
    assert error_of(str(path)).message.endswith("it is not UTF-8 text")
