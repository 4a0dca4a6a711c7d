"""`tile-opt`: from a command line to an exit status and messages."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from xdsl.ir import Attribute

from ...errors import GinghamError
from ..command import show, version_text, wants_tracebacks
from .arguments import parse_arguments
from .compilation import Compilation
from .diagnostics import Diagnostic
from .input import read_source
from .options import Options
from .registry import (
    PassFactory,
    all_dialects,
    all_passes,
    all_targets,
    own_passes,
)

SUCCESS = 0
FAILURE = 1
INTERRUPTED = 130

_MOST_ERRORS = 100
"""Errors of one input that are shown."""


def run(arguments: Sequence[str]) -> int:
    """Runs the tool; returns its exit status. Errors are printed, and none raised."""
    try:
        status = _run(arguments)
        sys.stdout.flush()
        return status
    except GinghamError as error:
        _print_error(error, arguments)
    except RecursionError:
        _print_error(GinghamError("the input is nested too deeply"), arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has gone; without this, Python's exit would try to write again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        reason = error.strerror or error
        _print_error(GinghamError(f"cannot write the output: {reason}"), arguments)
    except Exception as error:
        from .blame import unexpected

        _print_error(unexpected(error), arguments)
    return FAILURE


def _run(arguments: Sequence[str]) -> int:
    passes = all_passes() | _plugin_passes(arguments)
    options = _parse(arguments, passes)
    listing = _requested_listing(options, passes)
    if listing is not None:
        show(listing)
        return SUCCESS
    source = read_source(options.input_file, options.frontend, options.shape)
    if options.run_reproducer:
        from .reproducer import read_configuration

        configuration = read_configuration(source.text, source.file)
        options = _parse([*configuration, *arguments], passes)
    with _attributes_unverified(options.disable_verify):
        compilation = Compilation(options, source, passes)
        is_success = compilation.run()
    for error in compilation.errors[:_MOST_ERRORS]:
        _print_error(error, arguments)
    if (more := len(compilation.errors) - _MOST_ERRORS) > 0:
        show(f"and {more} more errors", file=sys.stderr)
    return SUCCESS if is_success else FAILURE


def _plugin_passes(arguments: Sequence[str]) -> dict[str, PassFactory]:
    """The passes of the files that `--load-pass-plugin` names."""
    if not any("-load-pass-plugin" in argument for argument in arguments):
        return {}
    from .plugins import load_passes, plugin_paths

    return load_passes(plugin_paths(arguments))


def _parse(arguments: Sequence[str], passes: dict[str, PassFactory]) -> Options:
    return parse_arguments(arguments, passes, own_passes(), all_targets())


def _requested_listing(options: Options, passes: dict[str, PassFactory]) -> str | None:
    """What an option asks to print instead of a program, or None."""
    if options.print_pipeline is not None:
        from .request import pipeline_texts

        return pipeline_texts(options.print_pipeline, options.hardware)
    if not (options.version or options.list_passes or options.show_dialects):
        return None
    from .listing import list_dialects, list_passes

    if options.version:
        return version_text("tile-opt")
    if options.show_dialects:
        return list_dialects(all_dialects())
    return list_passes(own_passes() if options.list_passes == "ours" else passes)


@contextmanager
def _attributes_unverified(disabled: bool) -> Generator[None]:
    """What `--disable-verify` of xDSL does: attributes are not checked when made."""
    if not disabled:
        yield
        return
    original = Attribute.__post_init__

    def accept(self: Attribute) -> None:
        """Takes the parameters as they are."""

    Attribute.__post_init__ = accept
    try:
        yield
    finally:
        Attribute.__post_init__ = original


def _print_error(error: GinghamError, arguments: Sequence[str]) -> None:
    show(Diagnostic.of(error).render(), file=sys.stderr)
    if "--debug" in arguments or wants_tracebacks():
        show("".join(traceback.format_exception(error)), end="", file=sys.stderr)
