"""JAX, compiled by XLA for the CPU; images NHWC."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..cases import Case
from .prepared import Inputs, Prepared

Computation: TypeAlias = Callable[..., Any]


def prepare(case: Case, inputs: Inputs) -> Prepared | None:
    """The case compiled by `jax.jit`, on inputs that lie on JAX's device already.

    None for a kind of case that JAX is not compared at.
    """
    build = COMPUTATIONS.get(case.kind)
    if build is None:
        return None
    compute = jax.jit(build(case))
    arguments = [jax.device_put(array) for array in inputs.values()]

    def call() -> Any:
        return jax.block_until_ready(compute(*arguments))

    def results() -> list[Any]:
        outputs = call()
        several = outputs if isinstance(outputs, tuple) else (outputs,)
        return [np.asarray(output) for output in several]

    return Prepared(call, results)


def _convolution(case: Case) -> Computation:
    p = case.parameters

    def compute(image: Any, kernel: Any) -> Any:
        x = image.reshape(*image.shape[:3], -1)
        if kernel.ndim == 5:
            taps, other, _, inputs, _ = kernel.shape
            k = kernel.transpose(0, 1, 3, 2, 4).reshape(taps, other, inputs, -1)
        else:
            k = kernel[:, :, None, :] if case.kind == "depthwise" else kernel
        return lax.conv_general_dilated(
            x,
            k,
            (p["stride"],) * 2,
            ((p["pad"],) * 2,) * 2,
            rhs_dilation=(p["dilation"],) * 2,
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
            feature_group_count=p["groups"],
        )

    return compute


def _transposed_convolution(case: Case) -> Computation:
    def compute(image: Any, kernel: Any) -> Any:
        edge = kernel.shape[0] - 1 - case.parameters["pad"]
        return lax.conv_general_dilated(
            image,
            kernel[::-1, ::-1],
            (1, 1),
            ((edge, edge),) * 2,
            lhs_dilation=(2, 2),
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        )

    return compute


def _max_pool(case: Case) -> Computation:
    taps, pad = case.parameters["taps"], case.parameters["pad"]
    edges = ((0, 0), (pad, taps - 2 - pad), (pad, taps - 2 - pad), (0, 0))
    edges = tuple((low, max(high, 0)) for low, high in edges)

    def compute(image: Any) -> Any:
        return lax.reduce_window(
            image, -jnp.inf, lax.max, (1, taps, taps, 1), (1, 2, 2, 1), edges
        )

    return compute


def _layer_norm(x: Any, scale: Any, bias: Any) -> Any:
    centered = x - x.mean(axis=1, keepdims=True)
    variance = (centered * centered).mean(axis=1, keepdims=True)
    return centered * lax.rsqrt(variance + 1e-5) * scale + bias


def _attention(query: Any, key: Any, value: Any) -> Any:
    scores = jnp.einsum("hqd,hkd->hqk", query, key) * query.shape[-1] ** -0.5
    return jnp.einsum("hqk,hkd->hqd", jax.nn.softmax(scores, axis=-1), value)


def _bottleneck(
    image: Any, k1: Any, b1: Any, k2: Any, b2: Any, k3: Any, b3: Any
) -> Any:
    first = jax.nn.relu(image @ k1 + b1)
    second = lax.conv_general_dilated(
        first, k2, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    return jax.nn.relu(jax.nn.relu(second + b2) @ k3 + b3 + image)


def _lstm_cell(x: Any, state: Any, cell: Any, w: Any, u: Any, bias: Any) -> Any:
    gates = jnp.einsum("bn,ngh->gbh", x, w) + jnp.einsum("bn,ngh->gbh", state, u)
    i, f, g, o = gates + bias[:, None, :]
    new_cell = jax.nn.sigmoid(f) * cell + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(new_cell), new_cell


COMPUTATIONS: dict[str, Callable[[Case], Computation]] = {
    "matmul": lambda case: jnp.matmul,
    "matmul_transposed": lambda case: lambda a, b: a @ b.T,
    "tensor_contraction": lambda case: lambda x, y: jnp.einsum("aebf,dfce->abcd", x, y),
    "convolution": _convolution,
    "depthwise": _convolution,
    "transposed_convolution": _transposed_convolution,
    "softmax": lambda case: lambda x: jax.nn.softmax(x, axis=1),
    "log_softmax": lambda case: lambda x: jax.nn.log_softmax(x, axis=1),
    "layer_norm": lambda case: _layer_norm,
    "sum": lambda case: lambda x: x.sum(axis=case.parameters.get("axis")),
    "argmax": lambda case: lambda x: x.argmax(axis=1),
    "cumulative_sum": lambda case: jnp.cumsum,
    "transpose": lambda case: jnp.transpose,
    "max_pool": _max_pool,
    "multiply_add": lambda case: lambda a, b, c: a * b + c,
    "gelu": lambda case: lambda a, b, c: jax.nn.gelu(a * b + c, approximate=True),
    "attention": lambda case: _attention,
    "bottleneck": lambda case: _bottleneck,
    "lstm_cell": lambda case: _lstm_cell,
}
