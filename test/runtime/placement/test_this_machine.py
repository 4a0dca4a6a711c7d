"""What placement is decided by: measured once and kept, harmless where damaged."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gingham
from gingham.runtime import load
from gingham.runtime.placement import machine, sharing
from gingham.runtime.placement.database import Database, database
from gingham.runtime.placement.links import device_text, links_between
from gingham.runtime.placement.sharing import measured_share, processors
from gingham.runtime.placement.ways import PLACED, winner
from gingham.targets.hardware.machine import HOST
from gingham.targets.opencl.devices.device import OpenCLDevice

BRANCHES = """function (X[N, M], U[M, K], V[M, K]) -> (Z) {
  P[n, k : N, K] = +(X[n, m] * U[m, k]);
  Q[n, k : N, K] = +(X[n, m] * V[m, k]);
  Z = relu(P) - tanh(Q);
}"""


@pytest.fixture
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GINGHAM_RECORDS", str(tmp_path / "records.sqlite3"))
    return tmp_path / "placement.sqlite3"


@pytest.fixture(scope="module")
def parts() -> list[OpenCLDevice]:
    device = gingham.devices()[0]
    if not isinstance(device, OpenCLDevice) or device.details.compute_units < 2:
        pytest.skip("there is no device of two cores")
    return device.split([1, 1])


def test_times_and_links_are_kept(records: Path) -> None:
    first = Database(records)
    assert first.times("a", ["u"]) == {}
    first.add_times("a", {"u": 0.5, "v": 0.25})
    first.add_link("host", "a", 1e-6, math.inf)
    second = Database(records)
    assert second.times("a", ["u", "v", "w"]) == {"u": 0.5, "v": 0.25}
    assert second.times("b", ["u"]) == {}
    assert second.link("host", "a") == (1e-6, math.inf)
    assert second.link("a", "host") is None
    first.add_times("a", {"u": 2.0})
    assert Database(records).times("a", ["u"]) == {"u": 2.0}
    first.add_times("a", {"u": 3.0}, lasting=False)
    assert first.times("a", ["u"]) == {"u": 3.0}
    assert Database(records).times("a", ["u"]) == {"u": 2.0}


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" * 99])
def test_a_damaged_file_is_no_more_than_missing(records: Path, content: bytes) -> None:
    records.write_bytes(content)
    known = Database(records)
    assert known.times("a", ["u"]) == {}
    known.add_times("a", {"u": 1.0})
    assert known.times("a", ["u"]) == {"u": 1.0}


def test_without_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (None, tmp_path / "file" / "placement.sqlite3"):
        known = Database(path)
        known.add_link("host", "a", 1.0, 2.0)
        assert known.link("host", "a") == (1.0, 2.0)


def test_links_are_measured_once(
    records: Path, parts: list[OpenCLDevice], monkeypatch: pytest.MonkeyPatch
) -> None:
    links = links_between(parts)
    names = [HOST, *(part.name for part in parts)]
    assert links.keys() == {(a, b) for a in names for b in names if a != b}
    for link in links.values():
        assert 0 < link.latency_seconds < 60
        assert link.bytes_per_second == math.inf

    def never(*_: object) -> Any:
        raise AssertionError("measured again")

    monkeypatch.setattr("gingham.runtime.placement.links._measured", never)
    assert links_between(parts) == links
    assert records.exists()


def test_parts_have_names_of_their_own_in_records(parts: list[OpenCLDevice]) -> None:
    assert len({device_text(part) for part in parts}) == len(parts)


def test_a_device_shares_its_cores_with_itself(
    records: Path, parts: list[OpenCLDevice]
) -> None:
    other = OpenCLDevice("other.0", "cpu", parts[0].details, parts[0].handle)
    assert measured_share(parts[0], other) > 0
    known = database()
    known.add_link(f"at once: {device_text(parts[0])}", device_text(parts[1]), 0.9, 1.0)
    assert len({*processors(parts).values()}) == 1
    reference = gingham.device("reference")
    assert processors([parts[0], reference])["reference"] == "reference"


def test_what_other_work_makes_look_like_one_is_doubted(
    records: Path, parts: list[OpenCLDevice], monkeypatch: pytest.MonkeyPatch
) -> None:
    shares, now = [1.0], [1000.0]

    def share(first: object, second: object) -> float:
        return shares[0]

    monkeypatch.setattr(sharing, "measured_share", share)
    monkeypatch.setattr(load, "_others_share", lambda: 1.0)
    monkeypatch.setattr(sharing, "_doubted", {})
    monkeypatch.setattr(sharing.time, "monotonic", lambda: now[0])

    def count() -> int:
        return len({*processors(parts).values()})

    assert count() == 1
    shares[0] = 0.5
    # To measure takes a while, so it is not done at each decision.
    assert count() == 1
    now[0] += 60
    assert count() == 2
    # Two that were two once are two.
    shares[0] = 1.0
    now[0] += 60
    assert count() == 2


def test_load_is_a_share_in_steps(
    monkeypatch: pytest.MonkeyPatch, parts: list[OpenCLDevice]
) -> None:
    monkeypatch.setattr(load, "_others_share", lambda: 0.0)
    assert load.load_of(parts[0]) == 0
    with load.running(parts[0].name):
        assert load.load_of(parts[0]) == 0.5
        assert load.load_of(parts[1]) == 0
    monkeypatch.setattr(load, "_others_share", lambda: 1.0)
    assert load.load_of(parts[0]) == 0.75
    monkeypatch.undo()
    assert 0 <= load.load_of(parts[0]) < 1
    assert load.available_cores() >= 1


def test_branches_are_spread_where_that_pays(
    records: Path, parts: list[OpenCLDevice], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With times as of two devices that do not share cores."""
    inputs = [
        np.random.default_rng(0).integers(-3, 4, (12, 12)).astype(np.float32)
        for _ in range(3)
    ]

    def apart(devices: Any) -> dict[str, str]:
        return {device.name: device.name for device in devices}

    monkeypatch.setattr(machine, "processors", apart)
    monkeypatch.setattr(machine, "load_of", {part: 0.0 for part in parts}.get)
    function = gingham.compile(BRANCHES, device=parts)
    units = function.decision(*inputs).posed.program.units
    for part in parts:
        database().add_times(device_text(part), {unit.key: 1.0 for unit in units})
    function = gingham.compile(BRANCHES, device=parts)
    plan = function.plan(*inputs)
    assert {each.device for each in plan.segments.segments} == {e.name for e in parts}
    x, u, v = inputs
    expected = np.maximum(x @ u, 0) - np.tanh(x @ v)
    np.testing.assert_allclose(function(*inputs), expected, rtol=1e-5, atol=1e-6)
    # One device is used where the whole was measured to be faster there.
    seconds = function.measure_placement(*inputs)
    assert PLACED in seconds
    assert (function.plan(*inputs).only_device or PLACED) == winner(seconds)
