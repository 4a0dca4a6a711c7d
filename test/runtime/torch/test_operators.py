"""Each operator with a row gives what PyTorch gives, alone and in training."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from operators_of_torch import Example, examples  # noqa: E402
from torch._functorch.aot_autograd import aot_function  # noqa: E402

from gingham.runtime.options import CompileOptions  # noqa: E402
from gingham.runtime.torch.backend import decompositions  # noqa: E402
from gingham.runtime.torch.compiled import CompiledGraph  # noqa: E402

leaves_of = torch.utils._pytree.tree_leaves


def compiled(example: Example) -> Any:
    """The function by graphs of core operators, on the interpreter."""
    options = CompileOptions(device="reference")
    return aot_function(
        lambda *arguments: example.function(*arguments),
        fw_compiler=lambda graph, _: CompiledGraph(graph, options),
        decompositions=dict(decompositions()),
    )


@pytest.mark.parametrize("example", examples(), ids=lambda each: each.name)
def test_an_operator_gives_what_pytorch_gives(example: Example) -> None:
    expected = leaves_of(example.function(*example.arguments))
    found = leaves_of(compiled(example)(*example.arguments))
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=2e-5, atol=2e-5)


LEARNT = (
    "elu|gelu|hardswish|leaky_relu|silu|softplus|maximum|clamp|where|view|permute|expand"
    "|slice|cat|pad|roll|sum|mean|amax|var|logsumexp of an axis|norm|softmax|cumsum|mm"
    "|linear|einsum|conv2d|groups|dilated|conv1d|transposed|attention|causal|masked"
    "|max_pool2d|avg_pool2d|padding not counted|adaptive|global|nearest to a size"
    "|bilinear|batch_norm in training|layer_norm|group_norm|rms_norm|embedding|index"
    "|two indices|gather|scatter_add|cross_entropy"
).split("|")
"""Operators that models are trained with."""


def learnt() -> list[Example]:
    """The examples of these; each has one."""
    found = [each for each in examples() if each.name in LEARNT]
    assert {each.name for each in found} == {*LEARNT}
    return found


@pytest.mark.parametrize("example", learnt(), ids=lambda each: each.name)
def test_gradients_are_those_of_pytorch(example: Example) -> None:
    found = _gradients(compiled(example), example)
    expected = _gradients(example.function, example)
    assert found
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=5e-5, atol=5e-5)


def _gradients(function: Any, example: Example) -> list[Any]:
    arguments = [
        each.clone().requires_grad_() if each.is_floating_point() else each
        for each in example.arguments
    ]
    torch.manual_seed(0)
    results = [each for each in leaves_of(function(*arguments)) if each.requires_grad]
    loss = sum((each * torch.randn_like(each)).sum() for each in results)
    assert isinstance(loss, torch.Tensor)
    loss.backward()
    return [each.grad for each in arguments if each.grad is not None]
