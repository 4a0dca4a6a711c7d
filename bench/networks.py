"""Whole networks, measured against others: `python -m bench.networks [NAME ...]`.

The networks are those of `bench/models`, with random weights, for batches of 1 and 8.
Gingham takes part as backend of `torch.compile`; PyTorch in eager mode; onnxruntime by
the model that PyTorch exports. All have the same number of threads and take turns in
one process, rested and warmed; the time of each is the least of its turns, so that what
else runs on the machine counts little.

First calls are those of new processes: cold without anything in the cache on disk, warm
with what the cold one has left there. PyTorch's own tracing is part of them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

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


_HEADING = (
    f"{'network':14}{'batch':>6}{'Gingham':>11}{'PyTorch':>11}{'onnxruntime':>13}"
    f"{'PyTorch/':>10}{'onnxrt/':>9}{'cold':>8}{'warm':>8}"
)


def _measure(name: str, batch: int, options: Any) -> int:
    """Measure one network for one size of batches, and print its line."""
    import torch

    from .models.measured import NETWORKS

    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    network = NETWORKS[name]
    model, arguments = network.build().eval(), network.arguments(batch)
    with torch.no_grad():
        expected = model(*arguments)
        calls: dict[str, Callable[[], Any]] = {
            "gingham": _compiled(model, arguments, options.device),
            "torch": lambda: model(*arguments),
        }
        exported = _onnxruntime(model, arguments, options.threads)
        if exported is not None:
            calls["onnxruntime"] = exported
        difference = (calls["gingham"]() - expected).abs().max() / expected.abs().max()
        times = _least_times(calls)
    ours, theirs = times["gingham"], times["torch"]
    other = times.get("onnxruntime")
    first: Sequence[float] = ()
    if not options.no_first_calls:
        first = _first_calls(name, batch, options)
    print(
        f"{name:14}{batch:6}{ours * 1e3:9.2f}ms{theirs * 1e3:9.2f}ms"
        + (f"{other * 1e3:11.2f}ms" if other else f"{'-':>13}")
        + f"{theirs / ours:10.2f}"
        + (f"{other / ours:9.2f}" if other else f"{'-':>9}")
        + "".join(f"{seconds:7.1f}s" for seconds in first)
        + ("" if difference < 1e-3 else f"  WRONG by {difference:.1e}"),
        flush=True,
    )
    return int(difference >= 1e-3)


def _compiled(
    model: Any, arguments: Sequence[Any], device: str | None
) -> Callable[[], Any]:
    import torch

    torch._dynamo.reset()
    options = {"device": device} if device else None
    fast = torch.compile(model, backend="gingham", options=options, dynamic=False)
    return lambda: fast(*arguments)


def _onnxruntime(
    model: Any, arguments: Sequence[Any], threads: int
) -> Callable[[], Any] | None:
    """The model that PyTorch exports; None where it cannot, or there is no runtime."""
    import warnings

    import torch

    try:
        import onnxruntime
    except ImportError:
        return None
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads, settings.inter_op_num_threads = threads, 1
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = os.path.join(folder, "model.onnx")
        try:
            torch.onnx.export(model, tuple(arguments), path, dynamo=False)
            session = onnxruntime.InferenceSession(
                path, settings, providers=["CPUExecutionProvider"]
            )
        except Exception as problem:
            print(f"onnxruntime: {str(problem)[:200]}", file=sys.stderr)
            return None
    given = {
        known.name: argument.numpy()
        for known, argument in zip(session.get_inputs(), arguments, strict=False)
    }
    return lambda: session.run(None, given)


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


def _first_calls(name: str, batch: int, options: Any) -> list[float]:
    """The seconds of the first call without and with a cache on disk."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", __spec__.name, "--first-call"]
        command.append(json.dumps([name, batch]))
        if options.device:
            command += ["--device", options.device]
        return [
            float(
                subprocess.run(
                    command,
                    env=os.environ | {"GINGHAM_CACHE": folder},
                    stdout=subprocess.PIPE,
                    text=True,
                    check=True,
                ).stdout
            )
            for _ in range(2)
        ]


def _first_call(which: str, options: Any) -> None:
    """In a process of its own: print the seconds of a model's first call."""
    import torch

    from .models.measured import NETWORKS

    name, batch = json.loads(which)
    torch.set_num_threads(options.threads)
    network = NETWORKS[name]
    model, arguments = network.build().eval(), network.arguments(batch)
    call = _compiled(model, arguments, options.device)
    with torch.no_grad():
        start = time.perf_counter()
        call()
        print(time.perf_counter() - start)


if __name__ == "__main__":
    sys.exit(main())
