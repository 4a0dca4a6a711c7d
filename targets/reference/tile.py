"""The `tile` level: tensors are NumPy arrays, sizes are numbers."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType

from ...affine.form import LinearForm
from ...affine.polynomial import Polynomial
from ...dialects.eltwise.element_types import computation_type
from ...dialects.eltwise.numpy_types import numpy_dtype
from ...dialects.eltwise.ops import element_of
from ...dialects.locations import error_at
from ...dialects.tile.attributes import Constraint
from ...dialects.tile.contract import ContractOp
from ...dialects.tile.ops import FromIndexOp, SizesOp, ToIndexOp
from ...errors import GinghamError
from .budget import OverBudgetError
from .contraction import Condition, Contraction, contract
from .dispatch import Step, prepare
from .elements import cast
from .frame import Frame


@prepare.register(SizesOp)
def _prepare_sizes(op: SizesOp) -> Step:
    tensor, sizes = op.tensor, tuple(op.sizes)

    def step(frame: Frame) -> None:
        for size, extent in zip(sizes, frame[tensor].shape, strict=True):
            frame[size] = extent

    return step


@prepare.register(FromIndexOp)
def _prepare_from_index(op: FromIndexOp) -> Step:
    size, result = op.size, op.result
    dtype = numpy_dtype(result.type.element_type)

    def step(frame: Frame) -> None:
        frame[result] = frame.array(size).reshape(()).astype(dtype)

    return step


@prepare.register(ToIndexOp)
def _prepare_to_index(op: ToIndexOp) -> Step:
    tensor, size = op.tensor, op.size

    def step(frame: Frame) -> None:
        frame[size] = int(frame[tensor])

    return step


@prepare.register(ContractOp)
def _prepare_contract(op: ContractOp) -> Step:
    elements = [element_of(operand.type) for operand in op.inputs]

    def step(frame: Frame) -> None:
        inputs = [
            cast(frame[operand], element, computation_type(element))
            for operand, element in zip(op.inputs, elements, strict=True)
        ]
        default = None if op.default is None else frame[op.default]
        symbols = [int(frame.array(symbol)[0]) for symbol in op.symbols]
        try:
            contraction = contraction_of(op, symbols)
            frame.budget.spend(op, contraction.points)
            result = contract(contraction, inputs, default)
        except ZeroDivisionError:
            raise error_at(op, "an index expression divides by a size of 0") from None
        except OverBudgetError:
            raise
        except GinghamError as error:
            raise error_at(op, error.message, error.hint) from None
        frame[op.result] = result

    return step


def contraction_of(op: ContractOp, symbols: Sequence[int] = ()) -> Contraction:
    """What an operation says, its `symbols` being numbers."""

    def bind(polynomial: Polynomial) -> LinearForm:
        return polynomial.bind(symbols, len(op.indices))

    def condition(constraint: Constraint) -> Condition:
        bound = constraint.bound
        limit = None if bound is None else bind(bound).constant
        return Condition.constraint(bind(constraint.expression), limit)

    types = [op.result.type, *(operand.type for operand in op.inputs)]
    return Contraction(
        op.aggregation.data,
        op.combination.data,
        op.index_names,
        tuple(tuple(map(bind, access)) for access in op.accesses),
        tuple(t.get_shape() for t in types if isinstance(t, TensorType)),
        tuple(map(condition, op.conditions)),
        op.result.type.element_type,
        op.flat_ranges if op.is_flat else None,
    )
