"""The eDSL by the names of PlaidML 0.7 and 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from plaidml_tensors import integers

from gingham import plaidml
from gingham.errors import GinghamError
from gingham.plaidml.edsl import (
    Contraction,
    DType,
    OutOfBoundsMode,
    Placeholder,
    Program,
    TensorIndexes,
    TensorOutput,
    TensorShape,
    gather,
    scatter,
)


def test_shapes_and_types_are_known_outside_of_calls() -> None:
    a = Placeholder(DType.FLOAT32, [3, 4])
    b = Placeholder(DType.INT32, [4])
    c = a + b
    truth = c > 0
    assert (a.rank, c.rank) == (2, 2)
    assert (c.dtype, truth.dtype) == (DType.FLOAT32, DType.BOOLEAN)
    assert c.compute_shape() == TensorShape(DType.FLOAT32, [3, 4])
    assert (c.shape.ndims, c.shape.int_dims) == (2, [3, 4])
    assert (truth.shape.dtype, len(truth.shape)) == (DType.BOOLEAN, 2)
    i, j = TensorIndexes(2)
    o = TensorOutput(4, name="O")
    o[j] += a[i, j]
    assert o.compute_shape() == TensorShape(DType.FLOAT32, [4])
    free = Placeholder(DType.FLOAT32, [None, 4]) + 1
    assert free.shape.int_dims == [0, 4]
    assert free.dtype == DType.FLOAT32
    shape = a.compute_shape()
    assert (shape.ndims, shape.int_dims) == (2, [3, 4])


def test_programs_tell_their_arguments_and_passes() -> None:
    a = Placeholder(DType.FLOAT32, [3, 4], name="A")
    i, j = TensorIndexes(2)
    largest = Contraction(name="L").max(a[i, j]).build()
    program = Program("program", [a], [a + 1, largest])
    assert [(e.name, e.shape.int_dims) for e in program.inputs] == [("A", [3, 4])]
    assert [e.shape.int_dims for e in program.outputs] == [[3, 4], []]
    assert program.outputs[1].name == "L"
    (first, start), *_, (_, end) = program.passes
    assert (first, "tile.contract" in start, "opencl." in end) == (
        "specialized",
        True,
        True,
    )
    array = integers(3, 4)
    found = plaidml.exec.run(program, [array], "reference")
    np.testing.assert_array_equal(found[0], array + 1)
    assert found[1] == array.max()


def test_programs_run_with_buffers() -> None:
    a, b = (Placeholder(DType.FLOAT32, [3], name=name) for name in "AB")
    program = Program("difference", [a, b], [a - b])
    x, y = plaidml.Buffer(a.compute_shape()), plaidml.Buffer(integers(3))
    np.testing.assert_array_equal(x.as_ndarray(), np.zeros(3))
    numbers = np.array([1, 2, 3], np.float32)
    x.copy_from_ndarray(numbers)
    for inputs in ([x, y], [(b, y), (a, x)], [(a, numbers), (b, integers(3))]):
        (found,) = plaidml.exec.run(program, inputs)
        np.testing.assert_array_equal(found, numbers - integers(3))
    executable = plaidml.exec.Executable(program, "reference")
    (output,) = (plaidml.Buffer(argument) for argument in program.outputs)
    executable.run([x, y], [output])
    np.testing.assert_array_equal(output.as_ndarray(), numbers - integers(3))
    assert "reference" in plaidml.exec.list_devices()
    # Elements are converted, as copying to a buffer does.
    (found,) = plaidml.exec.run(program, [[1, 2, 3], np.arange(3.0)])
    assert (found.dtype, found.tolist()) == (np.float32, [1, 1, 1])
    shape = TensorShape(DType.from_numpy(np.int16), [2])
    assert plaidml.Buffer(shape, data=[4, 5]).as_ndarray().dtype == np.int16
    target = np.zeros(3)
    y.copy_to_ndarray(target)
    np.testing.assert_array_equal(target, integers(3))
    assert y.shape == TensorShape(DType.FLOAT32, [3])
    mistakes: list[tuple[str, Any]] = [
        ("missing input 'B'", lambda: plaidml.exec.run(program, [(a, x)])),
        ("expected 2 inputs, got 1", lambda: plaidml.exec.run(program, [x])),
        ("expected 1 outputs, got 0", lambda: executable.run([x, y], [])),
        ("expected a tensor", lambda: plaidml.exec.run(program, [(1, x)])),
        ("shape \\(3,\\), got \\(2,\\)", lambda: x.copy_from_ndarray([1, 2])),
        ("is not known", lambda: plaidml.Buffer(TensorShape(DType.INT8, [0, 2]))),
    ]
    for message, mistake in mistakes:
        with pytest.raises(GinghamError, match=message):
            mistake()


def test_scatter_names_first_what_is_written_to() -> None:
    data = Placeholder(DType.FLOAT32, [5])
    indices = Placeholder(DType.INT32, [4])
    updates = Placeholder(DType.FLOAT32, [4])
    program = Program("s", [data, indices, updates], [scatter(data, indices, updates)])
    where = np.array([1, 3, 1, 0], np.int32)
    expected = np.zeros(5, np.float32)
    np.add.at(expected, where, integers(4))
    np.testing.assert_array_equal(program(integers(5), where, integers(4)), expected)
    outside = gather(data, indices, out_of_bounds=OutOfBoundsMode.RETURN_ZERO)
    program = Program("g", [data, indices], [outside])
    found = program(integers(5), np.array([9, 0, -1, 4], np.int32))
    np.testing.assert_array_equal(found, [0, integers(5)[0], 0, integers(5)[4]])
