"""`Var` and its kinds: what functions are applied to while they are composed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import GinghamError
from ..frontend.edsl import tensors as edsl
from ..frontend.edsl.graph import Input, Literal
from ..frontend.edsl.operands import tensor_node
from ..frontend.edsl.specials import gradients as edsl_gradients


class Var:
    """A value of a composed program, which is known when the program runs."""

    def __init__(self, symbol: edsl.Tensor) -> None:
        self._symbol = symbol

    @property
    def symbol(self) -> edsl.Tensor:
        """The value as a tensor of `gingham.edsl`."""
        return self._symbol


class Placeholder(Var):
    """A tensor of `dims` axes that becomes an input of the composed function."""

    def __init__(self, dims: int) -> None:
        if dims < 0:
            raise GinghamError(f"the number of axes is negative: {dims}")
        super().__init__(edsl.Tensor.of(Input([None] * dims, None, None)))

    @classmethod
    def of_node(cls, node: Input) -> Placeholder:
        """One of which more is known than the number of axes."""
        placeholder = cls.__new__(cls)
        Var.__init__(placeholder, edsl.Tensor.of(node))
        return placeholder


class Integer(Var):
    """An integer, which may be a size."""

    def __init__(self, value: int) -> None:
        super().__init__(edsl.Tensor.of(Literal(int(value))))
        self.value = int(value)


class Real(Var):
    """A number, which takes the type of what it is combined with."""

    def __init__(self, value: float) -> None:
        super().__init__(edsl.Tensor.of(Literal(float(value))))
        self.value = float(value)


def as_symbol(value: Any) -> edsl.Tensor:
    """A variable, number or array as a tensor of the program."""
    if isinstance(value, Var):
        return value.symbol
    if isinstance(value, bool | int | float) or hasattr(value, "__array__"):
        return edsl.Tensor.of(tensor_node(value))
    raise GinghamError(
        f"expected a tensor, variable or number, got {type(value).__name__}"
    )


def gradients(loss: Var, variables: Sequence[Var] | Var) -> list[Var]:
    """The derivative of the sum of `loss` by each element of each variable.

    A `Var` for each, of the variable's shape. Raises GinghamError for what has no
    derivative when the function is composed or run.
    """
    wanted = [variables] if isinstance(variables, Var) else list(variables)
    if not wanted:
        return []
    found = edsl_gradients(as_symbol(loss), [as_symbol(each) for each in wanted])
    return [Var(symbol) for symbol in found]
