"""`--validate-each`: finds the pass that changes what a program computes.

The program is run by the reference interpreter as it was parsed and after each pass, on
the same random inputs, and each result is compared with the first one. Where a program
leaves sizes open, as Tile functions do, the shapes are those that a later pass gives
it, or small random ones when none does; its open stages run as instances for them.

The first and the last program have to run: with the exit status 0, the pipeline's
result gave the results of its input. A program in between that cannot be run is told
of in a warning, and the next one that can is compared instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from random import Random
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from ...errors import GinghamError
from ...progress import working
from .diagnostics import Diagnostic, Severity, ToolError, ValidationError, note
from .entry import (
    Signature,
    choose_signature,
    find_entry,
    format_signature,
    is_open,
    parse_signature,
    static_signature,
)
from .instruments import Instrument, print_module
from .pipeline import Step, format_pipeline
from .reproducer import reproducer_text, write_reproducer
from .sources import Sources

if TYPE_CHECKING:
    from ...targets.reference import Budget
    from .samples import Array, Difference

_ATTEMPTS = 200
"""How many random shapes are tried for a program that leaves its sizes open."""

_RUNS_TO_CHOOSE_FROM = 12
"""After so many runs with empty or infinite results, better ones are not in sight."""


@dataclass(frozen=True)
class ValidationRequest:
    """What the options say: the function to run, the types of its arguments, the seed.

    The reproducer is written to `reproducer`, or to a new file when that is None. All
    runs together are of at most `points` points; None is the interpreter's own limit.
    """

    entry: str = "main"
    arguments: str | None = None
    seed: int = 0
    reproducer: str | None = None
    points: int | None = None

    def options(self, arguments: str | None) -> list[str]:
        """The options that ask for the same, with these types of arguments."""
        options = [
            "--validate-each",
            f"--validate-entry={self.entry}",
            f"--validate-seed={self.seed}",
        ]
        if self.points is not None:
            options.append(f"--validate-points={self.points}")
        return options + ([f"--validate-arguments={arguments}"] if arguments else [])


@dataclass(frozen=True)
class _Stage:
    """The program after a pass, or as it was parsed."""

    step: Step | None
    module: ModuleOp

    @property
    def title(self) -> str:
        return f"what {self.step.module_pass.name} made" if self.step else "the input"


@dataclass(frozen=True)
class _ExpectedResults:
    """Inputs of some types, and what the program as parsed gave for them."""

    signature: Signature
    inputs: list[Array]
    results: list[Array]


class CannotRun(Exception):
    """A program that may be right, but that the interpreter cannot run."""

    def __init__(self, error: GinghamError) -> None:
        super().__init__(error.message)
        self.error = error


class Validator(Instrument):
    """Compares the results of each stage with those of the first one."""

    def __init__(
        self,
        request: ValidationRequest,
        sources: Sources,
        warn: Callable[[Diagnostic], None],
    ) -> None:
        self.request = request
        self.sources = sources
        self.warn = warn
        given = request.arguments
        self.given = None if given is None else parse_signature(given)
        self.waiting: list[_Stage] = []
        """Stages from before the shapes were known; then empty."""
        self.signature: Signature = ()
        self.inputs: list[Array] = []
        self.expected: list[Array] = []
        """What the first stage gave."""
        self.latest: _Stage | None = None
        """The last stage that ran."""
        self.steps: list[Step] = []
        """The passes since the last stage that ran."""
        self.obstacle: GinghamError | None = None
        """Why the last stage could not be run."""
        self.is_spent = False
        """Whether a stage would have taken more than is left to be run."""
        self.budget: Budget | None = None
        """What all runs together may take."""

    def start(self, module: ModuleOp) -> None:
        """Keep the program as it comes in: its results are those to be had."""
        self.accept(_Stage(None, module.clone()))

    def after_pass(self, step: Step, module: ModuleOp) -> None:
        """Run the module and compare.

        Raises ValidationError where a result is another one.
        """
        self.accept(_Stage(step, module.clone()))

    def finish(self, module: ModuleOp) -> None:
        """Run stages that have waited for shapes, with shapes drawn at random.

        Raises ToolError, with what was in the way, unless the last stage has run.
        """
        if self.latest is None:
            self.begin(self.chosen_signatures())
        if self.obstacle is not None:
            raise ToolError(
                f"the pipeline's result was not validated: {self.obstacle.message}",
                self.obstacle.location,
                self.obstacle.hint,
            )

    def accept(self, stage: _Stage) -> None:
        """Compares a stage now, or once the shapes are known."""
        if self.latest is not None:
            self.compare(stage)
            return
        self.waiting.append(stage)
        function = find_entry(stage.module, self.request.entry)
        signature = self.given or static_signature(function)
        if signature is not None:
            self.begin([signature])

    def chosen_signatures(self) -> list[Signature]:
        """Random small shapes for the program as it was parsed."""
        function = find_entry(self.waiting[0].module, self.request.entry)
        random = Random(self.request.seed)
        return [choose_signature(function, random) for _ in range(_ATTEMPTS)]

    def begin(self, signatures: Sequence[Signature]) -> None:
        """Runs the first stage, and compares the other ones that have waited."""
        first, *others = self.waiting
        self.waiting = []
        self.run_first(first, signatures)
        self.latest = first
        for stage in others:
            self.compare(stage)

    def run_first(self, stage: _Stage, signatures: Sequence[Signature]) -> None:
        """Settles on shapes and inputs with which the first stage runs.

        Best are those where results are not empty and no value is infinite or NaN,
        which would hide what led to it. Raises GinghamError when it never runs.
        """
        from .samples import candidate_inputs, is_telling

        obstacle: GinghamError | None = None
        fallback: _ExpectedResults | None = None
        number_of_runs = 0
        for self.signature in signatures:
            if (refused := self.too_large(stage)) is not None:
                obstacle = obstacle or refused
                continue
            for inputs in candidate_inputs(self.signature, self.request.seed):
                try:
                    results = self.run(stage, inputs)
                except CannotRun as reason:
                    obstacle = obstacle or reason.error
                    break
                except GinghamError as error:
                    obstacle = obstacle or error
                    continue
                first_run = _ExpectedResults(self.signature, inputs, results)
                fallback = fallback or first_run
                number_of_runs += 1
                if is_telling(results):
                    return self.settle(first_run)
            if number_of_runs >= _RUNS_TO_CHOOSE_FROM:
                break
        if fallback is not None:
            return self.settle(fallback)
        raise ToolError(
            f"--validate-each cannot run the program: "
            f"{obstacle.message if obstacle else 'no inputs fit'}",
            obstacle.location if obstacle else None,
            obstacle.hint if obstacle else None,
        )

    def settle(self, first_run: _ExpectedResults) -> None:
        """Takes the inputs and results of a run for all that follow."""
        self.signature = first_run.signature
        self.inputs, self.expected = first_run.inputs, first_run.results

    def too_large(self, stage: _Stage) -> GinghamError | None:
        """Why inputs of these types are not even made, or None."""
        from ...targets.reference import OverBudgetError

        function = find_entry(stage.module, self.request.entry)
        cells = sum(prod(type.get_shape()) for type in self.signature)
        try:
            self.spending().require_cells(function, cells)
        except OverBudgetError as error:
            return self.advised(error)
        return None

    def spending(self) -> Budget:
        """What is left to be run."""
        from ...targets.reference import Budget

        if self.budget is None:
            self.budget = Budget(self.request.points)
        return self.budget

    def advised(self, error: GinghamError) -> GinghamError:
        """The error of a run that takes too much, with what to do about it."""
        hint = (
            "choose smaller sizes, or allow more with --validate-points=N, which "
            "counts the runs after all passes together"
        )
        return GinghamError(error.message, error.location, hint)

    def run(self, stage: _Stage, inputs: list[Array]) -> list[Array]:
        """The results of a program.

        Raises CannotRun when that takes something which the interpreter does not have,
        or more than may be run, and GinghamError when the program does something that
        has no meaning.
        """
        from ...passes.tile.differentiate import expand_gradients
        from ...targets.reference import (
            OverBudgetError,
            UnknownOperationError,
            interpret,
        )

        entry, module = self.request.entry, stage.module
        function = find_entry(module, entry)
        signature = static_signature(function)
        if signature is not None and signature != self.signature:
            raise GinghamError(
                f"@{entry} takes {format_signature(signature)} here, and is validated "
                f"with {format_signature(self.signature)}",
                self.sources.of_operation(function),
            )
        if is_open(function):
            module = self.instance(module)
        try:
            with working(f"Validating: running {stage.title}"):
                return interpret(
                    expand_gradients(module), inputs, entry, self.spending()
                )
        except OverBudgetError as error:
            self.is_spent = True
            raise CannotRun(self.advised(error)) from error
        except UnknownOperationError as error:
            raise CannotRun(error) from error

    def instance(self, module: ModuleOp) -> ModuleOp:
        """An open program for the shapes of the inputs."""
        from ...passes.tile.specialize import specialize

        try:
            return specialize(module, self.signature, self.request.entry)
        except GinghamError as error:
            raise CannotRun(error) from error

    def compare(self, stage: _Stage) -> None:
        """Raises ValidationError when a stage gives other results than the first."""
        if stage.step is None or self.latest is None:
            return
        if stage.module.is_structurally_equivalent(self.latest.module):
            self.steps, self.obstacle = [], None
            return
        self.steps.append(stage.step)
        if self.is_spent:
            return
        try:
            results = self.run(stage, self.inputs)
        except CannotRun as reason:
            self.obstacle = reason.error
            self.warn(self.cannot_run(stage.step, reason.error))
            return
        except GinghamError as error:
            raise self.meaningless(error, self.latest) from error
        from .samples import find_difference

        difference = find_difference(self.expected, results)
        if difference is not None:
            raise self.failure(difference, self.latest)
        self.latest, self.steps, self.obstacle = stage, [], None

    def cannot_run(self, step: Step, error: GinghamError) -> Diagnostic:
        """The warning about a stage that is left out."""
        ending = ", nor after the passes behind it" if self.is_spent else ""
        return Diagnostic(
            Severity.WARNING,
            f"after the pass '{step}' the program cannot be run to validate it"
            f"{ending}: {error.message}",
            error.location,
            error.hint,
        )

    def failure(self, difference: Difference, before: _Stage) -> ValidationError:
        """The error for passes that changed the results."""
        from .samples import describe_inputs

        return ValidationError(
            f"{self.culprit()} changes what @{self.request.entry} computes: "
            f"{difference.summary}",
            self.sources.of_operation(find_entry(before.module, self.request.entry)),
            notes=[
                note(f"inputs: {describe_inputs(self.inputs)}"),
                note(f"result before: {difference.before}"),
                note(f"result after: {difference.after}"),
                self.written_reproducer(before),
            ],
        )

    def meaningless(self, error: GinghamError, before: _Stage) -> ValidationError:
        """The error for passes whose result does what has no meaning."""
        return ValidationError(
            f"{self.culprit()} makes a program that does not run: {error.message}",
            error.location,
            error.hint,
            [self.written_reproducer(before)],
        )

    def culprit(self) -> str:
        """The passes since the last stage that ran, of which one is wrong."""
        passes = format_pipeline(self.steps)
        if len(self.steps) == 1:
            return f"the pass '{passes}'"
        return f"one of the passes '{passes}'"

    def written_reproducer(self, before: _Stage) -> Diagnostic:
        """A note about the reproducer of these passes, which this writes."""
        function = find_entry(before.module, self.request.entry)
        has_shapes = static_signature(function) is not None
        arguments = None if has_shapes else format_signature(self.signature)
        text = reproducer_text(
            self.steps, self.request.options(arguments), print_module(before.module)
        )
        path = write_reproducer(self.request.reproducer, text)
        return note(f"the reproducer is in '{path}'; --run-reproducer runs it")
