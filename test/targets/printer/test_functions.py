"""Every function of the table and every cast, compiled for each target.

One program computes all functions and conversions of all element types, a kernel a
type, on scalars or on vectors; the reference interpreter runs the same kernels, before
f16 and bf16 are emulated, on the same numbers. Integers, truth values and what is
rounded correctly are compared bit by bit, other functions within the units in the last
place (ulp) that OpenCL C allows, and NumPy's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from kernel_targets import Target
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from gingham.dialects.eltwise.element_types import ELEMENT_TYPES, i1
from gingham.dialects.eltwise.numpy_types import numpy_dtype
from gingham.dialects.eltwise.table import FUNCTIONS, Function, TypeRule
from gingham.errors import GinghamError
from gingham.passes.opencl.emulate_types import OpenCLEmulateTypesPass
from gingham.targets.opencl.printer import print_opencl
from gingham.targets.reference import interpret

Array = NDArray[Any]
Parse = Callable[[str], ModuleOp]

COUNT = 192
"""Elements of every tensor: a multiple of all vector lengths."""

LOOSE = {
    "exp": 4,
    "log": 4,
    "pow": 18,
    "sigmoid": 8,
    "erf": 18,
    "sin": 6,
    "cos": 6,
    "tan": 7,
    "asin": 6,
    "acos": 6,
    "atan": 7,
    "sinh": 6,
    "cosh": 6,
    "tanh": 7,
    "asinh": 6,
    "acosh": 6,
    "atanh": 7,
    "rsqrt": 4,
    "cbrt": 4,
    "hypot": 4,
    "exp2": 4,
    "exp10": 4,
    "expm1": 4,
    "log2": 4,
    "log10": 4,
    "log1p": 4,
    "erfc": 18,
    "atan2": 7,
    "atan2pi": 7,
    "sinpi": 6,
    "cospi": 6,
    "tanpi": 7,
    "asinpi": 7,
    "acospi": 7,
    "atanpi": 7,
    "degrees": 4,
    "radians": 4,
    # A result that is denormal may be rounded twice.
    "ldexp": 1,
    # Of two zeros either may be the larger.
    "fmax": 1,
    "fmin": 1,
}
"""The functions that are not rounded correctly: how many ulp they may differ."""


@dataclass
class Statement:
    """An op of the kernel with its result, which is stored to a buffer of its own."""

    name: str
    text: str
    element: str


@dataclass
class Kernel:
    """A kernel that loads its inputs, computes and stores all results.

    `inputs` are the element types of buffers by their names.
    """

    name: str
    inputs: dict[str, str]
    statements: list[Statement]

    @property
    def results(self) -> list[str]:
        return [f"{self.name}_{s.name}" for s in self.statements]

    @property
    def arguments(self) -> dict[str, str]:
        """The element types of all buffers of the host program, by name."""
        inputs = {f"{self.name}_{name}": e for name, e in self.inputs.items()}
        outputs = [s.element for s in self.statements]
        return inputs | dict(zip(self.results, outputs, strict=True))

    def text(self, lanes: int) -> str:
        pointers = {
            name: f"!opencl.pointer<{element}, global>"
            for name, element in self.arguments.items()
        }
        arguments = ", ".join(f"%p_{name} : {type}" for name, type in pointers.items())
        lines = [
            f"opencl.kernel @{self.name}({arguments}) group [1, 1, 1] {{",
            f"  %i = opencl.work_item group_id 0 below {COUNT // lanes}",
        ]
        for name, element in self.inputs.items():
            lines.append(
                f"  %{name} = opencl.load %p_{self.name}_{name}[{lanes} * %i] : "
                f"{pointers[f'{self.name}_{name}']} -> {sized(element, lanes)}"
            )
        for s in self.statements:
            lines.append(f"  %v_{s.name} = {s.text}")
        for result, s in zip(self.results, self.statements, strict=True):
            lines.append(
                f"  opencl.store %v_{s.name}, %p_{result}[{lanes} * %i] : "
                f"{sized(s.element, lanes)} -> {pointers[result]}"
            )
        return "\n".join([*lines, "}"])

    def launch(self, lanes: int) -> str:
        types = {name: buffer_type(element) for name, element in self.arguments.items()}
        lines = [f"%{name} = opencl.allocate : {types[name]}" for name in self.results]
        values = ", ".join(f"%{name}" for name in types)
        groups = COUNT // lanes
        lines.append(
            f"opencl.launch @{self.name} groups [{groups}, 1, 1] ({values}) : "
            + ", ".join(types.values())
        )
        return "\n".join(lines)


def sized(element: str, lanes: int) -> str:
    """A scalar type, or a vector of so many lanes."""
    return element if lanes == 1 else f"vector<{lanes}x{element}>"


def buffer_type(element: str) -> str:
    return f"!opencl.buffer<{COUNT}x{element}>"


def module_text(kernels: Sequence[Kernel], lanes: int) -> str:
    """A module that launches all kernels, whose inputs it takes in order."""
    host = ", ".join(
        f"%{kernel.name}_{name} : {buffer_type(element)}"
        for kernel in kernels
        for name, element in kernel.inputs.items()
    )
    results = {
        result: buffer_type(kernel.arguments[result])
        for kernel in kernels
        for result in kernel.results
    }
    types = ", ".join(results.values())
    return "\n".join(
        [
            *(kernel.text(lanes) for kernel in kernels),
            f"func.func @main({host}) -> ({types}) {{",
            *(kernel.launch(lanes) for kernel in kernels),
            f"func.return {', '.join(f'%{name}' for name in results)} : {types}",
            "}",
        ]
    )


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
        names = ["c", "x", "y"] if types[0] != types[-1] else ["x", "y", "z"]
        values = ", ".join(f"%{operand}" for operand in names[: function.arity])
        inputs = ", ".join(sized(str(type), lanes) for type in types)
        output = sized(str(result), lanes)
        text = f"eltwise.{name} {values} : ({inputs}) -> {output}"
        statements.append(Statement(name, text, str(result)))
    return statements


def cast_statements(source: str, targets: Sequence[str], lanes: int) -> list[Statement]:
    """A conversion to every other type."""
    type = sized(source, lanes)
    return [
        Statement(
            f"to_{target}",
            f"eltwise.cast %x : {type} to {sized(target, lanes)}",
            target,
        )
        for target in targets
        if target != source
    ]


def random_numbers(random: np.random.Generator, element: str) -> Array:
    """Numbers of all magnitudes, with many of those that are special."""
    dtype = numpy_dtype(ELEMENT_TYPES[element])
    if dtype.kind == "b":
        return random.integers(0, 2, COUNT).astype(dtype)
    if element in ("f16", "bf16", "f32", "f64"):
        numbers = random.normal(0, 1, COUNT) * 4
        text = "0 -0.0 1 -1 inf -inf nan 0.5 -0.5 1.5 2.5 -2.5 127.5 1e-3 3e4 -3e4"
        text += " 6e-8 -5e-6 65519 65520 1e-20 1e9 -1e19 2e19"
        special = np.array(text.split(), np.float64)
        with np.errstate(all="ignore"):
            numbers, special = numbers.astype(dtype), special.astype(dtype)
    else:
        limits = np.iinfo(dtype)
        numbers = random.integers(limits.min, limits.max, COUNT, dtype, endpoint=True)
        own = [0, 1, 2, 3, 7, 8, 31, 63, limits.max, limits.max - 1, limits.min]
        own += [-1, -2, -8] if dtype.kind == "i" else []
        special = np.array(own, dtype)
    chosen = random.random(COUNT) < 0.5
    numbers[chosen] = random.choice(special, int(chosen.sum()))
    return numbers


def computed(target: Target) -> list[str]:
    """The element types that the target has, itself or emulated."""
    return [name for name in ELEMENT_TYPES if name != "f64" or target.has_double]


def run(
    kernels: Sequence[Kernel],
    lanes: int,
    target: Target,
    parse_module: Parse,
    random: np.random.Generator,
) -> dict[str, tuple[Array, Array]]:
    """What the target and the interpreter give for each result, for random inputs."""
    inputs = [
        random_numbers(random, element)
        for kernel in kernels
        for element in kernel.inputs.values()
    ]
    module = parse_module(module_text(kernels, lanes))
    wanted = interpret(module, inputs)
    OpenCLEmulateTypesPass().apply(Context(), module)
    module.verify()
    results = target.run(module, *inputs)
    names = [result for kernel in kernels for result in kernel.results]
    pairs = zip(results, wanted, strict=True)
    return dict(zip(names, pairs, strict=True))


def ordered(array: Array) -> NDArray[np.int64]:
    """Floats as integers such that neighbours differ by 1; both zeros are 0."""
    bits = array.view(f"i{array.dtype.itemsize}").astype(np.int64)
    lowest = -(2 ** (8 * array.dtype.itemsize - 1))
    return np.where(bits < 0, lowest - bits, bits)


def compare(name: str, got: Array, wanted: Array, ulps: int = 0) -> None:
    """Values are equal, signs of zeros too, or differ by at most so many ulp."""
    assert got.dtype == wanted.dtype, name
    if got.dtype.kind in "biu":
        np.testing.assert_array_equal(got, wanted, name)
        return
    nan = np.isnan(wanted)
    np.testing.assert_array_equal(np.isnan(got), nan, name)
    got, wanted = got[~nan], wanted[~nan]
    if ulps == 0:
        width = got.dtype.itemsize
        exact = wanted.view(f"u{width}")
        np.testing.assert_array_equal(got.view(f"u{width}"), exact, name)
        return
    if got.dtype.itemsize == 2:
        # It was computed in f32, where this is much less than one ulp of the result.
        ulps = 1
    distance = np.abs(ordered(got) - ordered(wanted))
    assert distance.max(initial=0) <= ulps, (name, distance.max())


def check_exactly(
    kernels: Sequence[Kernel],
    lanes: int,
    target: Target,
    parse_module: Parse,
    random: np.random.Generator,
) -> None:
    results = run(kernels, lanes, target, parse_module, random)
    for name, (got, wanted) in results.items():
        compare(name, got, wanted)


@pytest.mark.parametrize(
    ("target", "lanes"),
    [("opencl", 1), ("opencl", 4), ("opencl", 16), ("c", 1), ("c", 16)],
    indirect=["target"],
)
def test_functions_and_conversions(
    lanes: int, target: Target, parse_module: Parse
) -> None:
    types = computed(target)
    kernels = [
        Kernel(
            element,
            {"x": element, "y": element, "z": element, "c": "i1"},
            function_statements(element, lanes)
            + cast_statements(element, types, lanes),
        )
        for element in types
    ]
    results = run(kernels, lanes, target, parse_module, np.random.default_rng(lanes))
    for name, (got, wanted) in results.items():
        compare(name, got, wanted, LOOSE.get(name.split("_", 1)[1], 0))


@pytest.mark.parametrize(
    ("target", "lanes"),
    [("opencl", 2), ("opencl", 3), ("opencl", 8), ("c", 3)],
    indirect=["target"],
)
def test_functions_of_other_vectors(
    lanes: int, target: Target, parse_module: Parse
) -> None:
    kernels = [
        Kernel(
            element,
            {"x": element, "y": element, "z": element, "c": "i1"},
            function_statements(element, lanes),
        )
        for element in ("f32", "f16", "si32", "i1")
    ]
    results = run(kernels, lanes, target, parse_module, np.random.default_rng(lanes))
    for name, (got, wanted) in results.items():
        compare(name, got, wanted, LOOSE.get(name.split("_", 1)[1], 0))


def test_truth_values_of_different_widths_meet(
    target: Target, parse_module: Parse
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
    scalar = "opencl.load %p_masks_c[4 * %i] : !opencl.pointer<i1, global> -> i1"
    statements[0].text += f"\n  %c0 = {scalar}"
    inputs = {"x": "f32", "y": "f32", "s": "si16", "t": "si16", "c": "i1"}
    kernel = Kernel("masks", inputs, statements)
    random = np.random.default_rng(3)
    check_exactly([kernel], 4, target, parse_module, random)


@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize("element", ["si8", "ui16", "si32", "si64"])
def test_integers_wrap_around_before_they_are_compared(
    element: str, lanes: int, target: Target, parse_module: Parse
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
    kernel = Kernel("wrapping", {"x": element, "y": element}, statements)
    check_exactly([kernel], lanes, target, parse_module, random)


@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_storage_types_are_refused_where_they_are_computed_with(
    element: str, parse_module: Parse
) -> None:
    kernel = Kernel(
        "k",
        {"x": element, "y": element},
        [Statement("add", f"eltwise.add %x, %y : {element}", element)],
    )
    module = parse_module(module_text([kernel], 1))
    with pytest.raises(GinghamError, match=f"do not compute with {element}"):
        print_opencl(module)
    kernel.statements = [Statement("to", f"eltwise.cast %x : {element} to si8", "si8")]
    module = parse_module(module_text([kernel], 1))
    with pytest.raises(GinghamError, match=f"do not convert {element} to si8"):
        print_opencl(module)
