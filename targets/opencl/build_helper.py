"""A process that builds for another: `python -m gingham.targets.opencl.build_helper`.

It is asked by a line of JSON, `Request`, with the source behind it, and answers by the
binary (`processes`). What can not be built has none: who asks builds that by itself,
and then has the compiler's words.
"""

from __future__ import annotations

import json
from typing import BinaryIO

from ...errors import GinghamError
from .builds.driver import binary_of, build
from .builds.processes import serve
from .builds.request import Request
from .devices.discovery import same_device


def answered(line: bytes, requests: BinaryIO) -> bytes:
    """The answer to a request, whose source comes next."""
    request = Request(**json.loads(line))
    return _built(request, requests.read(request.size).decode())


def _built(request: Request, source: str) -> bytes:
    """The binary; nothing where it can not be built here."""
    device = same_device(request.device, request.details)
    if device is None:
        return b""
    try:
        return binary_of(build(device, source, request.options))
    except GinghamError:
        return b""


if __name__ == "__main__":
    serve(answered)
