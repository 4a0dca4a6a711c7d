"""`tune`: from a function to records, and from records into the next compilation."""

from __future__ import annotations

import importlib
import os
import signal
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gingham
from gingham.errors import GinghamError
from gingham.passes.stripe.decide.recall import RecordsWarning
from gingham.passes.stripe.decide.recall.database import Database, Record
from gingham.runtime.function import Function
from gingham.runtime.hardware import target_options
from gingham.runtime.records import (
    compiler_version,
    recall_options,
    records_path,
    target_text,
)
from gingham.runtime.tuning import Progress, asking, tune
from gingham.runtime.tuning.jobs import Job, Outcome
from gingham.runtime.tuning.plan import plan_of
from gingham.runtime.tuning.replay import replay_name, replay_text
from gingham.runtime.tuning.session import Settings
from gingham.tools.optimizer.driver import run as tile_opt

PRODUCT = (
    "function (A[M, K], B[K, N]) -> (C) { C[i, j : M, N] = +(A[i, k] * B[k, j]); }"
)
TWICE = """function (A[M, K], B[K, N]) -> (C, D) {
  C[i, j : M, N] = +(A[i, k] * B[k, j]);
  D[i, j : M, N] = +(B[i, k] * A[k, j]);
}"""

QUICK = Settings(count=3, seconds=0.01)


def arrays(size: int = 64) -> list[Any]:
    random = np.random.default_rng(0)
    shape = (size, size)
    return [random.integers(-3, 4, shape).astype(np.float32) for _ in range(2)]


@pytest.fixture
def function() -> Function:
    compiled = gingham.compile(PRODUCT)
    if compiled.device.is_reference:
        pytest.skip("no OpenCL device")
    return compiled


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "records.sqlite3"


class Fake(Executor):
    """Answers by itself: the later a decision is in the model's list, the faster."""

    def __init__(self, fail: Callable[[], None] = lambda: None) -> None:
        self.jobs: list[Job] = []
        self.fail = fail

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        asked = Job.from_json(args[0])
        self.jobs.append(asked)
        future: Future[Any] = Future()
        try:
            self.fail()
        except Exception as error:
            future.set_exception(error)
            return future
        start = sum(len(job.decisions) for job in self.jobs[:-1])
        outcomes = [
            Outcome("ok", 1.0 / (start + number + 1), 1.0)
            for number in range(len(asked.decisions))
        ]
        future.set_result([outcome.to_json() for outcome in outcomes])
        return future


def test_measured_here(function: Function, file: Path) -> None:
    """The whole way, with a child process on the default device."""
    seen: list[Progress] = []
    tuning = tune(
        function, *arrays(), records=file, settings=QUICK, on_progress=seen.append
    )
    assert tuning.measured == len(tuning.records) > 1
    assert {record.status for record in tuning.records} == {"ok"}
    assert Database(file).records() == sorted(
        tuning.records, key=lambda r: (-r.speedup, r.rank)
    )
    assert seen[0] == Progress(0, len(tuning.records))
    assert [p.done for p in seen] == list(range(seen[-1].total + 1))
    again = tune(function, *arrays(), records=file, settings=QUICK)
    assert again.measured == 0
    assert {*again.records} == {*tuning.records}


def test_any_executor_measures(function: Function, file: Path) -> None:
    with ThreadPoolExecutor(1) as threads:
        tuning = tune(
            function,
            *arrays(),
            records=file,
            executor=threads,
            settings=Settings(2, 0.01),
        )
    assert {record.status for record in tuning.records} == {"ok"}


def test_on_a_dask_cluster(function: Function, file: Path) -> None:
    pytest.importorskip("dask")
    distributed: Any = importlib.import_module("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        tuning = tune(
            function,
            *arrays(),
            records=file,
            executor=client.get_executor(),
            settings=Settings(2, 0.01),
        )
    assert tuning.measured == 2
    assert {record.status for record in tuning.records} == {"ok"}
    assert len(Database(file).records()) == 2


