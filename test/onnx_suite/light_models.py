"""The light models of ONNX with random weights, compared with onnxruntime.

    python -m test.onnx_suite.light_models [--device NAME] [MODEL ...]

The package of ONNX has nine networks whose weights are all equal, so that any result
would do. Here weights are drawn such that layers keep the scale of what goes through
them, and what comes before the softmax is compared.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

NAMES = (
    "bvlc_alexnet densenet121 inception_v1 inception_v2 resnet50 shufflenet squeezenet "
    "vgg19 zfnet512"
).split()

TOLERANCE = 1e-4
"""Of the largest difference, relative to the largest output."""


def light_model(name: str, seed: int = 0) -> Any:
    """The model with random weights, which ends before its softmax."""
    import onnx

    folder = os.path.join(os.path.dirname(onnx.__file__), "backend/test/data/light")
    model = onnx.load(os.path.join(folder, f"light_{name}.onnx"))
    _reseed(model.graph, np.random.default_rng(seed))
    _cut_softmax(model.graph)
    return model


def _reseed(graph: Any, generator: np.random.Generator) -> None:
    """Draw the weights anew: those of initializers, and those of one number."""
    from onnx import numpy_helper

    arrays = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    filled = [node for node in graph.node if node.op_type == "ConstantOfShape"]
    for node in filled:
        sizes = arrays[node.input[0]]
        arrays[node.output[0]] = np.zeros(sizes, np.float32)
        graph.node.remove(node)
    for node in graph.node:
        for position, name in enumerate(node.input):
            if name in arrays and arrays[name].dtype == np.float32:
                shape = arrays[name].shape
                arrays[name] = _weights(node, position, shape, generator)
    del graph.initializer[:]
    used = {name for node in graph.node for name in node.input}
    used.update(each.name for each in graph.input)
    graph.initializer.extend(
        numpy_helper.from_array(array, name)
        for name, array in arrays.items()
        if name in used
    )


def _weights(
    node: Any, position: int, shape: Sequence[int], generator: np.random.Generator
) -> Any:
    """Random numbers for an input of a node."""
    if node.op_type == "Conv" and position == 1:
        fan = int(np.prod(shape[1:]))
        weights = generator.normal(0, np.sqrt(2 / fan), shape)
    elif node.op_type in ("Gemm", "MatMul") and position == 1:
        is_turned = any(a.name == "transB" and a.i for a in node.attribute)
        weights = generator.normal(0, shape[1 if is_turned else 0] ** -0.5, shape)
    elif (
        node.op_type == "BatchNormalization" and position in (1, 4)
    ) or node.op_type == "Mul":
        weights = generator.uniform(0.5, 1.5, shape)
    else:
        weights = generator.normal(0, 0.1, shape)
    return weights.astype(np.float32)


def _cut_softmax(graph: Any) -> None:
    """Have the model end with what it takes the softmax of."""
    last = next(node for node in graph.node if graph.output[0].name in node.output)
    if last.op_type == "Softmax":
        graph.output[0].name = last.input[0]
        graph.node.remove(last)


def image_for(model: Any, seed: int = 1) -> tuple[str, Any]:
    """The name of the input of a model, and a random image for it."""
    known = {each.name for each in model.graph.initializer}
    (given,) = [each for each in model.graph.input if each.name not in known]
    shape = [dim.dim_value or 1 for dim in given.type.tensor_type.shape.dim]
    generator = np.random.default_rng(seed)
    return given.name, generator.normal(0, 1, shape).astype(np.float32)


def compare(name: str, device: str | None) -> bool:
    """Compare one model; say how far it is off, and how long it takes."""
    import onnxruntime

    from gingham.runtime.onnx.loading import load

    model = light_model(name)
    key, image = image_for(model)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    (expected,) = session.run(None, {key: image})
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        function = load(model, device=device)
        loaded = time.perf_counter() - start
        result = np.asarray(function(image))
    first = time.perf_counter() - start
    error = float(np.abs(result - expected).max() / np.abs(expected).max())
    times = [
        _quickest(lambda: function(image)),
        _quickest(lambda: session.run(None, {key: image})),
    ]
    steps = function.report(image).host_steps
    print(
        f"{name}: error {error:.1e}, outputs within {expected.min():.2f} to "
        f"{expected.max():.2f}, deviation {expected.std():.2f}; loaded in "
        f"{loaded:.2f} s, first call after {first:.2f} s, then {times[0] * 1e3:.1f} "
        f"ms, onnxruntime {times[1] * 1e3:.1f} ms; {len(steps)} steps on the host, "
        f"{len(noted)} warnings",
        flush=True,
    )
    return error <= TOLERANCE and bool(expected.std() > 1e-3)


def _quickest(call: Any, count: int = 3) -> float:
    times: list[float] = []
    for _ in range(count):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> int:
    """Compare the models that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device")
    parser.add_argument("models", nargs="*", default=NAMES)
    options = parser.parse_args()
    failed = [n for n in options.models if not compare(n, options.device)]
    print(f"{len(failed)} of {len(options.models)} models differ: {', '.join(failed)}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
