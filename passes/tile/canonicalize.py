"""`tile-canonicalize`: fold constants, drop what does nothing, share what is equal.

```mlir
%two = eltwise.constant 2.0 : tensor<f32>
%six = eltwise.mul %two, %three : tensor<f32>
%0 = eltwise.ident %A : tensor<4xf32>
%1 = eltwise.cast %0 : tensor<4xf32> to tensor<4xf64>
%2 = eltwise.cast %1 : tensor<4xf64> to tensor<4xf32>
%3 = eltwise.mul %2, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
%4 = eltwise.add %3, %six : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
```

becomes

```mlir
%six = eltwise.constant 6.0 : tensor<f32>
%4 = eltwise.add %A, %six : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
```

Every rewrite keeps all bits of the result, those of negative zeros too (of a NaN only
that it is one): `x * 1`, `x / 1` and `x - 0.0` are `x` in any type, `x + 0` in integers
only; in floats it is `x + -0.0` that is `x`; `-(-x)`, `~(~x)` and `!(!x)` are `x`.
Folded functions round as their type does. A reshape to its own shape is its operand,
and of two reshapes the first is dropped; what a flat contraction reads of a transposed
tensor it reads of the tensor itself. Works on tensors, scalars and sizes; in a module
that is not specialized yet little can be known, so little is done.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, UnrankedTensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.transforms.common_subexpression_elimination import cse

from ...dialects.eltwise.element_types import Kind, f32, is_element_type, kind
from ...dialects.eltwise.ops import (
    ANY_ELEMENT,
    CastOp,
    ConstantOp,
    ElementwiseOp,
    element_of,
)
from ...dialects.tile.special import ReshapeOp
from ..constant_folding import constant_of, fold_cast, fold_function, is_exact_cast
from ..locations import located
from .neutral import operand_given
from .transposed_reads import ReadBeforeTransposition


class FoldFunction(RewritePattern):
    """An element-wise function of constants is a constant."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Replace the function by its result, if all operands are constants."""
        number = fold_function(op.function, op.arguments, op.result.type)
        if number is not None:
            constant = ConstantOp(number, op.result.type)
            rewriter.replace(op, located(constant, op))


class FoldCast(RewritePattern):
    """A constant converted is a constant of the other type."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CastOp, rewriter: PatternRewriter) -> None:
        """Replace the cast by the converted constant, rounded as the cast does."""
        number = constant_of(op.argument)
        if number is None:
            return
        source, target = element_of(op.argument.type), element_of(op.result.type)
        folded = fold_cast(number, source, target)
        if folded is not None:
            rewriter.replace(op, located(ConstantOp(folded, op.result.type), op))


class DropFunction(RewritePattern):
    """A function that gives one of its operands is that operand."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Replace `x + 0`, `x * 1` and the like by the operand, broadcast if needed."""
        element = element_of(op.result.type)
        value = operand_given(op.function.name, op.arguments, element)
        if value is not None:
            _replace_by_value(op, value, rewriter)


class DropCondition(RewritePattern):
    """`cond` of a constant is one of its operands."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Replace it by the operand that is chosen, broadcast if needed."""
        if op.function.name != "cond":
            return
        condition = constant_of(op.arguments[0])
        if condition is not None and _is_known(op.result.type):
            chosen = op.arguments[1 if condition else 2]
            _replace_by_value(op, chosen, rewriter)


class MergeCasts(RewritePattern):
    """A cast to its own type is nothing; of two casts an exact first one is dropped."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CastOp, rewriter: PatternRewriter) -> None:
        """Drop the cast, or the one before it where that changes no number."""
        if op.argument.type == op.result.type:
            _replace_by_value(op, op.argument, rewriter)
            return
        first = op.argument.owner
        if not isinstance(first, CastOp):
            return
        types = (first.argument.type, op.argument.type, op.result.type)
        if _can_skip(*(element_of(type) for type in types)):
            rewriter.replace(op, located(CastOp(first.argument, op.result.type), op))


class MergeReshapes(RewritePattern):
    """A reshape to its own shape is nothing; of two reshapes the first is dropped."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReshapeOp, rewriter: PatternRewriter) -> None:
        """Drop the reshape, or the one before it, once sizes are known."""
        # Before sizes are known, a reshape also says that numbers of elements agree.
        if not _is_known(op.tensor.type):
            return
        if op.tensor.type == op.result.type:
            rewriter.replace(op, [], [op.tensor])
            return
        first = op.tensor.owner
        if isinstance(first, ReshapeOp) and _is_known(first.tensor.type):
            merged = ReshapeOp(first.tensor, op.result.type, op.sizes)
            merged.attributes |= op.attributes
            rewriter.replace(op, located(merged, op))


@dataclass(frozen=True)
class TileCanonicalizePass(ModulePass):
    """Fold constants, drop what does nothing, unused or equal to an op before it."""

    name = "tile-canonicalize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite until no pattern applies, then share equal operations."""
        # The applier also erases unused ops that have no effect.
        patterns = GreedyRewritePatternApplier(
            [
                FoldFunction(),
                FoldCast(),
                DropFunction(),
                DropCondition(),
                MergeCasts(),
                MergeReshapes(),
                ReadBeforeTransposition(),
            ]
        )
        PatternRewriteWalker(patterns).rewrite_module(op)
        cse(op)


def _replace_by_value(
    op: ElementwiseOp | CastOp, value: SSAValue, rewriter: PatternRewriter
) -> None:
    """Use an operand instead of the result, unless the result is broadcast."""
    if value.type == op.result.type:
        rewriter.replace(op, [], [value])


def _is_known(type: Attribute) -> bool:
    """Whether neither the element type nor a size is left to be found."""
    if element_of(type) == ANY_ELEMENT or isinstance(type, UnrankedTensorType):
        return False
    return not isinstance(type, TensorType) or type.has_static_shape()


def _can_skip(source: Attribute, middle: Attribute, target: Attribute) -> bool:
    """Whether a cast by way of `middle` is the direct cast."""
    if not all(is_element_type(element) for element in (source, middle, target)):
        return False
    if not is_exact_cast(source, middle):
        return False
    if kind(middle) is not Kind.FLOAT or kind(source) is Kind.FLOAT:
        return True
    # An integer becomes a narrower integer by wrapping around, and f16 by way of f32:
    # through a wider float it does neither.
    return is_exact_cast(source, f32 if kind(target) is Kind.FLOAT else target)
