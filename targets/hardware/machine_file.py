"""Machines as JSON files: written by `machine_text`, read by `load_machine`.

```json
{
  "devices": [
    {"name": "intel.0", "hardware": "cpu-avx512:cores=8", "memory_bytes": 68719476736},
    {"name": "nvidia.0", "hardware": "nvidia-h200", "memory_bytes": 150323855360,
     "load": 0.25, "measured": {"<key of a unit>": 0.00042}}
  ],
  "links": [
    {"from": "host", "to": "intel.0", "latency_seconds": 0, "bytes_per_second": null},
    {"from": "intel.0", "to": "host", "latency_seconds": 0, "bytes_per_second": null},
    {"from": "host", "to": "nvidia.0",
     "latency_seconds": 1e-5, "bytes_per_second": 5e10},
    {"from": "nvidia.0", "to": "host",
     "latency_seconds": 1e-5, "bytes_per_second": 5e10}
  ]
}
```

`hardware` is a text that `load_hardware` takes; `bytes_per_second` of null is no limit:
both places use the same memory. `start_seconds`, beside both lists, is what the host
takes to start a part of a program. Between two devices without a link of their own,
data goes through the host.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from ...errors import GinghamError, SourceLocation
from .loading import hardware_text, load_hardware
from .machine import HOST, Link, Machine, MachineDevice

_DEVICE_FIELDS = (
    "name",
    "hardware",
    "memory_bytes",
    "load",
    "processor",
    "unsupported",
    "measured",
)
_LINK_FIELDS = ("from", "to", "latency_seconds", "bytes_per_second")


_KINDS = {dict: "an object", list: "a list", str: "a string", bool: "a truth value"}


class _Wrong(Exception):
    """A value that is not what it should be, with the way to it."""

    def __init__(self, path: Sequence[str | int], message: str) -> None:
        super().__init__(message)
        self.path = tuple(path)
        self.message = message


def load_machine(path: str) -> Machine:
    """The machine in a file. Raises GinghamError at the place that is wrong."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise GinghamError(f"cannot read '{path}': {reason}") from error
    return parse_machine(text, path)


def parse_machine(text: str, name: str = "machine.json") -> Machine:
    """The machine in a text; errors call the file `name`."""
    try:
        value: object = json.loads(text)
    except json.JSONDecodeError as error:
        location = SourceLocation(name, error.lineno, error.colno, text)
        raise GinghamError(f"not JSON: {error.msg.lower()}", location) from error
    except RecursionError as error:
        raise GinghamError(f"'{name}' is nested too deeply") from error
    try:
        return _machine(value)
    except _Wrong as error:
        raise GinghamError(error.message, _location(name, text, error.path)) from error
    except GinghamError as error:
        # Of a hardware description, which may be in a file of its own.
        if error.location is not None:
            raise
        found = _location(name, text, ("devices",))
        raise GinghamError(error.message, found, error.hint) from error


def machine_text(machine: Machine) -> str:
    """The text of a file that `load_machine` reads as this machine."""
    devices = [_device_table(device) for device in machine.devices]
    links = [
        {
            "from": source,
            "to": target,
            "latency_seconds": link.latency_seconds,
            "bytes_per_second": (
                None if math.isinf(link.bytes_per_second) else link.bytes_per_second
            ),
        }
        for (source, target), link in machine.links.items()
    ]
    table: dict[str, Any] = {"devices": devices, "links": links}
    if machine.start_seconds:
        table["start_seconds"] = machine.start_seconds
    return json.dumps(table, indent=2) + "\n"


def _device_table(device: MachineDevice) -> dict[str, Any]:
    table: dict[str, Any] = {
        "name": device.name,
        "hardware": hardware_text(device.hardware),
        "memory_bytes": device.memory_bytes,
    }
    optional = {
        "load": device.load,
        "processor": device.processor,
        "unsupported": [*device.unsupported],
        "measured": dict(device.measured),
    }
    return table | {name: value for name, value in optional.items() if value}


def _machine(value: object) -> Machine:
    needed = ("devices", "links")
    table = _table(value, (), (*needed, "start_seconds"), needed)
    devices = tuple(
        _device(entry, ("devices", number))
        for number, entry in enumerate(_entries(table["devices"], ("devices",)))
    )
    names = [device.name for device in devices]
    for number, name in enumerate(names):
        if name in (HOST, *names[:number]):
            what = "is the host's memory" if name == HOST else "is there twice"
            raise _Wrong(("devices", number, "name"), f"the device '{name}' {what}")
    links: dict[tuple[str, str], Link] = {}
    for number, entry in enumerate(_entries(table["links"], ("links",))):
        place, link = _link(entry, ("links", number), names)
        if place in links:
            message = f"a second link from '{place[0]}' to '{place[1]}'"
            raise _Wrong(("links", number, "from"), message)
        links[place] = link
    start = _number(table.get("start_seconds", 0.0), ("start_seconds",))
    return Machine(devices, links, start)


