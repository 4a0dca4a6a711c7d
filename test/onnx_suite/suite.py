"""The backend tests of ONNX, run one by one, each with the reason of its failure."""

from __future__ import annotations

import glob
import os
import signal
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator", "real")

SECONDS = 900
"""The time that a test may take."""


@dataclass
class Outcome:
    """What became of a test."""

    name: str
    failure: str = ""
    """Why it failed; empty where it did not."""
    steps: list[str] = field(default_factory=list[str])
    """What the host ran of its model, each with the reason."""
    seconds: float = 0.0


CAUSES = {
    "bernoulli": "another generator gives other random numbers",
    "dft_inverse": "zeros of which 2e-7 is expected, as if in single precision",
    "if_opt": "the test takes the elements of a sequence for several outputs",
    "loop16_seq_none": "the test compares a sequence with an array",
    "scan_sum": "neither knows the Scan over batches of version 8",
}
"""Why tests fail whose failures do not say it, by parts of their names."""


class TookTooLong(Exception):
    """A test has had its time."""


def cases(pattern: str = "") -> list[Any]:
    """The tests whose names match a pattern."""
    import re

    from onnx.backend.test.loader import load_model_tests

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            case
            for kind in KINDS
            for case in load_model_tests(kind=kind)
            if re.search(pattern, case.name)
        ]


def run(case: Any, device: str | None) -> Outcome:
    """One test on a device."""
    import time

    outcome = Outcome(case.name)
    start = time.process_time()
    signal.signal(signal.SIGALRM, _stop)
    signal.alarm(SECONDS)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _run(case, device, outcome)
    except Exception as error:
        causes = [why for part, why in CAUSES.items() if part in case.name]
        outcome.failure = "; ".join([_reason(error), *causes])
    finally:
        signal.alarm(0)
    outcome.seconds = time.process_time() - start
    return outcome


def _stop(*_: object) -> None:
    raise TookTooLong(f"more than {SECONDS} s")


def _run(case: Any, device: str | None, outcome: Outcome) -> None:
    from onnx.backend.test.runner import Runner

    from gingham.runtime.onnx.loading import load

    onnx: Any = import_module("onnx")
    model = onnx.load(_path(case)) if case.model is None else case.model
    function = load(model, device=device)
    for inputs, expected in _data_sets(case, model):
        results = function.run(inputs)
        if not outcome.steps:
            steps = function.report_of(inputs).host_steps
            outcome.steps = [f"{step.label}: {step.reason}" for step in steps]
        Runner.assert_similar_outputs(expected, results, case.rtol, case.atol)


def _path(case: Any) -> str:
    """The file of the model of a test."""
    import onnx

    if case.model_dir:
        return os.path.join(case.model_dir, "model.onnx")
    return os.path.join(os.path.dirname(os.path.dirname(onnx.__file__)), case.url)


def _data_sets(case: Any, model: Any) -> Iterator[tuple[list[Any], list[Any]]]:
    """Inputs and expected outputs."""
    from onnx.backend.test import runner

    normalized = getattr(runner, "_normalize_tensor")
    if case.data_sets:
        for inputs, outputs in case.data_sets:
            yield [*map(normalized, inputs)], [*map(normalized, outputs)]
        return
    graph = model.graph
    if case.model_dir:
        for path in sorted(glob.glob(os.path.join(case.model_dir, "test_data_set*"))):
            inputs = _values(os.path.join(path, "input"), graph.input)
            yield inputs, _values(os.path.join(path, "output"), graph.output)
        return
    known = {each.name for each in graph.initializer}
    given = [each for each in graph.input if each.name not in known]
    inputs = [runner.Runner.generate_dummy_data(each) for each in given]
    prefix = os.path.splitext(_path(case))[0]
    yield inputs, _values(f"{prefix}_output", graph.output)


def _values(prefix: str, declared: Sequence[Any]) -> list[Any]:
    """The values in files of one kind: `prefix_0.pb`, and so on."""
    from onnx import OptionalProto, SequenceProto, TensorProto, numpy_helper

    values: list[Any] = []
    for number in range(len(glob.glob(f"{prefix}_*.pb"))):
        with open(f"{prefix}_{number}.pb", "rb") as file:
            content = file.read()
        match declared[number].type.WhichOneof("value"):
            case "sequence_type":
                values.append(numpy_helper.to_list(SequenceProto.FromString(content)))
            case "optional_type":
                values.append(
                    numpy_helper.to_optional(OptionalProto.FromString(content))
                )
            case _:
                values.append(numpy_helper.to_array(TensorProto.FromString(content)))
    return values


def _reason(error: Exception) -> str:
    """Why a test failed, in one line that is the same each time."""
    from gingham.errors import GinghamError

    if isinstance(error, GinghamError):
        return " ".join(error.message.split())
    if isinstance(error, AssertionError):
        return "its results differ"
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:200]
