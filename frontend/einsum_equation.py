"""The equation of an einsum: `"ij,jk->ik"` or lists of labels, as NumPy has them.

`parse_equation` and `equation_of_lists` read the two forms; `Equation.product` gives
every axis of operands of certain shapes its label: an ellipsis becomes the axes that
stand in its place, and an axis of size 1 that is repeated to fit others has no label.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from types import EllipsisType
from typing import TypeAlias

from ..errors import GinghamError, SourceLocation
from ..limits import MOST_OPERANDS

ELLIPSIS = "..."
"""Stands among labels for any number of axes."""

Label: TypeAlias = str
"""A letter, the digits of a number, or `...1` for the last axis of an ellipsis."""

Shape: TypeAlias = Sequence[int | None]
"""The size of each axis; None where it is not known."""


@dataclass(frozen=True)
class Term:
    """The labels of one tensor, one of which may be `ELLIPSIS`, and their place."""

    labels: tuple[Label, ...]
    location: SourceLocation | None = None

    @property
    def has_ellipsis(self) -> bool:
        """Whether axes are left to the tensor's rank."""
        return ELLIPSIS in self.labels

    def __str__(self) -> str:
        is_text = all(len(label) == 1 and label.isalpha() for label in self._named())
        return f"'{''.join(self.labels)}'" if is_text else f"[{', '.join(self.labels)}]"

    def _named(self) -> tuple[Label, ...]:
        return tuple(label for label in self.labels if label != ELLIPSIS)


@dataclass(frozen=True)
class Product:
    """A product of tensors, summed over the labels that its result does not have."""

    operands: tuple[tuple[Label | None, ...], ...]
    """The label of each axis of each operand; None where index 0 is always read."""
    output: tuple[Label, ...]


@dataclass(frozen=True)
class Equation:
    """The labels of the operands and, where they are written, of the result."""

    inputs: tuple[Term, ...]
    output: Term | None
    location: SourceLocation | None = None

    def product(
        self, shapes: Sequence[Shape]
    ) -> tuple[Product, dict[Label, int | None]]:
        """The product for operands of these shapes, and the size of each label.

        Raises GinghamError for a number of operands or axes that the equation does not
        have, and for sizes of one label that differ.
        """
        if len(shapes) != len(self.inputs):
            raise GinghamError(
                f"the equation has {_count(len(self.inputs), 'operand')}, got "
                f"{len(shapes)}",
                self.location,
            )
        axes = [
            _labels_of_axes(term, number, len(shape))
            for number, (term, shape) in enumerate(
                zip(self.inputs, shapes, strict=True)
            )
        ]
        sizes = _sizes(self.inputs, axes, shapes)
        operands = tuple(
            tuple(
                None if size == 1 and sizes[label] != 1 else label
                for label, size in zip(labels, shape, strict=True)
            )
            for labels, shape in zip(axes, shapes, strict=True)
        )
        return Product(operands, self._output(sizes)), sizes

    def _output(self, labels: Collection[Label]) -> tuple[Label, ...]:
        """The labels of the result, of all that the operands' axes have."""
        ellipsis = sorted(
            (label for label in labels if is_from_ellipsis(label)),
            key=lambda label: -int(label.removeprefix(ELLIPSIS)),
        )
        if self.output is None:
            counts = Counter(label for term in self.inputs for label in term.labels)
            del counts[ELLIPSIS]
            once = [label for label, count in counts.items() if count == 1]
            return (*ellipsis, *sorted(once, key=_alphabetical))
        if ellipsis and not self.output.has_ellipsis:
            raise GinghamError(
                f"the result {self.output} has no place for "
                f"{_count(len(ellipsis), 'axis', 'axes')} of '...'",
                self.output.location,
                "write '...' in the result, too, or sum over a labelled axis",
            )
        result: list[Label] = []
        for label in self.output.labels:
            result += ellipsis if label == ELLIPSIS else [label]
        return tuple(result)


def parse_equation(text: str) -> Equation:
    """The equation of a text such as `"ij,jk"`, `"...i->..."` or `"ij, jk -> ik"`.

    Labels are letters. Raises GinghamError, located in the text.
    """
    body, arrow, result = text.partition("->")
    _check_operands(body.count(",") + 1)
    inputs: list[Term] = []
    start = 0
    for part in body.split(","):
        inputs.append(_parse_term(text, start, start + len(part)))
        start += len(part) + 1
    output = None
    if arrow:
        output = _parse_term(text, len(text) - len(result), len(text))
    return _checked(Equation(tuple(inputs), output, _place(text, 0, len(text))))


def equation_of_lists(
    inputs: Sequence[Sequence[object]], output: Sequence[object] | None
) -> Equation:
    """The equation of lists of labels: integers from 0, and `...` itself."""
    _check_operands(len(inputs))
    terms = tuple(_term_of_list(labels) for labels in inputs)
    return _checked(Equation(terms, None if output is None else _term_of_list(output)))


def _check_operands(count: int) -> None:
    if count > MOST_OPERANDS:
        raise GinghamError(f"expected at most {MOST_OPERANDS} operands, got {count}")


