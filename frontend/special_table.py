"""The special functions of Tile: one row for each name, whatever it is written in.

Tile text (`special_calls.py`) and Python (`edsl/specials.py`) read from a row how many
tensors and sizes a function takes, and which options; they word their own errors. A row
for an op is `_of_op`: its operands and options are those of the op.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute

from ..dialects.tile.argsort import ArgsortOp
from ..dialects.tile.gather import GatherOp
from ..dialects.tile.options import SpecialOptions, unnamed
from ..dialects.tile.scatter import ScatterOp
from ..dialects.tile.special import ReshapeOp, SimpleReduceOp
from ..dialects.tile.special_op import SizedOp, SpecialOp
from ..dialects.tile.special_shapes import Shape
from ..errors import SourceLocation
from .builder import ProgramBuilder, Value
from .composite_builder import CompositeBuilder
from .index_space import Size
from .special_builder import SpecialBuilder


@dataclass(frozen=True)
class Arguments:
    """What a function is applied to."""

    builder: ProgramBuilder
    tensors: Sequence[Value]
    """Sizes and literals among them, which become tensors."""
    sizes: Sequence[Size]
    options: SpecialOptions
    location: SourceLocation

    @property
    def special(self) -> SpecialBuilder:
        """What builds special operations."""
        return SpecialBuilder(self.builder)

    @property
    def composite(self) -> CompositeBuilder:
        """What builds functions of others."""
        return CompositeBuilder(self.builder)


def _like_first(
    shapes: Sequence[Shape | None], sizes: Shape, options: SpecialOptions
) -> Shape | None:
    return shapes[0] if shapes else ()


@dataclass(frozen=True)
class SpecialFunction:
    """A function by its use, such as `gather(V, I)`: what it takes, what it builds."""

    use: str
    build: Callable[[Arguments], Value]
    tensors: int = 1
    """How many it takes."""
    sizes: int | None = 0
    """How many follow them; None for any number, at least `least_sizes`."""
    least_sizes: int = 0
    options: type[SpecialOptions] = SpecialOptions
    integers: int = 0
    """How many of the options, in order, may also stand behind the tensors."""
    gives_size: bool = False
    """Whether it is a size, if all that it is given are."""
    compares: bool = False
    """Whether its sizes need not be those of axes, and may be negative."""
    shape: Callable[[Sequence[Shape | None], Shape, SpecialOptions], Shape | None] = (
        _like_first
    )
    """The shape of the result for shapes of tensors, and sizes, as far as known.

    None where not even the rank is known. Raises ValueError, worded for the user.
    """
    element: Callable[[Sequence[Attribute], SpecialOptions], Attribute] | None = None
    """The element type of the result for those of the tensors; None where no rule says.

    Raises WrongElement for tensors that do not fit.
    """


def _of_first(elements: Sequence[Attribute], options: SpecialOptions) -> Attribute:
    return elements[0]


def _of_options(elements: Sequence[Attribute], options: SpecialOptions) -> Attribute:
    casts, left = options.signature(elements, [False] * len(elements))
    return left.element(casts)


def _of_op(op: type[SpecialOp], use: str, integers: int = 0) -> SpecialFunction:
    """An op of tensors and options."""

    def shape(
        shapes: Sequence[Shape | None], sizes: Shape, options: SpecialOptions
    ) -> Shape | None:
        known = [shape for shape in shapes if shape is not None]
        if len(known) == len(shapes):
            return options.shape(known, unnamed(known))
        ranks = [None if shape is None else len(shape) for shape in shapes]
        rank = options.rank(ranks)
        return None if rank is None else (DYNAMIC_INDEX,) * rank

    return SpecialFunction(
        use,
        lambda given: given.special.apply(
            op, given.tensors, given.options, given.location
        ),
        len(op.operand_names()),
        options=op.OPTIONS,
        integers=integers,
        shape=shape,
        element=_of_options,
    )


def _of_sized_op(op: type[SizedOp], use: str) -> SpecialFunction:
    """An op of a tensor and the sizes of the result."""

    def shape(
        shapes: Sequence[Shape | None], sizes: Shape, options: SpecialOptions
    ) -> Shape | None:
        (source,) = shapes
        return sizes if source is None else op.CHECK(source, sizes)

    return SpecialFunction(
        use,
        lambda given: given.special.sized(
            op, given.tensors[0], given.sizes, given.location
        ),
        sizes=None,
        shape=shape,
        element=_of_first,
    )


def _shape_of_shape(
    shapes: Sequence[Shape | None], sizes: Shape, options: SpecialOptions
) -> Shape | None:
    (tensor,) = shapes
    return (DYNAMIC_INDEX if tensor is None else len(tensor),)


def _match(given: Arguments) -> Value:
    return given.special.match(given.sizes[0], given.sizes[1], given.location)


def _multiply_add(given: Arguments) -> Value:
    a, b, c = given.tensors
    return given.composite.multiply_add(a, b, c, given.location)


def _gradient(given: Arguments) -> Value:
    loss, tensor = given.tensors
    return given.builder.gradient(loss, [tensor], given.location)[0]


def _as_bool(given: Arguments) -> Value:
    return given.composite.as_bool(given.tensors[0], given.location)


def _softmax(given: Arguments) -> Value:
    rows, _ = given.sizes
    return given.composite.softmax(given.tensors[0], rows, given.location)


def _log_softmax(given: Arguments) -> Value:
    rows, _ = given.sizes
    return given.composite.log_softmax(given.tensors[0], rows, given.location)


def _binary_crossentropy(given: Arguments) -> Value:
    output, target, _ = given.tensors
    return given.composite.binary_crossentropy(output, target, given.location)


SPECIAL_FUNCTIONS: Mapping[str, SpecialFunction] = {
    "reshape": _of_sized_op(ReshapeOp, "reshape(X, M, N): a tensor and its new sizes"),
    "simple_reduce": _of_sized_op(
        SimpleReduceOp, "simple_reduce(X, M, 1): a tensor and the sizes to sum it to"
    ),
    "shape": SpecialFunction(
        "shape(X): a tensor",
        lambda given: given.special.shape(given.tensors[0], given.location),
        shape=_shape_of_shape,
    ),
    "gather": _of_op(
        GatherOp, "gather(V, I): values and indices, then options such as axis=1"
    ),
    "scatter": _of_op(
        ScatterOp,
        "scatter(U, I, B): updates, indices and base, then options such as axis=1",
    ),
    "argsort": _of_op(
        ArgsortOp,
        "argsort(X, 0, order=descending): a tensor and an axis, the last by default",
        integers=1,
    ),
    "broadcast": SpecialFunction(
        "broadcast(M, N): sizes, of which those other than 1 are equal",
        lambda given: given.special.broadcast(given.sizes, given.location),
        tensors=0,
        sizes=None,
        least_sizes=1,
        gives_size=True,
    ),
    "match": SpecialFunction(
        "match(M, N): two sizes",
        _match,
        tensors=0,
        sizes=2,
        gives_size=True,
        compares=True,
    ),
    "mad": SpecialFunction("mad(A, B, C): A * B + C", _multiply_add, tensors=3),
    "gradient": SpecialFunction(
        "the loss and the tensor to differentiate it by: gradient(L, X)",
        _gradient,
        tensors=2,
        shape=lambda shapes, sizes, options: shapes[1],
    ),
    "as_bool": SpecialFunction("as_bool(X)", _as_bool),
    "builtin_softmax": SpecialFunction(
        "builtin_softmax(X, M, N): a tensor and its two sizes", _softmax, sizes=2
    ),
    "builtin_logsoftmax": SpecialFunction(
        "builtin_logsoftmax(X, M, N): a tensor and its two sizes",
        _log_softmax,
        sizes=2,
    ),
    "builtin_binary_crossentropy": SpecialFunction(
        "builtin_binary_crossentropy(O, T, 1): outputs, targets and how many there are",
        _binary_crossentropy,
        tensors=3,
    ),
}
"""The functions that are not in the element-wise table, and no conversions.

Those of tuples are not here, which only Tile text has, nor `index` and `prng_step`.
"""
