"""Rules of definitions hold for just what xDSL's verifier finds nothing wrong with."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from xdsl.dialects import test as any_ops
from xdsl.dialects.builtin import UnitAttr, f64
from xdsl.ir import Block, ErasedSSAValue, Operation

import gingham
from gingham.bench.growing import FAMILIES
from gingham.dialects import make_context
from gingham.dialects.building import DialectOperation
from gingham.dialects.rules import Rules
from gingham.passes.pipelines import PIPELINES, run_stages

_STAGES = ("tile", "stripe", "opencl")
_SORTED = "function (A[M, N], I) -> (C) { C = gather(argsort(A, 1), I); }"
_PROGRAMS = [FAMILIES["recurrence"](14), FAMILIES["convolutions"](4)]


def _modules() -> Iterator[Operation]:
    function = gingham.compile(_SORTED, tuned=False)
    arrays = np.ones((5, 40), np.float32), np.ones(3, np.int32)
    yield function.specialized(*arrays)
    for text, shapes in _PROGRAMS:
        arrays = [np.ones(shape, np.float32) for shape in shapes]
        module = gingham.compile(text, tuned=False).specialized(*arrays)
        for stage in _STAGES:
            run_stages(module, make_context(), PIPELINES["opencl-cpu-avx512"], [stage])
            yield module.clone()


def _operations() -> dict[str, DialectOperation]:
    """One operation of each kind of ours that the programs need, in its module."""
    found: dict[str, DialectOperation] = {}
    for module in _modules():
        for op in module.walk():
            if isinstance(op, DialectOperation):
                found.setdefault(op.name, op)
    return found


_OPERATIONS = _operations()


def _outcome(verify: Callable[[], None]) -> str:
    try:
        verify()
    except Exception as error:  # Verifiers raise more where properties are missing.
        return f"{type(error).__name__}: {error}"
    return "valid"


def _differences(op: Operation) -> Iterator[str]:
    """Changes an operation in one way after the other, and says in which."""
    properties, operands = dict(op.properties), [*op.operands]
    yield "as it is"
    for name in properties:
        del op.properties[name]
        yield f"without {name}"
        op.properties[name] = UnitAttr()
        yield f"with another {name}"
        op.properties = dict(properties)
    op.properties["nonsense"] = UnitAttr()
    yield "with nonsense"
    op.properties = properties
    other = any_ops.TestOp(result_types=[f64]).results[0]
    for changed in (
        [*operands, other],
        operands[:-1],
        operands[1:],
        *([*operands[:n], other, *operands[n + 1 :]] for n in range(len(operands))),
        [*operands[:-1], ErasedSSAValue(f64, other)],
    ):
        op.operands = changed
        yield f"with operands {changed}"
    op.operands = operands
    results, op.results = op.results, other.owner.results
    yield "with another result"
    op.results = results
    for region in op.regions:
        region.add_block(Block())
        yield "with another block"
        region.detach_block(1)
    op.successors = [Block()]
    yield "with a successor"
    op.successors = []


@pytest.mark.parametrize("name", _OPERATIONS)
def test_they_hold_where_xdsl_finds_nothing(name: str) -> None:
    op = _OPERATIONS[name]
    assert Rules.of(type(op).get_irdl_definition()) is not None
    outcomes: set[str] = set()
    for difference in _differences(op):
        outcome = _outcome(op.verify)
        expected = _outcome(super(DialectOperation, op).verify)
        assert outcome == expected, difference
        outcomes.add(outcome)
    assert len(outcomes) > 1
    assert "valid" in outcomes
