"""Operators and functions of whole tensors, constants, annotations, and mistakes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from edsl_programs import binary, floats, integers, program_of, same_program, unary
from numpy.typing import NDArray

from gingham import edsl
from gingham.dialects.eltwise.table import CALLS, FUNCTIONS, Function
from gingham.edsl import (
    Call,
    Constant,
    DType,
    Placeholder,
    Program,
    Tensor,
    TensorDims,
    TensorIndexes,
    TensorOutput,
    as_bool,
    as_float,
    as_int,
    as_uint,
    cast,
    cond,
    exp,
    ident,
    jit,
    layer,
    max,
    pragma,
    trace,
)
from gingham.errors import GinghamError
from gingham.frontend.edsl.graph import Input

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "A + B": lambda a, b: a + b,
    "A - B": lambda a, b: a - b,
    "A * B": lambda a, b: a * b,
    "A / B": lambda a, b: a / b,
    "mod(A, B)": lambda a, b: a % b,
    "pow(A, B)": lambda a, b: a**b,
    "A & B": lambda a, b: a & b,
    "A | B": lambda a, b: a | b,
    "A ^ B": lambda a, b: a ^ b,
    "A << B": lambda a, b: a << b,
    "A >> B": lambda a, b: a >> b,
    "A < B": lambda a, b: a < b,
    "A <= B": lambda a, b: a <= b,
    "A > B": lambda a, b: a > b,
    "A >= B": lambda a, b: a >= b,
    "A == B": lambda a, b: a == b,
    "A != B": lambda a, b: a != b,
    "-A": lambda a, b: -a,
    "~A": lambda a, b: ~a,
    "abs(A)": lambda a, b: abs(a),
    "round(A)": lambda a, b: round(a),
}


@pytest.mark.parametrize("text", OPERATORS)
def test_operators(text: str) -> None:
    source = f"function (A, B) -> (O) {{ O = {text}; }}"
    same_program(OPERATORS[text], source, {"A": None, "B": None})


REFLECTED: dict[str, Callable[[Any], Any]] = {
    "2 + A": lambda a: 2 + a,
    "2 - A": lambda a: 2 - a,
    "2 * A": lambda a: 2 * a,
    "2.5 / A": lambda a: 2.5 / a,
    "mod(2, A)": lambda a: 2 % a,
    "pow(2, A)": lambda a: 2**a,
    "2 & A": lambda a: 2 & a,
    "2 | A": lambda a: 2 | a,
    "2 ^ A": lambda a: 2 ^ a,
    "2 << A": lambda a: 2 << a,
    "2 >> A": lambda a: 2 >> a,
    "A > 2": lambda a: a > 2,
}


@pytest.mark.parametrize("text", REFLECTED)
def test_operators_with_a_number_on_the_left(text: str) -> None:
    source = f"function (A) -> (O) {{ O = {text}; }}"
    same_program(REFLECTED[text], source, {"A": None})


NO_WORDS = {"add", "sub", "mul", "div", "neg"}
"""Functions that are operators in Python only, like those that begin so: `cmp_eq`."""


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=lambda f: f.name)
def test_every_function_of_the_table_is_there(function: Function) -> None:
    operands = "ABC"[: function.arity]
    source = f"""function ({", ".join(operands)}) -> (O) {{
      O = {function.name}({", ".join(operands)});
    }}"""
    ranks: dict[str, int | None] = dict.fromkeys(operands)
    same_program(lambda *x: Call(function.name, *x), source, ranks)
    if function.name in NO_WORDS or function.name.startswith(("cmp_", "bit_")):
        return
    written = getattr(edsl, function.name)
    same_program(lambda *x: written(*x), source, ranks)


def test_aliases_of_the_table_are_calls() -> None:
    for alias in CALLS.keys() - FUNCTIONS.keys():
        operands = [Placeholder(None, None) for _ in range(CALLS[alias].arity)]
        op = f"eltwise.{CALLS[alias].name} "
        assert op in str(Program("alias", operands, Call(alias, *operands)))


CALLED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "mad(A, B, 2)": lambda a, m, n: Call("mad", a, a * 1, 2),
    "reshape(A, N, M)": lambda a, m, n: Call("reshape", a, n, m),
    "as_int(A, 8)": lambda a, m, n: Call("as_int", a, 8),
    "simple_reduce(A, M, 1)": lambda a, m, n: Call("simple_reduce", a, m, 1),
    "builtin_softmax(A, M, N)": lambda a, m, n: Call("builtin_softmax", a, m, n),
    "builtin_logsoftmax(A, M, N)": lambda a, m, n: Call("builtin_logsoftmax", a, m, n),
    "builtin_binary_crossentropy(A, A, 1)": lambda a, m, n: Call(
        "builtin_binary_crossentropy", a, a, 1
    ),
    "A * match(M, N)": lambda a, m, n: a * Call("match", m, n),
    "A * broadcast(M, N)": lambda a, m, n: a * Call("broadcast", m, n),
    "A * broadcast(1, M, N)": lambda a, m, n: a * Call("broadcast", 1, m, n),
    "A * assert_two(M == 2)": lambda a, m, n: a * Call("assert_two", m == 2),
    "max(M, N) + A": lambda a, m, n: Call("max", m, n) + a,
}


@pytest.mark.parametrize("text", CALLED)
def test_functions_of_text_are_called_by_name(text: str) -> None:
    def program(A: Tensor) -> Tensor:
        M, N = A.shape
        return CALLED[text](A, M, N)

    source = f"function (A[M, N]) -> (O) {{ B = A * 1; O = {text}; }}"
    if "B" not in text:
        source = source.replace("B = A * 1; ", "")
    same_program(program, source, {"A": 2})


def test_conditions_on_sizes_hold_though_nothing_uses_them() -> None:
    def program(A: Tensor) -> Tensor:
        M, N = A.shape
        Call("assert_wide", N > M)
        Call("match", M, 2)
        return A

    function = program_of(program, {"A": 2}).compile("reference")
    function(integers((2, 3)))
    with pytest.raises(GinghamError, match="assert_wide") as caught:
        function(integers((2, 2)))
    assert 'Call("assert_wide", N > M)' in caught.value.render()
    with pytest.raises(GinghamError, match="match"):
        function(integers((3, 4)))


def test_functions_of_python_keep_their_meaning() -> None:
    assert edsl.max(1, 3, 2) == 3
    assert edsl.max([], default=4) == 4
    assert edsl.min([-5, 2], key=abs) == 2
    assert edsl.sum([1, 2], start=3) == 6
    assert edsl.abs(-2) == 2
    assert edsl.round(2.567, 1) == 2.6
    assert edsl.pow(2, 5, 7) == 4


def test_max_takes_many() -> None:
    function = program_of(binary(lambda a, b: max(a, b, 0)), {"A": 1, "B": 1}).compile(
        "reference"
    )
    a, b = integers((9,)), integers((9,), seed=1)
    np.testing.assert_array_equal(function(a, b), np.maximum(np.maximum(a, b), 0))


CASTS: dict[str, Callable[[Any], Any]] = {
    "as_float(A, 64)": lambda a: as_float(a, 64),
    "as_float(A, 32)": lambda a: cast(a, DType.FLOAT32),
    "as_float(A, 16)": lambda a: a.astype(np.float16),
    "as_int(A, 8)": lambda a: as_int(a, 8),
    "as_int(A, 32)": lambda a: cast(a, "si32"),
    "as_int(A, 64)": lambda a: cast(a, np.dtype("int64")),
    "as_uint(A, 16)": lambda a: as_uint(a, 16),
    "as_uint(A, 32)": lambda a: cast(a, "uint32"),
}


@pytest.mark.parametrize("text", CASTS)
def test_casts(text: str) -> None:
    source = f"function (A) -> (O) {{ O = {text}; }}"
    same_program(CASTS[text], source, {"A": None})


def test_casts_that_text_has_not() -> None:
    function = program_of(
        unary(
            lambda a: [as_bool(a), cast(a, ml_dtypes.bfloat16), cast(a, DType.BOOLEAN)]
        ),
        {"A": 1},
    ).compile("reference")
    a = floats(0, 1.5, -2)
    first, second, third = function(a)
    np.testing.assert_array_equal(first, [False, True, True])
    assert second.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(third, first)


def test_conditions() -> None:
    def program(A: Tensor, B: Tensor) -> Tensor:
        O = cond(A > 0, A, B)
        return O

    text = "function (A, B) -> (O) { O = A > 0 ? A : B; }"
    same_program(program, text, {"A": None, "B": None})


@pytest.mark.parametrize(
    ("left", "right"),
    [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)),
     ((5, 2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)), ((5, 2, 3), (3,))],
)  # fmt: skip
def test_matrix_products(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    a, b = integers(left), integers(right, seed=1)
    product = jit(device="reference")(binary(lambda a, b: a @ b))
    np.testing.assert_array_equal(product(a, b), a @ b)
    by_constant = jit(device="reference")(unary(lambda a: a @ b))
    np.testing.assert_array_equal(by_constant(a), a @ b)


# Constants


def test_constants_are_inputs_that_are_given() -> None:
    A = Placeholder("float32", [2, 3])
    W = Constant(floats(1, 2, 3), name="W")
    V = Constant(np.arange(6, dtype=np.float32), [2, 3])
    program = Program("constants", [A], [A * W + V, W])
    assert [*program.constants] == ["W", "V"]
    function = program.compile("reference")
    assert function.input_names == ["A"]
    a = integers((2, 3))
    result, w = function(a)
    expected = a * floats(1, 2, 3) + np.arange(6).reshape(2, 3)
    np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(w, [1, 2, 3])
    assert "tensor<2x3xf32>" in function.ir(a)


def constant_of(tensor: Tensor) -> NDArray[Any]:
    node = tensor.node
    assert isinstance(node, Input)
    assert node.constant is not None
    return node.constant


def test_what_becomes_of_an_array_later_does_not_change_constants() -> None:
    array = floats(1, 2, 3)
    for given in (array, array[::-1], np.broadcast_to(array, (2, 3))):
        expected = given.copy()
        W = Constant(given)
        array += 1
        np.testing.assert_array_equal(constant_of(W), expected)


def test_arrays_that_nobody_can_change_are_not_copied() -> None:
    fixed = np.frombuffer(floats(1, 2, 3, 4).tobytes(), np.float32)
    for given in (fixed, fixed.reshape(2, 2), fixed[1:]):
        assert constant_of(Constant(given)) is given
    turned = constant_of(Constant(fixed.reshape(2, 2).T))
    assert turned.flags.c_contiguous
    np.testing.assert_array_equal(turned, [[1, 3], [2, 4]])
    changing = np.frombuffer(bytearray(fixed.tobytes()), np.float32)
    assert constant_of(Constant(changing)) is not changing


def test_arrays_may_stand_on_the_left() -> None:
    left = floats([1], [2])
    function = program_of(unary(lambda a: left - a), {"A": 1}).compile("reference")
    a = integers((3,))
    np.testing.assert_array_equal(function(a), left - a)


def test_numbers_are_weak() -> None:
    A = Placeholder("si8", [3])
    two = Constant(2)
    program = Program("weak", [A], [A * two, A + True, A * 0.5])
    first, second, third = program(np.array([1, 2, 3], np.int8))
    assert [x.dtype for x in (first, second, third)] == [np.int8, np.int8, np.float32]


def test_constants_in_contractions() -> None:
    kernel = floats(1, 2)

    @jit(device="reference")
    def convolve(x: Tensor) -> Tensor:
        (N,) = x.shape
        n, k = TensorIndexes(2)
        O = TensorOutput(N - 1)
        O[n] += x[n + k] * Constant(kernel)[k]
        return O

    x = integers((6,))
    np.testing.assert_array_equal(convolve(x), x[:-1] + 2 * x[1:])


# Annotations


def twice(x: Tensor) -> Tensor:
    return x * 2


def test_annotations_are_attributes_of_ops() -> None:
    def norm(x: Tensor) -> Tensor:
        return layer("scale", [x], {"factor": 2}, twice)

    def program(A: Tensor) -> Tensor:
        B = trace(A, "begins")
        C = pragma(B, "pid", {"name": "b", "level": 1, "on": True, "by": 0.5})
        D = pragma(C, "mark")
        E = layer("norm", [D], None, norm)
        return exp(E)

    text = str(program_of(program, {"A": 1}))
    lines = [
        '%B = eltwise.ident %A {tile.trace = "begins"}',
        '%C = eltwise.ident %B {tile.pid = {name = "b", level = 1 : i64, on = true, '
        "by = 5.000000e-01 : f64}}",
        "%D = eltwise.ident %C {tile.mark}",
        'eltwise.mul %D, %0 {tile.layer = "norm/scale", tile.layer.factor = 2 : i64}',
        "eltwise.exp %1 : ",
    ]
    for line in lines:
        assert line in text
    function = program_of(program, {"A": 1}).compile("reference")
    np.testing.assert_allclose(function(floats(0, 1)), np.exp([0, 2]), rtol=1e-6)


# Programs


def test_programs_without_inputs_find_them() -> None:
    B = Placeholder("float32", name="B")
    A = Placeholder("float32", name="A")
    O = A - B
    program = Program("inferred", [O])
    assert program.compile("reference").input_names == ["B", "A"]
    assert "inferred (B, A) -> (O)" in repr(program)


def test_outputs_may_be_named() -> None:
    A = Placeholder("float32", name="A")
    program = Program("named", A, {"twice": A * 2, "A": A})
    assert program.compile("reference").output_names == ["twice", "A"]
    twice, same = program(A=3.0)
    assert (float(twice), float(same)) == (6, 3)


def test_a_deep_program_needs_no_deep_stack() -> None:
    A = Placeholder("float32", [2])
    result = A
    for _ in range(3000):
        result = result + 1
    module = Program("deep", [A], [result]).module
    assert sum_of_ops(module) > 3000


def sum_of_ops(module: Any) -> int:
    return len([*module.walk()])


# Mistakes


def cast_any(value: Any) -> Any:
    """The value, of which the type checker knows nothing any more."""
    return value


TENSORS: list[tuple[str, Callable[[Any], Any]]] = [
    ("a tensor has no truth value", lambda A: A and A),
    ("a tensor has no truth value", lambda A: not A),
    ("a tensor cannot be iterated over", lambda A: [*A]),
    ("a tensor has no length", len),
    ("a tensor is no number", float),
    ("a tensor is no array", np.asarray),
    ("a tensor is no number", lambda A: range(A)),
    ("a tensor cannot be searched", lambda A: 1 in A),
    ("tensors have no operator '//'", lambda A: A // 2),
    ("expected a tensor, a size or a number, got str", lambda A: A + "1"),
    ("expected a tensor, a size or a number, got NoneType", lambda A: exp(None)),
    ("'max' of one tensor is a contraction", max),
    ("'sum' of one tensor is a contraction", edsl.sum),
    ("an index is part of a contraction and no tensor",
     lambda A: A + edsl.TensorIndex()),
    ("unknown function 'expp'", lambda A: Call("expp", A)),
    ("'exp' takes 1 operands, got 2", lambda A: Call("exp", A, A)),
    ("expected 8, 16, 32, 64 bits, got 7", lambda A: as_int(A, 7)),
    ("expected an element type, got list", lambda A: cast(A, [])),
    ("'A' is one tensor and has no element 1", lambda A: A.element(1)),
    ("expected an index, a TensorDim or an integer as index, got slice",
     lambda A: A[0:2, 1]),
    ("expected an index, a TensorDim or an integer as index, got float",
     lambda A: A[0.5, 1]),
    ("there is no '%' of indices", lambda A: A[edsl.TensorIndex() % 2, 0]),
    ("must be linear in the indices: the product of two indices",
     lambda A: A[edsl.TensorIndex() * edsl.TensorIndex(), 0]),
    ("must be linear in the indices: division by an index",
     lambda A: A[1 / edsl.TensorIndex(), 0]),
    ("division of an index by zero", lambda A: A[edsl.TensorIndex() / 0, 0]),
    ("an index has no truth value", lambda A: bool(edsl.TensorIndex())),
    ("an index has no number", lambda A: [1, 2][edsl.TensorIndex()]),
    ("a constant has elements of type", lambda A: A + np.array(["a"])),
    ("'@' takes no tensor of rank 0", lambda A: A @ 2),
    ("expected 'k' to be a number, a truth value or text, got list",
     lambda A: pragma(A, "p", {"k": cast_any([])})),
    ("expected an identifier as name of a pragma", lambda A: pragma(A, "a-b")),
    ("'A' is an input twice", lambda A: Program("twice", [A, A], [A])),
    ("expected an output", lambda A: Program("none", [A], [])),
    ("expected an input to be a tensor, got int", lambda A: Program("n", [1], [A])),
    ("is computed and no input", lambda A: Program("n", [A + 1], [A])),
    ("'A' is used, but no input of the program", lambda A: Program("n", [], [A + 1])),
]  # fmt: skip


@pytest.mark.parametrize(("message", "mistake"), TENSORS)
def test_mistakes(message: str, mistake: Callable[[Tensor], Any]) -> None:
    A = Placeholder("float32", [2, 2], "A")
    with pytest.raises(GinghamError) as caught:
        mistake(A)
    assert message in caught.value.message
    assert caught.value.location is not None
    assert caught.value.location.file == __file__


def test_shapes_that_do_not_broadcast_show_their_line() -> None:
    A = Placeholder("float32", [2, 3])
    B = Placeholder("float32", [2, 4])
    with pytest.raises(GinghamError, match="do not broadcast") as caught:
        _ = A + B
    assert "        _ = A + B\n            ^~~~~" in str(caught.value)


def test_an_index_that_is_divided_by_a_sum_of_sizes() -> None:
    def program(A: Tensor) -> Tensor:
        M, N = TensorDims(2)
        A.bind_dims(M, N)
        i, j = TensorIndexes(2)
        O = TensorOutput(M)
        O[i] += A[i / (M - N), j]
        return O

    function = program_of(program, {"A": 2}).compile("reference")
    a = integers((6, 4))
    expected = np.zeros(6)
    expected[::2] = a[:3].sum(axis=1)
    np.testing.assert_array_equal(function(a), expected)
    with pytest.raises(GinghamError, match="divides by"):
        function(integers((4, 4)))


def test_ident_is_a_copy() -> None:
    same_program(ident, "function (A) -> (O) { O = A; }", {"A": None})
