"""Gradients that options ask for, of results by arguments, as further results."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, FunctionType, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import BlockArgument, SSAValue

from ....dialects.eltwise.element_types import Kind, is_element_type, kind
from ....dialects.eltwise.ops import element_of
from ....dialects.tile.gradient import GradientOp
from ....suggestions import did_you_mean
from ...locations import error_at, located
from ..declared_arguments import argument_name

_OUTPUTS = "tile.outputs"
"""The attribute with the names of the results, which frontends write."""


def request_gradients(function: FuncOp, loss: str | None, wrt: Sequence[str]) -> None:
    """Return the gradient of a result by some arguments, after the other results.

    Without `loss` it is that of the only result, without `wrt` that by all arguments
    that have floats. Raises GinghamError for a name that the function does not have.
    """
    block = None if function.is_declaration else function.body.block
    terminator = None if block is None else block.last_op
    if block is None or not isinstance(terminator, ReturnOp):
        name = function.sym_name.data
        raise error_at(function, f"@{name} returns nothing to differentiate")
    names = _result_names(function, terminator)
    value = _result(function, terminator, names, loss)
    arguments = _arguments(function, wrt)
    op = located(GradientOp(value, arguments), terminator)
    block.insert_op_before(op, terminator)
    terminator.operands = [*terminator.arguments, *op.gradients]
    function.function_type = FunctionType.from_lists(
        list(function.function_type.inputs),
        [value.type for value in terminator.arguments],
    )
    _name_results(function, names, arguments, op)


def _result_names(function: FuncOp, terminator: ReturnOp) -> list[str | None]:
    """What the program calls its results; the IR's own names where it does not say."""
    attribute = function.attributes.get(_OUTPUTS)
    declared = attribute.data if isinstance(attribute, ArrayAttr) else ()
    names = [value.name_hint for value in terminator.arguments]
    for number, name in enumerate(declared[: len(names)]):
        if isinstance(name, StringAttr):
            names[number] = name.data
    return names


def _result(
    function: FuncOp,
    terminator: ReturnOp,
    names: Sequence[str | None],
    loss: str | None,
) -> SSAValue:
    results = list(terminator.arguments)
    known = ", ".join(name or "one without a name" for name in names) or "none"
    if loss is None:
        if len(results) == 1:
            return results[0]
        raise error_at(
            function,
            f"the function has {len(results)} results: {known}",
            "the option loss says which one to differentiate",
        )
    if loss not in names:
        raise error_at(
            function,
            f"there is no result '{loss}'",
            did_you_mean(loss, filter(None, names)) or f"there is {known}",
        )
    return results[names.index(loss)]


def _arguments(function: FuncOp, wrt: Sequence[str]) -> list[BlockArgument]:
    arguments = {argument_name(a): a for a in function.body.block.args}
    if not wrt:
        chosen = [a for a in arguments.values() if _has_floats(a)]
        if not chosen:
            raise error_at(function, "no argument has floats to differentiate by")
        return chosen
    for name in wrt:
        if name not in arguments:
            known = ", ".join(arguments) or "none"
            raise error_at(
                function,
                f"there is no argument '{name}'",
                did_you_mean(name, arguments) or f"there is {known}",
            )
        if not _has_floats(arguments[name]):
            element = element_of(arguments[name].type)
            raise error_at(
                function,
                f"cannot differentiate by '{name}': its elements are {element}",
            )
    return [arguments[name] for name in wrt]


def _has_floats(value: SSAValue) -> bool:
    element = element_of(value.type)
    return is_element_type(element) and kind(element) is Kind.FLOAT


def _name_results(
    function: FuncOp,
    names: Sequence[str | None],
    arguments: Sequence[BlockArgument],
    op: GradientOp,
) -> None:
    """Call the gradient by X `dX`, or `dX_2` where there is a result of that name."""
    taken = list(names)
    for argument, gradient in zip(arguments, op.gradients, strict=True):
        stem = name = f"d{argument_name(argument)}"
        number = 1
        while name in taken:
            number += 1
            name = f"{stem}_{number}"
        taken.append(name)
        if gradient.is_valid_name(name):
            gradient.name_hint = name
    if _OUTPUTS in function.attributes:
        texts = [StringAttr(name or "") for name in taken]
        function.attributes[_OUTPUTS] = ArrayAttr(texts)
