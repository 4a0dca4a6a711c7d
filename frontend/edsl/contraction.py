"""The node of a contraction: `O[i, j] += A[i, k] * B[k, j]` once it is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from xdsl.ir import Attribute

from ...affine.polynomial import Polynomial
from ...dialects.aggregation import Aggregation, Combination
from ...dialects.tile.attributes import Constraint as PolynomialConstraint
from ...dialects.tile.contract import contraction_signature
from ...errors import SourceLocation
from ..builder import Operand
from ..index_space import IndexSpace, Size
from .graph import Emitting, Node, Result
from .indices import Constraint, IndexExpression, TensorIndex


@dataclass(frozen=True)
class Subscripted:
    """A tensor with an index expression for each axis."""

    node: Node
    indices: tuple[IndexExpression, ...]
    location: SourceLocation


@dataclass(frozen=True)
class Statement:
    """All that a contraction says."""

    aggregation: Aggregation
    combination: Combination
    output: tuple[IndexExpression, ...]
    sizes: tuple[Node, ...]
    operands: tuple[Subscripted, ...]
    location: SourceLocation
    name: str | None
    constraints: tuple[Constraint, ...] = ()
    default: Node | None = None
    no_defract: bool = False

    def nodes(self) -> list[Node]:
        """What the contraction is computed from."""
        used = [operand.node for operand in self.operands]
        used += self.sizes
        expressions = [*self.output, *(e for o in self.operands for e in o.indices)]
        for constraint in self.constraints:
            expressions.append(constraint.expression)
            used.append(constraint.bound)
        for expression in expressions:
            used += [atom for atom in expression.atoms if isinstance(atom, Node)]
        if self.default is not None:
            used.append(self.default)
        return list(dict.fromkeys(used))


class Contract(Node):
    """A contraction."""

    def __init__(self, statement: Statement) -> None:
        super().__init__(
            statement.nodes(),
            len(statement.sizes),
            statement.name,
            statement.location,
        )
        self.statement = statement
        self.known_element = self._element()

    @property
    def known_sizes(self) -> tuple[int | None, ...] | None:
        """The sizes of the output, None for those that are known when it runs."""
        return tuple(size.known_number for size in self.statement.sizes)

    def _element(self) -> Attribute | None:
        """The element type, where those of the operands are known."""
        statement = self.statement
        nodes = [operand.node for operand in statement.operands]
        known = [n.known_element for n in nodes if not n.is_weak]
        elements = [element for element in known if element is not None]
        if len(elements) < len(nodes):
            return None
        rule = contraction_signature
        return rule(statement.aggregation, statement.combination, elements)[1]

    def changed(self, **changes: Any) -> Contract:
        """The contraction with other fields, at the same place of the program.

        It is later only if something that it now uses is.
        """
        new = Contract(replace(self.statement, **changes))
        if all(operand.serial < self.serial for operand in new.operands):
            new.serial = self.serial
        new.attributes = self.attributes
        return new

    def emit(self, to: Emitting) -> Result:
        """The `tile.contract` over the values of operands and sizes."""
        statement, builder = self.statement, to.builder
        scope = _Scope(to)
        output = scope.polynomials(statement.output, statement.location)
        sizes = [scope.size(size) for size in statement.sizes]
        operands = [
            Operand(
                to.value(operand.node),
                scope.polynomials(operand.indices, operand.location),
                operand.node.name or "the tensor",
                operand.location,
                _origin(operand.node),
            )
            for operand in statement.operands
        ]
        constraints = [
            PolynomialConstraint(
                scope.polynomial(constraint.expression, statement.location),
                scope.space.size(scope.size(constraint.bound)),
            )
            for constraint in statement.constraints
        ]
        return builder.contract(
            statement.aggregation,
            statement.combination,
            scope.space,
            output,
            sizes,
            operands,
            statement.location,
            constraints=constraints,
            default=self._default(to),
            no_defract=statement.no_defract,
        )

    def _default(self, to: Emitting) -> Operand | None:
        default = self.statement.default
        if default is None:
            return None
        name = default.name or "the tensor"
        location = self.statement.location
        return Operand(to.value(default), (), name, location, _origin(default))


def _origin(node: Node) -> str:
    return f"it is made at {node.location}"


class UniqueNames:
    """Names that are all different: a number is put behind one that is taken."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        # Behind these all numbers are taken, so that many equal wishes take no longer.
        self._numbers: dict[str, int] = {}

    def take(self, wish: str) -> str:
        """The name, or one like it."""
        name, number = wish, self._numbers.get(wish, 0)
        while name in self._taken:
            number += 1
            name = f"{wish}_{number}"
        self._numbers[wish] = number
        self._taken.add(name)
        return name


@dataclass
class _Scope:
    """The indices and sizes of one contraction as they occur."""

    to: Emitting
    space: IndexSpace = field(default_factory=IndexSpace)
    names: dict[TensorIndex, str] = field(default_factory=dict[TensorIndex, str])
    taken: UniqueNames = field(default_factory=UniqueNames)

    def size(self, node: Node) -> Size:
        """A size that has become IR."""
        value = self.to.value(node)
        if not isinstance(value, Size):
            raise ValueError(f"{node} is not a size")
        return value

    def polynomials(
        self, expressions: Sequence[IndexExpression], location: SourceLocation
    ) -> tuple[Polynomial, ...]:
        return tuple(self.polynomial(e, location) for e in expressions)

    def polynomial(
        self, expression: IndexExpression, location: SourceLocation
    ) -> Polynomial:
        """An expression over the indices and sizes of this contraction."""
        indices: dict[int, Polynomial] = {}
        sizes: dict[int, Polynomial] = {}
        for atom in expression.atoms:
            if isinstance(atom, TensorIndex):
                indices[atom.number] = self.space.index(self._name(atom), location)
            else:
                sizes[atom.serial] = self.space.size(self.size(atom))
        total = Polynomial()
        for (index, powers), coefficient in expression.polynomial.terms:
            term = Polynomial.constant(coefficient)
            if index is not None:
                term = term * indices[index]
            for serial, power in powers:
                for _ in range(abs(power)):
                    factor = sizes[serial]
                    term = term * factor if power > 0 else term / factor
            total = total + term
        return total

    def _name(self, index: TensorIndex) -> str:
        """What the index is called here, where others may have the same name."""
        if index not in self.names:
            self.names[index] = self.taken.take(index.name or f"x{len(self.names)}")
        return self.names[index]
