"""`tile.contract`: the contraction, with a pretty form that reads like Tile."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    StringAttr,
    TensorType,
    UnitAttr,
    UnrankedTensorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ...affine.form import LinearForm
from ...affine.polynomial import Polynomial
from ..aggregation import Aggregation, AggregationAttr, Combination, CombinationAttr
from ..building import DialectOperation, operation_definition
from ..eltwise.element_types import promote, si32
from ..eltwise.ops import ANY_ELEMENT, element_of
from ..syntax import integer_array, integers
from .attributes import Constraint, ConstraintAttr, PolynomialAttr
from .contract_syntax import ContractArguments, parse_contract, print_contract
from .symbols import renumber_symbols

AccessAttr = ArrayAttr[PolynomialAttr]


@operation_definition
class ContractOp(DialectOperation):
    """An aggregation over all valid points of an index space.

    ```mlir
    %C = tile.contract add over [i, k, j] %A[i, k] * %B[k, j] -> [i : %M, j : %N]
        : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    %O = tile.contract max over [i, j] %I[2 * i + j] -> [i : 5] where 0 <= j < 2
        : (tensor<10xf32>) -> tensor<5xf32>
    ```

    A point gives every index an integer. It is valid iff every access of every tensor,
    the result included, is an integer within bounds, and every constraint holds. A cell
    of the result is the aggregation, over exactly the valid points that access it, of
    the combined operands; a cell without a point has the default tensor's value there,
    or 0. (Normative; `targets/reference/definition.py` says it in Python.)

    Combinations: none, `%A[..] + %B[..]`, `*`, `==` and `%A[..] == %B[..] ? %C[..]`
    (the third operand where the first two are equal, else 0). Index names are local. An
    access is linear in the indices with exact rational coefficients, which may contain
    sizes (`%P`, of type index) until `tile-specialize` folds them. The size of a result
    axis is an integer when the result type has it, else a value of type index.

    After `tile-flatten` every index has a range, `over [i : 64, j : 64 | k : 32]`: the
    index space is that box, all accesses are integral and in bounds where the remaining
    constraints hold. The indices before the bar determine the result cell, a different
    cell for each of their values; those after it only aggregate.

    `no_defract` is accepted for PlaidML's programs and has no effect.
    """

    name = "tile.contract"
    inputs = var_operand_def()
    sizes = var_operand_def(IndexType)
    symbols = var_operand_def(IndexType)
    default = opt_operand_def()
    aggregation = prop_def(AggregationAttr)
    combination = prop_def(CombinationAttr)
    indices = prop_def(ArrayAttr[StringAttr])
    output_access = prop_def(AccessAttr)
    input_accesses = prop_def(ArrayAttr[AccessAttr])
    constraints = prop_def(ArrayAttr[ConstraintAttr])
    ranges = opt_prop_def(DenseArrayBase)
    output_rank = opt_prop_def(IntegerAttr)
    no_defract = opt_prop_def(UnitAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        aggregation: Aggregation,
        combination: Combination,
        inputs: Sequence[SSAValue],
        indices: Sequence[str],
        output_access: Sequence[Polynomial],
        input_accesses: Sequence[Sequence[Polynomial]],
        result_type: TensorType,
        *,
        sizes: Sequence[SSAValue] = (),
        symbols: Sequence[SSAValue] = (),
        constraints: Sequence[Constraint] = (),
        default: SSAValue | None = None,
        ranges: Sequence[int] | None = None,
        output_rank: int | None = None,
        no_defract: bool = False,
    ) -> None:
        accesses, conditions, symbols = _renumbered(
            [*input_accesses, output_access], constraints, symbols
        )
        *input_accesses, output_access = accesses
        properties: dict[str, Attribute | None] = {
            "aggregation": AggregationAttr(aggregation),
            "combination": CombinationAttr(combination),
            "indices": ArrayAttr([StringAttr(name) for name in indices]),
            "output_access": _access(output_access),
            "input_accesses": ArrayAttr([_access(a) for a in input_accesses]),
            "constraints": ArrayAttr([ConstraintAttr(c) for c in conditions]),
            "no_defract": UnitAttr() if no_defract else None,
        }
        if ranges is not None:
            properties["ranges"] = integer_array(ranges)
            properties["output_rank"] = IntegerAttr(output_rank or 0, i64)
        super().__init__(
            operands=[inputs, sizes, symbols, default],
            properties=properties,
            result_types=[result_type],
        )

    @property
    def index_names(self) -> tuple[str, ...]:
        """What the indices are called, in the order of the accesses' dimensions."""
        return tuple(name.data for name in self.indices)

    @property
    def accesses(self) -> tuple[tuple[Polynomial, ...], ...]:
        """The access of the result, then those of the inputs."""
        all_accesses = (self.output_access, *self.input_accesses)
        return tuple(tuple(p.data for p in access) for access in all_accesses)

    @property
    def conditions(self) -> tuple[Constraint, ...]:
        """The constraints beside those of the accesses being in bounds."""
        return tuple(constraint.data for constraint in self.constraints)

    @property
    def is_flat(self) -> bool:
        """Whether `tile-flatten` has been here: the index space is a box."""
        return self.ranges is not None

    @property
    def flat_ranges(self) -> tuple[int, ...]:
        """The number of values of each index; only after `tile-flatten`."""
        if self.ranges is None:
            raise ValueError("the contraction has not been flattened")
        return integers(self.ranges)

    @property
    def flat_output_rank(self) -> int:
        """How many indices, the first ones, determine the result cell."""
        if self.output_rank is None:
            raise ValueError("the contraction has not been flattened")
        return self.output_rank.value.data

    @property
    def arguments(self) -> ContractArguments:
        """What an op like this is built from."""
        output_access, *input_accesses = self.accesses
        return ContractArguments(
            aggregation=self.aggregation.data,
            combination=self.combination.data,
            inputs=self.inputs,
            indices=self.index_names,
            output_access=output_access,
            input_accesses=input_accesses,
            result_type=self.result.type,
            sizes=self.sizes,
            symbols=self.symbols,
            constraints=self.conditions,
            default=self.default,
            ranges=self.flat_ranges if self.is_flat else None,
            output_rank=self.flat_output_rank if self.is_flat else None,
            no_defract=self.no_defract is not None,
        )

    def linear_accesses(self) -> tuple[tuple[LinearForm, ...], ...]:
        """The accesses as linear forms; only when there are no symbols."""
        rank = len(self.indices)
        return tuple(tuple(p.form(rank) for p in access) for access in self.accesses)

    @classmethod
    def parse(cls, parser: Parser) -> ContractOp:
        """Read all behind `tile.contract`; raises ParseError at what does not fit."""
        arguments, attributes = parse_contract(parser)
        op = cls(**arguments)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        """Print the pretty form, which reads like Tile."""
        print_contract(self.arguments, self.attributes, printer)

    def verify_(self) -> None:
        """Raise VerifyException unless operands, accesses and result fit together."""
        _verify_operands(self)
        _verify_accesses(self)
        _verify_result(self)