def _place(text: str, start: int, end: int) -> SourceLocation:
    return SourceLocation("<einsum>", 1, start + 1, text, max(end - start, 1))


def _parse_term(text: str, start: int, end: int) -> Term:
    labels: list[Label] = []
    position = start
    while position < end:
        character = text[position]
        if text.startswith(ELLIPSIS, position, end):
            if ELLIPSIS in labels:
                raise GinghamError(
                    "a second '...' in one operand",
                    _place(text, position, position + 3),
                )
            labels.append(ELLIPSIS)
            position += 3
            continue
        if character.isalpha():
            labels.append(character)
        elif not character.isspace():
            raise _unexpected(text, position)
        position += 1
    # What is shown of a term are its labels, without the blanks around them.
    part = text[start:end]
    start += len(part) - len(part.lstrip())
    return Term(tuple(labels), _place(text, start, start + len(part.strip())))


def _unexpected(text: str, position: int) -> GinghamError:
    character = text[position]
    hints = {
        ".": "an ellipsis is three dots, '...'",
        "-": "the result stands behind '->', once",
        ">": "the result stands behind '->', once",
        ",": "there is one result, behind '->'",
    }
    return GinghamError(
        f"expected a label, which is a letter, got '{character}'",
        _place(text, position, position + 1),
        hints.get(character),
    )


def _term_of_list(labels: Sequence[object]) -> Term:
    names: list[Label] = []
    for label in labels:
        if isinstance(label, EllipsisType):
            names.append(ELLIPSIS)
        elif isinstance(label, int) and not isinstance(label, bool) and label >= 0:
            names.append(str(label))
        else:
            raise GinghamError(
                f"expected a label, which is an integer from 0 or ..., got {label!r}"
            )
    if names.count(ELLIPSIS) > 1:
        raise GinghamError("a second '...' in one operand")
    return Term(tuple(names))


def _checked(equation: Equation) -> Equation:
    """The equation; raises GinghamError for a result that does not follow from it."""
    output = equation.output
    if output is None:
        return equation
    known = {label for term in equation.inputs for label in term.labels}
    for label, count in Counter(output.labels).items():
        if label != ELLIPSIS and label not in known:
            raise GinghamError(
                f"the label '{label}' of the result is in no operand",
                output.location,
                f"the operands have {', '.join(sorted(known, key=_alphabetical))}",
            )
        if count > 1:
            raise GinghamError(
                f"the label '{label}' occurs {count} times in the result",
                output.location,
                "a diagonal can be read and not written; multiply by an identity",
            )
    return equation


def _count(number: int, noun: str, plural: str | None = None) -> str:
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def _alphabetical(label: Label) -> tuple[int, str]:
    """Capital letters before small ones, numbers by their value."""
    return len(label), label


def is_from_ellipsis(label: Label) -> bool:
    """Whether it is the label of an axis that an ellipsis stands for."""
    return label.startswith(ELLIPSIS)


def _labels_of_axes(term: Term, number: int, rank: int) -> tuple[Label, ...]:
    """The label of each axis of an operand; an ellipsis has `...2`, `...1`."""
    count = len(term.labels)
    if not term.has_ellipsis:
        if count != rank:
            raise GinghamError(
                f"operand {number} has {_count(rank, 'axis', 'axes')}, {term} has "
                f"{_count(count, 'label')}",
                term.location,
                "'...' stands for the other axes" if count < rank else None,
            )
        return term.labels
    free = rank - (count - 1)
    if free < 0:
        raise GinghamError(
            f"operand {number} has {_count(rank, 'axis', 'axes')}, {term} has "
            f"{_count(count - 1, 'label')}",
            term.location,
        )
    at = term.labels.index(ELLIPSIS)
    between = tuple(f"{ELLIPSIS}{axis}" for axis in range(free, 0, -1))
    return (*term.labels[:at], *between, *term.labels[at + 1 :])


def _sizes(
    terms: Sequence[Term], axes: Sequence[Sequence[Label]], shapes: Sequence[Shape]
) -> dict[Label, int | None]:
    """The size of each label: what all its axes have, but for those of size 1.

    Within one operand even those of size 1 have to agree, as in NumPy.
    """
    sizes: dict[Label, int | None] = {}
    places: dict[Label, int] = {}
    for number, (labels, shape) in enumerate(zip(axes, shapes, strict=True)):
        own: dict[Label, int | None] = {}
        for label, size in zip(labels, shape, strict=True):
            first = own.setdefault(label, size)
            if None not in (first, size) and first != size:
                raise GinghamError(
                    f"{_described(label)} is {first} and {size} in operand {number}",
                    terms[number].location,
                )
            known = sizes.get(label, 1)
            if known == 1 or (known is None and size not in (None, 1)):
                sizes[label], places[label] = size, number
            elif None not in (known, size) and size not in (1, known):
                raise GinghamError(
                    f"{_described(label)} is {known} in operand {places[label]} and "
                    f"{size} in operand {number}",
                    terms[number].location,
                    "axes with one label are of one size, or of size 1",
                )
    return sizes


def _described(label: Label) -> str:
    if not is_from_ellipsis(label):
        return f"the label '{label}'"
    return f"axis -{label.removeprefix(ELLIPSIS)} of '...'"