def _device(value: object, path: tuple[str | int, ...]) -> MachineDevice:
    table = _table(value, path, _DEVICE_FIELDS, _DEVICE_FIELDS[:3])
    name = _text(table["name"], (*path, "name"))
    hardware = _text(table["hardware"], (*path, "hardware"))
    try:
        description = load_hardware(hardware)
    except GinghamError as error:
        if error.location is not None:
            raise
        hint = "" if error.hint is None else f" ({error.hint})"
        raise _Wrong((*path, "hardware"), f"{error.message}{hint}") from error
    load = _number(table.get("load", 0.0), (*path, "load"))
    if load >= 1:
        raise _Wrong((*path, "load"), f"load: expected 0 to below 1, got {load:g}")
    memory = _number(table["memory_bytes"], (*path, "memory_bytes"))
    if memory < 1:
        raise _Wrong((*path, "memory_bytes"), "memory_bytes: expected 1 or more")
    place = (*path, "measured")
    measured = _table(table.get("measured", {}), place, None, ())
    unsupported = _entries(table.get("unsupported", []), (*path, "unsupported"))
    return MachineDevice(
        name,
        description,
        int(memory),
        load,
        {key: _number(each, (*place, key)) for key, each in measured.items()},
        _text(table.get("processor", ""), (*path, "processor")),
        tuple(_text(each, (*path, "unsupported")) for each in unsupported),
    )


def _link(
    value: object, path: tuple[str | int, ...], devices: Sequence[str]
) -> tuple[tuple[str, str], Link]:
    table = _table(value, path, _LINK_FIELDS, _LINK_FIELDS)
    ends = [_text(table[end], (*path, end)) for end in ("from", "to")]
    known = [*devices, HOST]
    for end, name in zip(("from", "to"), ends, strict=True):
        if name not in known:
            message = f"'{name}' is not among {', '.join(known)}"
            raise _Wrong((*path, end), message)
    rate = table["bytes_per_second"]
    place = (*path, "bytes_per_second")
    speed = math.inf if rate is None else _number(rate, place)
    if speed <= 0:
        raise _Wrong(place, "bytes_per_second: expected a number above 0, or null")
    latency = _number(table["latency_seconds"], (*path, "latency_seconds"))
    return (ends[0], ends[1]), Link(latency, speed)


def _table(
    value: object,
    path: Sequence[str | int],
    known: Sequence[str] | None,
    needed: Sequence[str],
) -> Mapping[str, Any]:
    what = path[-1] if path else "the file"
    if isinstance(what, int):
        what = f"{path[-2]}.{what}"
    if not isinstance(value, dict):
        raise _Wrong(path, f"{what}: expected an object, got {_kind(value)}")
    table = cast("dict[str, Any]", value)
    for name in table:
        if known is not None and name not in known:
            message = f"unknown field '{name}', expected {', '.join(known)}"
            raise _Wrong((*path, name), message)
    for name in needed:
        if name not in table:
            raise _Wrong(path, f"the field '{name}' is missing")
    return table


def _entries(value: object, path: Sequence[str | int]) -> list[Any]:
    if not isinstance(value, list):
        raise _Wrong(path, f"{path[-1]}: expected a list, got {_kind(value)}")
    return cast("list[Any]", value)


def _text(value: object, path: Sequence[str | int]) -> str:
    if not isinstance(value, str):
        raise _Wrong(path, f"{path[-1]}: expected a string, got {_kind(value)}")
    return value


def _number(value: object, path: Sequence[str | int]) -> float:
    got = _kind(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        if value >= 0 and math.isfinite(value):
            return value
        got = str(value)
    raise _Wrong(path, f"{path[-1]}: expected a number of 0 or more, got {got}")


def _kind(value: object) -> str:
    if value is None:
        return "null"
    for kind, words in _KINDS.items():
        if isinstance(value, kind):
            return words
    return "a number"


def _location(name: str, text: str, path: Sequence[str | int]) -> SourceLocation:
    """Where the value at `path` is: the JSON is walked again, this time by tokens."""
    offset = next(_places(text, tuple(path)), 0)
    before = text[:offset]
    line = before.count("\n") + 1
    column = offset - (before.rfind("\n") + 1) + 1
    return SourceLocation(name, line, column, text)


_TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+)')


def _places(text: str, path: tuple[str | int, ...]) -> Iterator[int]:
    """The offset of the value at `path`, or of the nearest thing around it."""
    starts: dict[tuple[str | int, ...], int] = {}
    around: list[str | int | None] = []
    position = 0
    while found := _TOKEN.match(text, position):
        token, start = found[1], found.start(1)
        position = found.end()
        here = tuple(step for step in around if step is not None)
        if token == ":":
            continue
        if token in "]}":
            around.pop()
            continue
        if token == ",":
            last = around[-1]
            around[-1] = last + 1 if isinstance(last, int) else None
            continue
        if around and around[-1] is None:
            around[-1] = str(json.loads(token))
            starts.setdefault((*here, around[-1]), start)
            continue
        starts.setdefault(here, start)
        if token in "[{":
            around.append(0 if token == "[" else None)
    while path and path not in starts:
        path = path[:-1]
    if path in starts:
        yield starts[path]