def _renumbered(
    accesses: Sequence[Sequence[Polynomial]],
    constraints: Sequence[Constraint],
    symbols: Sequence[SSAValue],
) -> tuple[list[list[Polynomial]], list[Constraint], list[SSAValue]]:
    """The same with the symbols numbered as they occur in the printed op."""
    if not symbols:
        return [list(access) for access in accesses], list(constraints), []
    flat = [polynomial for access in accesses for polynomial in access]
    for constraint in constraints:
        bound = constraint.bound
        flat += [constraint.expression, *([] if bound is None else [bound])]
    renamed, values = renumber_symbols(flat, symbols)
    rest = iter(renamed)
    new_accesses = [[next(rest) for _ in access] for access in accesses]
    new_constraints = [
        Constraint(next(rest), None if constraint.bound is None else next(rest))
        for constraint in constraints
    ]
    return new_accesses, new_constraints, values


def _access(polynomials: Sequence[Polynomial]) -> AccessAttr:
    return ArrayAttr([PolynomialAttr(polynomial) for polynomial in polynomials])


def _verify_operands(op: ContractOp) -> None:
    arity = op.combination.data.arity
    if len(op.inputs) != arity:
        raise VerifyException(
            f"expected {arity} operand(s) for combination "
            f"'{op.combination.data.value}', got {len(op.inputs)}"
        )
    if len(op.input_accesses) != arity:
        raise VerifyException(
            f"expected {arity} input access(es), got {len(op.input_accesses)}"
        )
    for number, operand in enumerate(op.inputs):
        if not isinstance(operand.type, TensorType | UnrankedTensorType):
            raise VerifyException(
                f"expected operand {number} to be a tensor, got {operand.type}"
            )


