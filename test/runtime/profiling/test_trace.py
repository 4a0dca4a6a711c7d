"""Traces keep the rules of the format, for made-up commands and for real ones."""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from typing import Any

import numpy as np

import gingham
from gingham.runtime.profiling.records import Command, CommandKind, Span, Thread
from gingham.runtime.profiling.trace import chrome_trace

MAIN, OTHER = Thread(100, "MainThread"), Thread(101, "worker")


def command(
    kind: CommandKind, times: tuple[int, int, int], queue: int = 1, device: str = "d.0"
) -> Command:
    return Command(
        kind, "k", device, queue, MAIN, *times, 10, 20, 30, "f.tile:1:2", None
    )


def check(trace: dict[str, Any]) -> list[dict[str, Any]]:
    """The events, which keep all rules."""
    json.loads(json.dumps(trace))
    events = trace["traceEvents"]
    tracks: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
    named: set[tuple[str, int, int]] = set()
    arrows: dict[int, list[dict[str, Any]]] = defaultdict(list)
    last = 0.0
    for event in events:
        assert isinstance(event["pid"], int)
        assert isinstance(event["tid"], int)
        if event["ph"] == "M":
            assert event["name"] in ("process_name", "thread_name")
            assert event["args"]["name"]
            named.add((event["name"], event["pid"], event["tid"]))
            continue
        assert event["ts"] >= last
        last = event["ts"]
        if event["ph"] == "X":
            assert event["dur"] >= 0
            tracks[event["pid"], event["tid"]].append(event)
        else:
            assert event["ph"] in ("s", "f")
            arrows[event["id"]].append(event)
    for process, thread in tracks:
        assert ("process_name", process, 0) in named
        assert ("thread_name", process, thread) in named
    for (process, _), track in tracks.items():
        check_track(track, may_nest=process == 1)
    for ends in arrows.values():
        assert sorted(end["ph"] for end in ends) == ["f", "s"]
    return events


def check_track(track: list[dict[str, Any]], *, may_nest: bool) -> None:
    """Events of a track lie behind each other, or inside each other on the host."""
    open_ends: list[float] = []
    rounding = 0.002
    for event in track:
        end = event["ts"] + event["dur"]
        while open_ends and open_ends[-1] <= event["ts"] + rounding:
            open_ends.pop()
        assert may_nest or not open_ends
        assert not open_ends or end <= open_ends[-1] + rounding
        open_ends.append(end)


def test_made_up() -> None:
    commands = [
        command("kernel", (1_000, 2_000, 5_000)),
        # Clocks are rounded: it seems to begin before the one before it has ended.
        command("kernel", (1_500, 4_999, 6_000)),
        command("transfer", (1_600, 6_000, 7_000)),
        command("kernel", (900, 2_500, 3_000), queue=2, device="d.1"),
    ]
    spans = [
        Span("call", "(C)", MAIN, 500, 8_000),
        Span("step", "launch", MAIN, 800, 1_700),
        Span("call", "(C)", OTHER, 600, 700),
    ]
    events = check(chrome_trace(commands, spans))
    names = [e["args"]["name"] for e in events if e["ph"] == "M"]
    assert names[1:] == [
        "MainThread",
        "worker",
        "device d.0",
        "queue 1: kernels",
        "device d.1",
        "queue 2: kernels",
        "queue 1: transfers",
    ]
    second = [e for e in events if e["ph"] == "X" and e["cat"] == "kernel"][2]
    assert (second["ts"], second["dur"]) == (4.5, 1.0)
    assert second["args"]["location"] == "f.tile:1:2"
    assert second["args"]["flops"] == 10


def test_nothing() -> None:
    assert len(check(chrome_trace([], []))) == 1


def test_a_program() -> None:
    text = "function (A[N]) -> (C) { S[] = +(A[i]); C = exp(A) / S; }"
    value = np.ones(100_000, np.float32)
    with gingham.profile() as measured:
        function = gingham.compile(text)

        def work() -> None:
            for _ in range(5):
                function(value)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        result = gingham.asarray(value)
        for _ in range(5):
            result = function(result)
        result.wait()
    events = check(measured.trace())
    categories = {event["cat"] for event in events if event["ph"] == "X"}
    assert categories >= {"kernel", "call", "step", "compile"}
    kernels = [e for e in events if e["ph"] == "X" and e["cat"] == "kernel"]
    launches = [each for each in measured.commands if each.kind == "kernel"]
    assert len(kernels) == len(launches) >= 20
    ends = [e for e in events if e["ph"] == "f"]
    commands = [e for e in events if e.get("cat") in ("kernel", "transfer")]
    starts = {(e["pid"], e["tid"], e["ts"]) for e in commands if e["ph"] == "X"}
    assert all((e["pid"], e["tid"], e["ts"]) in starts for e in ends)
