"""A process that builds for another: `python -m gingham.targets.opencl.builds.helper`.

It is asked by a line of JSON, `Request`, with the source behind it, and answers by a
line with the length of the binary, and the binary. What can not be built has none: who
asks builds that by itself, and then has the compiler's words. The process ends when its
input does.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, dataclass
from typing import BinaryIO

from ....errors import GinghamError
from .driver import binary_of, build


@dataclass(frozen=True)
class Request:
    """What is to be built, and for which device."""

    device: str
    details: str
    """What the device tells of itself: both processes must have the same one."""
    options: str
    size: int
    """The bytes of the source."""

    def to_line(self) -> bytes:
        """As a line of JSON."""
        return json.dumps(asdict(self)).encode() + b"\n"


def main() -> int:
    """Build what the input asks for; the exit status is 0."""
    # A compiler may print.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, answers)
    return 0


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until there are no more."""
    for line in requests:
        request = Request(**json.loads(line))
        source = requests.read(request.size).decode()
        binary = _built(request, source)
        answers.write(b"%d\n" % len(binary) + binary)
        answers.flush()


def _built(request: Request, source: str) -> bytes:
    """The binary; nothing where it can not be built here."""
    from ..devices.discovery import discover

    for device in discover().devices:
        if device.name == request.device and str(device.details) == request.details:
            try:
                return binary_of(build(device, source, request.options))
            except GinghamError:
                return b""
    return b""


if __name__ == "__main__":
    sys.exit(main())
