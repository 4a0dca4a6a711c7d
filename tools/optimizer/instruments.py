"""What can watch the run of a pipeline: the base, and dumps of the IR."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from io import StringIO
from typing import IO

from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

from ...errors import GinghamError
from ..command import show
from .pipeline import Step


class Instrument:
    """Is told before and after each pass; raises GinghamError to stop the run."""

    def start(self, module: ModuleOp) -> None:
        """The module is about to go through the pipeline."""

    def before_pass(self, step: Step, module: ModuleOp) -> None:
        """A pass is about to run."""

    def after_pass(self, step: Step, module: ModuleOp) -> None:
        """A pass has run."""

    def after_failure(self, step: Step, module: ModuleOp, error: GinghamError) -> None:
        """A pass, or an instrument after it, has failed; the module may be invalid."""

    def finish(self, module: ModuleOp) -> None:
        """All passes have run."""


@dataclass(frozen=True)
class DumpSelection:
    """Which dumps are asked for: names of passes, or all of them."""

    before: Collection[str] = ()
    after: Collection[str] = ()
    before_all: bool = False
    after_all: bool = False
    after_change: bool = False
    after_failure: bool = False

    def is_empty(self) -> bool:
        """Whether no dump is asked for."""
        return self == DumpSelection()


@dataclass
class IrDumper(Instrument):
    """Prints the IR between passes, as MLIR's `--mlir-print-ir-*` options do."""

    selection: DumpSelection
    stream: IO[str]
    generic: bool = False
    debug_info: bool = False
    last_text: str = field(default="", init=False)

    def before_pass(self, step: Step, module: ModuleOp) -> None:
        """Print the module if it was asked for before this pass."""
        selection = self.selection
        if selection.before_all or step.module_pass.name in selection.before:
            self.dump("Before", step, self.text(module))
        if selection.after_change:
            self.last_text = self.text(module)

    def after_pass(self, step: Step, module: ModuleOp) -> None:
        """Print the module if it was asked for behind this pass, or has changed."""
        selection = self.selection
        if selection.after_all or step.module_pass.name in selection.after:
            self.dump("After", step, self.text(module))
        elif selection.after_change and self.last_text != (text := self.text(module)):
            self.dump("After", step, text)

    def after_failure(self, step: Step, module: ModuleOp, error: GinghamError) -> None:
        """Print what the failed pass has left, in the generic form.

        Where even that cannot be printed, a comment says why.
        """
        selection = self.selection
        if not (
            selection.after_all or selection.after_change or selection.after_failure
        ):
            return
        try:
            # The printers of dialects expect valid operations.
            text = print_module(module, generic=True, debug_info=self.debug_info)
        except Exception as reason:
            text = f"// This cannot be printed ({type(reason).__name__}: {reason})."
        self.dump("After", step, text, " Failed")

    def text(self, module: ModuleOp) -> str:
        """The module as this dumper prints it."""
        return print_module(module, generic=self.generic, debug_info=self.debug_info)

    def dump(self, when: str, step: Step, text: str, suffix: str = "") -> None:
        """Prints a module under a heading that names the pass."""
        heading = f"// -----// IR Dump {when} {step}{suffix} //----- //"
        show(f"{heading}\n{text}\n", file=self.stream)


def print_module(
    module: ModuleOp, *, generic: bool = False, debug_info: bool = False
) -> str:
    """The text of a module, without a newline at its end."""
    stream = StringIO()
    printer = Printer(
        stream=stream, print_generic_format=generic, print_debuginfo=debug_info
    )
    printer.print_op(module)
    return stream.getvalue()
