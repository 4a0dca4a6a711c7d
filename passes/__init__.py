"""The passes, by name; each is imported when it is first used.

A pass is one file named as the pass, with its IR before and after in the module
docstring.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

_PASSES = {
    "tile-specialize": "tile.specialize:TileSpecializePass",
    "tile-expand-gather": "tile.expand_gather:TileExpandGatherPass",
    "tile-differentiate": "tile.differentiate:TileDifferentiatePass",
    "tile-canonicalize": "tile.canonicalize:TileCanonicalizePass",
    "tile-flatten": "tile.flatten:TileFlattenPass",
    "tile-check-types": "tile.check_types:TileCheckTypesPass",
    "tile-place": ".placement.place_pass:TilePlacePass",
    "lower-tile-to-stripe": "convert.lower_tile_to_stripe:LowerTileToStripePass",
    "stripe-fuse": "stripe.apply.fuse:StripeFusePass",
    "stripe-reuse-scratch": "stripe.apply.reuse_scratch:StripeReuseScratchPass",
    "stripe-plan-fusion": "stripe.decide.plan_fusion:StripePlanFusionPass",
    "stripe-plan-walks": "stripe.decide.plan_walks:StripePlanWalksPass",
    "stripe-fuse-nests": "stripe.apply.fuse_nests:StripeFuseNestsPass",
    "stripe-scan": "stripe.decide.scan:StripeScanPass",
    "stripe-write-once": "stripe.apply.write_once:StripeWriteOncePass",
    "stripe-merge-indices": "stripe.apply.merge_indices:StripeMergeIndicesPass",
    "stripe-dead-code-elimination": (
        "stripe.apply.dead_code_elimination:StripeDeadCodeEliminationPass"
    ),
    "stripe-split-axes": "stripe.apply.split_axes:StripeSplitAxesPass",
    "stripe-share-reductions": (
        "stripe.decide.share_reductions:StripeShareReductionsPass"
    ),
    "stripe-split-reduction": "stripe.decide.split_reduction:StripeSplitReductionPass",
    "stripe-assign-layouts": "stripe.decide.assign_layouts:StripeAssignLayoutsPass",
    "stripe-permute-axes": "stripe.apply.permute_axes:StripePermuteAxesPass",
    "stripe-plan-layout": "stripe.decide.plan_layout:StripePlanLayoutPass",
    "stripe-transpose-outputs": (
        "stripe.apply.transpose_outputs:StripeTransposeOutputsPass"
    ),
    "stripe-recall": "stripe.decide.recall:StripeRecallPass",
    "stripe-autotile": "stripe.decide.autotile:StripeAutotilePass",
    "stripe-partition-edges": "stripe.apply.partition_edges:StripePartitionEdgesPass",
    "stripe-count-work": "stripe.analysis.count_work:StripeCountWorkPass",
    "stripe-tile": "stripe.apply.tile:StripeTilePass",
    "stripe-stage": "stripe.apply.stage:StripeStagePass",
    "stripe-instruct": "stripe.apply.instruct:StripeInstructPass",
    "stripe-pad": "stripe.apply.pad:StripePadPass",
    "stripe-localize": "stripe.apply.localize:StripeLocalizePass",
    "stripe-accumulate": "stripe.apply.accumulate:StripeAccumulatePass",
    "stripe-share-kernels": "stripe.apply.share_kernels:StripeShareKernelsPass",
    "stripe-shift-inwards": "stripe.apply.shift_inwards:StripeShiftInwardsPass",
    "stripe-round-up": "stripe.apply.round_up:StripeRoundUpPass",
    "stripe-separate": "stripe.decide.separate:StripeSeparatePass",
    "stripe-scalarize": "stripe.apply.scalarize:StripeScalarizePass",
    "stripe-plan-vectors": "stripe.decide.plan_vectors:StripePlanVectorsPass",
    "stripe-vectorize": "stripe.apply.vectorize:StripeVectorizePass",
    "stripe-walk": "stripe.apply.walk:StripeWalkPass",
    "stripe-unroll": "stripe.decide.unroll:StripeUnrollPass",
    "stripe-collect-outputs": "stripe.apply.collect_outputs:StripeCollectOutputsPass",
    "stripe-drop-constraints": (
        "stripe.apply.drop_constraints:StripeDropConstraintsPass"
    ),
    "stripe-fuse-epilogues": "stripe.apply.fuse_epilogues:StripeFuseEpiloguesPass",
    "stripe-distribute": "stripe.decide.distribute:StripeDistributePass",
    "stripe-map": "stripe.decide.map:StripeMapPass",
    "lower-stripe-to-opencl": "convert.lower_stripe_to_opencl:LowerStripeToOpenCLPass",
    "opencl-stream-stores": "opencl.stream_stores:OpenCLStreamStoresPass",
    "opencl-emulate-types": "opencl.emulate_types:OpenCLEmulateTypesPass",
    "opencl-check-limits": "opencl.check_limits:OpenCLCheckLimitsPass",
    "opencl-coalesce-loops": "opencl.coalesce_loops:OpenCLCoalesceLoopsPass",
    "opencl-cell-by-cell": "opencl.cell_by_cell:OpenCLCellByCellPass",
    "opencl-order-loops": "opencl.order_loops:OpenCLOrderLoopsPass",
    "opencl-load-vectors": "opencl.load_vectors:OpenCLLoadVectorsPass",
    "opencl-zero-copies": "opencl.zero_copies:OpenCLZeroCopiesPass",
    "opencl-double-buffer": "opencl.double_buffer:OpenCLDoubleBufferPass",
    "opencl-align-vectors": "opencl.align_vectors:OpenCLAlignVectorsPass",
    "opencl-synchronize": "opencl.synchronize:OpenCLSynchronizePass",
    "opencl-expand-functions": "opencl.expand_functions:OpenCLExpandFunctionsPass",
    "opencl-divide-by-scalars": ("opencl.divide_by_scalars:OpenCLDivideByScalarsPass"),
    "opencl-plan-joins": "opencl.plan_joins:OpenCLPlanJoinsPass",
    "opencl-join-launches": "opencl.join_launches:OpenCLJoinLaunchesPass",
    "opencl-run-once": "opencl.run_once:OpenCLRunOncePass",
    "opencl-hide-complements": "opencl.hide_complements:OpenCLHideComplementsPass",
    "opencl-hide-conditions": "opencl.hide_conditions:OpenCLHideConditionsPass",
    "opencl-limit-unrolling": "opencl.limit_unrolling:OpenCLLimitUnrollingPass",
    "opencl-prefetch": "opencl.prefetch:OpenCLPrefetchPass",
    "opencl-place-memory": "opencl.place_memory:OpenCLPlaceMemoryPass",
}


def get_all_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """A factory for each of our passes, which imports it when called."""

    def factory(place: str) -> Callable[[], type[ModulePass]]:
        module, _, attribute = place.partition(":")
        return lambda: getattr(import_module(f".{module}", __name__), attribute)

    return {name: factory(place) for name, place in _PASSES.items()}
