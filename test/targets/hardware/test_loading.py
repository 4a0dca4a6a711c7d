"""Hardware descriptions: the files, changes in texts, and what errors say."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from gingham.errors import GinghamError
from gingham.targets.hardware import (
    HARDWARE_NAMES,
    Hardware,
    Level,
    hardware_text,
    hardware_toml,
    load_hardware,
)

FOLDER = Path(__file__).resolve().parents[3] / "targets" / "hardware"


def test_levels_say_what_runs_at_the_same_time() -> None:
    gpu, cpu = load_hardware("nvidia-h200"), load_hardware("cpu-avx512:cores=3")
    assert gpu.levels == (
        Level("group", 132, memory_bytes=49152),
        Level("subgroup", 8),
        Level("lane", 32, registers=255),
    )
    assert cpu.levels == (
        Level("group", 3, memory_bytes=262144),
        Level("vector", 16, registers=32),
    )
    assert (gpu.has_vectors, gpu.items_at_once) == (False, 32)
    assert (cpu.has_vectors, cpu.items_at_once) == (True, 1)
    assert ", ".join(map(str, gpu.levels)) == "132 groups, 8 subgroups, 32 lanes"
    assert ", ".join(map(str, cpu.levels)) == "3 groups, vectors of 16"
    other = dataclasses.replace(cpu, cores=5)
    assert other.levels[0].count == 5


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
        assert all(load_hardware(name).kind == "gpu" for name in names)


@pytest.mark.parametrize("name", HARDWARE_NAMES)
def test_every_file_is_read_and_every_figure_has_its_source(name: str) -> None:
    hardware = load_hardware(name)
    assert hardware.name == name == hardware.origin
    assert hardware_text(hardware) == name
    lines = (FOLDER / f"{name}.toml").read_text().splitlines()
    for line in lines:
        told = line.split(" = ")[0] not in ("name", "kind", "is_shared")
        assert " = " not in line or " # " in line or line.startswith("#") or not told


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
    comments = {"cores": "counted", "caches.1.ways": "guessed"}
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
    plain = load_hardware("cpu-neon")
    made = dataclasses.replace(plain, origin="", name="mine", kind="gpu", cores=77)
    text = hardware_text(made)
    assert "cores=77" in text
    assert load_hardware(text) == made


def test_text_of_a_file_has_its_path(mine: Path) -> None:
    hardware = load_hardware(f"{mine}:cores=3")
    assert hardware.cores == 3
    assert hardware_text(hardware) == f"{mine}:cores=3"


def test_file_is_read_again_after_a_change(mine: Path) -> None:
    assert load_hardware(str(mine)).cores == 8
    assert load_hardware(replaced(mine, "cores = 8", "cores = 12")).cores == 12


def test_base_gives_what_a_file_leaves_out(tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text('base = "cpu-avx512"\nname = "small"\ncores = 96\n')
    plain = load_hardware("cpu-avx512")
    assert load_hardware(str(path)) == dataclasses.replace(
        plain, name="small", cores=96
    )


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
        ("cores = 8", "cors = 8"),
        "there is no field 'cors'",
        "cors",
    ),
    "text": (
        ("cores = 8", 'cores = "eight"'),
        "cores: expected a whole number, got 'eight'",
        "cores",
    ),
    "fraction": (
        ("cores = 8", "cores = 8.5"),
        "cores: expected a whole number, got 8.5",
        "cores",
    ),
    "truth": (("cores = 8", "cores = true"), "got True", "cores"),
    "zero": (
        ("cores = 8", "cores = 0"),
        "cores: expected a number above 0, got 0",
        "cores",
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
    "kind": (
        ('kind = "cpu"', 'kind = "tpu"'),
        "kind: expected 'cpu' or 'gpu', got 'tpu'",
        "kind",
    ),
    "width": (
        ("vector_bits = 256", "vector_bits = 100"),
        "vector_bits: expected a power of two from 32 on, got 100",
        "vector_bits",
    ),
    "group": (
        ("work_group_size = 1", "work_group_size = 9000"),
        "work_group_size: expected at most work_group_limit, 8192, got 9000",
        "work_group_size",
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
    "no table": (
        ("cores = 8", "overheads = 8\ncores = 8"),
        "overheads: expected a table with fields, got 8",
        "overheads",
    ),
    "base": (("cores = 8", 'base = "z80"'), "base: expected a name, got 'z80'", "base"),
    "syntax": (("cores = 8", "cores = = 8"), "not TOML: invalid value", "= 8"),
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


@pytest.mark.parametrize(
    "field", [field.name for field in dataclasses.fields(Hardware)]
)
def test_missing_field(field: str, mine: Path) -> None:
    optional = ("origin", "near_page_entries", "compute_units_per_core", "overheads")
    if field in optional:
        return
    lines = mine.read_text().splitlines()
    if field == "caches":
        lines = lines[: lines.index("[[caches]]")]
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


@pytest.mark.parametrize("caches", ["caches = 3", "caches = []", "caches = [1]"])
def test_caches_are_tables(caches: str, mine: Path) -> None:
    text = mine.read_text().partition("[[caches]]")[0]
    mine.write_text(f"{text}\n{caches}\n")
    error = error_of(str(mine))
    assert error.message.startswith("caches: expected ")
    assert error.location is not None


def test_unknown_name() -> None:
    error = error_of("cpu-avx513")
    assert error.message == "unknown hardware description 'cpu-avx513'"
    assert error.hint is not None
    assert "did you mean 'cpu-avx512'?" in error.hint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cpu-avx2:cors=3", "hardware descriptions have no field 'cors'"),
        ("cpu-avx2:cores=", "'cores=': cores: expected a whole number, got ''"),
        ("cpu-avx2:cores=0", "'cores=0': cores: expected a number above 0, got 0"),
        ("cpu-avx2:cores=2,cores", "cores: expected a whole number, got ''"),
        ("cpu-avx2:caches.7.ways=2", "no field 'caches.7.ways'"),
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
