"""`gingham.jit`: what is traced when, arguments and results, and mistakes."""

# A comparison that stands alone writes a contraction.
# pyright: reportUnusedExpression=false

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from edsl_programs import binary, floats, integers

import gingham
from gingham.edsl import (
    DType,
    Placeholder,
    Tensor,
    TensorDims,
    TensorIndex,
    TensorIndexes,
    TensorOutput,
    as_dim,
    cast,
    exp,
    jit,
    max,
)
from gingham.errors import GinghamError
from gingham.frontend.tile_text import parse_tile


class Pair(NamedTuple):
    first: Any
    second: Any


def product(A: Tensor, B: Tensor) -> Tensor:
    I, J, K = TensorDims(3)
    i, j, k = TensorIndexes(3)
    A.bind_dims(I, K)
    B.bind_dims(K, J)
    C = TensorOutput(I, J)
    C[i, j] += A[i, k] * B[k, j]
    return C


def test_it_runs_on_the_default_device() -> None:
    f = gingham.jit(product)
    a, b = integers((5, 7)), integers((7, 3), seed=1)
    np.testing.assert_array_equal(f(a, b), a @ b)
    assert "__kernel" in f.source(a, b)


def test_it_is_the_program_of_its_text() -> None:
    f = jit(device="reference")(product)
    text = """function (A[I, K], B[K, J]) -> (C) {
      C[i, j : I, J] = +(A[i, k] * B[k, j]);
    }"""
    a, b = integers((5, 7)), integers((7, 3), seed=1)
    assert f.ir(a, b, stage="parsed") == str(parse_tile(text))


def test_sizes_need_no_new_trace() -> None:
    calls: list[Any] = []

    @jit(device="reference")
    def f(A: Tensor, B: Tensor) -> Tensor:
        calls.append(A)
        return product(A, B)

    for m, k, n in [(2, 3, 4), (1, 1, 1), (5, 2, 3), (2, 3, 4)]:
        a, b = integers((m, k)), integers((k, n), seed=1)
        np.testing.assert_array_equal(f(a, b), a @ b)
    assert (len(calls), f.trace_count) == (1, 1)


def test_ranks_and_element_types_need_a_new_trace() -> None:
    seen: list[tuple[int, DType]] = []

    @jit(device="reference")
    def f(x: Tensor) -> Tensor:
        seen.append((x.ndim, x.dtype))
        return x + 1

    for array in (
        integers((3,)),
        integers((4,)),
        integers((3, 2)),
        np.array([1, 2], np.int8),
    ):
        np.testing.assert_array_equal(f(array), array + 1)
    assert seen == [(1, DType.FLOAT32), (2, DType.FLOAT32), (1, DType.INT8)]


def test_a_size_that_is_looked_at_binds_the_trace_to_it() -> None:
    @jit(device="reference")
    def powers(x: Tensor) -> Tensor:
        (N,) = x.shape
        result = x
        for _ in range(int(N)):
            result = result * 2
        return result if N > 2 else -result

    for size in (1, 2, 3, 3, 1):
        x = integers((size,))
        expected = x * 2**size
        np.testing.assert_array_equal(powers(x), expected if size > 2 else -expected)
    assert powers.trace_count == 3


def test_sizes_and_types_of_computed_tensors_are_known() -> None:
    found: list[Any] = []

    @jit(device="reference")
    def f(a: Tensor, b: Tensor) -> Tensor:
        both = exp(cast(a, "int32")) + b
        found.append(([int(size) for size in both.shape], both.dtype))
        M, N = both.shape
        found.append((int(M * N - 1), bool(N == 3), f"{int(M)}"))
        return both

    f(integers((3,)), integers((2, 1), "float64"))
    assert found == [([2, 3], DType.FLOAT64), (5, True, "2")]


def test_an_integer_may_be_a_size() -> None:
    @jit(device="reference")
    def first(x: Tensor, n: Tensor) -> Tensor:
        i = TensorIndex()
        size = as_dim(n)
        O = TensorOutput(size)
        O[i] = x[i]
        return O

    @jit(device="reference")
    def doubled(x: Tensor, n: Tensor) -> Tensor:
        for _ in range(as_dim(n)):
            x = x * 2
        return x

    x = integers((5,))
    for n in (1, 3, 3):
        np.testing.assert_array_equal(first(x, n), x[:n])
        np.testing.assert_array_equal(doubled(x, n), x * 2**n)
    assert (first.trace_count, doubled.trace_count) == (1, 2)
    with pytest.raises(GinghamError, match="'n' is used as a size"):
        doubled(x, 1.5)


