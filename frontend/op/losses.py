"""Losses: how far predictions are from targets."""

from __future__ import annotations

from typing import Any

from ..edsl.float_functions import log1p
from ..edsl.functions import abs, exp, log, select
from ..edsl.functions import max as larger
from ..edsl.locations import error
from ..edsl.tensors import Tensor
from .axes import replaced, require_choice, sizes_of
from .choice import clip
from .classification import log_softmax
from .creation import places
from .elementwise import xlogy
from .operation import TensorLike, as_tensor, operation
from .reductions import mean, sum
from .shapes import unsqueeze

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "hinge_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "mse_loss",
    "nll_loss",
    "smooth_l1_loss",
    "soft_margin_loss",
]


def _reduced(loss: Tensor, reduction: str) -> Tensor:
    """The mean or the sum of losses, or all of them."""
    require_choice(reduction, ("mean", "sum", "none"), "reduction")
    if reduction == "none":
        return loss
    return mean(loss) if reduction == "mean" else sum(loss)


@operation
def mse_loss(x: TensorLike, target: TensorLike, reduction: str = "mean") -> Tensor:
    """Squares of differences, as torch's mse_loss.

    The reduction of all losses is `"mean"`, `"sum"` or `"none"`.
    """
    difference = as_tensor(x) - target
    return _reduced(difference * difference, reduction)


@operation
def l1_loss(x: TensorLike, target: TensorLike, reduction: str = "mean") -> Tensor:
    """Magnitudes of differences, as torch's l1_loss."""
    return _reduced(abs(as_tensor(x) - target), reduction)


@operation
def huber_loss(
    x: TensorLike, target: TensorLike, reduction: str = "mean", delta: float = 1.0
) -> Tensor:
    """Half of squares of differences up to delta, then a line, as torch's."""
    distance = abs(as_tensor(x) - target)
    square = distance * distance * 0.5
    line = (distance - 0.5 * delta) * delta
    return _reduced(select(distance < delta, square, line), reduction)


@operation
def smooth_l1_loss(
    x: TensorLike, target: TensorLike, reduction: str = "mean", beta: float = 1.0
) -> Tensor:
    """The Huber loss divided by beta, as torch's smooth_l1_loss."""
    if beta == 0:
        return l1_loss(x, target, reduction)
    return huber_loss(x, target, reduction, beta) / beta


@operation
def soft_margin_loss(
    x: TensorLike, target: TensorLike, reduction: str = "mean"
) -> Tensor:
    """`log(1 + exp(-target * x))` for targets 1 and -1, as torch's."""
    return _reduced(log1p(exp(-(as_tensor(x) * target))), reduction)


@operation
def hinge_loss(x: TensorLike, target: TensorLike, reduction: str = "mean") -> Tensor:
    """`max(0, 1 - target * x)` for targets 1 and -1, as Keras's hinge."""
    return _reduced(larger(1.0 - as_tensor(x) * target, 0.0), reduction)


@operation
def binary_cross_entropy(
    x: TensorLike,
    target: TensorLike,
    weight: TensorLike = None,
    reduction: str = "mean",
    epsilon: float = 0.0,
) -> Tensor:
    """`-target * log(x) - (1 - target) * log(1 - x)`, as torch's.

    Logarithms are at least -100, as there. With an epsilon x is limited to the range
    from that to 1 less that, as Keras and PlaidML do.
    """
    x, target = as_tensor(x), as_tensor(target)
    if epsilon:
        x = clip(x, epsilon, 1.0 - epsilon)
    first = target * larger(log(x), -100.0)
    second = (1.0 - target) * larger(log1p(-x), -100.0)
    loss = -(first + second)
    return _reduced(loss if weight is None else loss * weight, reduction)


@operation
def binary_cross_entropy_with_logits(
    x: TensorLike,
    target: TensorLike,
    weight: TensorLike = None,
    reduction: str = "mean",
    pos_weight: TensorLike = None,
) -> Tensor:
    """The binary cross entropy of `sigmoid(x)`, exact for large x, as torch's."""
    x, target = as_tensor(x), as_tensor(target)
    # log(1 + exp(-x)) without a power that overflows.
    soft = larger(-x, 0.0) + log1p(exp(-abs(x)))
    scale: Any = 1.0
    if pos_weight is not None:
        scale = (as_tensor(pos_weight) - 1.0) * target + 1.0
    loss = (1.0 - target) * x + scale * soft
    return _reduced(loss if weight is None else loss * weight, reduction)


