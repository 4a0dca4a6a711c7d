"""Measuring in child processes: what goes wrong there stays there."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gingham.runtime.backends import memory_of
from gingham.runtime.devices import default_device, device
from gingham.runtime.tuning import children
from gingham.runtime.tuning.child import Bench, is_close
from gingham.runtime.tuning.children import end_all, measure
from gingham.runtime.tuning.jobs import Job, Outcome

UNIT = """builtin.module {
  func.func @main(%A: !stripe.view<16x8xf32>, %B: !stripe.view<8x16xf32>)
      -> !stripe.view<16x16xf32> {
    %C = stripe.alloc : !stripe.view<16x16xf32>
    stripe.block "C" [%i : 16, %j : 16, %k : 8]
        in %a = %A[%i, %k] : 1x1
        in %b = %B[%k, %j] : 1x1
        out %c = %C[%i, %j] : 1x1 add init 0 {
      %0 = stripe.load %a : !stripe.view<1x1xf32>
      %1 = stripe.load %b : !stripe.view<1x1xf32>
      %2 = eltwise.mul %0, %1 : f32
      stripe.store %2, %c : !stripe.view<1x1xf32>
    }
    func.return %C : !stripe.view<16x16xf32>
  }
}"""

LONG = 300.0
"""Seconds that no child here takes, be the machine ever so busy."""

PASSES = (
    "stripe-autotile,stripe-partition-edges,stripe-tile,stripe-accumulate,"
    "stripe-map,lower-stripe-to-opencl"
)


def tile(*sizes: int) -> str:
    return f"<tile {[*sizes]}>"


def job(*decisions: str, time_limit: float = 60.0) -> Job:
    own = default_device()
    if own.is_reference:
        pytest.skip("no OpenCL device")
    return Job(own.name, UNIT, PASSES, 0, decisions, 0.02, time_limit)


def test_a_device_with_memory_of_its_own_runs_several_times_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = job(tile(4, 16, 8))
    memory = memory_of(device(asked.device))
    assert memory is not None
    monkeypatch.setattr(memory, "is_shared", False)
    uploads: list[object] = []
    upload = memory.upload

    def note(host: Any) -> Any:
        uploads.append(host)
        return upload(host)

    monkeypatch.setattr(memory, "upload", note)
    outcome = Bench(asked).outcome(asked.decisions[0])
    assert outcome.status == "ok"
    # Both inputs for each of two programs, not for each run.
    assert len(uploads) == 4


def outcomes_of(asked: Job) -> list[Outcome]:
    return [Outcome.from_json(text) for text in measure(asked.to_json())]


def test_job_as_text() -> None:
    asked = Job("intel.0", UNIT, PASSES, 1, (tile(2, 2, 8), "<>"), 0.5, 3.0, {"A": "b"})
    assert Job.from_json(asked.to_json()) == asked
    assert asked.rest(1).decisions == ("<>",)


def test_outcomes_are_those_of_the_decisions() -> None:
    good, bad, other = outcomes_of(job(tile(4, 16, 8), tile(4, 16), tile(2, 8, 8)))
    assert good.status == other.status == "ok"
    for outcome in (good, other):
        assert outcome.seconds is not None
        assert outcome.model_seconds is not None
        assert 0 < outcome.seconds < 60
    assert bad.status == "error"
    assert "expected 3 tile size(s)" in bad.message


def test_wrong_results_are_found_out() -> None:
    bench = Bench(job())
    assert bench.outcome(tile(4, 16, 8)).status == "ok"
    bench.wanted[0][3, 5] += 1
    outcome = bench.outcome(tile(4, 16, 8))
    assert (outcome.status, outcome.seconds) == ("wrong", None)


def test_unit_that_fails_by_itself_says_nothing_about_decisions() -> None:
    asked = job(tile(4, 16, 8), tile(2, 8, 8))
    broken = Job(
        asked.device, UNIT, "stripe-tile,no-such-pass", 0, asked.decisions, 1, 60
    )
    first, second = outcomes_of(broken)
    assert first == second
    # The child has ended by itself, and was not waited for in vain.
    assert first.status == "lost"
    assert "no-such-pass" in first.message


def fake_child(body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A child that reads the job and does `body`; its file counts the starts."""
    starts = tmp_path / "starts"
    script = tmp_path / "child.py"
    script.write_text(
        "import json, os, sys, time\n"
        f"open({str(starts)!r}, 'a').write('x')\n"
        "decisions = json.loads(sys.stdin.readline())['decisions']\n"
        'def answer(): print(\'gingham-outcome {"status": "ok", "seconds": 1.0}\','
        " flush=True)\n"
        f"{body}\n"
    )
    monkeypatch.setattr(children, "_COMMAND", (sys.executable, str(script)))
    return starts


