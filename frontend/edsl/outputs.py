"""`TensorOutput`: tensors that a contraction writes, and the `Contraction` builder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dialects.aggregation import Aggregation
from .accesses import Aggregated, Combined, combined
from .contraction import Contract, Statement
from .dims import size_node
from .graph import Node
from .indices import Constraint, IndexExpression, index_expression
from .lens import TensorLens
from .locations import assigned_name, error, here
from .operands import flattened, tensor_node
from .tensors import Tensor


class TensorOutput(Tensor):
    """A tensor of these sizes that one contraction writes.

    ```python
    O = TensorOutput(M, N)
    O[i, j] += A[i, k] * B[k, j]
    ```

    Cells that no point writes are 0, or those of `use_default`. `TensorOutput()` has no
    axes, or, written as `O[j] += I[i, j]`, those that its indices have in the operands.
    """

    def __init__(self, *dims: Any, name: str | None = None) -> None:
        self._node = None
        self._lens = None
        self._given_name = assigned_name() if name is None else name
        self._sizes = tuple(
            size_node(dim, f"size {number} of the output")
            for number, dim in enumerate(flattened(dims))
        )
        self._constraints: list[Constraint] = []
        self._default: Node | None = None
        self._no_defract = False

    @property
    def node(self) -> Node:
        """Its node in the graph; GinghamError without a contraction."""
        if self._node is None:
            raise error(
                f"{self._describe()} has no value yet",
                "write it with a contraction: O[i, j] += A[i, k] * B[k, j]",
            )
        return self._node

    @property
    def name(self) -> str | None:
        """What the program calls it; None if it does not."""
        return self._given_name

    def use(self, lens: TensorLens) -> Tensor:
        """The output with its axes in the order of the lens's target.

        Before it is written, its sizes and subscripts are said in that order.
        """
        if self._node is not None:
            return super().use(lens)
        self._sizes = tuple(lens.apply(self._sizes))
        self._lens = lens
        return self

    def write(self, indices: Sequence[IndexExpression], value: Aggregated) -> None:
        """Make a contraction its value; it takes one."""
        if self._node is not None:
            raise error(
                f"{self._describe()} is written twice",
                f"it has its contraction at {self._node.location}; make a new "
                "TensorOutput",
            )
        if indices and not self._sizes:
            self._sizes = _inferred_sizes(indices, value.value)
        if len(indices) != len(self._sizes):
            axes = "1 axis" if len(self._sizes) == 1 else f"{len(self._sizes)} axes"
            raise error(
                f"{self._describe()} has {axes}, got {len(indices)} "
                f"{'index' if len(indices) == 1 else 'indices'}",
                "TensorOutput says a size for each index",
            )
        statement = Statement(
            value.aggregation,
            value.value.combination,
            tuple(indices),
            self._sizes,
            tuple(access.subscripted() for access in value.value.accesses),
            here(),
            self._given_name,
            tuple(self._constraints),
            self._default,
            self._no_defract,
        )
        self._node = Contract(statement)

    # More about the contraction, before or behind it.

    def add_constraint(self, constraint: Constraint) -> TensorOutput:
        """Only points with `0 <= expression < bound` take part: `j < 2`."""
        return self.add_constraints([constraint])

    def add_constraints(self, constraints: Sequence[Constraint]) -> TensorOutput:
        """Only points for which all of these hold take part."""
        for constraint in constraints:
            _check_constraint(constraint)
        self._constraints += constraints
        self._change(constraints=tuple(self._constraints))
        return self

    def use_default(self, default: Any) -> TensorOutput:
        """Cells that no point writes are those of this tensor, of the same shape."""
        if self._default is not None:
            raise error(f"{self._describe()} has a default already")
        self._default = tensor_node(default)
        self._change(default=self._default)
        return self

    init = use_default

    def no_reduce(self) -> TensorOutput:
        """Accepted for programs of PlaidML; it has no effect."""
        self._no_defract = True
        self._change(no_defract=True)
        return self

    no_defract = no_reduce

    def _change(self, **changes: Any) -> None:
        if self._node is None:
            return
        if not isinstance(self._node, Contract) or self._node.is_used:
            raise error(
                f"{self._describe()} is used already, and cannot change any more",
                "say all about a contraction before its result is used",
            )
        self._node = self._node.changed(**changes)

    def _describe(self) -> str:
        return f"'{self._given_name}'" if self._given_name else "the output"


def _inferred_sizes(
    indices: Sequence[IndexExpression], value: Combined
) -> tuple[Node, ...]:
    """The sizes of the axes that these indices have in the operands.

    Nothing where one of them has no axis of its own there.
    """
    sizes: dict[IndexExpression, Node] = {}
    for access in value.accesses:
        dims = Tensor.of(access.tensor.node).shape
        for index, dim in zip(access.indices, dims, strict=True):
            sizes.setdefault(index, dim.node)
    found = [sizes[index] for index in indices if index in sizes]
    return tuple(found) if len(found) == len(indices) else ()


def NamedTensorOutput(name: str, *dims: Any) -> TensorOutput:
    """An output with a name that is given, not inferred."""
    return TensorOutput(*dims, name=name)


class Contraction:
    """A contraction, said part by part.

    ```python
    C = (
        Contraction()
        .outShape(M, N)
        .outAccess(i, j)
        .sum(A[i, k] * B[k, j])
        .build()
    )
    ```

    Without shape and access the result has no axes. A lens changes the order of axes in
    which they are said.
    """

    def __init__(self, lens: TensorLens | None = None, name: str | None = None) -> None:
        self._lens = lens
        self._name = name
        self._dims: list[Any] | None = None
        self._indices: list[IndexExpression] | None = None
        self._value: Aggregated | None = None
        self._default: Any = None
        self._constraints: list[Constraint] = []
        self._no_reduce = False

    def outShape(self, *dims: Any) -> Contraction:
        """The sizes of the result."""
        self._dims = flattened(dims)
        return self

    def outAccess(self, *indices: Any) -> Contraction:
        """The cell of the result that a point writes."""
        self._indices = [index_expression(index) for index in flattened(indices)]
        return self

    def sum(self, value: Any) -> Contraction:
        """Cells are the sum of their points."""
        return self._aggregate(Aggregation.ADD, value)

    def product(self, value: Any) -> Contraction:
        """Cells are the product of their points."""
        return self._aggregate(Aggregation.MUL, value)

    def max(self, value: Any) -> Contraction:
        """Cells are the largest of their points."""
        return self._aggregate(Aggregation.MAX, value)

    def min(self, value: Any) -> Contraction:
        """Cells are the smallest of their points."""
        return self._aggregate(Aggregation.MIN, value)

    def assign(self, value: Any) -> Contraction:
        """Cells have one point."""
        return self._aggregate(Aggregation.ASSIGN, value)

    def init(self, default: Any) -> Contraction:
        """Cells without a point are those of this tensor, of the same shape."""
        self._default = default
        return self

    def add_constraint(self, constraint: Constraint) -> Contraction:
        """Only points with `0 <= expression < bound` take part: `j < 2`."""
        return self.add_constraints([constraint])

    def add_constraints(self, constraints: Sequence[Constraint]) -> Contraction:
        """Only points for which all of these hold take part."""
        for constraint in constraints:
            _check_constraint(constraint)
        self._constraints += constraints
        return self

    def no_reduce(self) -> Contraction:
        """Accepted for programs of PlaidML; it has no effect."""
        self._no_reduce = True
        return self

    no_defract = no_reduce

    def build(self) -> Tensor:
        """The tensor that the contraction writes."""
        dims, indices = self._dims or [], self._indices or []
        missing = "sum, product, max, min or assign" if self._value is None else ""
        if len(dims) != len(indices) and (self._dims is None or self._indices is None):
            missing = "outShape" if self._dims is None else "outAccess"
        if missing or self._value is None:
            raise error(f"the contraction is not complete: call {missing}")
        name = assigned_name() if self._name is None else self._name
        output = TensorOutput(*dims, name=name or "")
        if self._lens is not None:
            output.use(self._lens)
            indices = self._lens.apply(indices)
        output.add_constraints(self._constraints)
        if self._default is not None:
            output.use_default(self._default)
        if self._no_reduce:
            output.no_reduce()
        output.write(indices, self._value)
        return Tensor.of(output.node)

    def _aggregate(self, aggregation: Aggregation, value: Any) -> Contraction:
        if self._value is not None:
            raise error("the contraction has an aggregation already")
        self._value = Aggregated(aggregation, combined(value))
        return self


def _check_constraint(constraint: object) -> None:
    if not isinstance(constraint, Constraint):
        raise error(
            f"expected a constraint such as j < 2, got {type(constraint).__name__}",
            "on the left of '<' stands an index expression, on the right a size",
        )
