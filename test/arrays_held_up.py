"""The type of the fixture `held_up` of the tests of arrays."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeAlias

from gingham.targets.opencl.devices.device import OpenCLDevice

Held: TypeAlias = Callable[[OpenCLDevice], AbstractContextManager[None]]
