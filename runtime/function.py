"""`Function`: a Tile program as a function of arrays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from .. import observation
from ..dialects import make_context
from ..errors import GinghamError
from ..observation import note, now
from ..once import Once
from ..progress import working
from ..suggestions import did_you_mean
from .arguments import AnyArray, Binding, bind, binding_of
from .arrays.array import has_arrays
from .arrays.starter import Starter, check_devices
from .cache.in_memory import programs
from .cache.parsed import ModuleProgram, ParsedProgram
from .cache.programs import KeptPrograms
from .device import Device
from .devices import chosen_device
from .hardware import chosen_hardware
from .interpreted import InterpretedRunner
from .lowering import STAGES, Lowering
from .outputs import output_arrays
from .profiling.starting import follow_debug_setting, measured, required_profile
from .runner import KeptRunner, Runner
from .settings import setting
from .shortcuts import Shortcuts

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from xdsl.dialects.builtin import ModuleOp

    from ..passes.stripe.decide.explain import Explanation
    from ..targets.hardware import Hardware
    from ..targets.opencl.compiled import CompiledCode, PrintedCode
    from ..targets.opencl.devices.device import OpenCLDevice
    from ..targets.opencl.executor import OpenCLExecutable
    from .memory import MemoryReport
    from .profiling.profile import Profile

# What the interpreter keeps of a program: a module.
_INTERPRETED_BYTES = 400 << 10


class Function:
    """A Tile program as a function of arrays.

    It is parsed once, and compiled once for each combination of shapes and element
    types that it is called with. May be called from several threads.
    """

    def __init__(
        self,
        program: ModuleOp | ParsedProgram,
        device: Device | None,
        text: str | None,
        constants: Mapping[str, NDArray[Any]] | None = None,
        hardware: str | Hardware | None = None,
        constant_inputs: Collection[str | int] = (),
        tuned: bool = True,
        fast_math: bool = False,
        check: bool | None = None,
    ) -> None:
        """`text` is the source, None for Python; `constants` are the last inputs."""
        self.own_profile: Profile | None = None
        """What its calls cost, where that is measured: see `measured`."""
        follow_debug_setting()
        self._program = (
            program if isinstance(program, ParsedProgram) else ModuleProgram(program)
        )
        self._hardware = chosen_hardware(hardware)
        self._tuned = tuned
        self._fast_math = fast_math
        self._check = check
        self._chosen_device = device
        self._text = text
        self._once = Once[Binding]()
        self._compiled: dict[Binding, KeptRunner] = {}
        self._starters: dict[Binding, Starter] = {}
        self._shortcuts = Shortcuts["Runner | Starter"]()
        self._constants = tuple((constants or {}).values())
        names = [*self._program.outline.inputs]
        self.output_names = [*self._program.outline.outputs]
        self.input_names = names[: len(names) - len(self._constants)]
        self._constant_positions = [
            *_positions(self.input_names, constant_inputs),
            *range(len(self.input_names), len(names)),
        ]
        self._lowering = Lowering(
            self._program,
            device,
            self._hardware,
            tuned,
            fast_math,
            self._constant_positions,
        )

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
        count = len(self.input_names)
        arguments = (
            self._program,
            None if self._chosen_device is None else self._chosen_device.name,
            self._text,
            {str(number): array for number, array in enumerate(self._constants)},
            self._hardware,
            [position for position in self._constant_positions if position < count],
            self._tuned,
            self._fast_math,
            self._check,
        )
        return _restored, (arguments, self.own_profile is not None)

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
        runner = None if named else self._shortcuts.get(inputs)
        if runner is None:
            arrays = bind(self.input_names, inputs, named)
            results = self.run(arrays, out)
            self._remember(inputs, arrays)
        elif out is not None and not isinstance(runner, Starter) and has_arrays(out):
            results = self.run(inputs, out)
        else:
            results = self._run(runner, inputs + self._constants, out)
        return results[0] if len(results) == 1 else tuple(results)

    def _in_order(
        self, inputs: tuple[Any, ...], named: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """All inputs by position, where that is a matter of order only."""
        missing = self.input_names[len(inputs) :]
        if len(missing) == len(named) and all(name in named for name in missing):
            return inputs + tuple([named[name] for name in missing]), {}
        return inputs, named

    def run(self, arrays: Sequence[AnyArray], out: Any = None) -> list[Any]:
        """The outputs for inputs that are arrays already, in order."""
        observer = observation.observer
        if observer is not None and not observer.is_calling(self):
            return observer.call(self, lambda: self.run(arrays, out))
        arrays = [*arrays, *self._constants]
        binding = binding_of(arrays, self._sizes)
        if has_arrays(arrays) or has_arrays(out):
            check_devices(self.input_names, arrays, self.device)
            return self._run(self._starter(binding), arrays, out)
        return self._run(self._runner(binding), arrays, out)

    def prepare(self, arrays: Sequence[AnyArray]) -> None:
        """Compile it for arrays of these shapes and types, if it is not yet."""
        self._runner(binding_of([*arrays, *self._constants], self._sizes))

    def _run(
        self, runner: Runner | Starter, arrays: Sequence[Any], out: Any
    ) -> list[Any]:
        try:
            if out is None:
                return runner.run(arrays)
            if isinstance(runner, Starter):
                return runner.run(arrays, out)
            names, types = self.output_names, runner.output_types
            return runner.run(arrays, output_arrays(names, types, out, arrays))
        except GinghamError as error:
            # A context manager here would take as long as looking up what to run.
            self._show_line(error)
            raise

    def _starter(self, binding: Binding) -> Starter:
        """What is compiled, for arrays of its device."""
        runner = self._runner(binding)
        starter = self._starters.get(binding)
        if starter is None:
            starter = Starter(
                runner,
                self.device,
                self.output_names,
                len(self.input_names),
                self._constant_positions,
                self._show_line,
            )
            starter = self._starters.setdefault(binding, starter)
        return starter

    def _remember(self, inputs: Sequence[Any], arrays: Sequence[AnyArray]) -> None:
        """Let the next call with such arrays go straight to what is compiled."""
        if self._sizes:
            return
        binding = binding_of([*arrays, *self._constants], ())
        if has_arrays(arrays):
            self._shortcuts.remember(inputs, arrays, self._starter(binding))
        else:
            self._shortcuts.remember(inputs, arrays, self._runner(binding))

    def refresh(self) -> None:
        """Read constant inputs anew at the next call, as their contents have changed.

        What depends on constant inputs only is computed once and kept for the same
        arrays (the same memory: contents are not compared), as long as they exist.
        """
        for runner in [*self._compiled.values(), *self._starters.values()]:
            runner.refresh()

    def _binding(self, inputs: Sequence[Any], named: Mapping[str, Any]) -> Binding:
        arrays = bind(self.input_names, inputs, named)
        return binding_of([*arrays, *self._constants], self._sizes)

    @property
    def profile(self) -> Profile:
        """What calls have cost so far, of a function compiled with `profile=True`."""
        return required_profile(self.own_profile)

    @property
    def hardware(self) -> Hardware | None:
        """The description that it is compiled by, where one was asked for."""
        return self._hardware

    def specialized(self, *inputs: Any, **named: Any) -> ModuleOp:
        """The program for inputs of these shapes and types, before any other pass."""
        return self._specialized(self._binding(inputs, named))

    def source(self, *inputs: Any, **named: Any) -> str:
        """The OpenCL C of the kernels for inputs of these shapes and types."""
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
        return str(self._module_at(stage, self._binding(inputs, named)))

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
        module = self._specialized(self._binding(inputs, named))
        options = self._lowering.options
        run_stages(module, make_context(), options, STAGES[1:], explainer.before)
        return explainer.explanation

    def _module_at(self, stage: str, binding: Binding) -> ModuleOp:
        with self._showing_lines(), self._working(binding):
            return self._lowering.at(stage, binding)

    def _code(self, binding: Binding) -> OpenCLExecutable | PrintedCode:
        """The kernels and the program that launches them, compiled or only printed."""
        from ..targets.opencl.executor import OpenCLExecutable

        runner = self._compiled.get(binding)
        if isinstance(runner, OpenCLExecutable):
            return runner
        with self._showing_lines(), self._working(binding):
            return self._lowering.printed(binding)

    @property
    def _sizes(self) -> frozenset[int]:
        """The positions of the inputs that the program uses as sizes."""
        return self._program.outline.sizes

    def _specialized(self, binding: Binding) -> ModuleOp:
        """The program for inputs of these types."""
        return self._lowering.specialized(binding)

    @contextmanager
    def _showing_lines(self) -> Generator[None]:
        """Let errors show the lines of the program that they point at."""
        try:
            yield
        except GinghamError as error:
            self._show_line(error)
            raise

    def _show_line(self, error: GinghamError) -> None:
        """Give the error the text of the program, to show the line it points at."""
        if error.location is None or error.location.text is not None:
            return
        if self._text is None:
            from ..frontend.edsl.locations import with_text

            error.location = with_text(error.location)
        else:
            error.location = replace(error.location, text=self._text)

    def _runner(self, binding: Binding) -> KeptRunner:
        runner = self._compiled.get(binding)
        if runner is not None:
            return runner
        # Other shapes are compiled side by side.
        with self._once.making(binding), self._showing_lines():
            runner = self._compiled.get(binding)
            if runner is None:
                with self._working(binding):
                    runner = self._compile(binding)
        return runner

    def _working(self, binding: Binding) -> AbstractContextManager[object]:
        """What a terminal shows while the program is compiled."""
        return working(f"Compiling {self._program.title(binding)}")

    def _compile(self, binding: Binding) -> KeptRunner:
        """What runs the program, which is kept as long as there is room for it."""
        if self.device.is_reference:
            runner, key, size = self._interpreted(binding), object(), _INTERPRETED_BYTES
            code = None
        else:
            runner, code, key = self._executable(binding)
            size = code.size_in_bytes
        self._compiled[binding] = runner
        programs.keep(key, size, code, runner, self._forget)
        return runner

    def _forget(self, runner: KeptRunner) -> None:
        """Let go of what is compiled; it is compiled again when it is called."""
        self._shortcuts.forget(
            lambda known: (
                (known.runner if isinstance(known, Starter) else known) is runner
            )
        )
        for binding, each in [*self._compiled.items()]:
            if each is runner:
                self._compiled.pop(binding, None)
                self._starters.pop(binding, None)

    def _executable(
        self, binding: Binding
    ) -> tuple[OpenCLExecutable, CompiledCode, Hashable]:
        """What runs the program on an OpenCL device, its code, and the key of that."""
        start = now()
        from ..targets.opencl.compiled import build_code
        from ..targets.opencl.devices.device import OpenCLDevice
        from ..targets.opencl.executor import OpenCLExecutable
        from ..targets.opencl.program import build_options

        device = self.device
        if not isinstance(device, OpenCLDevice):
            raise GinghamError(f"device '{device.name}' cannot run programs")
        words = build_options(device, fast_math=self._fast_math)
        kept = KeptPrograms(device, words)
        key = kept.key(*self._lowering.key(binding))
        title = f"{self._program.title(binding)} on {device.name}"
        observer = observation.observer
        skips = observer is not None and observer.wants_passes
        code = None if skips else kept.load(key)
        note("compile", "look up", start)
        if code is None:
            # It imports the compiler, which who finds code needs not.
            from .early_helpers import start_helpers

            printed = self._lowering.printed(binding, partial(start_helpers, device))
            code = build_code(printed, device, words)
            start = now()
            kept.save(key, code, title)
            note("compile", "store", start)
        if observer is not None:
            observer.source(code.source)
        check: bool = setting("check") if self._check is None else self._check
        if code.is_checked or not check:
            runner = OpenCLExecutable(code, device)
        else:
            runner = self._checked(
                code, device, binding, lambda c: kept.save(key, c, title)
            )
        return runner, code, (device, key)

    def _checked(
        self,
        code: CompiledCode,
        device: OpenCLDevice,
        binding: Binding,
        keep: Callable[[CompiledCode], None],
    ) -> OpenCLExecutable:
        """The program, whose first results are compared with what they should be."""
        from .checking import CheckedExecutable, Subject

        subject = Subject(
            self._program.title(binding),
            self.output_names,
            self._fast_math,
            lambda: self._module_at("tile", binding),
            lambda: self._module_at("opencl", binding),
            keep,
        )
        return CheckedExecutable(code, device, subject)

    def _interpreted(self, binding: Binding) -> KeptRunner:
        from ..passes.tile.differentiate import expand_gradients

        return InterpretedRunner(expand_gradients(self._specialized(binding)))


def _restored(arguments: tuple[Any, ...], is_measured: bool) -> Function:
    """The function that was pickled, on the device of that name here."""
    program, device, *rest = arguments
    function = Function(program, chosen_device(device), *rest)
    return measured(function) if is_measured else function


def _positions(names: Sequence[str], wanted: Collection[str | int]) -> list[int]:
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
