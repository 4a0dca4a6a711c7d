"""ARCHITECTURE.md and its picture speak of what is there."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from distributions import ROOT, declared
from house import HOUSE, STRIPE, Room

TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `([\w./]+/)` \| .* \|(.*)\|$", TEXT, re.MULTILINE)
ROOMS = [(folder, re.findall(r"`(\w+)`", names)) for folder, names in ROWS]
PATHS = re.findall(r"`((?:[\w-]+/)+[\w.-]*|[\w-]+\.(?:py|toml))`", TEXT)
DIVIDED = ("dialects", "passes", "passes.stripe", "targets")
"""What is told room by room."""


@pytest.mark.parametrize("path", [*dict.fromkeys(PATHS)])
def test_paths_are_there(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize(("folder", "names"), ROOMS)
def test_rooms_give_what_is_said(folder: str, names: list[str]) -> None:
    text = "\n".join(path.read_text() for path in (ROOT / folder).rglob("*.py"))
    for name in names:
        assert re.search(rf"^((class|def) )?{name}\b", text, re.MULTILINE), name


def test_every_package_has_its_room() -> None:
    rooms = {folder.strip("/").replace("/", ".") for folder, _ in ROOMS}
    for package in declared()["tool"]["setuptools"]["packages"]:
        name = package.removeprefix("gingham").removeprefix(".")
        around = [name, *(str(p).replace("/", ".") for p in parents(name))]
        if name and name not in (*DIVIDED, "examples"):
            assert rooms & {each for each in around if each not in DIVIDED}, name


def parents(package: str) -> list[Path]:
    return [*Path(package.replace(".", "/")).parents][:-1]


def rooms_of(rooms: tuple[Room, ...]) -> list[Room]:
    return [each for room in rooms for each in (room, *rooms_of(room.rooms))]


def test_the_picture_shows_what_is_there() -> None:
    shown = [room.path for floor in HOUSE for room in rooms_of(floor)]
    for path in [*shown, *(room.path for room in STRIPE)]:
        assert (ROOT / path).exists(), path
    folders = {path.partition("/")[0] for path in shown}
    packages = declared()["tool"]["setuptools"]["packages"]
    assert {p.split(".")[1] for p in packages if p.count(".") == 1} <= folders


def test_the_picture_has_the_floors_of_the_laws() -> None:
    contracts = declared()["tool"]["importlinter"]["contracts"]
    laws = {law["id"]: law.get("layers", []) for law in contracts}
    heights = {
        name.strip(): height
        for height, layer in enumerate(laws["layers"])
        for name in re.split("[|:]", layer)
    }
    floors = [
        [heights[name] for room in floor if (name := top_of(room)) in heights]
        for floor in HOUSE
    ]
    for above, below in pairwise(floors):
        assert max(above) < min(below)
    shown = [room.path.split("/")[2] for room in STRIPE]
    assert shown == ["decide", "apply", "edit", "analysis"]
    assert [set(layer.split(" | ")) for layer in laws["stripe"]] == [
        {"apply", "decide"},
        {"edit"},
        {"analysis"},
    ]


def top_of(room: Room) -> str:
    return room.path.partition("/")[0].removesuffix(".py")
