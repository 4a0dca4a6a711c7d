"""Random numbers, from a state that is given and comes back changed.

A state has type ui32 and shape [3, L], for L numbers at a time: see `prng` of the eDSL.
The same state gives the same numbers on every device.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..edsl.functions import cos, log, select, sqrt
from ..edsl.functions import max as larger
from ..edsl.specials import prng
from ..edsl.tensors import Tensor, cast
from .axes import Size, size_list, sizes_of
from .operation import TensorLike, as_tensor, operation

__all__ = [
    "bernoulli",
    "dropout",
    "random_integers",
    "random_normal",
    "random_uniform",
]

_LEAST = 2.0**-33
"""Less than any random number but 0, of which there is no logarithm."""


@operation
def random_uniform(
    state: TensorLike,
    shape: Size | Sequence[Size],
    low: TensorLike = 0.0,
    high: TensorLike = 1.0,
) -> tuple[Tensor, Tensor]:
    """Numbers from low to high, all as likely, as NumPy's uniform, and the next state.

    They are f32.
    """
    numbers, following = prng(as_tensor(state), *size_list(shape))
    if isinstance(low, float) and low == 0.0:
        return numbers if high == 1.0 else numbers * high, following
    return numbers * (as_tensor(high) - low) + low, following


@operation
def random_normal(
    state: TensorLike,
    shape: Size | Sequence[Size],
    mean: TensorLike = 0.0,
    scale: TensorLike = 1.0,
) -> tuple[Tensor, Tensor]:
    """Normal numbers by their mean and standard deviation, and the next state.

    As NumPy's normal, in f32; by the method of Box and Muller, which takes two uniform
    numbers for each.
    """
    sizes = size_list(shape)
    first, between = prng(as_tensor(state), *sizes)
    second, following = prng(between, *sizes)
    distance = sqrt(log(larger(first, _LEAST)) * -2.0)
    return distance * cos(second * (2 * math.pi)) * scale + mean, following


@operation
def random_integers(
    state: TensorLike, low: int, high: int, shape: Size | Sequence[Size]
) -> tuple[Tensor, Tensor]:
    """Integers from low to before high, all as likely, as torch.randint: si32.

    The next state comes with them. There should be far less of them than 2 ** 24.
    """
    numbers, following = prng(as_tensor(state), *size_list(shape))
    count = high - low
    # A number may be 1, so that the product is the count itself.
    steps = cast(numbers * float(count), "int32")
    return select(steps >= count, count - 1, steps) + low, following


@operation
def bernoulli(
    state: TensorLike, probability: TensorLike, shape: Size | Sequence[Size] = ()
) -> tuple[Tensor, Tensor]:
    """1 with a probability, else 0, as torch.bernoulli, and the next state.

    Without a shape that of the probabilities is taken. The results are f32.
    """
    chance = as_tensor(probability)
    sizes = size_list(shape) or sizes_of(chance)
    numbers, following = prng(as_tensor(state), *sizes)
    return select(numbers < chance, 1.0, 0.0), following


@operation
def dropout(x: TensorLike, state: TensorLike, p: float = 0.5) -> tuple[Tensor, Tensor]:
    """`x`, of which each element is 0 with probability p, and the next state.

    What stays is divided by `1 - p`, as torch's dropout does in training.
    """
    x = as_tensor(x)
    kept, following = bernoulli(state, 1.0 - p, sizes_of(x))
    return x * kept * (1.0 / (1.0 - p) if p < 1.0 else 0.0), following