def statuses(count: int, time_limit: float = LONG) -> list[str]:
    decisions = tuple(str(number) for number in range(count))
    asked = Job("none", UNIT, PASSES, 0, decisions, 0.1, time_limit)
    return [outcome.status for outcome in outcomes_of(asked)]


EACH = "print('gingham-ready', flush=True)\nfor d in decisions:\n    "


@pytest.mark.parametrize(
    ("misdeed", "status"),
    [
        ("os.kill(os.getpid(), 9)", "crash"),
        ("os.abort()", "crash"),
        ("sys.exit(0)", "crash"),
        ("time.sleep(600)", "timeout"),
        ("os.close(1); time.sleep(600)", "crash"),
    ],
)
def test_bad_candidate_does_not_take_others_with_it(
    misdeed: str, status: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = f"{EACH}{misdeed} if d == '1' else answer()"
    body = body.replace(misdeed, f"exec({misdeed!r})")
    starts = fake_child(body, tmp_path, monkeypatch)
    # Good candidates answer at once, and are not as slow as that on any machine.
    limit = 5.0 if status == "timeout" else LONG
    assert statuses(4, limit) == ["ok", status, "ok", "ok"]
    assert starts.read_text() == "xx"


@pytest.mark.parametrize("misdeed", ["sys.exit(5)", "1 / 0"])
def test_child_that_never_starts_is_tried_once(
    misdeed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = fake_child(misdeed, tmp_path, monkeypatch)
    assert statuses(3) == ["lost"] * 3
    assert starts.read_text() == "x"


def test_message_says_how_a_child_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = (
        "print('ready to fall', file=sys.stderr, flush=True)\nos.kill(os.getpid(), 9)"
    )
    fake_child(body, tmp_path, monkeypatch)
    asked = Job("none", UNIT, PASSES, 0, ("<>",), 0.1, LONG)
    (outcome,) = outcomes_of(asked)
    assert outcome.message == "ended by SIGKILL: ready to fall"


def test_what_drivers_print_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noise = "print('hello'); print('gingham-outcome {'); print('gingham-outcome 3')"
    fake_child(f"{EACH}{noise}; answer()", tmp_path, monkeypatch)
    assert statuses(2) == ["ok", "ok"]


def test_children_can_be_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asleep = tmp_path / "asleep"
    sleep = f"open({str(asleep)!r}, 'w').close(); time.sleep(600)"
    starts = fake_child(f"{EACH}{sleep}", tmp_path, monkeypatch)
    has_ended = threading.Event()

    # What a child has printed counts, though it is read when the child has ended.
    def forward(*arguments: Any) -> None:
        has_ended.wait(LONG)
        read(*arguments)

    read = vars(children)["_forward"]
    monkeypatch.setattr(children, "_forward", forward)
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.extend(statuses(3)))
    thread.start()
    while not asleep.exists():
        time.sleep(0.01)
    end_all()
    has_ended.set()
    thread.join(LONG)
    assert found == ["crash", "lost", "lost"]
    assert starts.read_text() == "x"


def test_a_child_that_is_just_starting_is_ended_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_child(f"{EACH}time.sleep(600)", tmp_path, monkeypatch)

    def start(*arguments: Any, **options: Any) -> subprocess.Popen[str]:
        child = popen(*arguments, **options)
        end_all()
        return child

    popen = subprocess.Popen[str]
    monkeypatch.setattr(subprocess, "Popen", start)
    assert statuses(3, 20.0) == ["lost"] * 3


@pytest.mark.parametrize(
    ("got", "wanted", "dtype", "close"),
    [
        ([1, 2], [1, 2], "int32", True),
        ([1, 3], [1, 2], "int32", False),
        ([1, 2.000001], [1, 2], "float32", True),
        ([1, 2.001], [1, 2], "float32", False),
        ([float("nan"), 1], [float("nan"), 1], "float32", True),
        ([float("inf"), 1], [float("nan"), 1], "float32", False),
        ([float("inf"), 1], [2, 1], "float32", False),
        ([1.01, 1], [1, 1], "float16", True),
        ([], [], "float32", True),
    ],
)
def test_close(got: list[float], wanted: list[float], dtype: str, close: bool) -> None:
    assert is_close(np.array(got, dtype), np.array(wanted, dtype)) == close
