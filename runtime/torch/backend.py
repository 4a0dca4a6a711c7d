"""What PyTorch calls to compile a graph: the backend `gingham` of `torch.compile`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import torch
from torch._decomp import _core_aten_decompositions_post_autograd
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch._guards import TracingContext

from ...errors import GinghamError
from ...garbage import rare_collections
from ...suggestions import did_you_mean
from ..options import CompileOptions
from .compiled import CompiledGraph

_OPTIONS = ("device", "fast_math", "tuned")
"""Those of `gingham.compile` that `torch.compile(options=...)` may say."""

_aten: Any = torch.ops.aten


@rare_collections()
def backend(
    module: Any,
    example_inputs: Sequence[Any],
    *,
    mode: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> Callable[..., Any]:
    """Compile a graph of PyTorch: `torch.compile(model, backend="gingham")`.

    `options` may say `device`, `fast_math` and `tuned`, which mean what they do of
    `gingham.compile`; `mode` changes nothing. Raises GinghamError for other options.
    """
    chosen = chosen_options(options or {})
    compile_graph = partial(_compiled, chosen)
    compiler = aot_autograd(
        fw_compiler=compile_graph,
        bw_compiler=compile_graph,
        inference_compiler=partial(_compiled_for_inference, chosen),
        decompositions=decompositions(),
        partition_fn=min_cut_rematerialization_partition,
    )
    return compiler(module, example_inputs)


def chosen_options(options: Mapping[str, Any]) -> CompileOptions:
    """The options as those of `gingham.compile`. Raises GinghamError for others."""
    for name in options:
        if name not in _OPTIONS:
            raise GinghamError(
                f"backend 'gingham' has no option '{name}'",
                hint=did_you_mean(name, _OPTIONS)
                or f"its options are {', '.join(_OPTIONS)}",
            )
    return CompileOptions(**options)


def _compiled(
    options: CompileOptions, module: Any, example_inputs: Sequence[Any]
) -> CompiledGraph:
    return CompiledGraph(module, options)


def _compiled_for_inference(
    options: CompileOptions, module: Any, example_inputs: Sequence[Any]
) -> CompiledGraph:
    """With parameters and buffers as constants, which are folded and packed once."""
    return CompiledGraph(module, options, _unchanging(example_inputs))


def _unchanging(example_inputs: Sequence[Any]) -> list[int]:
    """The positions of parameters and buffers that the graph does not change."""
    context = TracingContext.try_get()
    metadata = None if context is None else context.fw_metadata
    if metadata is None:
        return []
    changed = [info.mutates_data for info in metadata.input_info]
    return [
        position
        for position in metadata.static_input_indices
        if not (position < len(changed) and changed[position])
        and isinstance(example_inputs[position], torch.Tensor)
        and not example_inputs[position].is_inference()
    ]


@cache
def decompositions() -> Mapping[Any, Callable[..., Any]]:
    """How operators become core ones: those of PyTorch, but for what has a row."""
    # `core_aten_decompositions` adds all operators that are made of others, which takes
    # 0.1 s to find: those come apart anyway before a graph is handed on.
    table = dict(_core_aten_decompositions_post_autograd())
    for packet in (
        _aten._scaled_dot_product_flash_attention_for_cpu,
        _aten.embedding_dense_backward,
    ):
        for overload in packet.overloads():
            table.pop(getattr(packet, overload), None)
    table[_aten.native_dropout.default] = _dropout
    return table


def _dropout(x: Any, p: float, train: bool | None) -> tuple[Any, Any]:
    """A dropout whose mask depends on nothing, and so is drawn before all else.

    The mask is that which PyTorch draws.
    """
    if train is False or p == 0:
        return x.clone(), torch.ones_like(x, dtype=torch.bool)
    if p == 1:
        return torch.zeros_like(x), torch.zeros_like(x, dtype=torch.bool)
    cells = torch.empty(x.shape, dtype=torch.bool, device=x.device)
    mask = torch.bernoulli(cells, 1 - p)
    return x * mask * (1 / (1 - p)), mask
