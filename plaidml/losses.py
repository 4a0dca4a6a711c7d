"""The losses of PlaidML's programs: functions with gradients for training.

The cross-entropy of outputs O and targets T is `f = -T log(O) - (1 - T) log(1 - O)`,
and a loss is its mean over the s elements that there are. The derivative of that mean
is `(-T / O + (1 - T) / (1 - O)) / s` by each output. PlaidML has just this for
`builtin_binary_crossentropy(O, T, s)`, whatever the program makes of f: its rule does
not multiply by the derivative that arrives, as that of the mean is part of it already.
Keras computes the mean itself, so that there both are the same; where it multiplies the
loss by a weight, or sums where it should have a mean, training does not notice.

Programs that were trained with PlaidML get these gradients. Elsewhere in Gingham the
function has the derivative of its value, and `s` says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..frontend.builder import Value
from ..frontend.special_calls import SPECIAL_CALLS, TextFunction
from ..frontend.special_table import SPECIAL_FUNCTIONS, Arguments


def _binary_crossentropy(given: Arguments) -> Value:
    output, target, count = given.tensors
    value = given.composite.binary_crossentropy(output, target, given.location)
    return given.composite.loss_over(value, count, given.location)


_CROSSENTROPY = "builtin_binary_crossentropy"

TRAINING_CALLS: Mapping[str, TextFunction] = {
    **SPECIAL_CALLS,
    _CROSSENTROPY: TextFunction.of(
        replace(SPECIAL_FUNCTIONS[_CROSSENTROPY], build=_binary_crossentropy)
    ),
}
"""The special functions of Tile as programs for PlaidML know them."""
