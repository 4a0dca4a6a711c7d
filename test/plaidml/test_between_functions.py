"""What one function gives and another takes: sizes, tuples, tensors of other ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from plaidml_tensors import Array, empty, integers, tensor

from gingham import plaidml
from gingham.errors import GinghamError
from gingham.plaidml import tile

SIZE = "function (I[N, M]) -> (O) { O = N; }"
HALVES = "function (I, D0) -> (O) { O = reshape(I, D0, 2, 2); }"
RANDOM = "function (I, X[M, N]) -> (P) { P = prng_step(I, M, N); }"
DROP = "function (P, X, R) -> (O) { O = prng_value(P) < R ? X / R : 0.0; }"
STATE = "function (P) -> (S) { S = prng_state(P); }"


def apply(code: str, **inputs: Any) -> plaidml.Var:
    """The only output of a function."""
    ctx = plaidml.Context()
    function = plaidml.Function(code)
    applier = plaidml.Applier(ctx, function)
    for name, value in inputs.items():
        applier.add_input(name, value)
    return applier.add_output(function.output_names[0])


def composed(output: Any, update: Any = None, **inputs: plaidml.Var) -> Any:
    composer = plaidml.Composer()
    for name, value in inputs.items():
        composer.add_input(name, value)
    if output is not None:
        composer.add_output("O", output)
    if update is not None:
        composer.add_update(*update)
    return composer.build()


def result(dev: plaidml.Device, f: plaidml.Function, **inputs: Any) -> Array:
    ctx = plaidml.Context()
    given = {
        name: tensor(ctx, dev, value) if isinstance(value, np.ndarray) else value
        for name, value in inputs.items()
    }
    invoker = plaidml.Invoker(ctx, f, given)
    made = plaidml.Tensor(dev, invoker.get_output_shape("O"))
    invoker.set_output("O", made)
    invoker.invoke()
    return made.as_ndarray(ctx)


def test_a_size_is_a_size_of_the_next_function(dev: plaidml.Device) -> None:
    x = plaidml.Placeholder(2)
    f = composed(apply(HALVES, I=x, D0=apply(SIZE, I=x)), X=x)
    for rows in (3, 5):
        array = integers(rows, 4)
        np.testing.assert_array_equal(result(dev, f, X=array), array.reshape(-1, 2, 2))


def test_functions_of_sizes_are_sizes(dev: plaidml.Device) -> None:
    """What operators of values and further functions make of sizes, and numbers too."""
    x: Any = tile.Value.from_ndims(2)
    uint64 = tile.Shape(plaidml.DType.UINT64, ())
    rows: Any = tile.Operation(SIZE, [("I", x)], [("O", uint64)]).sole_output()
    code = "function (L, R) -> (O) { O = floor(L / R); }"
    half = tile.Operation(code, [("L", rows * 2 + 1), ("R", 2)], [("O", uint64)])
    code = "function (A, B, C) -> (O) { O = broadcast(A, B, 1, C); }"
    inputs = [("A", half.sole_output()), ("B", 1), ("C", rows)]
    size = tile.Operation(code, inputs, [("O", uint64)]).sole_output()
    shape = tile.Shape(None, (None, 2, 2))
    cut = tile.Operation(HALVES, [("I", x), ("D0", size)], [("O", shape)])
    ctx = plaidml.Context()
    f = tile.compose(ctx, dev, [("X", x)], [("O", cut.sole_output()), ("N", size)])
    array = integers(3, 4)
    made, count = empty(ctx, dev, 3, 2, 2), plaidml.Shape(ctx, plaidml.DType.INT32)
    number = plaidml.Tensor(dev, count)
    plaidml.run(ctx, f, {"X": tensor(ctx, dev, array)}, {"O": made, "N": number})
    np.testing.assert_array_equal(made.as_ndarray(), array.reshape(-1, 2, 2))
    assert number.as_ndarray() == 3


def test_an_integer_input_is_a_size_of_a_later_function(dev: plaidml.Device) -> None:
    """It is bound to a number when the composed function runs."""
    x, k = plaidml.Placeholder(1), plaidml.Placeholder(0)
    half = apply("function (K) -> (P) { P = K / 2; }", K=k)
    pad = "function (I[N], P) -> (O) { O[i : N + P] = +(I[i - P]); }"
    f = composed(apply(pad, I=x, P=half), X=x, K=k)
    for number in (5, 2):
        expected = np.pad(integers(4), (number // 2, 0))
        np.testing.assert_array_equal(result(dev, f, X=integers(4), K=number), expected)
    ctx = plaidml.Context()
    held = plaidml.Tensor(dev, plaidml.Shape(ctx, plaidml.DType.INT32))
    with pytest.raises(GinghamError, match="a tensor in it is a size"):
        result(dev, composed(apply(pad, I=x, P=held), X=x), X=integers(4))


def test_random_numbers_come_from_a_step_of_another_function(
    dev: plaidml.Device,
) -> None:
    """As Keras's dropout has it; the state is updated, and PlaidML's check vector."""
    ctx = plaidml.Context()
    state = tensor(ctx, dev, np.array([[5], [6], [7]], np.uint32))
    x = plaidml.Placeholder(2)
    step = apply(RANDOM, I=state, X=x)
    kept = apply(DROP, P=step, X=x, R=0.1)
    f = composed(kept, (state, apply(STATE, P=step)), X=x)
    ones = np.ones((2, 3), np.float32)
    np.testing.assert_allclose(result(dev, f, X=ones), [[10, 10, 10], [10, 10, 0]])
    np.testing.assert_array_equal(state.as_ndarray(ctx)[:, 0], [1052804, 0, 0])


def test_tuples_are_outputs_and_inputs(dev: plaidml.Device) -> None:
    x = plaidml.Placeholder(2)
    pair = "function (I[M, N]) -> (T) { T = tuple(2 * I, tuple(N, 0.5)); }"
    code = """function (X, T) -> (O) {
      C = T; P = element(C, 1); N = element(P, 0);
      O = reshape(element(T, 0) * element(P, 1), N, 2);
    }"""
    f = composed(apply(code, X=x, T=apply(pair, I=x)), X=x)
    expected = integers(2, 5).reshape(5, 2)
    np.testing.assert_array_equal(result(dev, f, X=integers(2, 5)), expected)


def test_what_is_no_tensor_is_refused_where_one_has_to_be(dev: plaidml.Device) -> None:
    ctx = plaidml.Context()
    x = plaidml.Placeholder(2)
    step, pair = (
        apply("function (S) -> (P) { P = prng_step(S, 3); }", S=x),
        apply("function (I) -> (T) { T = tuple(I, I); }", I=x),
    )
    for wrong, message in (
        (lambda: composed(pair, X=x), "expected a tensor, 'T' is a tuple"),
        (lambda: composed(x, (empty(ctx, dev, 3), step), X=x), "of 'prng_step'"),
        (lambda: plaidml.gradients(pair, [x]), "expected a tensor, 'T' is a tuple"),
        (lambda: apply(SIZE, I=pair), "a dimension or a number, got a tuple"),
        (lambda: apply(HALVES, I=x, D0=step), "got the result of 'prng_step'"),
        (lambda: apply(STATE, P=pair), "to be the result of 'prng_step'"),
        (lambda: apply(STATE, P=x), "to be the result of 'prng_step'"),
        (lambda: apply(HALVES, I=x, D0=x), "got a tensor"),
    ):
        with pytest.raises(GinghamError, match=message):
            wrong()
    alone = plaidml.Function("function (S) -> (P) { P = prng_step(S, 3); }")
    made = empty(ctx, dev, 3)
    with pytest.raises(GinghamError, match="got the result of 'prng_step'"):
        plaidml.run(ctx, alone, {"S": made}, {"P": empty(ctx, dev, 3)})
    with pytest.raises(GinghamError, match="to be the result of 'prng_step'"):
        plaidml.run(ctx, plaidml.Function(STATE), {"P": made}, {"S": made})


def test_elements_are_written_to_tensors_of_another_rank(dev: plaidml.Device) -> None:
    """In their order, as PlaidML does: what a mean of [1, 4] updates has [4]."""
    ctx = plaidml.Context()
    x = plaidml.Placeholder(2)
    total = tensor(ctx, dev, integers(4, seed=5))
    sums = "function (X[M, N], T[K]) -> (O) { S[0, j : 1, N] = +(X[i, j]); O = S + T; }"
    value = apply(sums, X=x, T=total)
    f = composed(value, (total, value), X=x)
    flat = empty(ctx, dev, 2, 2, 1)
    array, expected = integers(3, 4), integers(4, seed=5)
    for _ in range(2):
        plaidml.run(ctx, f, {"X": tensor(ctx, dev, array)}, {"O": flat})
        expected = expected + array.sum(0)
        np.testing.assert_array_equal(flat.as_ndarray(), expected.reshape(2, 2, 1))
        np.testing.assert_array_equal(total.as_ndarray(), expected)
    for sizes in ((4, 1), (5,)):
        inputs = {"X": tensor(ctx, dev, array)}
        wrong = {"O": empty(ctx, dev, *sizes)}
        with pytest.raises(GinghamError, match=r"has shape float32\[1, 4\], its"):
            plaidml.run(ctx, f, inputs, wrong)


@pytest.mark.parametrize("multiple", ["1.0 / N", "1.0", "-3.0"])
def test_the_crossentropy_trains_as_in_plaidml(
    dev: plaidml.Device, multiple: str
) -> None:
    """Its rule does not multiply by the derivative that arrives."""
    o, t = np.array([0.25, 0.5, 0.9, 0.5], np.float32), integers(4) > 0
    loss = f"""function (O[N], T[N]) -> (L) {{
      F = builtin_binary_crossentropy(O, T, N); S[] = +(F[i]); L = S * ({multiple});
    }}"""
    x, target = plaidml.Placeholder(1), plaidml.Placeholder(1)
    value = apply(loss, O=x, T=target)
    (slope,) = plaidml.gradients(value, [x])
    expected = np.where(t, -1 / o, 1 / (1 - o)) / 4
    given = {"X": o, "T": t.astype(np.float32)}
    f = composed(slope, X=x, T=target)
    np.testing.assert_allclose(result(dev, f, **given), expected, rtol=1e-6)
    entropy = -np.log(np.where(t, o, 1 - o)).sum()
    factor = {"1.0 / N": 0.25}.get(multiple) or float(multiple)
    found = result(dev, composed(value, X=x, T=target), **given)
    np.testing.assert_allclose(found, entropy * factor, rtol=1e-6)
