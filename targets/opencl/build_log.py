"""A failed build made readable: the compiler's log beside the source it is about.

OpenCL compilers write clang's `file:line:column: error: text`, with some name for the
file (`1`, `<kernel>`, a temporary path), or in PoCL `error: file:line:column: text`.
"""

from __future__ import annotations

import re

_ERROR_POSITION = re.compile(
    r"(?:^|[^0-9])(?P<after>\d+):\d+: (?:fatal )?error:"
    r"|error: \S*?:(?P<before>\d+):\d+: "
)

_CONTEXT_LINES = 2
_MOST_LOG_LINES = 100


def error_lines(log: str) -> list[int]:
    """The line numbers, from 1, that the log's errors point at, in ascending order."""
    positions = (_ERROR_POSITION.search(line) for line in log.splitlines())
    matches = (match for match in positions if match is not None)
    return sorted({int(match["after"] or match["before"]) for match in matches})


def excerpt(source: str, lines: list[int]) -> str:
    """The numbered source around `lines`, which are marked with `>`.

    Places that are apart are separated by a line of dots.
    """
    text = source.splitlines()
    marked = [line for line in lines if 1 <= line <= len(text)]
    shown = sorted(
        {
            near
            for line in marked
            for near in range(line - _CONTEXT_LINES, line + _CONTEXT_LINES + 1)
            if 1 <= near <= len(text)
        }
    )
    width = len(str(shown[-1])) if shown else 0
    result: list[str] = []
    for index, number in enumerate(shown):
        if index > 0 and number != shown[index - 1] + 1:
            result.append("  ...")
        mark = ">" if number in marked else " "
        result.append(f"{mark} {number:{width}} | {text[number - 1]}".rstrip())
    return "\n".join(result)


def describe_failure(source: str, log: str) -> str:
    """The log, then the source around the errors that it locates."""
    log_lines = log.strip().splitlines()
    if len(log_lines) > _MOST_LOG_LINES:
        left_out = len(log_lines) - _MOST_LOG_LINES
        log_lines = [*log_lines[:_MOST_LOG_LINES], f"... {left_out} more lines"]
    if not log_lines:
        return "the compiler gave no reason"
    around = excerpt(source, error_lines(log))
    return "\n".join([*log_lines, *(["source:", around] if around else [])])