def _verify_accesses(op: ContractOp) -> None:
    names = op.index_names
    if len(set(names)) != len(names):
        raise VerifyException(f"expected distinct index names, got {', '.join(names)}")
    types = (op.result.type, *(operand.type for operand in op.inputs))
    for number, (type, access) in enumerate(zip(types, op.accesses, strict=True)):
        where = "the result" if number == 0 else f"operand {number - 1}"
        if isinstance(type, TensorType) and len(access) != type.get_num_dims():
            raise VerifyException(
                f"expected {type.get_num_dims()} index expression(s) for {where} of "
                f"type {type}, got {len(access)}"
            )
    polynomials = [p for access in op.accesses for p in access]
    for condition in op.conditions:
        polynomials.append(condition.expression)
        if condition.bound is None:
            continue
        if condition.bound.indices:
            raise VerifyException("expected a constraint's bound to have no index")
        polynomials.append(condition.bound)
    for polynomial in polynomials:
        if max(polynomial.indices, default=-1) >= len(names):
            raise VerifyException(f"expected at most {len(names)} indices")
        if max(polynomial.symbols, default=-1) >= len(op.symbols):
            raise VerifyException(f"expected at most {len(op.symbols)} symbols")
    _verify_ranges(op)


def _verify_ranges(op: ContractOp) -> None:
    if (op.ranges is None) != (op.output_rank is None):
        raise VerifyException("expected both ranges and output_rank, or neither")
    if op.ranges is None:
        return
    count = len(op.indices)
    if len(op.flat_ranges) != count or any(extent < 0 for extent in op.flat_ranges):
        raise VerifyException(
            f"expected a range of 0 or more for each of {count} indices, got "
            f"{list(op.flat_ranges)}"
        )
    if not 0 <= op.flat_output_rank <= count:
        raise VerifyException(
            f"expected 0 to {count} indices before the bar, got {op.flat_output_rank}"
        )


def _verify_result(op: ContractOp) -> None:
    dynamic = op.result.type.get_shape().count(DYNAMIC_INDEX)
    if len(op.sizes) != dynamic:
        raise VerifyException(
            f"expected {dynamic} size(s) for {op.result.type}, got {len(op.sizes)}"
        )
    default = op.default
    if default is not None and not isinstance(
        default.type, TensorType | UnrankedTensorType
    ):
        raise VerifyException(f"expected default to be a tensor, got {default.type}")
    elements = [element_of(operand.type) for operand in op.inputs]
    result = op.result.type.element_type
    if ANY_ELEMENT in (*elements, result):
        return
    casts, expected = contraction_signature(
        op.aggregation.data, op.combination.data, elements
    )
    for number, (got, want) in enumerate(zip(elements, casts, strict=True)):
        if got != want:
            raise VerifyException(
                f"expected operand {number} to have element type {want}, got {got}"
            )
    if result != expected:
        raise VerifyException(
            f"expected the result to have element type {expected}, got {result}"
        )
    if default is not None and element_of(default.type) != result:
        raise VerifyException(
            f"expected default to have element type {result}, got {default.type}"
        )


def contraction_signature(
    aggregation: Aggregation,
    combination: Combination,
    elements: Sequence[Attribute],
) -> tuple[tuple[Attribute, ...], Attribute]:
    """The element types that inputs are cast to, and that of the result.

    Operands of a combination are promoted; `eq` gives i1; `cond` gives the third
    operand's type; `add` and `mul` over i1 give si32, a count.
    """
    counts = aggregation in (Aggregation.ADD, Aggregation.MUL)

    def counted(element: Attribute) -> Attribute:
        return si32 if counts and element == i1 else element

    match combination:
        case Combination.NONE:
            element = counted(elements[0])
            return (element,), element
        case Combination.EQ:
            common = promote(elements)
            return (common, common), counted(i1)
        case Combination.COND:
            common = promote(elements[:2])
            third = counted(elements[2])
            return (common, common, third), third
        case Combination.ADD | Combination.MUL:
            common = promote(elements)
            common = si32 if common == i1 else common
            return (common, common), common
