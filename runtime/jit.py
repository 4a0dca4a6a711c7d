"""`gingham.jit`: a Python function of tensors as a function of arrays.

The function is called with tensors of the eDSL, and what it returns is compiled. It is
called once for each signature: the ranks and element types of the arrays, and the
values of static arguments. Other sizes need no new call, unless the function looked at
a size as a number; then it is called for each combination of sizes.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from ..errors import GinghamError
from ..suggestions import did_you_mean
from .arguments import (
    AnyArray,
    Signature,
    as_any_array,
    dtype_name,
    signature_of,
    tensor_types,
)
from .device import Device
from .devices import chosen_device
from .function import Function
from .options import AnyKeywords, CompileOptions, spelled_out
from .parsed import ModuleProgram
from .profiling.starting import measured, new_profile, required_profile
from .pytrees import Branch, Leaf, Structure, flatten, is_setting, leaves_of, unflatten
from .pytrees import static as static_value
from .result_types import result_type
from .shortcuts import Shortcuts

if TYPE_CHECKING:
    from typing_extensions import Unpack
    from xdsl.dialects.builtin import TensorType
    from xdsl.ir import Attribute

    from ..frontend.edsl.graph import Input, Node
    from .profiling.profile import Profile

_EDSL = __name__.replace("runtime.jit", "frontend.edsl")

_MOST_TRACES = 256
"""Traces that are kept; each is compiled for all shapes it was called with."""

_Key: TypeAlias = tuple[Structure, tuple[tuple[int, str], ...]]
"""The structure of the arguments, and rank and element type of each array."""


@overload
def jit(function: Callable[..., Any]) -> JitFunction: ...


@overload
def jit(
    function: None = None,
    *,
    static: str | Iterable[str] = (),
    device: str | Device | None = None,
    **options: Unpack[AnyKeywords],
) -> Callable[[Callable[..., Any]], JitFunction]: ...


@spelled_out(AnyKeywords)
def jit(
    function: Callable[..., Any] | None = None,
    *,
    static: str | Iterable[str] = (),
    device: str | Device | None = None,
    **options: Unpack[AnyKeywords],
) -> JitFunction | Callable[[Callable[..., Any]], JitFunction]:
    """A function of arrays from a function of tensors, as decorator or call.

    ```python
    @gingham.jit
    def sum_over_axis(I):
        M, N = I.shape
        m, n = TensorIndexes(2)
        O = TensorOutput(N)
        O[n] += I[m, n]
        return O
    ```

    Arguments and results are arrays, or tuples, lists and dictionaries of them.
    `static` names parameters whose values the function is called with as they are;
    truth values, text, None, enumerations and functions always are. Numbers are 0-D
    tensors, f32 or si32. `fast_math` and `check` are as of `gingham.compile`, and so is
    `constants`, which names parameters; with `profile` calls are measured:
    `JitFunction.profile`.
    """
    names = (static,) if isinstance(static, str) else tuple(static)
    chosen = CompileOptions(device=device, **options)
    if function is not None:
        return JitFunction(function, names, chosen)
    return lambda decorated: JitFunction(decorated, names, chosen)


@dataclass(frozen=True)
class _Traced:
    """What one call of the function came to; `looked_at_sizes` binds it to sizes."""

    function: Function
    results: Structure
    looked_at_sizes: bool


class JitFunction:
    """A Python function that is compiled when it is called: see `jit`."""

    def __init__(
        self,
        function: Callable[..., Any],
        static: Sequence[str],
        options: CompileOptions,
    ) -> None:
        """The `constants` of the options are parameters here, not inputs."""
        self._python = function
        self._signature = inspect.signature(function)
        given = options.constants
        constants = (given,) if isinstance(given, str) else tuple(map(str, given))
        self._options = replace(options, constants=constants)
        self._profile = new_profile() if options.profile else None
        for name in [*static, *constants]:
            if name not in self._signature.parameters:
                known = self._signature.parameters
                raise GinghamError(
                    f"'{_name(function)}' has no parameter '{name}'",
                    hint=did_you_mean(name, known)
                    or f"it has {', '.join(known) or 'none'}",
                )
        self._static = frozenset(static)
        self._constant = frozenset(constants)
        self._lock = RLock()
        self._traced: OrderedDict[tuple[_Key, object], _Traced] = OrderedDict()
        self._trace_count = 0
        self._shortcuts = Shortcuts[_Traced]()
        parameters = self._signature.parameters
        self._takes_out = "out" in parameters or any(
            each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values()
        )
        functools.update_wrapper(self, function)

    def __repr__(self) -> str:
        return f"<gingham.jit of {_name(self._python)}>"

    def __reduce__(self) -> str | tuple[Any, ...]:
        """It is pickled by its name, as functions are, or as the function it is of."""
        found: Any = sys.modules.get(self._python.__module__)
        for part in self._python.__qualname__.split("."):
            found = getattr(found, part, None)
        if found is self:
            return self._python.__qualname__
        options = self._options
        device = chosen_device(options.device)
        named = replace(options, device=None if device is None else device.name)
        return JitFunction, (self._python, sorted(self._static), named)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        # As a method, where `self` has to be static.
        return self if instance is None else functools.partial(self, instance)

    @property
    def trace_count(self) -> int:
        """How often the function has been called to find out what it computes."""
        return self._trace_count

    def __call__(self, *arguments: Any, out: Any = None, **named: Any) -> Any:
        """Compute the function of arrays; of tensors it is called as it is.

        `out` has arrays for the results, in the structure of what the function returns:
        see `gingham.Function`; it is an argument of a function that has one called so.

        Raises GinghamError for arguments that no tensor can hold, and for what the
        function does that no program can.
        """
        traced = None if named else self._shortcuts.get(arguments)
        if traced is not None and (out is None or not self._takes_out):
            return self._run(traced, arguments, out)
        if out is not None and self._takes_out:
            named, out = {**named, "out": out}, None
        structure, leaves = self._flatten(arguments, named)
        if _has_tensors(leaves):
            if out is not None:
                raise GinghamError("'out' is for arrays; here are tensors of a program")
            return self._python(*arguments, **named)
        arrays = [as_any_array(name, value) for name, value in leaves]
        traced = self._trace_for(structure, leaves, arrays)
        results = self._run(traced, arrays, out)
        if not named and not _integers(arrays):
            self._shortcuts.remember(arguments, arrays, traced)
        return results

    def _run(self, traced: _Traced, arrays: Sequence[AnyArray], out: Any) -> Any:
        if isinstance(traced.results, Leaf):
            return traced.function(*arrays, out=out)
        targets = None if out is None else leaves_of(traced.results, out, "out")
        results = traced.function.run(arrays, targets)
        return unflatten(traced.results, iter(results))

    @property
    def profile(self) -> Profile:
        """What calls have cost so far, of a function made with `profile=True`."""
        return required_profile(self._profile)

    def refresh(self) -> None:
        """Read constant arrays anew at the next call: see `Function.refresh`."""
        with self._lock:
            for traced in self._traced.values():
                traced.function.refresh()

    def ir(self, *arguments: Any, stage: str = "tile", **named: Any) -> str:
        """The IR for such arguments at a stage: see `gingham.Function.ir`."""
        function, arrays = self._compiled(arguments, named)
        return function.ir(*arrays, stage=stage)

    def source(self, *arguments: Any, **named: Any) -> str:
        """The text of the kernels for such arguments: see `gingham.Function.source`."""
        function, arrays = self._compiled(arguments, named)
        return function.source(*arrays)

    def _compiled(
        self, arguments: Sequence[Any], named: dict[str, Any]
    ) -> tuple[Function, list[AnyArray]]:
        structure, leaves = self._flatten(arguments, named)
        arrays = [as_any_array(name, value) for name, value in leaves]
        return self._trace_for(structure, leaves, arrays).function, arrays

    # Arguments

    def _flatten(
        self, arguments: Sequence[Any], named: dict[str, Any]
    ) -> tuple[Branch, list[tuple[str, Any]]]:
        """The structure of the arguments, and the leaves with names."""
        bound = self._signature.bind(*arguments, **named)
        bound.apply_defaults()
        leaves: list[tuple[str, Any]] = []
        children = [
            static_value(value, name)
            if name in self._static
            else flatten(value, name, leaves, is_setting)
            for name, value in bound.arguments.items()
        ]
        return Branch(dict, tuple(children), tuple(bound.arguments)), leaves

    def _constant_leaves(self, structure: Branch) -> list[int]:
        """The positions of the leaves that belong to constant parameters."""
        owners = [
            name
            for name, child in zip(
                structure.keys or (), structure.children, strict=True
            )
            for _ in leaves_of(child, None, name)
        ]
        return [n for n, name in enumerate(owners) if name in self._constant]

    # Traces

    def _trace_for(
        self,
        structure: Branch,
        leaves: Sequence[tuple[str, Any]],
        arrays: Sequence[AnyArray],
    ) -> _Traced:
        signature, numbers = signature_of(arrays), _integers(arrays)
        key = (
            structure,
            tuple((array.ndim, dtype_name(array.dtype)) for array in arrays),
        )
        with self._lock:
            exact = signature, tuple(numbers.items())
            place = (key, None) if (key, None) in self._traced else (key, exact)
            known = self._traced.get(place)
            if known is None:
                names = [name for name, _ in leaves]
                known = self._trace(structure, names, signature, numbers)
                place = key, exact if known.looked_at_sizes else None
                self._traced[place] = known
                self._trace_count += 1
            self._traced.move_to_end(place)
            if len(self._traced) > _MOST_TRACES:
                _, gone = self._traced.popitem(last=False)
                self._shortcuts.forget(lambda each: each is gone)
            return known

    def _trace(
        self,
        structure: Branch,
        names: Sequence[str],
        signature: Signature,
        numbers: Mapping[int, int],
    ) -> _Traced:
        from ..frontend.edsl.emission import build_program
        from ..frontend.edsl.graph import Trace
        from ..frontend.edsl.locations import of_function
        from ..frontend.edsl.tensors import Tensor

        location = of_function(self._python)
        types = tensor_types(signature)
        known = _Known(types, numbers)
        trace = Trace(
            _name(self._python), known.sizes_of, known.element_of, known.number_of
        )
        known.inputs = [
            trace.input(name, len(shape), location)
            for name, (shape, *_) in zip(names, signature, strict=True)
        ]
        tensors = [Tensor.of(node) for node in known.inputs]
        arguments = self._call_arguments(unflatten(structure, iter(tensors)))
        try:
            results = self._python(*arguments.args, **arguments.kwargs)
            outputs, shape = self._outputs(results)
            built = build_program(known.inputs, outputs, location)
        finally:
            trace.is_finished = True
        constants = self._constant_leaves(structure)
        function = Function(
            ModuleProgram(built.module),
            replace(self._options, constants=constants, profile=False),
            [*built.constants.values()],
        )
        if self._profile is not None:
            measured(function, self._profile)
        return _Traced(function, shape, trace.looked_at_sizes)

    def _call_arguments(self, values: dict[str, Any]) -> inspect.BoundArguments:
        return inspect.BoundArguments(self._signature, OrderedDict(values))

    def _outputs(self, results: Any) -> tuple[list[tuple[str | None, Node]], Structure]:
        from ..frontend.edsl.operands import tensor_node
        from ..frontend.edsl.tensors import Tensor

        leaves: list[tuple[str, Any]] = []
        structure = flatten(results, "O", leaves, _is_none)
        if not leaves:
            raise GinghamError(
                f"'{_name(self._python)}' returns no tensor",
                hint="return what it computes",
            )
        outputs: list[tuple[str | None, Node]] = []
        for name, value in leaves:
            node = tensor_node(value)
            is_named = isinstance(value, Tensor) and node.name
            outputs.append((None if is_named else name, node))
        return outputs, structure


class _Known:
    """What is known of the tensors of a trace, for the arguments of its call."""

    def __init__(
        self, types: Sequence[TensorType[Attribute]], numbers: Mapping[int, int]
    ) -> None:
        self.inputs: list[Input] = []
        self._types = types
        self._numbers = numbers
        self._found: dict[Node, TensorType[Attribute]] = {}

    def sizes_of(self, node: Node) -> tuple[int, ...]:
        """The sizes of a tensor."""
        return self._type(node).get_shape()

    def element_of(self, node: Node) -> Attribute:
        """The element type of a tensor."""
        return self._type(node).element_type

    def number_of(self, node: Node) -> int:
        """The value of an input that is an integer."""
        for position, known in enumerate(self.inputs):
            if known is node and position in self._numbers:
                return self._numbers[position]
        raise GinghamError(f"{node.describe()} is used as a size, and is no integer")

    def _type(self, node: Node) -> TensorType[Attribute]:
        if not self._found:
            self._found.update(zip(self.inputs, self._types, strict=True))
        if node not in self._found:
            self._found[node] = result_type(
                self.inputs, self._types, node, self._found, self._numbers
            )
        return self._found[node]


def _integers(arrays: Sequence[AnyArray]) -> dict[int, int]:
    """The values of the arguments that may be sizes, by position."""
    return {
        position: int(array)
        for position, array in enumerate(arrays)
        if array.ndim == 0 and array.dtype.kind in "iu"
    }


def _has_tensors(leaves: Sequence[tuple[str, Any]]) -> bool:
    """Whether the function is called by one that is being traced."""
    # Where there are tensors, the eDSL is imported; arrays do not need it.
    if not any(type(value).__module__.startswith(_EDSL) for _, value in leaves):
        return False
    from ..frontend.edsl.tensors import Tensor, TensorDim

    return any(isinstance(value, Tensor | TensorDim) for _, value in leaves)


def _is_none(value: object) -> bool:
    return value is None


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)
