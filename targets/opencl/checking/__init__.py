"""Kernels that a device's compiler got wrong are found at the first call, and refused.

With the setting `check` the first results of each compiled program, for each shape and
device, are compared in a sample of their cells with what the program's definition gives
for the same inputs (`expectation`). A program whose results are wrong gets a safer
build of the same kernels (`builds`), checked in the same way on the same inputs; the
user is warned, and finds a folder that shows the fault (`reproducer`). Where no build
is right, the call fails. Kernels that never end are found before that, in a process
that can be ended (`rehearsal`). What has been checked is marked so in the cache of
programs.
"""

from __future__ import annotations

from .executable import CheckedExecutable
from .trial import WrongKernelWarning

__all__ = ["CheckedExecutable", "WrongKernelWarning"]