@operation
def kl_div(
    x: TensorLike,
    target: TensorLike,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """`target * (log(target) - x)` for logarithms x, as torch's kl_div.

    The reduction may also be `"batchmean"`: the sum over the size of the first axis.
    """
    x, target = as_tensor(x), as_tensor(target)
    if log_target:
        loss = exp(target) * (target - x)
    else:
        loss = xlogy(target, target) - target * x
    if reduction == "batchmean":
        return sum(loss) / sizes_of(loss)[0]
    return _reduced(loss, reduction)


@operation
def nll_loss(
    x: TensorLike,
    target: TensorLike,
    weight: TensorLike = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """The negative of x at the class of the target, as torch's nll_loss.

    x has shape [N, C, ..] or [C], the target integers of shape [N, ..], the weight of
    classes [C]. Targets that are `ignore_index` do not count; the mean is over the
    weights of those that do.
    """
    x, target = as_tensor(x), as_tensor(target)
    place = min(x.ndim - 1, 1)
    if x.ndim == 0 or target.ndim != x.ndim - 1:
        raise error(
            f"expected targets of {max(x.ndim - 1, 0)} axes, got {target.ndim}",
            "x has an axis of classes more than the targets",
        )
    weights = _class_weights(x, weight, place)
    counts = _counts(x, target, weights, ignore_index, place)
    loss = -sum(select(_is_class(x, target, place), x, 0.0), place) * counts
    if reduction == "mean":
        return sum(loss) / sum(counts)
    return _reduced(loss, reduction)


def _is_class(x: Tensor, target: Tensor, place: int) -> Tensor:
    """Whether each class is that of the target."""
    return unsqueeze(target, place) == places(x.ndim, place, sizes_of(x)[place])


def _class_weights(x: Tensor, weight: TensorLike, place: int) -> Tensor | None:
    """The weights of classes along their axis of x."""
    if weight is None:
        return None
    sizes = replaced([1] * x.ndim, place, sizes_of(x)[place])
    return as_tensor(weight).reshape(*sizes)


def _counts(
    x: Tensor, target: Tensor, weights: Tensor | None, ignore_index: int, place: int
) -> Tensor:
    """How much each target counts: the weight of its class, or nothing."""
    is_ignored = target == ignore_index
    if weights is None:
        return select(is_ignored, 0.0, 1.0)
    own = sum(select(_is_class(x, target, place), weights, 0.0), place)
    return select(is_ignored, 0.0, own)


@operation
def cross_entropy(
    x: TensorLike,
    target: TensorLike,
    weight: TensorLike = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """The negative log of the softmax at the class of the target, as torch's.

    The arguments are those of `nll_loss`. A target of as many axes as x holds
    probabilities of classes instead.
    """
    x, target = as_tensor(x), as_tensor(target)
    place = min(x.ndim - 1, 1)
    logarithms = log_softmax(x, place)
    if target.ndim != x.ndim:
        hard = nll_loss(logarithms, target, weight, ignore_index, reduction)
        if not label_smoothing:
            return hard
        return hard * (1.0 - label_smoothing) + label_smoothing * _even(
            logarithms, target, weight, ignore_index, reduction, place
        )
    weights = _class_weights(x, weight, place)
    products = target * (1.0 - label_smoothing) + label_smoothing / _classes(x, place)
    products = products * logarithms
    loss = -sum(products if weights is None else products * weights, place)
    return _reduced(loss, reduction)


def _classes(x: Tensor, place: int) -> Tensor:
    """How many classes there are, as a float."""
    return as_tensor(sizes_of(x)[place]) * 1.0


def _even(
    logarithms: Tensor,
    target: Tensor,
    weight: TensorLike,
    ignore_index: int,
    reduction: str,
    place: int,
) -> Tensor:
    """The loss for targets that give all classes the same probability."""
    weights = _class_weights(logarithms, weight, place)
    scores = logarithms if weights is None else logarithms * weights
    total = -sum(scores, place) / _classes(logarithms, place)
    loss = select(target == ignore_index, 0.0, total)
    if reduction != "mean":
        return _reduced(loss, reduction)
    return sum(loss) / sum(_counts(logarithms, target, weights, ignore_index, place))
