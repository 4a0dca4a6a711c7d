"""PyTorch; images as channels_last, which oneDNN likes best, where they are NHWC.

On a GPU without TF32, whose products have 10 bits, and with cuDNN's own measurements.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import torch
import torch.nn.functional as F

from ..cases import Case
from .prepared import IMAGES, Inputs, Prepared

Tensors: TypeAlias = Sequence[Any]
Build: TypeAlias = Callable[[Case, Tensors], Callable[[], Any]]

_MOST_IN_A_GRAPH = 100


Wrap: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]


def prepare(
    case: Case, inputs: Inputs, wrap: Wrap = lambda call: call
) -> Prepared | None:
    """The case as calls of PyTorch, in inference mode and without a copy of inputs.

    Images come back with channels last, as the case has them. None for a kind of case
    that PyTorch is not compared at. `wrap` may compile the calls.
    """
    arrays = [torch.from_numpy(array) for array in inputs.values()]
    return _prepared(case, arrays, BUILDERS, wrap)


def open_device() -> None:
    """Have a context. Raises RuntimeError where PyTorch finds no GPU."""
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    torch.zeros(1, device="cuda").add_(1).cpu()


def prepare_on_device(
    case: Case,
    inputs: Inputs,
    wrap: Wrap = lambda call: call,
    builders: Mapping[str, Build] | None = None,
) -> Prepared | None:
    """As `prepare`, on the GPU: calls do not wait for each other.

    Its own time is that of a CUDA graph of some calls, by CUDA's events. `builders` may
    have other calls for the kinds of cases.
    """
    open_device()
    arrays = [torch.from_numpy(array).cuda() for array in inputs.values()]
    prepared = _prepared(case, arrays, builders or BUILDERS, wrap)
    if prepared is None:
        return None
    return replace(
        prepared,
        finish=torch.cuda.synchronize,
        on_device=_GraphOfCalls(prepared.call).seconds,
    )


class _GraphOfCalls:
    """A CUDA graph of some calls, made when its time is asked for first."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call
        self._graph: Any = None
        self._count = 1

    def seconds(self, count: int) -> float | None:
        """Seconds of a call; None where the calls cannot be in a graph."""
        if self._graph is None:
            self._graph = self._captured(count) or False
        if self._graph is False:
            return None
        self._graph.replay()
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        self._graph.replay()
        end.record()
        torch.cuda.synchronize()
        return start.elapsed_time(end) / 1e3 / self._count

    def _captured(self, count: int) -> Any:
        self._count = min(count, _MOST_IN_A_GRAPH)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph):
                for _ in range(self._count):
                    self._call()
        except RuntimeError:
            return None
        return graph


def _prepared(
    case: Case, arrays: Tensors, builders: Mapping[str, Build], wrap: Wrap
) -> Prepared | None:
    build = builders.get(case.kind)
    if build is None:
        return None
    with torch.inference_mode():
        call = wrap(build(case, arrays))

    def compute() -> Any:
        with torch.inference_mode():
            return call()

    def results() -> list[Any]:
        outputs = compute()
        several = outputs if isinstance(outputs, tuple) else (outputs,)
        images = case.kind in IMAGES
        laid = [(_rows(o) if images else o).contiguous() for o in several]
        return [each.cpu().numpy() for each in laid]

    return Prepared(compute, results)


def _rows(image: Any) -> Any:
    """NCHW as NHWC."""
    return image.permute(0, 2, 3, 1)


def _image(tensor: Any) -> Any:
    """NHWC, with or without an axis of groups, as NCHW that lies as it did."""
    flat = tensor.reshape(*tensor.shape[:3], -1)
    return flat.permute(0, 3, 1, 2).contiguous(memory_format=torch.channels_last)


def _weights(kernel: Any) -> Any:
    """Taps, groups, inputs, outputs as outputs, inputs, taps."""
    if kernel.ndim == 5:
        taps, other, groups, inputs, outputs = kernel.shape
        kernel = kernel.permute(2, 4, 3, 0, 1)
        kernel = kernel.reshape(groups * outputs, inputs, taps, other)
    else:
        kernel = kernel.permute(3, 2, 0, 1)
    return kernel.contiguous(memory_format=torch.channels_last)


def _convolution(case: Case, inputs: Tensors) -> Callable[[], Any]:
    image, kernel = inputs
    if case.kind == "depthwise":
        kernel = kernel[:, :, :, None, None]
    x, w = _image(image), _weights(kernel)
    p = case.parameters
    return lambda: F.conv2d(
        x, w, None, p["stride"], p["pad"], p["dilation"], p["groups"]
    )


