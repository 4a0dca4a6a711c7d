"""`Function`: a Tile program as a function of arrays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .. import observation
from ..dialects import make_context
from ..errors import GinghamError
from ..suggestions import did_you_mean
from .arguments import AnyArray, Binding, bind
from .calls import Calls, Runs
from .compiler import Compiler
from .devices import chosen_device
from .hardware import chosen_hardware
from .lowering import STAGES, Lowering
from .options import CompileOptions
from .profiling.starting import follow_debug_setting, measured, required_profile

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from xdsl.dialects.builtin import ModuleOp

    from ..passes.stripe.decide.explanation import Explanation
    from ..targets.backend import FixedInputs
    from ..targets.code import PrintedCode
    from ..targets.hardware import Hardware
    from .device import Device
    from .memory import MemoryReport
    from .parsed import ParsedProgram
    from .profiling.profile import Profile


class Function:
    """A Tile program as a function of arrays.

    It is parsed once, and compiled once for each combination of shapes and element
    types that it is called with. May be called from several threads.

    A call's arrays go from `arguments` through `calls` to what is compiled for them.
    """

    def __init__(
        self,
        program: ParsedProgram,
        options: CompileOptions,
        captured: Sequence[NDArray[Any]] = (),
    ) -> None:
        """`captured` are the last inputs of the program, which never change."""
        self.own_profile: Profile | None = None
        """What its calls cost, where that is measured: see `measured`."""
        self._program = program
        self._options = options
        self._captured = tuple(captured)
        device = chosen_device(options.device)
        follow_debug_setting()
        hardware = chosen_hardware(options.hardware)
        names = [*program.outline.inputs]
        self.output_names = [*program.outline.outputs]
        self.input_names = names[: len(names) - len(self._captured)]
        self._constants = [
            *_positions(self.input_names, options.constants),
            *range(len(self.input_names), len(names)),
        ]
        self._lowering = Lowering(program, device, hardware, options, self._constants)
        self._compiler = Compiler(program, self._lowering, options)
        self._calls = Calls(
            program, self._compiler, len(self._captured), self._constants
        )
        self._known: Callable[[Sequence[Any]], Runs | None] = self._calls.known
        """What ran the last call with such inputs, if that is known at a glance."""
        if options.profile:
            measured(self)

    def __repr__(self) -> str:
        inputs, outputs = ", ".join(self.input_names), ", ".join(self.output_names)
        return f"<gingham.Function ({inputs}) -> ({outputs})>"

    def __reduce__(self) -> tuple[Any, ...]:
        """It is copied and pickled as its program, and compiled where it is called."""
        if type(self) is not Function:
            raise GinghamError(
                f"a {type(self).__name__} cannot be copied or pickled",
                hint="gingham.compile makes another one of its program and devices",
            )
        device = chosen_device(self._options.device)
        count = len(self.input_names)
        options = replace(
            self._options,
            device=None if device is None else device.name,
            hardware=self.hardware,
            constants=[each for each in self._constants if each < count],
            profile=self.own_profile is not None,
        )
        return Function, (self._program, options, self._captured)

    @property
    def device(self) -> Device:
        """Where it runs: the device it was compiled for, else the default device."""
        return self._lowering.device

    def __call__(self, *inputs: Any, out: Any = None, **named: Any) -> Any:
        """Run the program: its output as an array, several as a tuple.

        Inputs are arrays, or what `numpy.asarray` takes, by position or by name. `out`
        is an array that the output is written to and that is returned, of several
        outputs a tuple with an array, or None for a new one, for each.

        Where an input or `out` is a `gingham.Array`, the outputs are such arrays, and
        the call does not wait for them: see `docs/arrays.md`.

        Raises GinghamError for inputs that do not fit the program, and for an `out`
        that is not contiguous, not of the output's shape and type, or in the memory of
        an input.
        """
        observer = observation.observer
        if observer is not None and not observer.is_calling(self):
            return observer.call(self, lambda: self(*inputs, out=out, **named))
        if out is not None and "out" in self.input_names:
            named, out = {**named, "out": out}, None
        if named:
            inputs, named = self._in_order(inputs, named)
        try:
            direct = self._calls.direct
            if not (direct is None or named or out is not None or observer is not None):
                result = direct(inputs)
                if result is not None:
                    return result
            ready = None if named else self._known(inputs)
            if ready is None:
                results = self._run_first(inputs, named, out)
            else:
                results = ready.run(inputs + self._captured, out)
        except GinghamError as error:
            # A context manager here would take as long as looking up what to run.
            self._program.show_line(error)
            raise
        return results[0] if len(results) == 1 else tuple(results)

    def _in_order(
        self, inputs: tuple[Any, ...], named: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """All inputs by position, where that is a matter of order only."""
        missing = self.input_names[len(inputs) :]
        if len(missing) == len(named) and all(name in named for name in missing):
            return inputs + tuple([named[name] for name in missing]), {}
        return inputs, named

    def _run_first(
        self, inputs: tuple[Any, ...], named: Mapping[str, Any], out: Any
    ) -> list[Any]:
        """Run it for what may be no arrays yet, and know such inputs from then on."""
        arrays = bind(self.input_names, inputs, named)
        whole = [*arrays, *self._captured]
        ready = self._calls.ready(whole)
        results = ready.run(whole, out)
        self._calls.remember(inputs, arrays, ready)
        return results

    def run(self, arrays: Sequence[AnyArray], out: Any = None) -> list[Any]:
        """The outputs for inputs that are arrays already, in order."""
        observer = observation.observer
        if observer is not None and not observer.is_calling(self):
            return observer.call(self, lambda: self.run(arrays, out))
        whole = [*arrays, *self._captured]
        try:
            return self._calls.ready(whole).run(whole, out)
        except GinghamError as error:
            self._program.show_line(error)
            raise

    def fixed(self, positions: Iterable[int]) -> FixedInputs:
        """What stands for inputs that are the same arrays in many calls."""
        return self._calls.fixed(positions)

    def run_fixed(self, arrays: Sequence[AnyArray], fixed: FixedInputs) -> list[Any]:
        """The outputs for arrays of NumPy in order, of which some are `fixed`.

        These are the same arrays in all calls with it; `refresh` is called when what is
        in one has changed.
        """
        observer = observation.observer
        if observer is not None and not observer.is_calling(self):
            return observer.call(self, lambda: self.run_fixed(arrays, fixed))
        whole = [*arrays, *self._captured]
        try:
            return self._calls.of_fixed(whole, fixed).run(whole, None, fixed)
        except GinghamError as error:
            self._program.show_line(error)
            raise

    def prepare(self, arrays: Sequence[AnyArray]) -> None:
        """Compile it for arrays of these shapes and types, if it is not yet."""
        self._calls.of(self._calls.binding([*arrays, *self._captured]))

    def refresh(self) -> None:
        """Read constant inputs anew at the next call, as their contents have changed.

        What depends on constant inputs only is computed once and kept for the same
        arrays (the same memory: contents are not compared), as long as they exist.
        """
        self._calls.refresh()

    def _binding(self, inputs: Sequence[Any], named: Mapping[str, Any]) -> Binding:
        arrays = bind(self.input_names, inputs, named)
        return self._calls.binding([*arrays, *self._captured])

    @property
    def profile(self) -> Profile:
        """What calls have cost so far, of a function compiled with `profile=True`."""
        return required_profile(self.own_profile)

    @property
    def hardware(self) -> Hardware | None:
        """The description that it is compiled by, where one was asked for."""
        return self._lowering.hardware

    def specialized(self, *inputs: Any, **named: Any) -> ModuleOp:
        """The program for inputs of these shapes and types, before any other pass."""
        return self._lowering.specialized(self._binding(inputs, named))

    def source(self, *inputs: Any, **named: Any) -> str:
        """The kernels for inputs of these shapes and types as text: OpenCL C, or C."""
        return self._code(self._binding(inputs, named)).source

    def ir(self, *inputs: Any, stage: str = "tile", **named: Any) -> str:
        """The IR for inputs of these shapes and types, at one of the `STAGES`.

        `parsed` is the program for any shapes and needs no inputs; `tile` is flattened,
        `stripe` is tiled, vectorized and mapped, `opencl` is what is printed as
        kernels.
        """
        if stage not in STAGES:
            raise GinghamError(
                f"there is no stage '{stage}'",
                hint=did_you_mean(stage, STAGES) or f"stages are {', '.join(STAGES)}",
            )
        if stage == "parsed":
            return str(self._program.module)
        return str(self._compiler.module_at(stage, self._binding(inputs, named)))

    def memory(self, *inputs: Any, **named: Any) -> MemoryReport:
        """The device memory that a call with inputs of these shapes and types needs."""
        from .memory import memory_report

        return memory_report(self._code(self._binding(inputs, named)).program)

    def explain(self, *inputs: Any, count: int = 10, **named: Any) -> Explanation:
        """What was decided for inputs of these shapes and types, and by which figures.

        Blocks that were put together, for each block to tile the `count` nests that the
        cost model predicts to be fastest, with the parts of their times, and launches
        that were made one. Printed, it is a table; `as_json()` gives the same for
        programs. What `tile-tune` has measured is left out.
        """
        from ..passes.pipelines import run_stages
        from ..passes.stripe.decide.explain import Explainer

        explainer = Explainer(count)
        module = self._lowering.specialized(self._binding(inputs, named))
        options = self._lowering.options
        run_stages(module, make_context(), options, STAGES[1:], explainer.before)
        return explainer.explanation

    def _code(self, binding: Binding) -> PrintedCode:
        """The kernels and the program that launches them, compiled or only printed."""
        runner = self._calls.runner(binding)
        printed = None if runner is None else runner.printed
        return printed or self._compiler.printed(binding)


def _positions(names: Sequence[str], wanted: str | Collection[str | int]) -> list[int]:
    """The positions of inputs by their positions or names."""
    if isinstance(wanted, str):
        wanted = (wanted,)
    for name in wanted:
        if isinstance(name, str) and name not in names:
            raise GinghamError(
                f"the program has no input '{name}' to be constant",
                hint=did_you_mean(name, names)
                or f"its inputs are {', '.join(names) or 'none'}",
            )
    return [n for n, name in enumerate(names) if name in wanted or n in wanted]
