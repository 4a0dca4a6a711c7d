"""One input on its way through `tile-opt`: parsed, transformed, printed, written.

What only some runs need is imported there, for the start-up of the others.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from io import StringIO
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException, ParseError, ShrinkException

from ...errors import GinghamError
from ..command import require_open_output, show
from .diagnostics import Diagnostic, InternalError, ToolError, ValidationError, note
from .input import Source
from .located_parser import parse_mlir
from .options import Options
from .output import write_atomically
from .pipeline import PassRegistry, format_root_pipeline
from .registry import all_targets, new_context
from .request import check_pass_names, requested_steps, requested_target
from .sources import Sources
from .timing import Timer
from .verifier import verify_module

if TYPE_CHECKING:
    from .instruments import Instrument
    from .validation import ValidationRequest


class Compilation:
    """Compiles the chunks of one input as the options say.

    Raises GinghamError when the options are wrong; `errors` holds what goes wrong with
    the input, to be shown.
    """

    def __init__(self, options: Options, source: Source, passes: PassRegistry) -> None:
        self.options = options
        self.source = source
        self.sources = Sources({source.file: source.text})
        self.timer = Timer()
        self.ctx = new_context(allow_unregistered=options.allow_unregistered_dialect)
        self.steps = requested_steps(
            options.pipeline, self.ctx, passes, options.hardware
        )
        self.target = requested_target(options, all_targets())
        self.errors: list[GinghamError] = []
        self.seen: list[Diagnostic] = []
        """What is compared with the expectations of `--verify-diagnostics`."""
        check_pass_names(options.print_ir_before, passes)
        check_pass_names(options.print_ir_after, passes)

    def run(self) -> bool:
        """Compiles and writes; returns whether that is a success."""
        options = self.options
        if options.dump_pass_pipeline:
            show(format_root_pipeline(self.steps), file=sys.stderr)
        chunks = self.source.chunks() if options.split_input_file else [self.source]
        outputs: list[str] = []
        try:
            for chunk in chunks:
                outputs.extend(self.output_of(chunk))
        except ShrinkException:
            if not options.shrink:
                raise
            show("Success, can shrink")
            return True
        if options.verify_diagnostics:
            self.compare_diagnostics()
        if options.timing:
            show(self.timer.report(), file=sys.stderr)
        if options.shrink:
            show("Failure, can't shrink")
            return False
        self.write("// -----\n".join(outputs))
        return not self.errors

    def output_of(self, chunk: Source) -> Iterator[str]:
        """The output of a chunk; none when it fails, which is noted."""
        try:
            yield self.compile(chunk)
        except GinghamError as error:
            if isinstance(error, InternalError):
                self.errors.append(self.with_reproducer(error, chunk))
            elif self.options.verify_diagnostics:
                self.seen.append(Diagnostic.of(error))
            elif self.options.parsing_diagnostics and _is_syntax_error(error):
                show(Diagnostic.of(error).render())
            else:
                self.errors.append(error)

    def compile(self, chunk: Source) -> str:
        """The output of a chunk; raises GinghamError."""
        # What one chunk loads or defines is unknown to the next one.
        ctx = self.ctx.clone()
        with _defects_explained():
            with self.timer.phase("Parser"):
                module = self.parse(ctx, chunk)
            if not self.options.disable_verify:
                with self.timer.phase("Verifier"):
                    verify_module(module, self.sources)
            self.run_passes(ctx, module)
            with self.timer.phase("Output"):
                return self.print(ctx, module)

    def parse(self, ctx: Context, chunk: Source) -> ModuleOp:
        """The module that a chunk describes."""
        if chunk.kind == "tile":
            from ...frontend.tile_text import parse_tile

            return parse_tile(chunk.text, chunk.file)
        return parse_mlir(
            ctx,
            chunk.text,
            chunk.file,
            self.sources,
            implicit_module=not self.options.no_implicit_module,
        )

    def run_passes(self, ctx: Context, module: ModuleOp) -> None:
        """Runs the pipeline with the instruments that the options ask for."""
        options = self.options
        if not self.steps and not options.validate_each:
            return
        from .runner import PassRunner

        runner = PassRunner(
            ctx,
            self.steps,
            self.sources,
            self.timer,
            verify_each=options.verify_each and not options.disable_verify,
            instruments=list(self.instruments(ctx)),
        )
        try:
            runner.run(module)
        except (InternalError, ValidationError):
            raise
        except GinghamError as error:
            if options.crash_reproducer is None:
                raise
            written = note(f"the reproducer is in '{options.crash_reproducer}'")
            notes = [*Diagnostic.of(error).notes, written]
            raise ToolError(error.message, error.location, error.hint, notes) from error

    def instruments(self, ctx: Context) -> Iterator[Instrument]:
        """What watches the run of the passes."""
        from .instruments import DumpSelection, IrDumper

        options = self.options
        selection = DumpSelection(
            options.print_ir_before,
            options.print_ir_after,
            options.print_ir_before_all,
            options.print_ir_after_all,
            options.print_ir_after_change,
            options.print_ir_after_failure,
        )
        if not selection.is_empty():
            yield IrDumper(
                selection, sys.stderr, options.print_op_generic, options.print_debuginfo
            )
        if options.crash_reproducer is not None:
            from .reproducer import CrashRecorder

            yield CrashRecorder(
                options.crash_reproducer,
                self.steps,
                self.reproducer_options(),
                options.local_reproducer,
            )
        if options.explain is not None:
            from .decisions import DecisionPrinter

            yield DecisionPrinter(sys.stderr, options.explain)
        if options.validate_each:
            from .validation import Validator

            yield Validator(self.validation_request(), self.sources, self.warn)

    def validation_request(self) -> ValidationRequest:
        """What the options say about validation."""
        from .validation import ValidationRequest

        options = self.options
        return ValidationRequest(
            options.validate_entry,
            options.validate_arguments,
            options.validate_seed,
            options.crash_reproducer,
            options.validate_points,
        )

    def print(self, ctx: Context, module: ModuleOp) -> str:
        """The output for a module."""
        stream = StringIO()
        try:
            self.target.emit(ctx, module, stream)
        except RecursionError as error:
            raise GinghamError("the program is nested too deeply to print") from error
        except DiagnosticException as error:
            raise GinghamError(
                f"the target '{self.target.name}' failed: {error}"
            ) from error
        except GinghamError:
            raise
        except Exception as error:
            from .blame import unexpected

            what = f"the target '{self.target.name}'"
            raise unexpected(error, what, self.target) from error
        return stream.getvalue().rstrip("\n") + "\n"

    def write(self, text: str) -> None:
        """Writes the output. A file is left as it was when anything went wrong."""
        path = self.options.output_file
        if path is None or path == "-":
            require_open_output()
            sys.stdout.write(text)
        elif not self.errors:
            write_atomically(path, text)

    def warn(self, warning: Diagnostic) -> None:
        """Shows a warning, or keeps it to be compared."""
        if self.options.verify_diagnostics:
            self.seen.append(warning)
        else:
            show(warning.render(), file=sys.stderr)

    def compare_diagnostics(self) -> None:
        """Notes an error for each difference to what the input's comments expect."""
        from .expected import expectations, unmet

        file, text = self.source.file, self.source.text
        for problem in unmet(self.seen, expectations(text, file), file):
            self.errors.append(GinghamError(problem.message, problem.location))

    def reproducer_options(self) -> list[str]:
        """The options that a reproducer sets beside the pipeline."""
        options = [f"--verify-each={int(self.options.verify_each)}"]
        if self.options.allow_unregistered_dialect:
            options.append("--allow-unregistered-dialect")
        if self.options.validate_each:
            options += self.validation_request().options(
                self.options.validate_arguments
            )
        return options

    def with_reproducer(self, error: InternalError, chunk: Source) -> InternalError:
        """The error, naming a reproducer, which is written here unless it is there."""
        from .reproducer import reproducer_text, write_reproducer

        path = self.options.crash_reproducer
        if path is None:
            text = reproducer_text(self.steps, self.reproducer_options(), chunk.text)
            path = write_reproducer(None, text, chunk.kind)
        reproduced = InternalError(
            f"{error.message}; this is a defect of {error.owner}: please report it "
            f"with the reproducer '{path}' (--debug shows the traceback)",
            error.location,
            error.owner,
        )
        reproduced.__cause__ = error.__cause__
        return reproduced


@contextmanager
def _defects_explained() -> Generator[None]:
    """Turns an exception that is no message for the user into an InternalError."""
    try:
        yield
    except (GinghamError, ShrinkException):
        raise
    except RecursionError as error:
        raise GinghamError("the program is nested too deeply") from error
    except Exception as error:
        from .blame import unexpected

        raise unexpected(error) from error


def _is_syntax_error(error: GinghamError) -> bool:
    return isinstance(error.__cause__, ParseError)
