"""Files that hold a program and the options under which `tile-opt` fails on it.

    // configuration: --pass-pipeline='builtin.module(cse)' --verify-each=1
    builtin.module { ... }

`tile-opt --run-reproducer FILE` runs it with the options of its first line.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp

from ...errors import GinghamError, SourceLocation
from .diagnostics import ValidationError
from .instruments import Instrument, print_module
from .output import write_atomically
from .pipeline import Step, format_root_pipeline

_MARK = "// configuration: "

_ALLOWED = (
    "--pass-pipeline",
    "--verify-each",
    "--allow-unregistered-dialect",
    "--validate-each",
    "--validate-arguments",
    "--validate-entry",
    "--validate-seed",
    "--validate-points",
)
"""What the first line may set: a file should not choose what is written where."""


def reproducer_text(steps: Sequence[Step], options: Sequence[str], program: str) -> str:
    """The text of a reproducer: the passes and other options, and the program."""
    from shlex import quote

    arguments = [f"--pass-pipeline={quote(format_root_pipeline(steps))}"]
    arguments.extend(quote(option) for option in options)
    return f"{_MARK}{' '.join(arguments)}\n{program.strip()}\n"


def read_configuration(text: str, file: str) -> list[str]:
    """The options in the first line of a reproducer.

    Raises GinghamError when there are none, or others than a reproducer has.
    """
    from shlex import split

    line = text.split("\n", 1)[0].rstrip("\r")
    place = SourceLocation(file, 1, 1, text)
    if not line.startswith(_MARK):
        raise GinghamError(
            f"expected a reproducer, whose first line starts with '{_MARK.strip()}'",
            place,
        )
    try:
        options = split(line.removeprefix(_MARK))
    except ValueError as error:
        raise GinghamError(f"this line cannot be read: {error}", place) from error
    for option in options:
        if option.partition("=")[0] not in _ALLOWED:
            raise GinghamError(
                f"a reproducer cannot set '{option}'",
                place,
                f"it can set {', '.join(_ALLOWED)}",
            )
    return options


def write_reproducer(path: str | None, text: str, kind: str = "mlir") -> str:
    """Writes a reproducer to a path, or to a new temporary file; returns the path."""
    if path is None:
        from tempfile import mkstemp

        try:
            descriptor, path = mkstemp(prefix="tile-opt-", suffix=f".{kind}")
        except OSError as error:
            raise GinghamError(
                f"cannot write a reproducer: {error.strerror}"
            ) from error
        os.close(descriptor)
    write_atomically(path, text)
    return path


@dataclass
class CrashRecorder(Instrument):
    """Keeps what a reproducer of a failure needs, and writes it upon a failure.

    The program is kept as it is before the whole pipeline, or with `local` before the
    pass that fails.
    """

    path: str
    steps: Sequence[Step]
    options: Sequence[str]
    local: bool = False
    program: str = field(default="", init=False)
    failing: Sequence[Step] = field(default=(), init=False)

    def start(self, module: ModuleOp) -> None:
        """Keep the program as it comes in, in case any pass fails."""
        self.program = print_module(module)
        self.failing = self.steps

    def before_pass(self, step: Step, module: ModuleOp) -> None:
        """Keep the program before each pass where a short reproducer is wanted."""
        if self.local:
            self.program = print_module(module)
            self.failing = [step]

    def after_failure(self, step: Step, module: ModuleOp, error: GinghamError) -> None:
        """Write the reproducer, a `.mlir` file that names the passes and options."""
        if isinstance(error, ValidationError):
            return  # It comes with a reproducer.
        text = reproducer_text(self.failing, self.options, self.program)
        write_reproducer(self.path, text)
