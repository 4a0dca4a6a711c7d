"""Checks a module and points at the operation that is wrong.

Beyond xDSL's verifiers, each operand has to be defined before its use: xDSL accepts a
use before the definition, and one of a value whose operation was erased.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.irdl.dominance import DominanceInfo
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import VerifyException

from ...dialects.hints import hint_of
from ...dialects.operands import operands_of
from ...errors import GinghamError
from ...passes.walking import operations
from .diagnostics import Diagnostic, ToolError, note
from .sources import Sources

_UNORDERED = frozenset({"builtin.module", "hw.module", "equivalence.graph"})
"""Operations in whose regions a value may be used before its definition."""


def verify_module(module: ModuleOp, sources: Sources) -> None:
    """Raises GinghamError at the first operation that is not valid."""
    try:
        # First, as a verifier of xDSL says of some such operands what means little.
        _UseVerifier(module, sources).verify()
        module.verify()
        return
    except GinghamError:
        raise
    except RecursionError as error:
        raise GinghamError("the program is nested too deeply") from error
    except Exception as error:
        # Verifiers of dialects raise more than VerifyException on invalid programs.
        op, reason = _first_invalid(module, error)
    raise GinghamError(
        f"'{op.name}' op {_verifier_message(op, reason)}",
        sources.of_operation(op),
        hint_of(reason),
    ) from reason


def _first_invalid(module: ModuleOp, error: Exception) -> tuple[Operation, Exception]:
    """The innermost operation whose verifier fails, and what that verifier raises."""
    for op in _inside_out(module):
        try:
            # The operations inside are valid, but not what xDSL checks of a block.
            op.verify()
        except Exception as reason:
            return op, reason
    return module, error


def _inside_out(op: Operation) -> Iterator[Operation]:
    for region in op.regions:
        for block in region.blocks:
            for inner in block.ops:
                yield from _inside_out(inner)
    yield op


def _verifier_message(op: Operation, reason: Exception) -> str:
    """What a verifier raised, to be read behind `'op.name' op`."""
    message = " ".join(str(reason).split())
    if not isinstance(reason, VerifyException | ValueError):
        return f"cannot be verified ({type(reason).__name__}: {message})"
    for prefix in (f"Operation {op.name} ", f"'{op.name}' op ", f"{op.name}: "):
        message = message.removeprefix(prefix)
    first_word = message.partition(" ")[0]
    if first_word.istitle() and first_word.isalpha():
        return message[:1].lower() + message[1:]
    return message


class _UseVerifier:
    """Checks that each operand is defined before its use."""

    def __init__(self, module: ModuleOp, sources: Sources) -> None:
        self.sources = sources
        self.order = {op: index for index, op in enumerate(operations(module))}
        self.dominance: dict[Region, DominanceInfo] = {}

    def verify(self) -> None:
        """Raises GinghamError at the first operand for which that does not hold."""
        for op, position in self.order.items():
            block = op.parent
            for number, operand in enumerate(operands_of(op)):
                # Most are of the same block, where it takes no more to tell.
                if isinstance(operand, OpResult):
                    owner = operand.op
                    is_known = owner.parent is block
                    if is_known and self.order.get(owner, position) < position:
                        continue
                elif operand.owner is block:
                    continue
                problem = self.problem(operand, op)
                if problem is not None:
                    raise ToolError(
                        f"'{op.name}' op operand #{number} {problem}",
                        self.sources.of_operation(op),
                        notes=self.definition_notes(operand),
                    )

    def problem(self, value: SSAValue, user: Operation) -> str | None:
        """What is wrong with a use of a value, as the end of a sentence, or None."""
        owner = value.owner
        if isinstance(owner, Operation) and owner not in self.order:
            return f"is a result of '{owner.name}', which is not in the program"
        block = owner if isinstance(owner, Block) else owner.parent
        use = user
        while use.parent is not block:
            if use.parent is None or block is None:
                return "is defined in a region that does not hold its use"
            if use.parent.parent is block.parent:
                reachable = self.dominates(block, use.parent)
                return None if reachable else "is not defined on all ways to its use"
            around = use.parent_op()
            if around is None:
                return "is defined in a region that does not hold its use"
            if around.has_trait(IsolatedFromAbove):
                return f"is defined outside of '{around.name}', which is isolated"
            use = around
        if isinstance(owner, Block) or self.order[owner] < self.order[use]:
            return None
        around = use.parent_op()
        unordered = around is not None and around.name in _UNORDERED
        return None if unordered else "is used before it is defined"

    def dominates(self, block: Block, other: Block) -> bool:
        """Whether each way to `other` leads through `block`, of the same region."""
        region = other.parent
        if region is None or other not in _reachable(region):
            return True
        if region not in self.dominance:
            self.dominance[region] = DominanceInfo(region)
        return self.dominance[region].dominates(block, other)

    def definition_notes(self, value: SSAValue) -> Iterator[Diagnostic]:
        """The note that points at the definition, when it is in the program."""
        owner = value.owner
        if isinstance(owner, Operation) and owner in self.order:
            yield note("it is defined here", self.sources.of_operation(owner))


def _reachable(region: Region) -> set[Block]:
    """The blocks of a region that control reaches."""
    pending = [region.blocks[0]]
    reached = set(pending)
    while pending:
        last = pending.pop().last_op
        for successor in last.successors if last is not None else ():
            if successor not in reached:
                reached.add(successor)
                pending.append(successor)
    return reached
