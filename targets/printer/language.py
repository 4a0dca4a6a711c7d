"""What a language like C has to say for kernels to be printed in it.

The printer writes loops, conditions, index arithmetic and the order of statements,
which OpenCL C and C have alike. A `Language` spells what they have not: where a kernel
begins, which work-item it is, memory, vectors and functions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from xdsl.ir import Attribute

from ...dialects.eltwise.table import Function
from ...dialects.opencl.attributes import WorkItemQuery
from ...dialects.opencl.control_flow import ForOp
from ...dialects.opencl.kernel import KernelOp
from ...dialects.stripe.attributes import MemorySpace
from .expressions import Expression
from .types import CType


class Language(ABC):
    """One language, and what the kernels that were printed so far need of it."""

    name: ClassVar[str]
    """What errors call it: `OpenCL C`."""
    has_native_functions: ClassVar[bool] = False
    """Whether the native texts of functions are in this language."""

    def __init__(self) -> None:
        self._helpers: dict[str, None] = {}
        self._elements: set[Attribute] = set()

    def need(self, definition: str | None) -> None:
        """Have a function of ours defined, in front of all that calls it."""
        if definition is not None:
            self._helpers[definition] = None

    def need_element(self, element: Attribute) -> None:
        """Know of an element type that kernels have."""
        self._elements.add(element)

    def include(self, other: Language) -> None:
        """Need what kernels that were printed in another instance need."""
        self._helpers |= other._helpers
        self._elements |= other._elements

    def text(self, definitions: Sequence[str]) -> str:
        """The whole text, of kernels and functions that have been printed."""
        helpers = ["".join(self._helpers)] if self._helpers else []
        return "\n".join([*self._beginning(), *helpers, *definitions])

    # Kernels.

    @abstractmethod
    def _beginning(self) -> Sequence[str]:
        """What stands in front of all, each a paragraph."""

    @abstractmethod
    def kernel(self, kernel: KernelOp, name: str) -> tuple[Sequence[str], str]:
        """Lines in front of a kernel, and what stands before its parameters.

        Raises GinghamError for a kernel that the language cannot have.
        """

    @abstractmethod
    def kernel_parameters(self) -> Sequence[str]:
        """The parameters of a kernel beside its buffers."""

    @abstractmethod
    def kernel_end(self, kernel: KernelOp, name: str) -> Sequence[str]:
        """Lines behind a kernel."""

    @abstractmethod
    def function(self, result: str, name: str) -> str:
        """What stands before the parameters of a function."""

    @abstractmethod
    def in_space(self, space: MemorySpace, declaration: str) -> str:
        """A declaration of an array, or of a pointer to what lies in a space."""

    @abstractmethod
    def work_item(self, kernel: KernelOp, query: WorkItemQuery, dimension: int) -> str:
        """A work-item's place along a dimension, as an expression."""

    @abstractmethod
    def barrier(self, space: MemorySpace, *, is_asynchronous: bool) -> str | None:
        """The statement that waits for all of the work-group, if there is one.

        Where it is asynchronous, it waits for what is being copied before.
        """

    @abstractmethod
    def loop_marks(self, loop: ForOp) -> Sequence[str]:
        """Lines in front of a loop that say how it is to be unrolled."""

    # Memory. A position is the text of a pointer.

    @abstractmethod
    def load(
        self, type: CType, position: str, aligned: MemorySpace | None = None
    ) -> str:
        """A vector that is read; where it is aligned, it is told from which memory."""

    @abstractmethod
    def store(
        self,
        value: str,
        type: CType,
        position: str,
        aligned: MemorySpace | None = None,
        *,
        streams: bool,
    ) -> str:
        """The statement that writes a vector, past the caches where it `streams`.

        Where it is aligned, it is told to which memory it goes.
        """

    @abstractmethod
    def copy_asynchronously(
        self, type: CType, target: str, source: str, condition: str | None = None
    ) -> str:
        """The statement that begins to copy a value from global to local memory.

        Where a condition fails, that sets zeros.
        """

    @abstractmethod
    def prefetch(self, scalar: str, position: str) -> str:
        """The statement that fetches what is read soon."""

    @abstractmethod
    def to_memory(self, operand: Expression) -> str:
        """A value as it is stored: a truth value is a byte, 0 or 1."""

    @abstractmethod
    def from_memory(self, text: str, type: CType) -> Expression:
        """What was read, as a value of a type that `c_type` gives."""

    # Values.

    @abstractmethod
    def literal(self, number: float, type: CType) -> str:
        """A number of a scalar type, or a vector of it."""

    @abstractmethod
    def broadcast(self, operand: Expression, type: CType) -> Expression:
        """A scalar in every lane of a vector type."""

    @abstractmethod
    def shuffle(
        self, lanes: Sequence[tuple[Expression, int]], type: CType
    ) -> Expression:
        """Lanes of vectors and scalars as a value of a type that `c_type` gives."""

    @abstractmethod
    def apply(
        self, function: Function, operands: Sequence[Expression], result: Attribute
    ) -> Expression:
        """A function of the table, with a result of an element type.

        The operands of all but `add` and `sub` are atoms.
        """

    @abstractmethod
    def cast(self, operand: Expression, target: Attribute) -> Expression:
        """An element-wise conversion, as the reference interpreter defines it."""

    @abstractmethod
    def bitcast(self, operand: Expression, type: CType) -> Expression:
        """The same bits as a value of another type."""

    @abstractmethod
    def divide(self, operand: Expression, divisor: Expression) -> Expression:
        """A vector of f32 divided by a number."""

    @abstractmethod
    def numbers(self, form: str, type: CType, step: int | None) -> Expression:
        """A form of indices as an integer type; with a step, one for each lane."""
