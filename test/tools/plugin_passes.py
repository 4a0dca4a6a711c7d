"""Passes that fail or are wrong, for tests: `--load-pass-plugin=plugin_passes.py`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.arith import AddiOp, MuliOp
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.utils.exceptions import PassFailedException

from gingham.errors import GinghamError


class RejectProduct(RewritePattern):
    """Fails at the first product."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MuliOp, rewriter: PatternRewriter, /) -> None:
        raise PassFailedException("products are not supported")


class SumToProduct(RewritePattern):
    """Replaces each sum by a product."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AddiOp, rewriter: PatternRewriter, /) -> None:
        rewriter.replace(op, MuliOp(op.lhs, op.rhs))


@dataclass(frozen=True)
class TestFailPass(ModulePass):
    """Fail at the first product, in the way that is asked for.

    This is not in the summary.
    """

    name = "test-fail"

    how: str = "emit"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        product = next(inner for inner in op.walk() if isinstance(inner, MuliOp))
        match self.how:
            case "emit":
                product.emit_error("here", PassFailedException("no products, please"))
            case "pattern":
                PatternRewriteWalker(RejectProduct()).rewrite_module(op)
            case "user-error":
                raise GinghamError("this is too much", hint="take less")
            case "defect":
                raise KeyError("a key that\nnobody has")
            case "invalid":
                product.detach()
            case "recursion":
                self.apply(ctx, op)
            case _:
                raise ValueError(f"unknown way '{self.how}'")


@dataclass(frozen=True)
class TestSumToProductPass(ModulePass):
    """Replace each sum of integers by a product."""

    name = "test-sum-to-product"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(SumToProduct()).rewrite_module(op)


@dataclass(frozen=True)
class TestCountPass(ModulePass):
    """Set attributes on the module that show what the pass runs on, and its options."""

    name = "test-options"

    integers: tuple[int, ...] = ()
    number: float = 0.5
    text: str | None = None
    flag: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from xdsl.dialects.builtin import StringAttr

        for function in op.walk():
            if isinstance(function, FuncOp):
                function.attributes["options"] = StringAttr(str(self.spec()))


@dataclass(frozen=True)
class TestOutlinePass(ModulePass):
    """Put a declaration before each function of the module that it is given."""

    name = "test-outline"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in list(op.ops):
            if isinstance(function, FuncOp):
                name = f"before_{function.sym_name.data}"
                declaration = FuncOp.external(name, [], [])
                op.body.block.insert_op_before(declaration, function)
