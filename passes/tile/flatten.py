"""`tile-flatten`: the index space of each contraction becomes a box.

```mlir
%O = tile.contract max over [x, i] %I[x + i - 1] -> [x : 8] where 0 <= i < 3
    : (tensor<8xf32>) -> tensor<8xf32>
%U = tile.contract add over [x, i] %I[x] -> [2 * x + i : 16] where 0 <= i < 4
    : (tensor<8xf32>) -> tensor<16xf32>
%S = tile.contract add over [x, i] %I[2 * x + i] -> [] where 0 <= i < 2
    : (tensor<8xf32>) -> tensor<f32>
%H = tile.contract add over [i] %I[i / 2] -> [i : 8] : (tensor<8xf32>) -> tensor<8xf32>
```

becomes

```mlir
%O = tile.contract max over [x : 8 | i : 3] %I[x + i - 1] -> [x : 8]
    where 0 <= x + i - 1, 0 <= -x - i + 8 : (tensor<8xf32>) -> tensor<8xf32>
%U = tile.contract add over [x_0 : 8, i_0 : 2 | x_1 : 2] %I[x_0 + x_1 - 1]
    -> [2 * x_0 + i_0 : 16] where 0 <= x_0 + x_1 - 1
    : (tensor<8xf32>) -> tensor<16xf32>
%S = tile.contract add over [| x_0 : 8] %I[x_0] -> [] : (tensor<8xf32>) -> tensor<f32>
%H = tile.contract add over [i_0 : 4] %I[i_0] -> [2 * i_0 : 8]
    : (tensor<8xf32>) -> tensor<8xf32>
```

Every index has a range that starts at 0, every access is integral, and the constraints
are those that neither the ranges nor the other constraints imply. The indices before
the bar decide the cell of the result, those behind it only aggregate. An index that
keeps its meaning up to a constant keeps its name. Where several points go to one cell
with a stride, the place in the result is taken apart into digits, as in `%U`; indices
that are contiguous in all tensors become one, as in `%S`. An index that only counts
points, as k in `+(A[i]), k < 1000`, is gone: the sum is multiplied by 1000. What is
proven on the way: every index is bounded, and an `assign` writes no cell twice. One
contraction written with other indices becomes the same box, but for names.

A contraction without any point is its default, where it has one; else it keeps a range
of 0 and gives zeros. Source of the mathematics: `gingham.affine.flatten`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import lcm

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...affine.flatten import FlatContraction, UnboundedIndex, flatten_contraction
from ...affine.form import LinearForm, Rational
from ...affine.merging import Merging, merge_contiguous
from ...affine.multiplicity import without_repetition
from ...affine.polyhedron import Polyhedron, Unbounded
from ...affine.polynomial import Polynomial
from ...dialects.aggregation import Aggregation
from ...dialects.eltwise.ops import ANY_ELEMENT
from ...dialects.tile import ContractOp
from ...dialects.tile.attributes import Constraint
from ...errors import GinghamError
from ...limits import LARGEST_INTEGER
from ..locations import error_at, located
from .repetition import replace_repeated

_Bounded = tuple[LinearForm, int]
"""`0 <= form < bound`, the form with integer coefficients."""


@dataclass(frozen=True)
class TileFlattenPass(ModulePass):
    """Give every index of every contraction a range that starts at 0."""

    name = "tile-flatten"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Flatten all contractions that are not flat.

        Raises GinghamError, located, for an index without bounds, and for an assignment
        with two points on one cell.
        """
        for contraction in [c for c in op.walk() if isinstance(c, ContractOp)]:
            if not contraction.is_flat:
                _flatten(contraction)


def _flatten(op: ContractOp) -> None:
    flat = flat_form(op)
    default = op.default
    if flat.is_empty and default is not None and default.type == op.result.type:
        op.result.replace_all_uses_with(default)
        Rewriter.erase_op(op)
        return
    _check_width(op, flat)
    count = 1
    if op.aggregation.data is Aggregation.ASSIGN and not flat.is_empty:
        _check_single_assignment(op, flat)
    elif not flat.is_empty:
        count, flat = without_repetition(flat)
    names = _index_names(op, flat)
    merging = _merging(flat)
    accesses = [_polynomials(map(merging.apply, access)) for access in flat.accesses]
    new = ContractOp(
        op.aggregation.data,
        op.combination.data,
        op.inputs,
        _merged_names(op, flat, names, merging),
        accesses[0],
        accesses[1:],
        op.result.type,
        constraints=[
            Constraint(p) for p in _polynomials(map(merging.apply, flat.constraints))
        ],
        default=op.default,
        ranges=merging.ranges,
        output_rank=sum(group[0] < flat.output_rank for group in merging.groups),
    )
    if count > 1 and op.aggregation.data in (Aggregation.ADD, Aggregation.MUL):
        replace_repeated(op, new, count)
        return
    new.attributes |= op.attributes
    Rewriter.replace_op(op, located(new, op))


