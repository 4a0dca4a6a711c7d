"""`Program`: tensors of the eDSL as a program that can be printed, compiled and run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..dialects import make_context
from ..errors import GinghamError
from .function import Function
from .hardware import target_options
from .lowering import STAGES
from .options import CompileOptions, ProgramKeywords, spelled_out
from .parsed import ModuleProgram

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass

    from ..frontend.edsl.dtypes import TensorShape
    from ..frontend.edsl.graph import Node
    from ..frontend.edsl.tensors import Tensor
    from .device import Device


class ProgramArgument(NamedTuple):
    """An input or output of a program."""

    name: str
    tensor: Tensor

    @property
    def shape(self) -> TensorShape:
        """Its element type and sizes, 0 for those that are not known."""
        return self.tensor.compute_shape()


class Program:
    """The computation of some tensors from others.

    ```python
    program = Program("product", [A, B], [C])
    print(program)  # its IR
    c = program(a, b)
    ```

    `outputs` is one tensor, a list, or a dictionary that names them. Without it the
    second argument has the outputs, and the inputs are all placeholders that they need,
    in the order in which they were made. Raises GinghamError at the line of the Python
    code that is wrong.
    """

    def __init__(self, name: str, inputs: Any, outputs: Any = None) -> None:
        from ..frontend.edsl.emission import build_program, placeholders
        from ..frontend.edsl.locations import here

        location = here()
        if outputs is None:
            inputs, outputs = None, inputs
        wanted = _outputs(outputs)
        if inputs is None:
            given = placeholders([node for _, node in wanted])
        else:
            given = _inputs(inputs)
        built = build_program(given, wanted, location)
        self._start(name, ModuleProgram(built.module), built.constants)
        self._inputs = given
        self._outputs = [node for _, node in wanted]

    def _start(
        self, name: str, parsed: ModuleProgram, constants: Mapping[str, NDArray[Any]]
    ) -> None:
        self.name = name
        self.parsed = parsed
        """Its IR, with what a call has to know of it."""
        self._constants = constants
        self._function: Function | None = None
        self._inputs: Sequence[Node] = ()
        self._outputs: Sequence[Node] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        """It is pickled as its IR, which says where it is from."""
        return Program.of_module, (self.name, self.parsed, self._constants)

    @classmethod
    def of_module(
        cls, name: str, program: ModuleProgram, constants: Mapping[str, NDArray[Any]]
    ) -> Program:
        """The program that some IR is, whose last inputs are the constants."""
        restored = cls.__new__(cls)
        restored._start(name, program, constants)
        return restored

    def __repr__(self) -> str:
        function = self.compile()
        inputs, outputs = ", ".join(function.input_names), function.output_names
        return f"<gingham.Program {self.name} ({inputs}) -> ({', '.join(outputs)})>"

    def __str__(self) -> str:
        """The IR of the program, for tensors of any sizes that are not given."""
        return str(self.parsed.module)

    @property
    def module(self) -> ModuleOp:
        """A copy of the program's `tile` IR."""
        return self.parsed.module.clone()

    @property
    def constants(self) -> Mapping[str, NDArray[Any]]:
        """The arrays that the last inputs of the module stand for, by their names."""
        return self._constants

    @property
    def inputs(self) -> list[ProgramArgument]:
        """The inputs in order, with the names that they have in the program.

        Raises GinghamError for a program that was unpickled: it knows no tensors.
        """
        return _arguments(self.compile().input_names, self._inputs)

    @property
    def outputs(self) -> list[ProgramArgument]:
        """The outputs in order, with the names that they have in the program.

        Raises GinghamError for a program that was unpickled: it knows no tensors.
        """
        return _arguments(self.compile().output_names, self._outputs)

    @property
    def passes(self) -> list[tuple[str, str]]:
        """What the passes of the default device make of it, step by step.

        A pair has the name of a pass and the IR behind it; the first is `specialized`,
        the program for the types of its inputs. Raises GinghamError where these or
        sizes are not known.
        """
        from ..passes.pipelines import run_stages
        from .result_types import zeros_of

        function = self.compile()
        module = function.specialized(
            *(zeros_of(each.tensor.node) for each in self.inputs)
        )
        names, texts = ["specialized"], list[str]()

        def note(module_pass: ModulePass, before: ModuleOp) -> None:
            names.append(module_pass.name)
            texts.append(str(before))

        options = target_options(function.device, None)
        run_stages(module, make_context(), options, STAGES[1:], note)
        return list(zip(names, [*texts, str(module)], strict=True))

    @spelled_out(ProgramKeywords)
    def compile(
        self,
        device: str | Device | None = None,
        **options: Unpack[ProgramKeywords],
    ) -> Function:
        """The program as a function of arrays on a device, as of `gingham.compile`."""
        chosen = CompileOptions(device=device, **options)
        return Function(self.parsed, chosen, [*self._constants.values()])

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """Run it on the default device: see `gingham.Function`."""
        if self._function is None:
            self._function = self.compile()
        return self._function(*inputs, **named)


def _arguments(names: Sequence[str], nodes: Sequence[Node]) -> list[ProgramArgument]:
    from ..frontend.edsl.tensors import Tensor

    if len(nodes) != len(names):
        raise GinghamError(
            "a program that was unpickled knows no tensors",
            hint="compile() tells the names of its inputs and outputs",
        )
    return [*map(ProgramArgument, names, map(Tensor.of, nodes))]


def _inputs(inputs: Any) -> list[Node]:
    nodes: list[Node] = []
    for tensor in [inputs] if _is_tensor(inputs) else inputs:
        node = _tensor(tensor, "an input").node
        if node in nodes:
            raise _error(f"{node.describe()} is an input twice")
        nodes.append(node)
    return nodes


def _outputs(outputs: Any) -> list[tuple[str | None, Node]]:
    if _is_tensor(outputs):
        outputs = [outputs]
    is_named = isinstance(outputs, Mapping)
    named: list[tuple[str | None, Any]] = [
        *(outputs.items() if is_named else ((None, tensor) for tensor in outputs))
    ]
    if not named:
        raise _error("expected an output")
    return [(name, _tensor(tensor, "an output").node) for name, tensor in named]


def _is_tensor(value: object) -> bool:
    from ..frontend.edsl.tensors import Tensor

    return isinstance(value, Tensor)


def _tensor(value: Any, what: str) -> Tensor:
    if not _is_tensor(value):
        raise _error(f"expected {what} to be a tensor, got {type(value).__name__}")
    return value


def _error(message: str) -> GinghamError:
    from ..frontend.edsl.locations import error

    return error(message)