def _channels_first(case: Case, inputs: Tensors) -> Callable[[], Any]:
    x, w = inputs
    p = case.parameters
    return lambda: F.conv2d(x, w, None, p["stride"], p["pad"])


def _transposed_convolution(case: Case, inputs: Tensors) -> Callable[[], Any]:
    image, kernel = inputs
    x = _image(image)
    w = kernel.permute(2, 3, 0, 1).contiguous(memory_format=torch.channels_last)
    p = case.parameters
    return lambda: F.conv_transpose2d(x, w, None, p["stride"], p["pad"])


def _max_pool(case: Case, inputs: Tensors) -> Callable[[], Any]:
    x = _image(inputs[0])
    p = case.parameters
    return lambda: F.max_pool2d(x, p["taps"], 2, p["pad"])


def _sum(case: Case, inputs: Tensors) -> Callable[[], Any]:
    (x,) = inputs
    axis = case.parameters.get("axis")
    return x.sum if axis is None else lambda: x.sum(axis)


def _layer_norm(case: Case, inputs: Tensors) -> Callable[[], Any]:
    x, scale, bias = inputs
    return lambda: F.layer_norm(x, scale.shape, scale, bias, 1e-5)


def _gelu(case: Case, inputs: Tensors) -> Callable[[], Any]:
    a, b, c = inputs
    return lambda: F.gelu(torch.addcmul(c, a, b), approximate="tanh")


def _multiply_add(case: Case, inputs: Tensors) -> Callable[[], Any]:
    a, b, c = inputs
    return lambda: torch.addcmul(c, a, b)


def _chain(case: Case, inputs: Tensors) -> Callable[[], Any]:
    first, a, b = inputs

    def call() -> Any:
        x = first
        for _ in range(case.parameters["calls"]):
            x = torch.addcmul(b, x, a)
        return x

    return call


def _attention(case: Case, inputs: Tensors) -> Callable[[], Any]:
    batch = [x[None] for x in inputs]
    return lambda: F.scaled_dot_product_attention(*batch)[0]


def _bottleneck(case: Case, inputs: Tensors) -> Callable[[], Any]:
    image, k1, b1, k2, b2, k3, b3 = inputs
    x = _image(image)
    w1, w2, w3 = (_weights(k) for k in (k1[None, None], k2, k3[None, None]))

    def call() -> Any:
        first = F.relu_(F.conv2d(x, w1, b1))
        second = F.relu_(F.conv2d(first, w2, b2, padding=1))
        return F.relu_(F.conv2d(second, w3, b3).add_(x))

    return call


def _lstm_cell(case: Case, inputs: Tensors) -> Callable[[], Any]:
    x, state, cell, w, u, bias = inputs
    weights = [m.reshape(len(m), -1).T.contiguous() for m in (w, u)]
    b = bias.reshape(-1)
    zero = torch.zeros_like(b)
    return lambda: torch.lstm_cell(x, (state, cell), *weights, b, zero)


BUILDERS: dict[str, Build] = {
    "matmul": lambda case, inputs: lambda: torch.matmul(*inputs),
    "integer_matmul": lambda case, inputs: lambda: torch._int_mm(*inputs),
    "matmul_transposed": lambda case, inputs: lambda: inputs[0] @ inputs[1].T,
    "tensor_contraction": lambda case, inputs: (
        lambda: torch.einsum("aebf,dfce->abcd", *inputs)
    ),
    "convolution": _convolution,
    "channels_first": _channels_first,
    "depthwise": _convolution,
    "transposed_convolution": _transposed_convolution,
    "softmax": lambda case, inputs: lambda: F.softmax(inputs[0], 1),
    "log_softmax": lambda case, inputs: lambda: F.log_softmax(inputs[0], 1),
    "layer_norm": _layer_norm,
    "sum": _sum,
    "argmax": lambda case, inputs: lambda: inputs[0].argmax(1),
    "cumulative_sum": lambda case, inputs: lambda: inputs[0].cumsum(0),
    "cumulative_rows": lambda case, inputs: lambda: inputs[0].cumsum(1),
    "turned": lambda case, inputs: lambda: inputs[0].permute(2, 0, 1).contiguous(),
    "gather": lambda case, inputs: lambda: F.embedding(inputs[1], inputs[0]),
    "negation": lambda case, inputs: lambda: -inputs[0],
    "chain": _chain,
    "transpose": lambda case, inputs: lambda: inputs[0].T.contiguous(),
    "max_pool": _max_pool,
    "multiply_add": _multiply_add,
    "gelu": _gelu,
    "attention": _attention,
    "bottleneck": _bottleneck,
    "lstm_cell": _lstm_cell,
}
