"""Units: operations that are placed together, as programs of their own.

A unit is what fusion keeps together anyway, mostly: a contraction with the element-wise
operations after it, or the chain of a softmax. Operations inside exchange their values
without a transfer. A unit alone is a program, so that its time can be predicted and
measured apart from where it was found; its key is the same for all its copies.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from xdsl.dialects.builtin import ArrayAttr, FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ..dialects.constants import is_constant_argument, mark_constants
from ..dialects.eltwise.ops import ConstantOp, element_of, value_bytes
from ..dialects.tile.contract import ContractOp
from ..errors import SourceLocation
from ..passes.locations import source_location

DEVICE_ATTRIBUTE = "tile.device"
"""On an operation: the name of the device that it is placed on."""
REASON_ATTRIBUTE = "tile.device_reason"
"""Why it is placed there, for people."""


@dataclass(frozen=True, eq=False)
class Unit:
    """Operations of one function that are placed together, in program order.

    `inputs` are the values from elsewhere, in the order of their first use, but for
    constants; `outputs` are the results that something else uses.
    """

    ops: tuple[Operation, ...]

    @cached_property
    def inputs(self) -> tuple[SSAValue, ...]:
        """Values from elsewhere, each once, in the order of their first use.

        Constants are not among them: they are repeated where they are used.
        """
        own = {*self.ops}
        found: dict[SSAValue, None] = {}
        for op in self.ops:
            for operand in op.operands:
                if operand.owner not in own and not is_constant(operand):
                    found[operand] = None
        return tuple(found)

    @cached_property
    def outputs(self) -> tuple[SSAValue, ...]:
        """Results that operations outside of the unit use, in program order."""
        own = {*self.ops}
        return tuple(
            result
            for op in self.ops
            for result in op.results
            if any(use.operation not in own for use in result.uses)
        )

    @cached_property
    def key(self) -> str:
        """The same text for units that compute the same from such inputs."""
        return unit_key(self.ops)

    @property
    def name(self) -> str:
        """What its last result that has a name is called in the program.

        That is one that leaves the unit, if any does.
        """
        for values in (self.outputs, [r for op in self.ops for r in op.results]):
            named = [value.name_hint for value in values if value.name_hint is not None]
            if named:
                return named[-1]
        return "(no name)"

    @property
    def location(self) -> SourceLocation | None:
        """Where its first operation with a place in a source is."""
        found = (source_location(op) for op in self.ops)
        return next((place for place in found if place is not None), None)


def is_constant(value: SSAValue) -> bool:
    """Whether a value is a number in the program: each device has it for nothing."""
    return isinstance(value.owner, ConstantOp)


def size_in_bytes(value: SSAValue) -> int:
    """What a tensor takes in the memory of a device."""
    from xdsl.dialects.builtin import TensorType

    if not isinstance(value.type, TensorType):
        raise ValueError(f"expected a tensor, got {value.type}")
    return prod(value.type.get_shape()) * value_bytes(element_of(value.type))


def unit_key(ops: Sequence[Operation]) -> str:
    """A digest of what the operations compute from their inputs.

    Names, places in a source and what else is in the function do not count; whether an
    input is marked as constant does, as what depends on those only is computed once.
    """
    own = {*ops}
    numbers: dict[SSAValue, int] = {}
    lines: list[str] = []

    def number(value: SSAValue) -> str:
        if isinstance(value.owner, ConstantOp):
            return f"{value.owner.value}:{value.type}"
        if value not in numbers:
            numbers[value] = len(numbers)
            mark = " constant" if is_constant_argument(value) else ""
            lines.append(f"{numbers[value]} = input {value.type}{mark}")
        return str(numbers[value])

    for op in ops:
        operands = [number(operand) for operand in op.operands]
        for result in op.results:
            numbers[result] = len(numbers)
        types = ", ".join(str(result.type) for result in op.results)
        results = [numbers[result] for result in op.results]
        used = [any(u.operation not in own for u in r.uses) for r in op.results]
        words = _words(op)
        lines.append(f"{results} = {op.name} {operands} {words} : {types} {used}")
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _words(op: Operation) -> str:
    """The properties and attributes of an operation that mean something."""
    found: dict[str, Attribute] = {**op.properties}
    if isinstance(op, ContractOp):
        # The names of indices.
        del found["indices"]
    for name, attribute in op.attributes.items():
        # Text names a device, or says something to people.
        if not isinstance(attribute, StringAttr):
            found[name] = attribute
    return " ".join(f"{name}={found[name]}" for name in sorted(found))


def unit_module(unit: Unit) -> ModuleOp:
    """A unit as a program: a function from its inputs to its outputs.

    The unit stays as it is. Inputs and outputs have the names of the values, made
    different where they are not.
    """
    inputs, outputs = unit.inputs, unit.outputs
    body = Block(arg_types=[value.type for value in inputs])
    mapping: dict[SSAValue, SSAValue] = dict(zip(inputs, body.args, strict=True))
    for value, argument in mapping.items():
        argument.name_hint = value.name_hint
    for op in unit.ops:
        for operand in op.operands:
            if isinstance(operand.owner, ConstantOp) and operand not in mapping:
                constant = operand.owner.clone()
                mapping[operand] = constant.result
                body.add_op(constant)
        body.add_op(_plain(op.clone(value_mapper=mapping)))
    body.add_op(ReturnOp(*[mapping[value] for value in outputs]))
    types = FunctionType.from_lists([v.type for v in inputs], [v.type for v in outputs])
    function = FuncOp("main", types, Region(body))
    constants = [n for n, value in enumerate(inputs) if is_constant_argument(value)]
    if constants:
        mark_constants(function, constants)
    function.attributes["tile.inputs"] = _names(inputs, "in")
    function.attributes["tile.outputs"] = _names(outputs, "out")
    return ModuleOp([function])


def _plain(op: Operation) -> Operation:
    for name in (DEVICE_ATTRIBUTE, REASON_ATTRIBUTE):
        op.attributes.pop(name, None)
    return op


def _names(values: Sequence[SSAValue], prefix: str) -> ArrayAttr[StringAttr]:
    """The names of values, each once; numbered where there is none."""
    names: list[str] = []
    for number, value in enumerate(values):
        name = value.name_hint or f"{prefix}{number}"
        while name in names:
            name += f"_{number}"
        names.append(name)
    return ArrayAttr([StringAttr(name) for name in names])
