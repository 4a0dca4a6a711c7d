"""`tile-devices`: list the devices that programs can run on.

tile-devices               a table of all devices, the default one marked
tile-devices --probe       also build and run a small kernel on each
tile-devices --json        the same facts for programs
tile-devices --hardware    the figures that programs are compiled by, as a file
tile-devices --measure     the same with figures measured on the device
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import visible
from .command import ArgumentParser, run_command, show

if TYPE_CHECKING:
    from ..runtime.device import Device
    from ..runtime.devices import Choice
    from ..targets.backend import Problem, PropertyValue

# Long lists that only programs want.
_LEFT_OUT_OF_TABLES = frozenset({"extensions"})


@dataclass(frozen=True)
class _Listing:
    """What the command shows: `probes` has a line per device where it was asked for."""

    devices: Sequence[Device]
    default: Choice
    problems: Sequence[Problem]
    probes: dict[str, _Probe]


@dataclass(frozen=True)
class _Probe:
    failure: str | None
    milliseconds: float

    def __str__(self) -> str:
        if self.failure is None:
            return f"works ({self.milliseconds:.0f} ms)"
        return f"fails: {self.failure}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0, or 1 after an error."""
    return run_command(lambda: _run(_parse(arguments)))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = ArgumentParser(
        prog="tile-devices", description="List the devices that programs can run on."
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--probe",
        action="store_true",
        help="build, run and check a small kernel on each device",
    )
    parser.add_argument(
        "--hardware",
        nargs="?",
        const="",
        metavar="DEVICE",
        help="print the hardware description that programs for a device (the default "
        "one) are compiled by, as a file that --hardware of tile-run takes",
    )
    parser.add_argument(
        "--measure",
        nargs="?",
        const="",
        metavar="DEVICE",
        help="the same, with what can be measured measured on the device, which should "
        "have nothing else to do for some seconds",
    )
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace) -> int:
    if options.measure is not None:
        show(_measured(options.measure), end="")
        return 0
    if options.hardware is not None:
        show(_description(options.hardware), end="")
        return 0
    listing = _gather(options.probe)
    if options.json:
        show(json.dumps(_as_json(listing), indent=2))
    elif sys.stdout.isatty():
        _print_table(listing)
    else:
        show(_as_text(listing))
    return 0


def _description(name: str) -> str:
    """The hardware description of a device, the default one without a name."""
    from ..runtime.devices import default_device, device
    from ..runtime.hardware import hardware_of
    from ..targets.hardware import hardware_toml

    return hardware_toml(hardware_of(device(name) if name else default_device()))


def _measured(name: str) -> str:
    """The description of a device with measured figures."""
    from ..runtime.devices import default_device, device
    from ..runtime.hardware import measured_hardware
    from ..targets.hardware import hardware_toml

    calibration = measured_hardware(device(name) if name else default_device())
    return hardware_toml(calibration.hardware, calibration.comments)


def _gather(with_probes: bool) -> _Listing:
    from ..runtime.devices import default_choice, device_problems, devices

    available = devices()
    probes = {each.name: _probe(each) for each in available} if with_probes else {}
    return _Listing(available, default_choice(), device_problems(), probes)


def _probe(device: Device) -> _Probe:
    start = time.perf_counter()
    failure = device.failure()
    return _Probe(failure, (time.perf_counter() - start) * 1e3)


def _as_json(listing: _Listing) -> dict[str, object]:
    from ..runtime.hardware import hardware_of

    entries: list[dict[str, object]] = []
    for device in listing.devices:
        entry: dict[str, object] = {
            "name": device.name,
            "kind": device.kind,
            "description": device.description,
            "default": device is listing.default.device,
            "is_reference": device.is_reference,
            "properties": dict(device.properties),
            "hardware": dataclasses.asdict(hardware_of(device)),
        }
        entry["memory_budget_bytes"] = device.memory_budget_bytes
        entry["known_fault"] = device.known_fault
        probe = listing.probes.get(device.name)
        if probe is not None:
            entry["probe"] = {
                "works": probe.failure is None,
                "failure": probe.failure,
                "milliseconds": probe.milliseconds,
            }
        entries.append(entry)
    problems = [
        {"subject": problem.subject, "reason": problem.reason}
        for problem in listing.problems
    ]
    return {
        "default": listing.default.device.name,
        "default_reason": str(listing.default),
        "devices": entries,
        "problems": problems,
    }