def _merging(flat: FlatContraction) -> Merging:
    """The indices that can be one; not one before the bar with one behind it."""
    rank = len(flat.ranges)
    forms = [*(form for access in flat.accesses for form in access), *flat.constraints]
    return merge_contiguous(
        flat.ranges,
        forms,
        [range(flat.output_rank), range(flat.output_rank, rank)],
    )


def _polynomials(forms: Iterable[LinearForm]) -> list[Polynomial]:
    return [Polynomial.from_form(form) for form in forms]


def flat_form(op: ContractOp) -> FlatContraction:
    """The flat form of a contraction whose sizes are known; else GinghamError."""
    shapes = _shapes(op)
    output, *inputs = op.linear_accesses()
    rank = len(op.indices)
    constraints, one_sided = _constraints(op)
    try:
        if one_sided:
            accesses = zip((output, *inputs), shapes, strict=True)
            axes = [axis for pair in accesses for axis in zip(*pair, strict=True)]
            limits = [*(_in_bounds(*axis) for axis in axes), *constraints]
            constraints += _bound(rank, one_sided, limits)
        return flatten_contraction(rank, output, inputs, shapes, constraints)
    except UnboundedIndex as error:
        raise _unbounded(op, error.indices) from None
    except Unbounded as error:
        raise _unbounded(op, [error.dimension]) from None
    except GinghamError as error:
        raise error_at(op, error.message, error.hint) from None


def _shapes(op: ContractOp) -> list[tuple[int, ...]]:
    shapes: list[tuple[int, ...]] = []
    for type in (op.result.type, *(value.type for value in op.inputs)):
        if (
            op.symbols
            or not isinstance(type, TensorType)
            or not type.has_static_shape()
            or type.get_element_type() == ANY_ELEMENT
        ):
            raise error_at(
                op,
                "expected tensors and index expressions of known sizes and types, got "
                f"{type}",
                "run tile-specialize first",
            )
        shapes.append(type.get_shape())
    return shapes


def _constraints(op: ContractOp) -> tuple[list[_Bounded], list[LinearForm]]:
    """The constraints with an upper bound, and the forms of those without, as integers.

    A constraint need not be an integer: `0 <= i / 2 < 3` is `0 <= i < 6`.
    """
    rank = len(op.indices)
    bounded: list[_Bounded] = []
    one_sided: list[LinearForm] = []
    for condition in op.conditions:
        form = condition.expression.form(rank)
        if condition.bound is None:
            one_sided.append(_scaled((form, 0))[0])
        else:
            bounded.append(_scaled((form, condition.bound.form(rank).constant)))
    return bounded, one_sided


def _scaled(condition: tuple[LinearForm, Rational]) -> _Bounded:
    """`0 <= form < bound` in integers."""
    form, bound = condition
    parts = (*form.coefficients, form.constant, bound)
    scale = lcm(*(part.denominator for part in parts))
    return form * scale, (bound * scale).numerator


def _in_bounds(form: LinearForm, size: int) -> _Bounded:
    """What an access along an axis of this size says, but for being an integer."""
    numerator, end = _scaled((form, size))
    denominator = end // size if size else 1
    return numerator, end - denominator + 1


def _bound(
    rank: int, one_sided: Sequence[LinearForm], limits: Sequence[_Bounded]
) -> list[_Bounded]:
    """Upper bounds for forms >= 0 that no point within the limits exceeds anyway.

    Raises `Unbounded` when the limits and the forms leave infinitely many points.
    """
    sides = [side for form, end in limits for side in (form, -form + (end - 1))]
    bounds = Polyhedron(rank, (*sides, *one_sided)).bounds()
    if bounds is None:
        # No point at all: any bound excludes what is left.
        return [(form, 0) for form in one_sided]
    lows = [low for low, _ in bounds]
    ranges = [high - low + 1 for low, high in bounds]
    shifted = (form + (form.evaluate(lows) - form.constant) for form in one_sided)
    highs = (form.bounds(ranges)[1].numerator for form in shifted)
    return [(form, high + 1) for form, high in zip(one_sided, highs, strict=True)]


