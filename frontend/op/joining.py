"""Tensors put together along an axis, and taken apart."""

from __future__ import annotations

from collections.abc import Sequence

from ..edsl.locations import error
from ..edsl.tensors import Tensor
from .axes import Size, axis_of, indices, known_size, replaced, require_size, sizes_of
from .contractions import moved
from .operation import TensorLike, as_tensor, operation
from .shapes import unsqueeze
from .slicing import select_index

__all__ = ["concat", "concatenate", "split", "stack", "unstack"]


@operation
def concatenate(tensors: Sequence[TensorLike], axis: int = 0) -> Tensor:
    """Tensors behind each other along an axis, as NumPy's concatenate.

    Raises GinghamError for other sizes that differ.
    """
    several = [as_tensor(tensor) for tensor in tensors]
    if not several:
        raise error("expected at least one tensor to concatenate")
    place = axis_of(several[0], axis)
    first = sizes_of(several[0])
    for other in several[1:]:
        _check_alike(several[0], other, place)
    lengths = [sizes_of(tensor)[place] for tensor in several]
    sizes = replaced(first, place, _total(lengths))
    result: Tensor | None = several[0] if len(several) == 1 else None
    start: Size = 0
    for tensor, length in zip(several, lengths, strict=True):
        if len(several) > 1:
            source = indices(len(sizes))
            target = replaced(source, place, source[place] + start)
            result = moved(tensor, sizes, target, source, default=result)
        start = start + length
    if result is None:
        raise ValueError("expected at least one tensor")
    return result


def _total(lengths: Sequence[Size]) -> Size:
    total: Size = 0
    for length in lengths:
        total = total + length
    return total


def _check_alike(first: Tensor, other: Tensor, but: int) -> None:
    if first.ndim != other.ndim:
        raise error(
            f"tensors of {first.ndim} and {other.ndim} axes cannot be concatenated"
        )
    for axis, size in enumerate(sizes_of(first)):
        if axis != but:
            require_size(other, axis, size, "as of the first tensor")


concat = concatenate


@operation
def stack(tensors: Sequence[TensorLike], axis: int = 0) -> Tensor:
    """Tensors of one shape along a new axis, as NumPy's stack."""
    several = [as_tensor(tensor) for tensor in tensors]
    if not several:
        raise error("expected at least one tensor to stack")
    place = axis_of(several[0], axis, 1)
    return concatenate([unsqueeze(tensor, place) for tensor in several], place)


@operation
def split(
    x: TensorLike, sections: int | Sequence[Size], axis: int = 0
) -> tuple[Tensor, ...]:
    """Parts along an axis: so many of one size, or of these sizes, as ONNX's Split.

    Of parts that are counted the last is smaller where the axis is no multiple.
    """
    x = as_tensor(x)
    place = axis_of(x, axis)
    sizes = sizes_of(x)
    lengths = _part_sizes(sizes[place], sections)
    parts: list[Tensor] = []
    start: Size = 0
    for length in lengths:
        source = indices(x.ndim)
        target = replaced(source, place, source[place] - start)
        parts.append(moved(x, replaced(sizes, place, length), target, source))
        start = start + length
    return tuple(parts)


def _part_sizes(size: Size, sections: int | Sequence[Size]) -> list[Size]:
    if isinstance(sections, Sequence):
        number, whole = known_size(size), known_size(_total(sections))
        if None not in (number, whole) and number != whole:
            raise error(f"parts of {whole} elements in all, of an axis of {number}")
        return [*sections]
    if sections < 1:
        raise error(f"expected at least one part, got {sections}")
    length = (size + (sections - 1)) // sections
    return [*[length] * (sections - 1), size - length * (sections - 1)]


@operation
def unstack(x: TensorLike, axis: int = 0) -> tuple[Tensor, ...]:
    """What stands at each place of an axis, which is gone, as torch.unbind.

    Raises GinghamError where the size of the axis is not known.
    """
    x = as_tensor(x)
    place = axis_of(x, axis)
    sizes = sizes_of(x)
    return tuple(select_index(x, number, place) for number in range(int(sizes[place])))
