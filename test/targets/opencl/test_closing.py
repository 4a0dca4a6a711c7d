"""Threads that Python does not wait for, while the interpreter ends."""

from __future__ import annotations

import subprocess
import sys

import pytest

import gingham

PROGRAM = """
import threading, time
import numpy as np
import gingham

f = gingham.compile("function (X[M, N]) -> (S) { S[m : M] = +(X[m, n]); }")
x = np.ones((256, 256), np.float32)
array = gingham.asarray(x)
f(x)


def launch():
    while True:
        f(x)


def launch_and_wait():
    while True:
        f(array).numpy()


def launch_only():
    while True:
        f(array)


for work in (launch, launch_and_wait, launch_only, launch):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
print("ended")
"""


COMPILING = """
import threading, time
import numpy as np
import gingham

x = np.ones(10, np.float32)
gingham.compile("function (A) -> (B) { B = A; }")(x)


def compile_and_launch(number):
    while True:
        number += 10
        gingham.compile(f"function (A) -> (B) {{ B = sin(A) + {number}; }}")(x)


for number in range(6):
    threading.Thread(target=compile_and_launch, args=[number], daemon=True).start()
time.sleep(0.5)
print("ended")
"""


@pytest.mark.parametrize("program", [PROGRAM, COMPILING], ids=["launch", "compile"])
@pytest.mark.skipif(
    gingham.default_device().is_reference, reason="there is no OpenCL device"
)
def test_daemons_do_not_abort_the_end(program: str) -> None:
    for _ in range(3):
        result = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
        )
        assert (result.returncode, result.stdout) == (0, "ended\n"), result.stderr