def test_static_arguments_choose_the_program() -> None:
    @jit(static=("axis", "scales"), device="reference")
    def f(x: Tensor, axis: int, scales: list[int], negate: bool = False) -> Tensor:
        sizes = x.shape
        indices = TensorIndexes(2)
        O = TensorOutput(sizes[1 - axis])
        O[indices[1 - axis]] += x[indices]
        scaled = O * scales[0]
        return -scaled if negate else scaled

    x = integers((3, 4))
    for axis in (0, 1):
        np.testing.assert_array_equal(f(x, axis, [2]), x.sum(axis=axis) * 2)
    np.testing.assert_array_equal(f(x, 1, scales=[3]), x.sum(axis=1) * 3)
    np.testing.assert_array_equal(f(x, 1, [3], negate=True), x.sum(axis=1) * -3)
    np.testing.assert_array_equal(f(x, 1, [3]), x.sum(axis=1) * 3)
    assert f.trace_count == 4


def test_equal_static_values_of_other_types_are_others() -> None:
    @jit(static="k", device="reference")
    def f(x: Tensor, k: Any) -> Tensor:
        return x * (1 if isinstance(k, int) else 2)

    x = integers((3,))
    np.testing.assert_array_equal(f(x, 1), x)
    np.testing.assert_array_equal(f(x, 1.0), x * 2)


def test_arguments_and_results_may_be_nested() -> None:
    @jit(device="reference")
    def f(parameters: dict[str, Any], *rest: Tensor, **named: Tensor) -> Any:
        w, (b, c) = parameters["w"], parameters["b"]
        pair = Pair(w + b, [c * rest[0], None])
        return {"pair": pair, "sum": (rest[1] + named["z"],), "name": None}

    w, b, c, x, y, z = (integers((2,), seed=n) for n in range(6))
    result = f({"w": w, "b": (b, c)}, x, y, z=z)
    assert type(result["pair"]) is Pair
    np.testing.assert_array_equal(result["pair"].first, w + b)
    np.testing.assert_array_equal(result["pair"].second[0], c * x)
    assert result["pair"].second[1] is None
    np.testing.assert_array_equal(result["sum"][0], y + z)
    ir = f.ir({"w": w, "b": (b, c)}, x, y, z=z, stage="parsed")
    names = '["parameters_w", "parameters_b_0", "parameters_b_1", "rest_0", "rest_1", '
    assert f'tile.inputs = {names}"named_z"]' in ir


def test_numbers_are_tensors_of_rank_0() -> None:
    f = jit(device="reference")(binary(lambda x, y: x * y))
    assert f(3, 4) == 12
    assert f(3, 4).dtype == np.int32
    assert f(3, 0.5).dtype == np.float32
    np.testing.assert_array_equal(f(np.array([1, 2]), 3), [3, 6])


def test_sizes_numbers_and_arrays_may_be_returned() -> None:
    constant = floats(4, 5)

    @jit(device="reference")
    def f(x: Tensor) -> Any:
        (N,) = x.shape
        return N * 2, 7, constant, x

    size, number, array, x = f(integers((3,)))
    assert (int(size), int(number)) == (6, 7)
    np.testing.assert_array_equal(array, [4, 5])
    np.testing.assert_array_equal(x, integers((3,)))


def test_arrays_of_the_function_are_constants() -> None:
    weights = floats(1, 2, 3)

    @jit(device="reference")
    def f(x: Tensor) -> Any:
        return weights * x + weights

    x = integers((3,))
    np.testing.assert_array_equal(f(x), floats(1, 2, 3) * (x + 1))
    weights[:] = 0
    np.testing.assert_array_equal(f(x), floats(1, 2, 3) * (x + 1))


def test_functions_call_each_other() -> None:
    inner = jit(device="reference")(product)

    @jit(device="reference")
    def outer(A: Tensor, B: Tensor) -> Tensor:
        return inner(inner(A, B), B)

    a, b = integers((2, 3)), integers((3, 3), seed=1)
    np.testing.assert_array_equal(outer(a, b), a @ b @ b)
    assert (outer.trace_count, inner.trace_count) == (1, 0)


class Model:
    """A model whose objects differ by how they scale."""

    def __init__(self, factor: int) -> None:
        self.factor = factor

    @jit(static="self", device="reference")
    def scaled(self, x: Tensor) -> Tensor:
        return x * self.factor


def test_methods_are_functions_of_their_object() -> None:
    x = integers((3,))
    first, second = Model(2), Model(3)
    for model in (first, second, first):
        np.testing.assert_array_equal(model.scaled(x), x * model.factor)
    assert Model.scaled.trace_count == 2


def test_wrong_arguments_are_those_of_python() -> None:
    with pytest.raises(TypeError, match="missing a required argument: 'B'"):
        jit(product)(integers((2, 2)))


