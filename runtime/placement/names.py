"""What a user names to be placed, as operations that are left to be placed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from ...errors import GinghamError

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

_OTHER_NAME = "eltwise.ident"


def checked_places(places: object, names: Sequence[str]) -> dict[str, str]:
    """The devices of tensors by their names, each of which has to be among `names`.

    Raises GinghamError for one that is not, and for what says nothing of the kind.
    """
    if not isinstance(places, Mapping | None):
        raise GinghamError(
            f"expected the device of each tensor to be placed, got {places!r}",
            hint='give a dict, such as place={"C": "intel.0"}',
        )
    found: dict[str, str] = {}
    for tensor, device in cast("Mapping[str, Any]", places or {}).items():
        found[tensor] = name = getattr(device, "name", device)
        if name not in names:
            raise GinghamError(
                f"'{tensor}' is to be placed on '{name}', which is not among the "
                "devices of the program",
                hint=f"they are {', '.join(names)}",
            )
    return found


def resolved_places(
    module: ModuleOp, inputs: tuple[str, ...], places: Mapping[str, str]
) -> dict[str, str]:
    """The places of tensors of a program as written, by the names that are kept.

    What is another name for a tensor is that one. Raises GinghamError for an input, for
    a name that is none of a tensor, and for a tensor that no result needs.
    """
    named: dict[str, SSAValue] = {}
    for op in module.walk():
        for result in op.results:
            if result.name_hint is not None and isinstance(result.type, TensorType):
                named[result.name_hint] = result
    needed = _needed(module) if places else set[Operation]()
    found: dict[str, str] = {}
    for name, device in places.items():
        if name in inputs:
            raise _an_input(name, f"'{name}'", device)
        if name not in named:
            computed = [n for n, value in named.items() if value.owner in needed]
            raise GinghamError(
                f"the program computes no tensor '{name}' to be placed on '{device}'",
                hint=f"it computes {', '.join(computed) or 'nothing'}",
            )
        if named[name].owner not in needed:
            raise GinghamError(
                f"'{name}' is to be placed on '{device}', but no result needs it, so "
                "nothing computes it",
                hint="leave out its place, or make it a result",
            )
        value = _original(named[name])
        if isinstance(value, BlockArgument):
            own = inputs[value.index]
            raise _an_input(own, f"'{name}', another name for '{own}',", device)
        kept = value.name_hint or name
        if found.setdefault(kept, device) != device:
            raise GinghamError(
                f"'{name}' is to be placed on '{device}', and is another name for "
                f"'{kept}', which is to be placed on '{found[kept]}'"
            )
    return found


def _an_input(name: str, what: str, device: str) -> GinghamError:
    return GinghamError(
        f"{what} is to be placed on '{device}', but is an input: it is where its array "
        "is",
        hint=f"call the program with gingham.asarray({name}, device={device!r})",
    )


def _original(value: SSAValue) -> SSAValue:
    """The tensor that a value is another name for, or the value."""
    while isinstance(value.owner, Operation) and value.owner.name == _OTHER_NAME:
        value = value.owner.operands[0]
    return value


def _needed(module: ModuleOp) -> set[Operation]:
    """The operations that a result comes from."""
    pending: list[Operation] = [
        op
        for function in module.ops
        if isinstance(function, FuncOp)
        for op in function.body.block.ops
        if isinstance(op, ReturnOp)
    ]
    found: set[Operation] = set()
    while pending:
        op = pending.pop()
        if op not in found:
            found.add(op)
            owners = (operand.owner for operand in op.operands)
            pending += [owner for owner in owners if isinstance(owner, Operation)]
    return found
