"""The table of operators: what each of ATen's means on tensors of the eDSL.

A row is a function that is called as the operator is, behind the `Call` that says what
its results are. Modules fill the table when they are imported: see `table`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from ..edsl.dtypes import DType
from ..edsl.tensors import Tensor, cast


@dataclass(frozen=True)
class Result:
    """What PyTorch says of a result: its element type, by NumPy's name, and sizes."""

    dtype: str
    sizes: tuple[int, ...]

    @property
    def is_float(self) -> bool:
        """Whether its elements are floats."""
        return "float" in self.dtype


@dataclass(frozen=True)
class Call:
    """One use of an operator."""

    operator: str
    """Such as `aten.add.Tensor`."""
    results: tuple[Result | None, ...]
    """What it gives; None for what is no tensor, or used by nobody."""

    @property
    def result(self) -> Result:
        """The first result."""
        first = self.results[0]
        if first is None:
            raise NotLowered("a result that is no tensor")
        return first

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of the first result."""
        return self.result.sizes

    @property
    def dtype(self) -> str:
        """The element type of the first result."""
        return self.result.dtype

    def converted(self, *operands: Any) -> list[Any]:
        """The operands, with tensors converted to the type of the result."""
        return [as_type(operand, self.dtype) for operand in operands]


class NotLowered(Exception):
    """A use of an operator that its row does not cover; the text says which."""


Row: TypeAlias = Callable[..., Any]
"""From a call and the operator's arguments to a tensor, or a tuple for several."""

_AnyRow = TypeVar("_AnyRow", bound=Row)

_rows: dict[str, Row] = {}


def row(*operators: str) -> Callable[[_AnyRow], _AnyRow]:
    """Have a function be the row of some operators, such as `aten.mm.default`."""

    def decorate(function: _AnyRow) -> _AnyRow:
        for operator in operators:
            if operator in _rows:
                raise ValueError(f"{operator} has two rows")
            _rows[operator] = function
        return function

    return decorate


def rows() -> Mapping[str, Row]:
    """All rows of the modules that have been imported, by operator."""
    return _rows


def as_type(operand: Any, dtype: str) -> Any:
    """A tensor converted to a type; numbers of Python as they are, which take one."""
    if not isinstance(operand, Tensor) or type_of(operand) == dtype:
        return operand
    return cast(operand, dtype)


def type_of(tensor: Tensor) -> str:
    """The element type of a tensor, by NumPy's name."""
    return tensor.dtype.value


def sizes_of(tensor: Tensor) -> list[int]:
    """The sizes of a tensor, all of which are known."""
    return [int(size or 0) for size in tensor.known_sizes]


def axes_of(rank: int, axes: int | Sequence[int] | None) -> list[int]:
    """Axes counted from 0, in order; None and an empty list stand for all."""
    if axes is None or (isinstance(axes, Sequence) and not axes):
        return list(range(rank))
    several = [axes] if isinstance(axes, int) else axes
    return sorted(axis % rank if rank else 0 for axis in several)


_NAMES = frozenset(each.value for each in DType)


def dtype_named(dtype: Any) -> str:
    """NumPy's name of a `torch.dtype`. Raises NotLowered for one that tensors lack."""
    name = str(dtype).removeprefix("torch.")
    if name not in _NAMES:
        raise NotLowered(f"elements of type {name}")
    return name
