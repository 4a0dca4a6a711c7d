"""The derivative of a product of many factors, exact where factors are zero.

The derivative of `R[o] = *(A[a])` by one factor is the product of all others. With no
zero among the factors that is the quotient of R by the factor. Otherwise, with

    z[o]  how many factors are zero
    n[o]  the product of those that are not
    s[o]  the sum of those that are, which is 0

it is n for the only zero of a cell, `n * (s - A)` for one of two, and 0 for one of
more; for a factor other than zero it is the quotient of R by it as before, which is 0.
The value of `n * (s - A)` is 0 too: it is there for the second derivatives, which are
so exact as well. (Derivatives by three factors that are zero would need terms of a
higher degree, and are 0.)

Sums over the points do the rest, so that all is linear in the number of points:

    dA[a] = A == 0 ? +(u[o]) - A * +(w[o]) : +((d * R)[o]) / A
    u = d * (z == 1 ? n : z == 2 ? n * s : 0)       w = d * (z == 2 ? n : 0)
"""

from __future__ import annotations

from ....dialects.aggregation import Aggregation, Combination
from .emitter import Emitter, Tensor
from .space import Place, Space, contract_over


def differentiate_product(
    tensor: Tensor,
    place: Place,
    result: Tensor,
    space: Space,
    d: Tensor,
    emitter: Emitter,
) -> Tensor:
    """The derivative by `tensor`, whose cells at `place` are the factors of `result`.

    `d` is the derivative of the loss by the result.
    """
    element = tensor.type.element_type
    zero, one, two = (emitter.scalar(n, element) for n in (0.0, 1.0, 2.0))
    is_zero = emitter.apply("cmp_eq", tensor, zero)
    # One instead of zero: neither the product nor the quotient below ever sees a 0.
    factor = emitter.apply("cond", is_zero, one, tensor)
    no_place = Place((), ())

    def sum_of_zeros(counted: tuple[Tensor, Place]) -> Tensor:
        operands = [(tensor, place), (zero, no_place), counted]
        return contract_over(emitter, space, operands, space.result, Combination.COND)

    count = sum_of_zeros((one, no_place))
    zeros = sum_of_zeros((tensor, place))
    others = contract_over(
        emitter, space, [(factor, place)], space.result, aggregation=Aggregation.MUL
    )
    is_single = emitter.apply("cmp_eq", count, one)
    of_two = emitter.apply("cond", emitter.apply("cmp_eq", count, two), others, zero)
    of_one = emitter.apply(
        "cond", is_single, others, emitter.apply("mul", of_two, zeros)
    )

    def summed(product: Tensor) -> Tensor:
        """The sum over the points of `d` times this, for each cell of the tensor."""
        value = emitter.apply("mul", d, product)
        return contract_over(emitter, space, [(value, space.result)], place)

    pairs = emitter.apply("mul", tensor, summed(of_two))
    at_zero = emitter.apply("sub", summed(of_one), pairs)
    elsewhere = emitter.apply("div", summed(result), factor)
    return emitter.apply("cond", is_zero, at_zero, elsewhere)
