"""A process that runs kernels first: `python -m` with the name of this module.

It is given code, and then the inputs of a call, runs it, and says that it has ended.
What becomes of it otherwise is for who asks to see.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, BinaryIO

from ....errors import GinghamError
from ..builds.processes import serve
from ..compiled import from_bytes
from ..devices.discovery import same_device
from ..executor import OpenCLExecutable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DONE = b"done"


class Rehearsing:
    """What a process has been given so far."""

    def __init__(self) -> None:
        self._executable: OpenCLExecutable | None = None

    def answered(self, line: bytes, requests: BinaryIO) -> bytes:
        """`DONE` where code could be loaded or run; nothing where that was refused.

        Without code only the driver is loaded.
        """
        request: dict[str, Any] = json.loads(line)
        try:
            if request["kind"] == "code":
                code = requests.read(request["size"])
                return self._load(request["device"], request["details"], code)
            return self._run(requests)
        except GinghamError:
            return b""

    def _load(self, name: str, details: str, code: bytes) -> bytes:
        self._executable = None
        device = same_device(name, details)
        if not code:
            return DONE
        if device is None:
            return b""
        self._executable = OpenCLExecutable(from_bytes(code, device), device)
        return DONE

    def _run(self, requests: BinaryIO) -> bytes:
        executable, self._executable = self._executable, None
        if executable is None:
            return b""
        executable(*(_read(requests, *type) for type in executable.input_types))
        return DONE


def _read(
    requests: BinaryIO, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> NDArray[Any]:
    import numpy as np

    array = np.empty(shape, dtype)
    data = requests.read(array.nbytes)
    return np.frombuffer(data, dtype).reshape(shape) if data else array


if __name__ == "__main__":
    serve(Rehearsing().answered)
