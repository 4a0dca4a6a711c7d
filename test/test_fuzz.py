"""The fuzzers find what does not hold, and what they once found holds now."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable
from math import inf
from pathlib import Path
from random import Random

import pytest
from fuzz import server
from fuzz.cases import Case, Finding, check_message
from fuzz.files import FileFuzzer
from fuzz.ir import IrFuzzer
from fuzz.mutations import mutated, mutated_bytes
from fuzz.pipelines import PipelineFuzzer
from fuzz.reports import minimized, read_case, write_report
from fuzz.server import Found, case_of, run_cases, run_one
from fuzz.texts import TextFuzzer

FUZZERS = {
    each.name: each
    for each in (TextFuzzer(), IrFuzzer(), PipelineFuzzer(), FileFuzzer())
}
REGRESSIONS = sorted((Path(__file__).parent / "fuzz" / "regressions").iterdir())


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GINGHAM_DEVICE", "reference")
    monkeypatch.setenv("GINGHAM_INTERPRETED_POINTS", "50000000")


@pytest.mark.parametrize("folder", REGRESSIONS, ids=[each.name for each in REGRESSIONS])
def test_what_was_found(folder: Path) -> None:
    name, case = read_case(folder)
    assert run_one(FUZZERS[name], case) is None


@pytest.mark.parametrize("fuzzer", FUZZERS.values(), ids=FUZZERS)
def test_cases_depend_on_their_numbers_only(fuzzer: server.Fuzzer) -> None:
    first = [case_of(fuzzer, 1, number) for number in range(20)]
    assert [case_of(fuzzer, 1, number) for number in reversed(range(20))] == first[::-1]
    assert [case_of(fuzzer, 2, number) for number in range(20)] != first


class Harmful:
    """Cases of which number 3 does something bad."""

    name = "harmful"

    def __init__(self, harm: Callable[[], object]) -> None:
        self.harm = harm

    def draw(self, random: Random) -> Case:
        return Case({"case": random.randbytes(4)})

    def run(self, case: Case) -> None:
        if case == case_of(self, 7, 3):
            self.harm()


def loop() -> None:
    while True:
        pass


def fail() -> None:
    raise Finding("wrong", "a message\nof\ttwo lines")


HARMS = {
    "endless": loop,
    "raised MemoryError": lambda: bytearray(3 << 30),
    "raised SystemExit": lambda: exit(1),
    "signal SIGKILL": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "wrong": fail,
}


@pytest.mark.parametrize(("kind", "harm"), HARMS.items(), ids=HARMS)
def test_harm_is_found_and_the_rest_goes_on(
    kind: str,
    harm: Callable[[], object],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(server, "SECONDS", 1)
    monkeypatch.setattr(server.tempfile, "tempdir", str(tmp_path))
    found, following = run_cases(Harmful(harm), 7, 0, inf, 10)
    assert isinstance(found, Found)
    assert (found.number, found.kind, following) == (3, kind, 10)
    assert not [*tmp_path.iterdir()]


def test_messages() -> None:
    check_message(0, "")
    check_message(1, "a.tile:1:2: error: wrong")
    check_message(1, "error: wrong\nhint: right")
    for status, message in (
        (1, ""),
        (2, "error: wrong"),
        (1, "error: internal error (ValueError: 5)"),
        (1, "Traceback (most recent call last):\nerror: wrong"),
        (1, "error: \x1b[31mred"),
    ):
        with pytest.raises(Finding):
            check_message(status, message)


class Picky:
    """Finds every case with an x behind an a."""

    name = "picky"

    def draw(self, random: Random) -> Case:
        del random
        return Case(
            {"case": b"bcd\n" * 50 + b"and\nmore x\n" + b"efg\n" * 50}, ("one",)
        )

    def run(self, case: Case) -> None:
        if re.search(rb"a.*x", case.files["case"], re.DOTALL):
            raise Finding("x", "an x")


def test_findings_are_made_small_and_kept(tmp_path: Path) -> None:
    case = Picky().draw(Random())
    assert minimized(Picky(), case, "x").files == {"case": b"ax"}
    folder = write_report(tmp_path, Picky(), 1, Found(5, "x", "an x"), case)
    assert read_case(folder) == ("picky", Case({"case": b"ax"}, ("one",)))
    assert "--seed 1 --first 5" in (folder / "finding.txt").read_text()


def test_mutations_change_something() -> None:
    random, text = Random(1), "func.func @main(%a: i32) {\n  func.return\n}\n"
    changed = [mutated(text, [text], random) for _ in range(200)]
    assert sum(each != text for each in changed) > 150
    assert len(set(changed)) > 150
    assert len({mutated_bytes(text.encode(), random) for _ in range(200)}) > 150
