"""What is known of tensors while a program is made is what the passes find out."""

from xdsl.dialects.builtin import TensorType

from gingham.edsl import (
    Placeholder,
    Tensor,
    TensorIndexes,
    TensorOutput,
    argsort,
    cast,
    einsum,
    gather,
)
from gingham.frontend.edsl.dtypes import element_type
from gingham.frontend.edsl.known_types import type_of


def test_sizes_and_types_are_known_as_tensors_are_made() -> None:
    A = Placeholder("float32", [2, 3], "A")
    I = Placeholder("int32", [4], "I")
    i, j = TensorIndexes(2)
    O = TensorOutput(3, 2)
    O[j, i] = A[i, j]
    chosen = gather(O * 2, I, axis=1)
    several: list[tuple[Tensor, list[int], str]] = [
        (A / 2 + 1.5, [2, 3], "float32"),
        (A < I.shape[0], [2, 3], "bool"),
        (cast(A, "int8").reshape(3, 2), [3, 2], "int8"),
        (chosen, [3, 4], "float32"),
        (einsum("ij,jk->ik", A, chosen), [2, 4], "float32"),
        (argsort(chosen), [3, 4], "int32"),
    ]
    for tensor, sizes, dtype in several:
        node = tensor.node
        element = element_type(dtype)
        assert list(node.known_sizes or ()) == sizes
        assert node.known_element == element
        assert type_of(node) == TensorType(element, sizes)
