"""Hardware descriptions: the files, changes in texts, and what errors say."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from gingham.errors import GinghamError
from gingham.targets.hardware import (
    HARDWARE_NAMES,
    Hardware,
    Instruction,
    Level,
    hardware_text,
    hardware_toml,
    hardware_with,
    load_hardware,
)
from gingham.targets.hardware.fields import FORMER, TABLES

FOLDER = Path(__file__).resolve().parents[3] / "targets" / "hardware"


def test_levels_say_what_runs_at_the_same_time() -> None:
    gpu, cpu = load_hardware("nvidia-h200"), load_hardware("cpu-avx512:cores=3")
    assert gpu.parallel == (
        Level("group", 132, memory_bytes=49152, item_limit=1024),
        Level("subgroup", 8),
        Level("lane", 32, registers=255, access_bits=128),
    )
    assert cpu.parallel == (
        Level("group", 3, memory_bytes=262144, item_limit=8192),
        Level("vector", 16, registers=32),
    )
    assert (gpu.has_vectors, gpu.items_at_once) == (False, 32)
    assert (cpu.has_vectors, cpu.items_at_once) == (True, 1)
    assert ", ".join(map(str, gpu.parallel)) == "132 groups, 8 subgroups, 32 lanes"
    assert ", ".join(map(str, cpu.parallel)) == "3 groups, vectors of 16"
    assert (gpu.cores, gpu.vector_bits, gpu.vector_registers) == (132, 1024, 255)
    assert (gpu.work_group_size, cpu.work_group_size) == (256, 1)
    assert cpu.with_level("group", count=5).cores == 5
    assert cpu.with_vectors(256, 16) == load_hardware(
        "cpu-avx512:cores=3,parallel.vector.count=8,parallel.vector.registers=16"
    )


def test_instructions_say_how_often() -> None:
    gpu = load_hardware("intel-arc")
    assert gpu.instruction("load") == Instruction("load", 1.5)
    assert gpu.instruction("loads") is None
    found = [gpu.multiply_adds_per_cycle, gpu.multiply_add_latency_cycles]
    assert [*found, gpu.loads_per_cycle, gpu.stores_per_cycle] == [8, 10, 1.5, 1]
    changed = gpu.with_instruction("store", per_cycle=4.0)
    assert hardware_text(changed) == "intel-arc:instructions.store.per_cycle=4.0"


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A description of one's own, a copy of a given one."""
    path = tmp_path / "mine.toml"
    path.write_text((FOLDER / "cpu-avx2.toml").read_text())
    return path


def replaced(path: Path, old: str, new: str) -> str:
    text = path.read_text()
    assert text.count(old) >= 1
    path.write_text(text.replace(old, new, 1))
    return str(path)


def error_of(name_or_path: str) -> GinghamError:
    with pytest.raises(GinghamError) as raised:
        load_hardware(name_or_path)
    return raised.value


def test_what_the_compiler_is_to_know() -> None:
    assert {"cpu-avx512", "cpu-avx2", "cpu-neon"} < set(HARDWARE_NAMES)
    for vendor in ("nvidia", "amd", "intel"):
        names = [name for name in HARDWARE_NAMES if name.startswith(vendor)]
        assert len(names) >= 2
        assert not any(load_hardware(name).has_vectors for name in names)


@pytest.mark.parametrize("name", HARDWARE_NAMES)
def test_every_file_is_read_and_every_figure_has_its_source(name: str) -> None:
    hardware = load_hardware(name)
    assert hardware.name == name == hardware.origin
    assert hardware_text(hardware) == name
    lines = (FOLDER / f"{name}.toml").read_text().splitlines()
    for line in lines:
        assert " # " in line or not re.match(r"\w+ = [\d.]", line)


@pytest.mark.parametrize("name", HARDWARE_NAMES)
def test_caches_grow_and_slow_down_outwards(name: str) -> None:
    hardware = load_hardware(name)
    for inner, outer in zip(hardware.caches, hardware.caches[1:], strict=False):
        assert inner.size_bytes < outer.size_bytes
        assert inner.bytes_per_cycle > outer.bytes_per_cycle
        assert inner.latency_cycles < outer.latency_cycles
        assert outer.is_shared or not inner.is_shared
    memory = hardware.memory_latency_nanoseconds * hardware.clock_gigahertz
    assert memory > hardware.caches[-1].latency_cycles
    for level in hardware.caches:
        assert level.size_bytes % hardware.cache_line_bytes == 0


@pytest.mark.parametrize(
    ("name", "teraflops"),
    [
        # The vendors' figures for 32-bit floats without matrix units.
        ("nvidia-a100", 19.5),
        ("nvidia-rtx-4090", 82.6),
        ("amd-mi300x", 81.7),
        ("amd-rdna3", 30.7),
        ("intel-arc", 17.2),
        ("intel-max", 52.4),
        ("nvidia-h200", 66.9),
    ],
)
def test_peak_is_what_the_vendor_says(name: str, teraflops: float) -> None:
    peak = 2 * load_hardware(name).multiply_adds_per_second / 1e12
    # Descriptions have clocks under load.
    assert 0.85 * teraflops < peak < 1.01 * teraflops


