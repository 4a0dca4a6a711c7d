"""Explanations of placements: figures, tables and pages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from placed_programs import (
    ATTENTION,
    ATTENTION_TYPES,
    BRANCHES,
    BRANCHES_TYPES,
    flat,
    function_of,
    two_devices,
)
from xdsl.dialects.builtin import ArrayAttr, StringAttr

from gingham.placement.build import Residency
from gingham.placement.decide import Decision, decide, task_graph_of
from gingham.placement.explanation import PlacementExplanation
from gingham.placement.layout import layout
from gingham.placement.schedule import Simulator
from gingham.targets.hardware.machine import HOST, Link, Machine

HOSTILE = "</title><script>alert(1)</script>&\"'"


def decisions() -> Iterator[Decision]:
    """Of several programs, with the last device measured and one of three."""
    for text, types in ((BRANCHES, BRANCHES_TYPES), (ATTENTION, ATTENTION_TYPES)):
        module = flat(text, *types)
        near, far = two_devices().devices
        units = task_graph_of(module).units
        measured = {units[0].key: 1e-4}
        links: dict[tuple[str, str], Link] = {}
        for name, link in (("near", Link(0.0, 1e12)), ("far", Link(1e-6, 1e11))):
            links |= {(HOST, name): link, (name, HOST): link}
        yield decide(module, Machine((near, replace(far, measured=measured)), links))
        yield decide(module, Machine((near,), links))
        third = replace(far, name=HOSTILE, load=0.5)
        links |= {(HOST, HOSTILE): Link(0.0, 1e10), (HOSTILE, HOST): Link(0.0, 1e10)}
        yield decide(module, Machine((near, far, third), links), Residency({}, {}))


@pytest.fixture(scope="module")
def explained() -> list[tuple[Decision, PlacementExplanation]]:
    return [(decision, decision.explain()) for decision in decisions()]


Explained = list[tuple[Decision, PlacementExplanation]]


def test_figures_are_those_of_the_decision(explained: Explained) -> None:
    for decision, explanation in explained:
        problem, chosen = decision.posed.problem, decision.solution.chosen
        simulator = Simulator(problem)
        assert explanation.seconds == decision.seconds
        assert len(explanation.units) == problem.count
        for number, unit in enumerate(explanation.units):
            assert unit.device == decision.devices[number]
            assert unit.end - unit.start == pytest.approx(
                problem.seconds[number][chosen.placement[number]]
            )
            for device, name in enumerate(problem.devices):
                assert unit.times[name].seconds == problem.seconds[number][device]
                if name == unit.device:
                    assert name not in unit.moved
                    continue
                placement = [*chosen.placement]
                placement[number] = device
                expected = simulator.seconds(placement, chosen.order)
                assert unit.moved[name] == expected
        assert any(one.is_chosen for one in explanation.alternatives)
        for one in explanation.alternatives:
            if one.seconds is not None:
                assert (
                    one.seconds >= explanation.seconds * (1 - 1e-9) or not one.is_chosen
                )
        busy = sum(device.busy_seconds for device in explanation.devices)
        assert busy == pytest.approx(sum(u.end - u.start for u in explanation.units))


def test_measured_times_are_marked(explained: Explained) -> None:
    _, explanation = explained[0]
    first, *others = explanation.units
    assert first.times["far"].source == "measured"
    assert first.times["far"].seconds == 1e-4
    assert {unit.times["far"].source for unit in others} == {"predicted"}
    assert all(unit.times["far"].correction != 1 for unit in others)
    assert "measured" in str(explanation)


def test_tables_have_all_units_and_alternatives(explained: Explained) -> None:
    for _, explanation in explained:
        text = str(explanation)
        for unit in explanation.units:
            assert unit.name in text
        for device in explanation.devices[:2]:
            assert f"all on {device.name}" in text


def test_json_is_json(explained: Explained) -> None:
    for _, explanation in explained:
        text = json.dumps(explanation.as_json(), allow_nan=False)
        assert json.loads(text)["units"][0]["times"]


class _Checker(HTMLParser):
    """Sees that elements are closed in order and nothing is loaded or run."""

    VOID = frozenset({"meta", "rect", "path", "line"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            assert not name.startswith("on"), name
            assert name not in ("src", "href", "xlink:href")
            assert "url(" not in (value or "")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.handle_endtag(tag)


def test_a_page_is_whole_and_loads_nothing(explained: Explained) -> None:
    for _, explanation in explained:
        page = explanation.html(HOSTILE)
        checker = _Checker()
        checker.feed(page)
        checker.close()
        assert not checker.open
        assert "script" not in checker.tags
        assert {"svg", "table", "title"} <= checker.tags
        assert "@import" not in page
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page)
        assert "prefers-color-scheme:dark" in page
        for unit in explanation.units:
            assert unit.name in page


def test_pictures_are_xml_with_a_box_for_each_unit(explained: Explained) -> None:
    for _, explanation in explained:
        root = ElementTree.fromstring(explanation.svg())
        boxes = [e for e in root.iter() if e.get("class", "").startswith("box d")]
        assert len(boxes) == len(explanation.units)
        width, height = float(root.get("width", 0)), float(root.get("height", 0))
        for box in boxes:
            x, y = float(box.get("x", -1)), float(box.get("y", -1))
            assert 0 <= x <= width - float(box.get("width", 0))
            assert 0 <= y <= height - float(box.get("height", 0))
        cut = [e for e in root.iter() if e.get("class") == "cut"]
        assert bool(cut) == bool(explanation.transfers)


def test_names_of_programs_are_only_text() -> None:
    module = flat(ATTENTION, *ATTENTION_TYPES)
    function = function_of(module)
    names = [StringAttr(HOSTILE), StringAttr("\x00\x1b[2J\ufffe"), StringAttr("K")]
    function.attributes["tile.inputs"] = ArrayAttr(names)
    explanation = decide(module, two_devices()).explain()
    page = explanation.html("\x07")
    assert "<script" not in page
    assert "\x00" not in page
    assert "\x1b" not in page
    ElementTree.fromstring(explanation.svg())
    assert str(explanation)


def test_layers_go_down_and_boxes_do_not_overlap() -> None:
    edges = [(0, 2), (1, 2), (2, 3), (2, 4), (3, 5), (4, 5), (0, 5), (1, 5)]
    widths = [100.0, 120.0, 80.0, 100.0, 60.0, 100.0]
    found = layout(widths, edges, 20.0)
    assert all(found.layers[a] < found.layers[b] for a, b in edges)
    for one in range(6):
        for other in range(one):
            if found.layers[one] == found.layers[other]:
                apart = abs(found.x[one] - found.x[other])
                assert apart >= (widths[one] + widths[other]) / 2 + 19.9
    for (first, second), bends in found.bends.items():
        layers = range(found.layers[first] + 1, found.layers[second])
        assert [layer for _, layer in bends] == [*layers]
    nothing = layout([], [], 20.0)
    assert nothing.width == 0