def _hardware(device: Device) -> str:
    """The name of the description that programs are compiled by, and who chose it."""
    from ..runtime.hardware import hardware_of
    from ..runtime.settings import find

    chosen = find("hardware")
    source = "what fits the device" if chosen.value is None else chosen.source
    return f"{hardware_of(device).name} ({source})"


def _described(device: Device) -> list[tuple[str, str]]:
    """What runs at the same time, and what schedules can name, by the description."""
    from ..runtime.hardware import hardware_of

    hardware = hardware_of(device)
    rows = [("levels", ", ".join(map(str, hardware.parallel)))]
    if named := [each.name for each in hardware.instructions if each.block]:
        rows.append(("instructions", ", ".join(named)))
    return rows


def _rows(listing: _Listing, device: Device) -> list[tuple[str, str]]:
    """What a table shows of a device: names in words, values with units."""
    rows = [("kind", device.kind), ("hardware", _hardware(device))]
    rows += _described(device)
    if (budget := device.memory_budget_bytes) is not None:
        rows.append(_format_property("memory_budget_bytes", budget))
    rows += [
        _format_property(name, value)
        for name, value in device.properties.items()
        if name not in _LEFT_OUT_OF_TABLES
    ]
    if (fault := device.known_fault) is not None:
        rows.append(("known fault", fault))
    probe = listing.probes.get(device.name)
    if probe is not None:
        rows.append(("probe", str(probe)))
    return rows


def _format_property(name: str, value: PropertyValue) -> tuple[str, str]:
    from ..targets.host_arrays import format_bytes

    words = name.removesuffix("_bytes").removesuffix("_megahertz").replace("_", " ")
    if isinstance(value, bool):
        return words, "yes" if value else "no"
    if isinstance(value, tuple):
        return words, " x ".join(str(item) for item in value)
    if isinstance(value, int) and name.endswith("_bytes"):
        return words, format_bytes(value)
    if isinstance(value, int) and name.endswith("_megahertz"):
        return words, f"{value} MHz" if value else "unknown"
    return words, str(value) or "unknown"


def _title(listing: _Listing, device: Device) -> str:
    mark = " (default)" if device is listing.default.device else ""
    return f"{device.name}{mark}: {device.description}"


def _as_text(listing: _Listing) -> str:
    """Plain text, one indented block per device, for pipes and files."""
    blocks: list[str] = []
    for device in listing.devices:
        rows = _rows(listing, device)
        width = max(len(name) for name, _ in rows)
        lines = [f"  {name:{width}}  {value}" for name, value in rows]
        blocks.append("\n".join([_title(listing, device), *lines]))
    lines = [f"  {failure}" for failure in listing.default.failures]
    blocks.append("\n".join([f"default: {listing.default}", *lines]))
    if listing.problems:
        lines = [f"  {problem}" for problem in listing.problems]
        blocks.append("\n".join(["not available:", *lines]))
    return "\n\n".join(blocks)


def _print_table(listing: _Listing) -> None:
    """A table per device for a terminal."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    for device in listing.devices:
        style = "bold green" if device is listing.default.device else "bold"
        console.print(Text(visible(_title(listing, device)), style=style))
        table = Table(show_header=False)
        # Text, not str: drivers' names are no markup.
        for name, value in _rows(listing, device):
            table.add_row(Text(visible(name)), Text(visible(value)))
        console.print(table)
    console.print(Text(visible(f"default: {listing.default}")))
    for failure in listing.default.failures:
        console.print(Text(visible(f"  {failure}"), style="yellow"))
    for problem in listing.problems:
        console.print(Text(visible(f"not available: {problem}"), style="yellow"))


if __name__ == "__main__":
    sys.exit(main())
