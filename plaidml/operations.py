"""`Operation`: a Tile function applied to values, and what composing binds them to.

Operations and values are a graph: a value knows the operation that it comes from, its
`source`, and an operation its inputs. An operation is bound, which is to say its text
is applied to variables, when it is made, so that a mistake is an error at that line.
One whose class binds itself, or that needs such a one, is bound when a function is
composed.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import GinghamError
from ..frontend.edsl.dtypes import DType
from ..frontend.edsl.text import apply_text
from ..frontend.tile_text import TileFunction
from .errors import LogicError, check_name
from .losses import TRAINING_CALLS
from .process import is_backtrace_enabled
from .variables import Var, as_symbol

if TYPE_CHECKING:
    from .context import Context
    from .devices import Device
    from .values import Value


class Source(NamedTuple):
    """Where a value comes from: an output of an operation."""

    op: Operation
    output_name: str


class Shape(NamedTuple):
    """What is known of a value: element type, and the size of each axis.

    A size that is known only when the program runs is a `Value`; where the shape of an
    output is said, it may be None. The type is None where it is not known.
    """

    dtype: DType | None
    dims: Sequence[Any]

    @property
    def ndims(self) -> int:
        """The number of axes."""
        return len(self.dims)


class Bindings:
    """The variables that operations are bound to while a function is composed."""

    def __init__(self, ctx: Context | None = None, dev: Device | None = None) -> None:
        self.ctx = ctx
        self.dev = dev
        self._outputs: dict[Operation, Mapping[str, Var]] = {}

    def lookup(self, operation: Operation) -> Mapping[str, Var]:
        """The variables of its outputs. Raises LogicError before it is bound."""
        found = operation.variables or self._outputs.get(operation)
        if found is None:
            raise LogicError(f"{operation.name} is not bound yet")
        return found

    def insert(self, operation: Operation, outputs: Mapping[str, Var]) -> None:
        """Say what the outputs of an operation are."""
        self._outputs[operation] = outputs

    def is_bound(self, operation: Operation) -> bool:
        """Whether the variables of its outputs are known."""
        return operation.variables is not None or operation in self._outputs

    def bind_all(self, values: Iterable[Value]) -> list[tuple[Any, Any]]:
        """Bind all that these values need: the side effects of all that, in order."""
        updates: list[tuple[Any, Any]] = []
        done: set[Operation] = set()
        pending = [value.source.op for value in values if value.source is not None]
        pending.reverse()
        # Graphs are deep: recurrences are unrolled.
        while pending:
            operation = pending[-1]
            missing = (
                [each for each in operation.needed() if each not in done]
                if operation not in done
                else []
            )
            if missing:
                pending += missing
                continue
            pending.pop()
            if operation in done:
                continue
            done.add(operation)
            if not self.is_bound(operation):
                self.insert(operation, operation.bind(self))
            updates += operation.side_effects
        return updates


class Operation:
    """A Tile function applied to values; a class of its own for each sort.

    `inputs` has the name and the value of each input, `outputs` the name of each output
    and the `Shape` that it will have, `side_effects` tensors with what each run writes
    to them. A class may have no code and override `bind`. Raises GinghamError for a
    mistake in the code and for inputs that do not fit it.
    """

    is_lazy = False
    """Whether it is bound only when something needs its outputs."""

    def __init__(
        self,
        code: str | None,
        inputs: Sequence[tuple[str, Any]],
        outputs: Sequence[tuple[str, Shape]],
        name: str | None = None,
        side_effects: Sequence[tuple[Any, Any]] | None = None,
    ) -> None:
        from .values import Value

        self.name = name or type(self).__name__
        self.code = code
        self.side_effects = list(side_effects or ())
        self.backtrace = (
            "".join(traceback.format_stack()[:-1]) if (is_backtrace_enabled()) else None
        )
        self.variables: Mapping[str, Var] | None = None
        self.inputs: dict[str, Value] = {
            each: Value.from_python_value(value) for each, value in inputs
        }
        if code is not None:
            self._check_names([each for each, _ in outputs])
        self.outputs: dict[str, Value] = {
            each: Value.for_op(shape, self, each) for each, shape in outputs
        }
        self.output_tuple = tuple(self.outputs.values())
        if not self.is_lazy:
            self.bind_early()

    def __repr__(self) -> str:
        return f"<gingham.plaidml.tile.Operation {self.name}>"

    @classmethod
    def function(cls, *args: Any, **kwargs: Any) -> Any:
        """Make an operation: its output, of several a tuple."""
        if cls is Operation:
            raise LogicError("function() is for the classes of operations")
        outputs = cls(*args, **kwargs).output_tuple
        return outputs[0] if len(outputs) == 1 else outputs

    def sole_output(self) -> Value:
        """The only output. Raises LogicError where there are several."""
        if len(self.output_tuple) != 1:
            raise LogicError(f"{self.name} has {len(self.output_tuple)} outputs")
        return self.output_tuple[0]

    def bind(self, bindings: Bindings) -> Mapping[str, Var]:
        """The variables of its outputs, by name; those of its inputs are bound."""
        if self.code is None:
            raise NotImplementedError(f"{self.name} has no code and does not bind")
        tile = self._tile()
        values = [self.inputs[each].bind(bindings) for each in tile.input_names]
        results = apply_text(tile, [as_symbol(value) for value in values])
        symbols = dict(zip(tile.output_names, results, strict=True))
        return {each: Var(symbols[each]) for each in self.outputs}

    def bind_early(self) -> None:
        """Bind it now, if it has what that needs."""
        is_own = type(self).bind is not Operation.bind
        if self.variables is not None or is_own or self.code is None:
            return
        if any(value.var is None for value in self.inputs.values()):
            return
        variables = self.bind(Bindings())
        for name, value in self.outputs.items():
            rank = variables[name].symbol.node.rank
            if rank is not None and rank != value.ndims:
                raise GinghamError(
                    f"{self.name}: output '{name}' has {rank} axes, its shape "
                    f"{value.ndims}"
                )
        self.variables = variables

    def needed(self) -> list[Operation]:
        """The operations that it needs, also for its side effects."""
        from .values import Value

        used: list[Any] = [*self.inputs.values()]
        used += [each for pair in self.side_effects for each in pair]
        return [
            each.source.op
            for each in used
            if isinstance(each, Value) and each.source is not None
        ]

    def _check_names(self, outputs: Sequence[str]) -> None:
        tile = self._tile()
        for each in self.inputs:
            check_name("input", each, tile.input_names)
        for each in outputs:
            check_name("output", each, tile.output_names)
        missing = [each for each in tile.input_names if each not in self.inputs]
        if missing:
            raise GinghamError(f"{self.name}: missing input {', '.join(missing)}")

    def _tile(self) -> TileFunction:
        return _parsed(self.code or "", f"<{self.name}>")


@lru_cache(maxsize=4096)
def _parsed(code: str, file: str) -> TileFunction:
    # A network applies few texts many times.
    return TileFunction(code, file, TRAINING_CALLS)