@pytest.mark.parametrize("name", HARDWARE_NAMES)
def test_written_file_is_the_same_description(name: str, tmp_path: Path) -> None:
    path = tmp_path / "copy.toml"
    comments = {"parallel.group.count": "counted", "caches.1.ways": "guessed"}
    path.write_text(hardware_toml(load_hardware(name), comments))
    assert load_hardware(str(path)) == load_hardware(name)
    assert path.read_text().count("# counted") == 1
    assert "# guessed" in path.read_text().split("[[caches]]")[2]


def test_text_with_changes() -> None:
    text = "cpu-avx512:clock_gigahertz=3,caches=2,caches.1.size_bytes=2097152"
    hardware = load_hardware(text)
    plain = load_hardware("cpu-avx512")
    second = dataclasses.replace(plain.caches[1], size_bytes=2097152)
    assert hardware == dataclasses.replace(
        plain, clock_gigahertz=3.0, caches=(plain.caches[0], second)
    )
    assert load_hardware(hardware_text(hardware)) == hardware
    assert hardware_text(plain) == "cpu-avx512"


def test_text_of_a_description_made_in_python() -> None:
    plain = load_hardware("nvidia-a100")
    made = hardware_with(dataclasses.replace(plain, origin="", name="mine"), cores=77)
    text = hardware_text(made)
    assert "cores=77" in text
    assert load_hardware(text) == made
    own = dataclasses.replace(
        made, instructions=(*made.instructions, Instruction("mma.m16n8k16", 0.5, 33))
    )
    with pytest.raises(GinghamError, match="no text stands for the hardware 'mine'"):
        hardware_text(own)


def test_text_of_a_file_has_its_path(mine: Path) -> None:
    hardware = load_hardware(f"{mine}:cores=3")
    assert hardware.cores == 3
    assert hardware_text(hardware) == f"{mine}:cores=3"


def test_file_is_read_again_after_a_change(mine: Path) -> None:
    assert load_hardware(str(mine)).cores == 8
    assert load_hardware(replaced(mine, "count = 8", "count = 12")).cores == 12


def test_base_gives_what_a_file_leaves_out(tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(
        'base = "cpu-avx512"\nname = "small"\n'
        '[[instructions]]\nname = "dot4"\nper_cycle = 0.5\nlatency_cycles = 9\n'
        '[[parallel]]\nname = "group"\ncount = 96\n'
    )
    plain = load_hardware("cpu-avx512:cores=96")
    assert load_hardware(str(path)) == dataclasses.replace(
        plain,
        name="small",
        instructions=(*plain.instructions, Instruction("dot4", 0.5, 9)),
    )


def test_figures_of_lanes_that_a_file_leaves_out(mine: Path) -> None:
    text = mine.read_text()
    measured = load_hardware("nvidia-h200").lanes
    assert load_hardware(str(mine)).lanes == measured
    mine.write_text(f"{text}\n[lanes]\nbanks = 16\n")
    assert load_hardware(str(mine)).lanes == dataclasses.replace(measured, banks=16)
    mine.write_text('base = "amd-rdna3"\n[lanes]\ncore_groups = 8\n')
    found = load_hardware(f"{mine}:lanes.banks=16")
    assert (found.lanes.core_groups, found.lanes.banks) == (8, 16)
    assert found.lanes.core_registers == load_hardware("amd-rdna3").lanes.core_registers
    assert "banks = 16" in hardware_toml(found)
    assert "[lanes]" not in hardware_toml(load_hardware("cpu-avx512"))


def test_overheads_that_a_file_leaves_out(mine: Path) -> None:
    """Without a base they are those that were measured, with one those of the base."""
    measured = load_hardware("cpu-avx512-xeon").overheads
    assert load_hardware(str(mine)).overheads == measured
    text = mine.read_text()
    mine.write_text(f"{text}\n[overheads]\njump_cycles = 5\n")
    changed = dataclasses.replace(measured, jump_cycles=5.0)
    assert load_hardware(str(mine)).overheads == changed
    mine.write_text('base = "cpu-avx2"\n[overheads]\nloop_cycles = 3\n')
    found = load_hardware(f"{mine}:overheads.jump_cycles=5").overheads
    assert found == dataclasses.replace(changed, loop_cycles=3.0)


def test_whole_numbers_are_numbers(mine: Path) -> None:
    hardware = load_hardware(
        replaced(mine, "clock_gigahertz = 3.4", "clock_gigahertz = 3")
    )
    assert isinstance(hardware.clock_gigahertz, float)


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


def test_text_cannot_say_another_block() -> None:
    hardware = load_hardware("cpu-avx512")
    spelled = hardware.with_instruction("dot_f32x4", per_cycle=1.0)
    assert load_hardware(hardware_text(spelled)) == spelled
    rows = [
        dataclasses.replace(each, spelling="return {C} +\ndot({A}, {B});")
        if each.name == "dot_f32x4"
        else each
        for each in hardware.instructions
    ]
    with pytest.raises(GinghamError, match="no text stands for"):
        hardware_text(dataclasses.replace(hardware, instructions=tuple(rows)))


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
