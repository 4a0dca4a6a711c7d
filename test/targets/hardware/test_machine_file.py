"""Machines as files: what is written is read again, and mistakes are shown."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from gingham.errors import GinghamError
from gingham.targets.hardware import load_hardware
from gingham.targets.hardware.machine import HOST, Link, Machine, MachineDevice
from gingham.targets.hardware.machine_file import (
    load_machine,
    machine_text,
    parse_machine,
)

TEXT = """\
{
  "devices": [
    {"name": "a", "hardware": "cpu-avx512:cores=8", "memory_bytes": 1000},
    {"name": "b", "hardware": "nvidia-h200", "memory_bytes": 2000,
     "load": 0.25, "measured": {"key": 0.5}, "unsupported": ["f64"]}
  ],
  "links": [
    {"from": "host", "to": "a", "latency_seconds": 0, "bytes_per_second": null},
    {"from": "a", "to": "b", "latency_seconds": 1e-5, "bytes_per_second": 1e9}
  ]
}
"""


def test_a_machine_is_read() -> None:
    machine = parse_machine(TEXT)
    first, second = machine.devices
    assert (first.name, first.hardware.cores, first.memory_bytes) == ("a", 8, 1000)
    assert (first.load, first.measured, first.unsupported) == (0.0, {}, ())
    assert second.hardware == load_hardware("nvidia-h200")
    assert (second.load, second.measured) == (0.25, {"key": 0.5})
    assert second.unsupported == ("f64",)
    assert machine.links[HOST, "a"] == Link(0, math.inf)
    assert machine.links["a", "b"].seconds(10**9) == pytest.approx(1.00001)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    hardware = replace(load_hardware("cpu-avx2:cores=6"), clock_gigahertz=3.7)
    devices = (
        MachineDevice("a b", hardware, 10**9, 0.5, {"k": 1e-3}, "cores", ("f16",)),
        MachineDevice('"\u00fc', load_hardware("nvidia-a100"), 10**9),
    )
    links = {("a b", HOST): Link(0.0, math.inf), (HOST, "a b"): Link(1e-6, 1e9)}
    machine = Machine(devices, links, 8e-5)
    path = tmp_path / "machine.json"
    path.write_text(machine_text(machine), encoding="utf-8")
    assert load_machine(str(path)) == machine
    # Standard JSON has no infinity.
    json.loads(machine_text(machine), parse_constant=pytest.fail)


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        ('"load": 0.25', '"load": 1.5', (5, 6), "load: expected 0 to below 1, got 1.5"),
        ('"load": 0.25', '"load": NaN', (5, 6), "expected a number of 0 or more"),
        ('"load": 0.25', '"load": true', (5, 6), "0 or more, got a truth value"),
        ("nvidia-h200", "nvidia-h20", (4, 19), "did you mean 'nvidia-h200' or"),
        ('"name": "b"', '"name": "a"', (4, 6), "the device 'a' is there twice"),
        ('"name": "b"', '"name": "host"', (4, 6), "'host' is the host's memory"),
        ('"name": "b"', '"name": 3', (4, 6), "name: expected a string, got a number"),
        ('"memory_bytes": 1000', '"memory_bytes": 0', (3, 53), "expected 1 or more"),
        (', "memory_bytes": 1000', "", (3, 5), "the field 'memory_bytes' is missing"),
        ('"load"', '"lode"', (5, 6), "unknown field 'lode', expected name, hardware"),
        ("0.5", "-1", (5, 33), "key: expected a number of 0 or more, got -1"),
        ('["f64"]', '"f64"', (5, 46), "unsupported: expected a list, got a string"),
        ('"from": "a"', '"from": "c"', (9, 6), "'c' is not among a, b, host"),
        ("1e9", "0", (9, 55), "expected a number above 0, or null"),
        ('"to": "b"', '"to": "b", "x": 1', (9, 30), "unknown field 'x'"),
        (
            '"links"',
            '"link"',
            (7, 3),
            "unknown field 'link', expected devices, links, ",
        ),
        ("1e9}\n", "1e9\n", (10, 3), "not JSON: expecting ',' delimiter"),
        (TEXT, "[]", (1, 1), "the file: expected an object, got a list"),
        (TEXT, "", (1, 1), "not JSON"),
    ],
)
def test_mistakes_are_shown_where_they_are(
    old: str, new: str, place: tuple[int, int], message: str
) -> None:
    assert old in TEXT
    with pytest.raises(GinghamError) as error:
        parse_machine(TEXT.replace(old, new), "my.json")
    assert message in str(error.value)
    location = error.value.location
    assert location is not None
    assert (location.file, location.line, location.column) == ("my.json", *place)


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(GinghamError, match="No such file"):
        load_machine(str(tmp_path / "nothing.json"))
    path = tmp_path / "binary.json"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(GinghamError, match="not UTF-8"):
        load_machine(str(path))
    path.write_text("[" * 100_000)
    with pytest.raises(GinghamError, match=r"nested too deeply|not JSON"):
        load_machine(str(path))


def test_a_part_of_the_devices() -> None:
    machine = parse_machine(TEXT)
    assert [d.name for d in machine.restricted(["b", "a", "b"]).devices] == ["b", "a"]
    assert machine.restricted(["b"]).links == {}
    assert {*machine.restricted(["a"]).links} == {(HOST, "a")}
    with pytest.raises(GinghamError, match="the machine has no device 'c'") as error:
        machine.restricted(["a", "c"])
    assert error.value.hint == "it has a, b"