def _unbounded(op: ContractOp, indices: Sequence[int]) -> GinghamError:
    name, *others = [op.index_names[number] for number in indices]
    together = " and ".join(f"'{other}'" for other in others)
    reason = f"'{name}' and {together} can grow together" if others else "it can grow"
    return error_at(
        op,
        f"nothing bounds the index '{name}'",
        f"{reason} without leaving any tensor; add a constraint such as {name} < 3",
    )


def _check_width(op: ContractOp, flat: FlatContraction) -> None:
    """Raise GinghamError where kernels can not compute what points are with."""
    if flat.is_empty:
        return
    forms = [*(form for access in flat.accesses for form in access), *flat.constraints]
    values = [value for form in forms for value in form.bounds(flat.ranges)]
    if max(map(abs, (*values, *flat.ranges)), default=0) > LARGEST_INTEGER:
        raise error_at(op, "values of its indices do not fit 64 bits")


def _check_single_assignment(op: ContractOp, flat: FlatContraction) -> None:
    """Raise GinghamError with two points that assign one cell, if there are any."""
    if flat.output_rank == len(flat.ranges):
        return
    points = Polyhedron.box(flat.ranges, flat.constraints)
    try:
        collision = points.find_collision(flat.accesses[0])
    except GinghamError as error:
        raise error_at(
            op,
            f"it can not be decided whether a cell is assigned twice: {error.message}",
            "another aggregation, such as max, needs no such proof",
        ) from None
    if collision is None:
        return
    cell = ", ".join(str(form.evaluate(collision[0])) for form in flat.accesses[0])
    first, second = (_show(op, flat, point) for point in collision)
    raise error_at(
        op,
        f"{op.result.name_hint or 'the result'}[{cell}] is assigned twice: "
        f"at {first} and at {second}",
        "aggregate with + or >, or constrain the indices to one point for each cell",
    )


def _show(op: ContractOp, flat: FlatContraction, point: Sequence[int]) -> str:
    """A point in terms of the indices of the program."""
    values = [form.evaluate(point) for form in flat.substitution]
    pairs = zip(op.index_names, values, strict=True)
    return ", ".join(f"{name} = {value}" for name, value in pairs)


def _index_names(op: ContractOp, flat: FlatContraction) -> list[str]:
    """Names for the new indices, all different.

    An index that equals an old one up to a constant keeps its name. One that is the
    place along axis 1 of the result is `o1`; another is named after an old index that
    it is a part of, or the opposite of, `x_0`.
    """
    old = op.index_names
    if flat.is_empty:
        return [*old[:1]] or ["i"]
    names = [None if number is None else old[number] for number in flat.names_of]
    taken = {*old, *names}
    for index in range(len(flat.ranges)):
        if names[index] is not None:
            continue
        names[index] = _new_name(op, flat, index, taken)
        taken.add(names[index])
    return [name for name in names if name is not None]


def _new_name(
    op: ContractOp, flat: FlatContraction, index: int, taken: set[str | None]
) -> str:
    for axis, form in enumerate(flat.accesses[0]):
        if _is_place(form, index):
            return _unique(f"o{axis}", taken)
    uses = zip(op.index_names, flat.substitution, strict=True)
    parts = [(len(form.support), n) for n, form in uses if form.coefficients[index]]
    _, name = min(parts, key=lambda part: part[0], default=(0, "z"))
    return _unique(f"{name}_0", taken)


def _merged_names(
    op: ContractOp, flat: FlatContraction, names: Sequence[str], merging: Merging
) -> list[str]:
    """The names after merging: a merged index is named as a new one is."""
    result: list[str] = []
    taken: set[str | None] = {*op.index_names, *names}
    for number, group in enumerate(merging.groups):
        name = names[group[0]]
        if len(group) > 1:
            access = map(merging.apply, flat.accesses[0])
            axes = [a for a, form in enumerate(access) if _is_place(form, number)]
            name = _unique(f"o{axes[0]}" if axes else f"{name}_0", taken)
            taken.add(name)
        result.append(name)
    return result


def _is_place(form: LinearForm, index: int) -> bool:
    """Whether a form is the index, but for a constant."""
    return (form + -form.constant).single_dimension == index


def _unique(name: str, taken: set[str | None]) -> str:
    """`name`, or with the next number at its end that is free."""
    stem = name.rstrip("0123456789")
    number = int(name[len(stem) :])
    while f"{stem}{number}" in taken:
        number += 1
    return f"{stem}{number}"