def test_goes_on_where_it_stood(function: Function, file: Path) -> None:
    settings = Settings(count=9, seconds=0.01)

    def interrupt(progress: Progress) -> None:
        if progress.done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tune(
            function,
            *arrays(),
            records=file,
            executor=Fake(),
            settings=settings,
            on_progress=interrupt,
        )
    kept = len(Database(file).records())
    assert kept == 5
    tuning = tune(function, *arrays(), records=file, executor=Fake(), settings=settings)
    assert (len(tuning.records), tuning.measured) == (9, 9 - kept)
    more = tune(
        function, *arrays(), records=file, executor=Fake(), settings=Settings(12, 0.01)
    )
    assert 0 < more.measured < len(more.records)


def test_the_fastest_are_measured_again_and_longer(
    function: Function, file: Path
) -> None:
    fake = Fake()
    tuning = tune(
        function, *arrays(), records=file, executor=fake, settings=Settings(6, 0.01)
    )
    last = fake.jobs[-1]
    assert last.seconds == 4 * fake.jobs[0].seconds
    first = [decision for job in fake.jobs[:-1] for decision in job.decisions]
    assert len(first) == tuning.measured == 6
    # What the fake called fastest came last.
    assert list(last.decisions) == [first[5], first[4]]
    (best,) = tuning.best
    assert best.schedule in last.decisions


def test_again_measures_all(function: Function, file: Path) -> None:
    tune(function, *arrays(), records=file, executor=Fake(), settings=QUICK)
    again = replace(QUICK, again=True)
    tuning = tune(function, *arrays(), records=file, executor=Fake(), settings=again)
    assert tuning.measured == len(tuning.records) == len(Database(file).records())


def test_equal_blocks_are_measured_once(file: Path) -> None:
    twice = gingham.compile(TWICE)
    if twice.device.is_reference:
        pytest.skip("no OpenCL device")
    asked = Fake()
    tuning = tune(twice, *arrays(), records=file, executor=asked, settings=QUICK)
    assert len({record.unit for record in tuning.records}) == 1


def test_what_an_executor_loses_is_measured_the_next_time(
    function: Function, file: Path
) -> None:
    def fail() -> None:
        raise OSError("the machine is gone")

    tuning = tune(
        function, *arrays(), records=file, executor=Fake(fail), settings=QUICK
    )
    assert {record.status for record in tuning.records} == {"lost"}
    assert "the machine is gone" in tuning.records[0].message
    assert Database(file).records() == []


def _kill_this_process(text: str) -> list[str]:
    os.kill(os.getpid(), signal.SIGKILL)
    return [text]


def test_killed_worker_is_lost(
    function: Function, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "measure", _kill_this_process)
    with ProcessPoolExecutor(1) as processes:
        tuning = tune(
            function, *arrays(), records=file, executor=processes, settings=QUICK
        )
    assert {record.status for record in tuning.records} == {"lost"}


def test_spoilt_file_is_set_aside(function: Function, file: Path) -> None:
    file.write_text("no records" * 1000)
    tuning = tune(function, *arrays(), records=file, executor=Fake(), settings=QUICK)
    assert len(Database(file).records()) == len(tuning.records)
    (note,) = tuning.notes
    assert "records.sqlite3.bad1" in note
    assert file.with_name("records.sqlite3.bad1").exists()


def test_not_on_the_reference_interpreter(file: Path) -> None:
    function = gingham.compile(PRODUCT, device="reference")
    with pytest.raises(GinghamError, match="cannot be tuned"):
        tune(function, *arrays(), records=file)


def test_not_where_records_are_off(function: Function) -> None:
    with pytest.raises(GinghamError, match="switched off by the environment variable"):
        tune(function, *arrays())


