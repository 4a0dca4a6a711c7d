"""Operations run on arrays, beside what they have to give.

Operations of one test are one program, as a program takes longer than its operations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import gingham

Array: TypeAlias = NDArray[Any]
Operation: TypeAlias = (
    Callable[[Any], Any]
    | Callable[[Any, Any], Any]
    | Callable[[Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any, Any], Any]
)
Cases: TypeAlias = dict[str, tuple[Operation, Any]]
"""What is to be computed by its name, and what it has to give."""


def run(operation: Operation, *arrays: Any, device: str | None = "reference") -> Any:
    """The result of a function of tensors for arrays."""
    return gingham.jit(device=device)(any_function(operation))(*arrays)


def any_function(operation: Operation) -> Callable[..., Any]:
    """The function; tells the type checker that its arguments fit."""
    return operation


def check(
    cases: Cases,
    *arrays: Any,
    tolerance: float = 0,
    device: str | None = "reference",
) -> None:
    """Have each of several operations on the same arrays give what is expected.

    The element types have to be the same too, but that NumPy's integers of 64 bits are
    si32.
    """

    def every(*tensors: Any) -> dict[str, Any]:
        return {
            name: any_function(operation)(*tensors)
            for name, (operation, _) in cases.items()
        }

    results = run(every, *arrays, device=device)
    for name, (_, expected) in cases.items():
        check_same(name, results[name], expected, tolerance)


def check_same(name: str, result: Any, expected: Any, tolerance: float) -> None:
    """Have arrays be equal, or differ by a part of the largest element at most."""
    if isinstance(expected, list | tuple):
        several: Sequence[Any] = [*expected]
        assert len(result) == len(several), name
        for one, other in zip(result, several, strict=True):
            check_same(name, one, other, tolerance)
        return
    found, wanted = np.asarray(result), np.asarray(expected)
    if wanted.dtype == np.int64:
        wanted = wanted.astype(np.int32)
    assert found.dtype == wanted.dtype, f"{name}: {found.dtype} for {wanted.dtype}"
    assert found.shape == wanted.shape, f"{name}: {found.shape} for {wanted.shape}"
    scale = np.max(np.abs(wanted), initial=1, where=np.isfinite(wanted))
    np.testing.assert_allclose(
        found, wanted, rtol=0, atol=tolerance * float(scale), err_msg=name
    )


def integers(*shape: int, seed: int = 0, dtype: str = "float32") -> Array:
    """Small integers, so that sums are exact in any order."""
    generator = np.random.default_rng([seed, *shape])
    return generator.integers(-9, 10, shape).astype(dtype)


def normals(*shape: int, seed: int = 0) -> Array:
    """Random numbers of both signs."""
    return np.random.default_rng([seed, *shape]).standard_normal(shape, np.float32)


def check_slopes(
    cases: Mapping[str, tuple[Operation, Operation]],
    *arrays: Any,
    tolerance: float = 1e-5,
) -> None:
    """Have the gradients of each operation be those of the same in torch."""
    import torch

    def every(*tensors: Any) -> dict[str, Any]:
        results = {
            name: any_function(operation)(*tensors)
            for name, (operation, _) in cases.items()
        }
        return {
            name: gingham.gradient(result * result, list(tensors))
            for name, result in results.items()
        }

    found = run(every, *arrays)
    for name, (_, reference) in cases.items():
        tensors = [torch.tensor(array, requires_grad=True) for array in arrays]
        (any_function(reference)(*tensors) ** 2).sum().backward()
        wanted = [_gradient_of(tensor) for tensor in tensors]
        check_same(name, found[name], wanted, tolerance)


def _gradient_of(tensor: Any) -> Array:
    if tensor.grad is None:
        return np.zeros(tuple(tensor.shape), np.float32)
    return np.asarray(tensor.grad)
