"""Hardware descriptions: the files, and changes in texts."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from hardware_files import FOLDER, replaced

from gingham.errors import GinghamError
from gingham.targets.hardware import (
    HARDWARE_NAMES,
    Instruction,
    Level,
    hardware_text,
    hardware_toml,
    hardware_with,
    load_hardware,
)


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
