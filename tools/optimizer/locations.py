"""Lets operations that a rewrite inserts keep the location of what it matched."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter


@contextmanager
def locations_kept() -> Generator[None]:
    """While this is entered, new operations of any pattern rewriter are located.

    An operation that comes without a location takes that of the matched operation.
    xDSL has no hook for this that reaches the rewriters of its own passes, so the
    method through which they report insertions is exchanged.
    """
    original = PatternRewriter.handle_operation_insertion

    def handle_operation_insertion(self: PatternRewriter, op: Operation) -> None:
        matched: Operation | None = getattr(self, "_current_operation", None)
        if matched is not None and op.location is UNKNOWN_LOC:
            for inner in op.walk():
                if inner.location is UNKNOWN_LOC:
                    inner.location = matched.location
        original(self, op)

    PatternRewriter.handle_operation_insertion = handle_operation_insertion
    try:
        yield
    finally:
        PatternRewriter.handle_operation_insertion = original
