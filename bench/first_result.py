"""A process that starts ResNet-50, and tells what took how long: see `startup`.

Its arguments are when it was started, in seconds of `time.time`, and the image's size.
"""

from __future__ import annotations

import sys
import time


def main(started: float, size: int) -> list[float]:
    """The seconds of Python's start, of importing NumPy, of Gingham, and of all."""
    python = time.time() - started
    times = [time.perf_counter()]
    import numpy as np

    times.append(time.perf_counter())
    from .resnet import resnet50

    text, shapes = resnet50(size)
    arrays = [np.full(shape, 0.01, np.float32) for shape in shapes]
    times.append(time.perf_counter())
    import gingham

    function = gingham.compile(text)
    function(*arrays)
    times.append(time.perf_counter())
    calls: list[float] = []
    for _ in range(3):
        function(*arrays)
        times.append(time.perf_counter())
        calls.append(times[-1] - times[-2])
    numpy, own = times[1] - times[0], times[3] - times[2] - min(calls)
    return [python, numpy, own, python + numpy + own]


if __name__ == "__main__":
    print(main(float(sys.argv[1]), int(sys.argv[2])))