def test_where_the_file_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert records_path() is None
    monkeypatch.setenv("GINGHAM_RECORDS", "/some/file")
    assert records_path() == Path("/some/file")
    monkeypatch.delenv("GINGHAM_RECORDS")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    path = records_path()
    assert path is not None
    assert (path.parent.name, path.name) == ("gingham", "records.sqlite3")


def odd_record(function: Function, **values: Any) -> Record:
    options = target_options(function.device)
    (question,) = plan_of(function.specialized(*arrays()), options, 2).questions
    base = Record(
        unit=question.unit,
        leaf=0,
        target=target_text(function.device, options),
        compiler=compiler_version(),
        schedule="<tile [64, 1, 64]>",
        program="",
        block="C",
        rank=0,
        predicted_seconds=1.0,
        status="ok",
        seconds=0.1,
        model_seconds=1.0,
        message="",
        ir=question.ir,
        passes="",
    )
    return replace(base, **values)


def test_compiler_takes_what_was_fastest(
    function: Function, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = arrays()
    plain = function.source(a, b)
    Database(file).add([odd_record(function)])
    monkeypatch.setenv("GINGHAM_RECORDS", str(file))
    tuned = gingham.compile(PRODUCT)
    assert tuned.source(a, b) != plain
    np.testing.assert_array_equal(tuned(a, b), a @ b)
    # Shapes that were not measured, callers that do not want it, and the variable.
    assert gingham.compile(PRODUCT, tuned=False).source(a, b) == plain
    other = arrays(48)
    assert tuned.source(*other) == function.source(*other)
    monkeypatch.setenv("GINGHAM_RECORDS", "off")
    assert gingham.compile(PRODUCT).source(a, b) == plain


def test_pipeline_with_records_is_text(
    function: Function, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = target_options(function.device)
    assert recall_options(function.device, options) == ()
    Database(file).add([odd_record(function)])
    monkeypatch.setenv("GINGHAM_RECORDS", str(file))
    recall = recall_options(function.device, options)
    assert recall[0] == ("records", str(file))
    from gingham.passes.pipelines import pipeline_text

    pipeline = pipeline_text(replace(options, recall=recall))
    text = " ".join(f'{name}="{value}"' for name, value in recall)
    assert f"stripe-recall{{{text}}},stripe-autotile" in pipeline
    empty = file.with_name("empty.mlir")
    empty.write_text("builtin.module {}")
    assert tile_opt([str(empty), f"--pass-pipeline={pipeline}"]) == 0


def test_decisions_that_no_longer_fit_are_left_out(
    function: Function, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = arrays()
    Database(file).add([odd_record(function, schedule="<tile [64]>")])
    monkeypatch.setenv("GINGHAM_RECORDS", str(file))
    tuned = gingham.compile(PRODUCT)
    with pytest.warns(RecordsWarning, match="expected 3 tile size"):
        result = tuned(a, b)
    np.testing.assert_array_equal(result, a @ b)


def test_spoilt_records_do_not_stop_the_compiler(
    file: Path, function: Function, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = arrays()
    file.write_text("no records" * 1000)
    monkeypatch.setenv("GINGHAM_RECORDS", str(file))
    with pytest.warns(RecordsWarning, match="cannot use the records"):
        result = gingham.compile(PRODUCT)(a, b)
    np.testing.assert_array_equal(result, a @ b)


def test_replay(function: Function, file: Path, tmp_path: Path, capfd: Any) -> None:
    tune(
        function,
        *arrays(),
        records=file,
        executor=Fake(),
        settings=QUICK,
        program="a/b c.tile",
    )
    for record in Database(file).records():
        path = tmp_path / replay_name(record)
        assert path.name.startswith("b-c-C-")
        path.write_text(replay_text(record))
        assert tile_opt([str(path), "--run-reproducer", "-t", "opencl"]) == 0
        assert "__kernel" in capfd.readouterr().out
        assert tile_opt([str(path)]) == 0
        shown = " ".join(capfd.readouterr().out.split()).replace("< ", "<")
        assert f"#stripe.schedule{record.schedule}" in shown
