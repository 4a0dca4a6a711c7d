"""Every function of the table and every cast, compiled for the device.

One kernel computes all functions of an element type, on scalars or on vectors; the
reference interpreter runs the same kernel on the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from gingham.dialects.eltwise.element_types import ELEMENT_TYPES, i1
from gingham.dialects.eltwise.numpy_types import numpy_dtype
from gingham.dialects.eltwise.table import FUNCTIONS, Function, TypeRule
from gingham.errors import GinghamError
from gingham.targets.opencl.device import OpenCLDevice
from gingham.targets.opencl.executor import OpenCLExecutable
from gingham.targets.opencl.printer import print_opencl
from gingham.targets.reference import interpret

Array = NDArray[Any]
Parse = Callable[[str], ModuleOp]

COUNT = 96
"""Elements of every tensor: a multiple of all vector lengths."""

COMPUTED = [name for name in ELEMENT_TYPES if name != "bf16"]
TOLERANCE = {"f16": 4e-3, "f32": 2e-5, "f64": 1e-12}


@dataclass
class Statement:
    """An op of the kernel with its result, which is stored to a buffer of its own."""

    name: str
    text: str
    element: str


def sized(element: str, lanes: int) -> str:
    """A scalar type, or a vector of so many lanes."""
    return element if lanes == 1 else f"vector<{lanes}x{element}>"


def kernel_text(inputs: dict[str, str], statements: list[Statement], lanes: int) -> str:
    """A module that loads the inputs, runs the statements and stores all results."""
    buffers = inputs | {f"r_{s.name}": s.element for s in statements}
    pointers = {
        name: f"!opencl.pointer<{element}, global>" for name, element in buffers.items()
    }
    types = {
        name: f"!opencl.buffer<{COUNT}x{element}>" for name, element in buffers.items()
    }
    results = [f"r_{s.name}" for s in statements]
    arguments = ", ".join(f"%p_{name} : {type}" for name, type in pointers.items())
    groups = COUNT // lanes
    lines = [
        f"opencl.kernel @functions({arguments}) group [1, 1, 1] {{",
        f"  %i = opencl.work_item group_id 0 below {groups}",
    ]
    for name, element in inputs.items():
        value = sized(element, lanes)
        lines.append(
            f"  %{name} = opencl.load %p_{name}[{lanes} * %i] : "
            f"{pointers[name]} -> {value}"
        )
    for s in statements:
        lines.append(f"  %v_{s.name} = {s.text}")
    for s in statements:
        pointer = pointers[f"r_{s.name}"]
        lines.append(
            f"  opencl.store %v_{s.name}, %p_r_{s.name}[{lanes} * %i] : "
            f"{sized(s.element, lanes)} -> {pointer}"
        )
    host = ", ".join(f"%{name} : {types[name]}" for name in inputs)
    outputs = ", ".join(types[name] for name in results)
    lines += ["}", f"func.func @main({host}) -> ({outputs}) {{"]
    lines += [f"  %{name} = opencl.allocate : {types[name]}" for name in results]
    values = ", ".join(f"%{name}" for name in buffers)
    lines += [
        f"  opencl.launch @functions groups [{groups}, 1, 1] ({values}) : "
        + ", ".join(types.values()),
        f"  func.return {', '.join(f'%{name}' for name in results)} : {outputs}",
        "}",
    ]
    return "\n".join(lines)


def operand_types(function: Function, element: Attribute) -> list[Attribute] | None:
    """The types of the operands over `element`, or None when the function casts it."""
    types = [element] * function.arity
    if function.rule is TypeRule.SELECT:
        types[0] = i1
    try:
        casts, _ = function.signature(types)
    except TypeError:
        return None
    return types if list(casts) == types else None


def function_statements(element_name: str, lanes: int) -> list[Statement]:
    """A call of every function that takes this element type."""
    element = ELEMENT_TYPES[element_name]
    statements: list[Statement] = []
    for name, function in FUNCTIONS.items():
        types = operand_types(function, element)
        if types is None:
            continue
        _, result = function.signature(types)
        operands = {1: ["x"], 2: ["x", "y"], 3: ["c", "x", "y"]}[function.arity]
        values = ", ".join(f"%{operand}" for operand in operands)
        inputs = ", ".join(sized(str(type), lanes) for type in types)
        output = sized(str(result), lanes)
        text = f"eltwise.{name} {values} : ({inputs}) -> {output}"
        statements.append(Statement(name, text, str(result)))
    return statements


def random_numbers(random: np.random.Generator, element: str) -> Array:
    """Numbers of all magnitudes, with many of those that are special."""
    dtype = numpy_dtype(ELEMENT_TYPES[element])
    if dtype.kind == "b":
        return random.integers(0, 2, COUNT).astype(dtype)
    if dtype.kind == "f":
        numbers = (random.normal(0, 1, COUNT) * 4).astype(dtype)
        text = "0 -0.0 1 -1 inf -inf nan 0.5 -0.5 1.5 2.5 -2.5 127.5 1e-3 3e4 -3e4"
        special = np.array(text.split()).astype(dtype)
    else:
        limits = np.iinfo(dtype)
        numbers = random.integers(limits.min, limits.max, COUNT, dtype, endpoint=True)
        own = [0, 1, 2, 3, 7, 8, 31, 63, limits.max, limits.max - 1, limits.min]
        own += [-1, -2, -8] if dtype.kind == "i" else []
        special = np.array(own, dtype)
    chosen = random.random(COUNT) < 0.5
    numbers[chosen] = random.choice(special, int(chosen.sum()))
    return numbers


def skip_without(device: OpenCLDevice, *elements: str) -> None:
    missing = {
        "f16": not device.details.supports_fp16,
        "f64": not device.details.supports_fp64,
    }
    for element in elements:
        if missing.get(element, False):
            pytest.skip(f"the device does not compute with {element}")


def check(
    text: str, device: OpenCLDevice, parse_module: Parse, inputs: list[Array]
) -> None:
    """Run a module on the device and on the interpreter, and compare all results."""
    module = parse_module(text)
    got = OpenCLExecutable(module, device)(*inputs)
    with np.errstate(all="ignore"):
        expected = interpret(module, inputs)
    names = [line.split()[0] for line in text.splitlines() if line.startswith("  %v_")]
    for name, result, want in zip(names, got, expected, strict=True):
        assert result.dtype == want.dtype
        if want.dtype.kind != "f":
            np.testing.assert_array_equal(result, want, name)
            continue
        tolerance = TOLERANCE[f"f{want.dtype.itemsize * 8}"]
        np.testing.assert_allclose(
            result.astype(np.float64),
            want.astype(np.float64),
            rtol=tolerance,
            atol=tolerance / 10,
            err_msg=name,
        )


@pytest.mark.parametrize("lanes", [1, 4, 16])
@pytest.mark.parametrize("element", COMPUTED)
def test_functions(
    element: str, lanes: int, opencl_device: OpenCLDevice, parse_module: Parse
) -> None:
    skip_without(opencl_device, element)
    random = np.random.default_rng([lanes, *element.encode()])
    statements = function_statements(element, lanes)
    text = kernel_text({"x": element, "y": element, "c": "i1"}, statements, lanes)
    inputs = [random_numbers(random, name) for name in (element, element, "i1")]
    check(text, opencl_device, parse_module, inputs)


@pytest.mark.parametrize("lanes", [2, 3, 8])
def test_functions_of_other_vectors(
    lanes: int, opencl_device: OpenCLDevice, parse_module: Parse
) -> None:
    random = np.random.default_rng(lanes)
    for element in ("f32", "si32", "i1"):
        statements = function_statements(element, lanes)
        text = kernel_text({"x": element, "y": element, "c": "i1"}, statements, lanes)
        inputs = [random_numbers(random, name) for name in (element, element, "i1")]
        check(text, opencl_device, parse_module, inputs)


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("element", COMPUTED)
def test_casts_to_every_type(
    element: str, lanes: int, opencl_device: OpenCLDevice, parse_module: Parse
) -> None:
    targets = [
        target
        for target in COMPUTED
        if target != "f16" or opencl_device.details.supports_fp16
    ]
    skip_without(opencl_device, element, "f64")
    source = sized(element, lanes)
    statements = [
        Statement(
            target, f"eltwise.cast %x : {source} to {sized(target, lanes)}", target
        )
        for target in targets
    ]
    random = np.random.default_rng([lanes, *element.encode()])
    text = kernel_text({"x": element}, statements, lanes)
    check(text, opencl_device, parse_module, [random_numbers(random, element)])


def test_truth_values_of_different_widths_meet(
    opencl_device: OpenCLDevice, parse_module: Parse
) -> None:
    v, b = "vector<4xf32>", "vector<4xi1>"
    s, d = "vector<4xsi16>", "vector<4xsi64>"
    lines = {
        "wide": f"eltwise.cmp_lt %x, %y : ({v}, {v}) -> {b}",
        "narrow": f"eltwise.cmp_lt %s, %t : ({s}, {s}) -> {b}",
        "both": f"eltwise.logical_and %v_wide, %v_narrow : ({b}, {b}) -> {b}",
        "order": f"eltwise.cmp_lt %v_wide, %c : ({b}, {b}) -> {b}",
        "least": f"eltwise.min %v_narrow, %v_wide : ({b}, {b}) -> {b}",
        "most": f"eltwise.max %v_narrow, %c : ({b}, {b}) -> {b}",
        "same": f"eltwise.cmp_eq %v_narrow, %v_wide : ({b}, {b}) -> {b}",
        "choice": f"eltwise.cond %v_wide, %v_narrow, %c : ({b}, {b}, {b}) -> {b}",
        "number": f"eltwise.cond %v_narrow, %x, %y : ({b}, {v}, {v}) -> {v}",
        "one": f"eltwise.broadcast %c0 : i1 to {b}",
        "mixed": f"eltwise.logical_xor %v_one, %v_wide : ({b}, {b}) -> {b}",
        "long": f"eltwise.cast %v_wide : {b} to {d}",
    }
    elements = {"number": "f32", "long": "si64"}
    statements = [
        Statement(name, line, elements.get(name, "i1")) for name, line in lines.items()
    ]
    inputs = {"x": "f32", "y": "f32", "s": "si16", "t": "si16", "c": "i1"}
    text = kernel_text(inputs, statements, 4)
    scalar = "  %c0 = opencl.load %p_c[4 * %i] : !opencl.pointer<i1, global> -> i1\n"
    text = text.replace("  %v_wide =", f"{scalar}  %v_wide =", 1)
    random = np.random.default_rng(3)
    arrays = [random_numbers(random, element) for element in inputs.values()]
    check(text, opencl_device, parse_module, arrays)


@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize("element", ["si8", "ui16", "si32", "si64"])
def test_integers_wrap_around_before_they_are_compared(
    element: str, lanes: int, opencl_device: OpenCLDevice, parse_module: Parse
) -> None:
    # In C the compiler may conclude that x + y > x for positive y.
    value, test = sized(element, lanes), sized("i1", lanes)
    lines = {
        "one": f"eltwise.constant 1 : {value}",
        "next": f"eltwise.add %x, %v_one : {value}",
        "grows": f"eltwise.cmp_gt %v_next, %x : ({value}, {value}) -> {test}",
        "product": f"eltwise.mul %x, %y : {value}",
        "quotient": f"eltwise.div %v_product, %y : {value}",
        "negative": f"eltwise.neg %x : {value}",
        "shrinks": f"eltwise.cmp_lt %v_negative, %v_one : ({value}, {value}) -> {test}",
    }
    statements = [
        Statement(name, line, "i1" if name in ("grows", "shrinks") else element)
        for name, line in lines.items()
    ]
    random = np.random.default_rng([lanes, *element.encode()])
    text = kernel_text({"x": element, "y": element}, statements, lanes)
    check(text, opencl_device, parse_module, [random_numbers(random, element)] * 2)


def test_brain_floats_are_refused_where_they_stand(parse_module: Parse) -> None:
    inputs = {"x": "bf16", "y": "bf16", "c": "i1"}
    module = parse_module(kernel_text(inputs, function_statements("bf16", 1), 1))
    with pytest.raises(GinghamError, match="do not compute with bf16"):
        print_opencl(module)
