"""Runs the steps of a pipeline over a module and explains a failure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import TracebackType

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region
from xdsl.utils.exceptions import DiagnosticException, ShrinkException

from ... import progress
from ...errors import GinghamError, SourceLocation
from .diagnostics import ToolError, note
from .instruments import Instrument
from .locations import locations_kept
from .pipeline import Step
from .snapshot import Snapshot
from .sources import Sources
from .timing import Timer
from .verifier import verify_module


@dataclass
class PassRunner:
    """Runs passes in order, telling each instrument before and after each pass."""

    ctx: Context
    steps: Sequence[Step]
    sources: Sources
    timer: Timer
    verify_each: bool = True
    instruments: Sequence[Instrument] = field(default_factory=list[Instrument])
    verified: Snapshot | None = None
    """What was found to be valid last."""

    def run(self, module: ModuleOp) -> None:
        """Changes the module; raises GinghamError when a pass or a check fails."""
        for instrument in self.instruments:
            instrument.start(module)
        with locations_kept(), progress.working("Running passes"):
            for step in self.steps:
                progress.step(str(step))
                self.run_step(step, module)
        for instrument in self.instruments:
            instrument.finish(module)

    def run_step(self, step: Step, module: ModuleOp) -> None:
        """Runs one pass, the verifier and the instruments."""
        for instrument in self.instruments:
            instrument.before_pass(step, module)
        try:
            with self.timer.phase(str(step)):
                apply_step(self.ctx, step, module)
            if self.verify_each:
                self.verify(step, module)
            for instrument in self.instruments:
                instrument.after_pass(step, module)
        except (ShrinkException, KeyboardInterrupt):
            raise
        except Exception as error:
            failure = explain_failure(error, step, self.sources)
            for instrument in self.instruments:
                instrument.after_failure(step, module, failure)
            if failure is error:
                raise
            raise failure from error

    def verify(self, step: Step, module: ModuleOp) -> None:
        """Raises GinghamError when a pass has left an invalid module.

        Many passes find nothing to do, and what is still the same is still valid.
        """
        try:
            with self.timer.phase("Verifier"):
                if self.verified is not None and self.verified.is_still(module):
                    return
                verify_module(module, self.sources)
                self.verified = Snapshot(module)
        except GinghamError as error:
            raise ToolError(
                error.message,
                error.location,
                error.hint,
                [note(f"the program is invalid after the pass '{step}'")],
            ) from error


def apply_step(ctx: Context, step: Step, module: ModuleOp) -> None:
    """Runs the pass of a step on the operations that its anchors lead to."""
    for op in list(_anchored(module, step.anchors)):
        if isinstance(op, ModuleOp):
            step.module_pass.apply(ctx, op)
        else:
            _apply_to_operation(ctx, step, op)


def _anchored(op: Operation, anchors: Sequence[str]) -> Iterator[Operation]:
    if not anchors:
        yield op
        return
    for region in op.regions:
        for block in region.blocks:
            for inner in block.ops:
                if inner.name == anchors[0]:
                    yield from _anchored(inner, anchors[1:])


def _apply_to_operation(ctx: Context, step: Step, op: Operation) -> None:
    """Runs a pass on one operation, put into a module of its own for that time."""
    block, around, following = op.parent, op.parent_op(), op.next_op
    if block is None:
        return
    op.detach()
    body = Block([op])
    attributes = around.attributes if isinstance(around, ModuleOp) else {}
    alone = ModuleOp(Region(body), dict(attributes))
    try:
        step.module_pass.apply(ctx, alone)
    finally:
        # The pass may have put other operations beside it, or in its place.
        for new in list(alone.ops):
            new.detach()
            if following is None:
                block.add_op(new)
            else:
                block.insert_op_before(new, following)


def explain_failure(error: Exception, step: Step, sources: Sources) -> GinghamError:
    """The error that tells the user how a pass failed, and where."""
    place = _place_of_failure(error, sources)
    failed = note(f"the pass '{step}' failed")
    if isinstance(error, GinghamError):
        if error.location is None and place is not None:
            error.location = place
        elif error.location is not None and error.location.text is None:
            location = error.location
            error.location = sources.at(
                location.file, location.line, location.column, location.length
            )
        if isinstance(error, ToolError):
            return error
        return ToolError(error.message, error.location, error.hint, [failed])
    if isinstance(error, RecursionError):
        return ToolError("the program is nested too deeply", place, notes=[failed])
    if isinstance(error, DiagnosticException):
        message = " ".join(str(error).split())
        return ToolError(message or "this cannot be done", place, notes=[failed])
    from .blame import unexpected

    return unexpected(error, f"the pass '{step}'", step.module_pass, place)


def _place_of_failure(error: Exception, sources: Sources) -> SourceLocation | None:
    """The place of the operation that a pass was at when it failed, if that is known.

    `Operation.emit_error` and patterns do not keep the operation in the exception,
    but the traceback does.
    """
    emitted: Operation | None = None
    matched: Operation | None = None
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        code, variables = trace.tb_frame.f_code, trace.tb_frame.f_locals
        if code is Operation.emit_error.__code__:
            emitted = variables.get("self")
        elif code.co_name == "match_and_rewrite":
            op = variables.get("op")
            matched = op if isinstance(op, Operation) else matched
        trace = trace.tb_next
    op = emitted or matched
    return None if op is None else sources.of_operation(op)
