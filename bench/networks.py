"""Whole networks, measured against others: `python -m bench.networks [NAME ...]`.

The networks are those of `bench/models`, with random weights, for batches of 1 and 8.
Gingham takes part as backend of `torch.compile`, and with `gingham.onnx` by the model
that PyTorch exports; PyTorch in eager mode; onnxruntime by that model. All have the
same number of threads and take turns in one process, rested and warmed; the time of
each is the least of its turns, so that what else runs on the machine counts little.
Ratios are Gingham's times by the faster one of the others.

First calls are those of new processes: cold without anything in the cache on disk, warm
with what the cold one has left there. PyTorch's own tracing is part of them; a model of
ONNX is loaded before.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any

import numpy as np

_ROUNDS = 15
_REST = 0.2
"""Seconds before each turn."""
_WARMING = 3
"""Calls that begin each turn."""
_SLOWEST_ROUND = 60.0
"""Seconds after which no further round is begun."""


def main() -> int:
    """Print a line for each network and batch; 1 where results differ."""
    parser = argparse.ArgumentParser(description="Networks, against others.")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batches", default="1,8", help="sizes, with commas")
    parser.add_argument("--device", help="of Gingham; the default device otherwise")
    parser.add_argument("--no-first-calls", action="store_true")
    parser.add_argument("--first-call", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.first_call:
        _first_call(options.first_call, options)
        return 0
    from .models.measured import NETWORKS

    names = options.names or [*NETWORKS]
    batches = [int(size) for size in options.batches.split(",")]
    print(_HEADING)
    status = 0
    for name in names:
        for batch in batches:
            status |= _measure(name, batch, options)
    return status


_CONTENDERS = ("torch.compile", "onnx", "torch", "onnxruntime")
"""Gingham in two ways, and the others."""
_HEADING = (
    f"{'network':14}{'batch':>6}"
    + "".join(f"{name:>15}" for name in _CONTENDERS)
    + f"{'ratios':>12}{'cold':>15}{'warm':>13}"
)


def _measure(name: str, batch: int, options: Any) -> int:
    """Measure one network for one size of batches, and print its line."""
    import torch

    from .models.measured import NETWORKS

    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    network = NETWORKS[name]
    model, arguments = network.build().eval(), network.arguments(batch)
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        expected = model(*arguments)
        path = _exported(model, arguments, folder)
        calls: dict[str, Callable[[], Any]] = {
            "torch.compile": _compiled(model, arguments, options.device),
            "torch": lambda: model(*arguments),
        }
        if path is not None:
            calls["onnx"] = _loaded(path, arguments, options.device)
            calls |= _onnxruntime(path, arguments, options.threads)
        wrong = [
            f"{which} is wrong by {difference:.1e}"
            for which in ("torch.compile", "onnx")
            if which in calls
            and (difference := _difference(calls[which](), expected)) >= 1e-3
        ]
        times = _least_times(calls)
        first = (
            [] if options.no_first_calls else _first_calls(name, batch, path, options)
        )
    _print_line(name, batch, times, first, wrong)
    return int(bool(wrong))


def _difference(found: Any, expected: Any) -> float:
    """The largest difference, by the largest number."""
    import torch

    difference = torch.as_tensor(np.asarray(found)) - expected
    return float(difference.abs().max() / expected.abs().max())


def _print_line(
    name: str,
    batch: int,
    times: Mapping[str, float],
    first: Sequence[float | None],
    remarks: Sequence[str],
) -> None:
    others = min(times.get(which, inf) for which in ("torch", "onnxruntime"))
    found = [times.get(which) for which in _CONTENDERS]
    ratios = [None if own is None else own / others for own in found[:2]]
    print(
        f"{name:14}{batch:6}"
        + "".join(_cell(time and time * 1e3, "ms", 15) for time in found)
        + "".join(_cell(ratio, "", 6) for ratio in ratios)
        + "".join(_cell(seconds, "s", 8) for seconds in first)
        + "".join(f"  {remark}" for remark in remarks),
        flush=True,
    )


def _cell(number: float | None, unit: str, width: int) -> str:
    return f"{'-' if number is None else f'{number:.2f}{unit}':>{width}}"


def _compiled(
    model: Any, arguments: Sequence[Any], device: str | None
) -> Callable[[], Any]:
    import torch

    torch._dynamo.reset()
    options = {"device": device} if device else None
    fast = torch.compile(model, backend="gingham", options=options, dynamic=False)
    return lambda: fast(*arguments)


def _exported(model: Any, arguments: Sequence[Any], folder: str) -> str | None:
    """A file with the model for ONNX; None where PyTorch cannot write it."""
    import torch

    path = os.path.join(folder, "model.onnx")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            torch.onnx.export(model, tuple(arguments), path, dynamo=False)
        except Exception as problem:
            print(f"export: {str(problem)[:200]}", file=sys.stderr)
            return None
    return path


def _loaded(
    path: str, arguments: Sequence[Any], device: str | None
) -> Callable[[], Any]:
    """A model as `gingham.onnx` loads it, on the same arrays in each call."""
    import gingham.onnx

    function = gingham.onnx.load(path, device=device)
    given = [np.asarray(argument) for argument in arguments]
    return lambda: function(*given)


def _onnxruntime(
    path: str, arguments: Sequence[Any], threads: int
) -> dict[str, Callable[[], Any]]:
    """A model under onnxruntime, where it is there and takes it."""
    try:
        import onnxruntime
    except ImportError:
        return {}
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads, settings.inter_op_num_threads = threads, 1
    try:
        session = onnxruntime.InferenceSession(
            path, settings, providers=["CPUExecutionProvider"]
        )
    except Exception as problem:
        print(f"onnxruntime: {str(problem)[:200]}", file=sys.stderr)
        return {}
    given = {
        known.name: argument.numpy()
        for known, argument in zip(session.get_inputs(), arguments, strict=False)
    }
    return {"onnxruntime": lambda: session.run(None, given)}


def _least_times(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """The least seconds of each call, which take turns.

    Threads of the one before spin for a while: each turn rests first, and begins with
    calls that are not measured.
    """
    least = dict.fromkeys(calls, float("inf"))
    start = time.perf_counter()
    for _ in range(_ROUNDS):
        for name, call in calls.items():
            time.sleep(_REST)
            for _ in range(_WARMING):
                call()
            begin = time.perf_counter()
            call()
            least[name] = min(least[name], time.perf_counter() - begin)
        if time.perf_counter() - start > _SLOWEST_ROUND:
            break
    return least


def _first_calls(
    name: str, batch: int, path: str | None, options: Any
) -> list[float | None]:
    """The seconds of first calls: cold of both ways, then with the cache on disk."""
    compiled = _cold_and_warm([name, batch, None], options)
    loaded: Sequence[float | None] = (None, None)
    if path is not None:
        loaded = _cold_and_warm([name, batch, path], options)
    return [seconds for pair in zip(compiled, loaded, strict=True) for seconds in pair]


def _cold_and_warm(which: Sequence[Any], options: Any) -> list[float]:
    """The seconds of the first calls of two processes, with an empty cache at first."""
    with tempfile.TemporaryDirectory() as cache:
        return [_first_of_process(which, cache, options) for _ in range(2)]


def _first_of_process(which: Sequence[Any], cache: str, options: Any) -> float:
    """The seconds of the first call of a new process."""
    command = [sys.executable, "-m", __spec__.name, "--first-call", json.dumps(which)]
    if options.device:
        command += ["--device", options.device]
    environment = os.environ | {"GINGHAM_CACHE": cache}
    done = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return float(done.stdout)


def _first_call(which: str, options: Any) -> None:
    """In a process of its own: print the seconds of a model's first call."""
    import torch

    from .models.measured import NETWORKS

    name, batch, path = json.loads(which)
    torch.set_num_threads(options.threads)
    network = NETWORKS[name]
    arguments = network.arguments(batch)
    if path is not None:
        call = _loaded(path, arguments, options.device)
    else:
        call = _compiled(network.build().eval(), arguments, options.device)
    with torch.no_grad():
        start = time.perf_counter()
        call()
        print(time.perf_counter() - start)


if __name__ == "__main__":
    sys.exit(main())