def test_threads_share_a_trace() -> None:
    f = jit(device="reference")(product)
    a, b = integers((5, 7)), integers((7, 3), seed=1)
    results: list[Any] = []
    threads = [
        threading.Thread(target=lambda: results.append(f(a, b))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert f.trace_count == 1
    assert len(results) == 4
    for result in results:
        np.testing.assert_array_equal(result, a @ b)


def test_it_keeps_name_and_documentation() -> None:
    @jit
    def documented(x: Tensor) -> Tensor:
        """What it does."""
        return x

    assert getattr(documented, "__name__", None) == "documented"
    assert documented.__doc__ == "What it does."
    assert repr(documented) == "<gingham.jit of documented>"


# Mistakes


def error_of(function: Callable[[Any], Any], *arguments: Any) -> GinghamError:
    with pytest.raises(GinghamError) as caught:
        jit(device="reference")(function)(*arguments)
    return caught.value


def test_sizes_that_do_not_match_point_at_bind_dims() -> None:
    error = error_of(lambda pair: product(*pair), [integers((2, 3)), integers((4, 2))])
    assert error.message == "size K is 3 in pair_0 but 4 in pair_1"
    assert "    B.bind_dims(K, J)\n    ^" in str(error)


def test_a_tensor_of_another_call() -> None:
    kept: list[Tensor] = []

    def leaking(x: Tensor) -> Tensor:
        kept.append(x + 1)
        return x

    jit(device="reference")(leaking)(integers((2,)))
    error = error_of(lambda y: y * kept[0], integers((2,)))
    assert "belongs to a call of 'leaking' that is over" in error.message
    assert "y * kept[0]" in str(error)


def test_tensors_of_two_calls_at_once() -> None:
    outer: list[Tensor] = []

    def inner(y: Tensor) -> Tensor:
        return y + outer[0]

    def enclosing(x: Tensor) -> Tensor:
        outer.append(x)
        jit(device="reference")(inner)(integers((2,)))
        return x

    error = error_of(enclosing, integers((2,)))
    assert error.message == (
        "'y' belongs to a call of 'inner', and 'x' to another, of 'enclosing'"
    )


def test_a_placeholder_is_no_argument() -> None:
    P = Placeholder("float32", [2])
    error = error_of(lambda x: x + P, integers((2,)))
    assert error.message == "'P' is used, but no input of the program"
    assert "x + P" in str(error)


def test_nothing_is_returned() -> None:
    error = error_of(lambda x: None, integers((2,)))
    assert error.message == "'<lambda>' returns no tensor"


def test_text_is_returned() -> None:
    error = error_of(lambda x: (x, "done"), integers((2,)))
    assert error.message == "expected a tensor, a size or a number, got str"


def test_an_unknown_static_parameter() -> None:
    with pytest.raises(GinghamError, match="'product' has no parameter 'axis'"):
        jit(static="axis")(product)


def test_a_static_argument_without_a_hash() -> None:
    f = jit(static="k", device="reference")(binary(lambda x, k: x))
    with pytest.raises(GinghamError, match="the static argument 'k'"):
        f(integers((2,)), integers((3,)))


def test_an_argument_that_no_tensor_can_hold() -> None:
    error = error_of(lambda x: x, object())
    assert error.message == "input 'x' has elements of type object"


def test_a_truth_value_of_a_tensor() -> None:
    error = error_of(lambda x: x if x > 0 else -x, integers((2,)))
    assert error.message.startswith("a tensor has no truth value")


def test_an_unknown_device() -> None:
    with pytest.raises(GinghamError, match="nowhere"):
        jit(device="nowhere.7")(product)(integers((2, 2)), integers((2, 2)))


def test_max_of_axis_is_a_contraction() -> None:
    @jit(device="reference")
    def softmax(x: Tensor) -> Tensor:
        M = x.shape[0]
        m, n = TensorIndexes(2)
        top, total = TensorOutput(M, 1), TensorOutput(M, 1)
        top[m, 0] = max(x[m, n])
        e = exp(x - top)
        total[m, 0] += e[m, n]
        return e / total

    x = integers((3, 4))
    e = np.exp(x - x.max(axis=1, keepdims=True))
    expected = e / e.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(softmax(x), expected, rtol=1e-6)


def test_few_traces_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gingham.runtime.jit._MOST_TRACES", 2)

    @gingham.jit(static="factor")
    def scaled(x: Any, factor: int) -> Any:
        return x * float(factor)

    x = np.arange(3, dtype=np.float32)
    for factor in (1, 2, 3, 1):
        np.testing.assert_array_equal(scaled(x, factor), x * factor)
    assert scaled.trace_count == 4
    np.testing.assert_array_equal(scaled(x, 3), x * 3)
    assert scaled.trace_count == 4


def test_containers_inside_each_other() -> None:
    """So many are refused, and those that contain themselves."""
    cyclic: list[Any] = [np.ones(3, np.float32)]
    cyclic.append(cyclic)
    deep: Any = np.ones(3, np.float32)
    for _ in range(100_000):
        deep = [deep]

    @gingham.jit(static="given")
    def first(x: Any, given: Any = None) -> Any:
        del given
        return x

    for value in (cyclic, deep):
        with pytest.raises(GinghamError, match="inside more than 256 containers"):
            first(value)
        with pytest.raises(GinghamError, match="inside more than 256 containers"):
            first(1.0, given=value)


def test_results_that_contain_themselves() -> None:
    @gingham.jit
    def cyclic(x: Any) -> Any:
        results = [x]
        results.append(results)
        return results

    with pytest.raises(GinghamError, match="inside more than 256 containers"):
        cyclic(np.ones(3, np.float32))
