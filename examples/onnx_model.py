"""A model of ONNX from its file to its results, and what became of it.

python examples/onnx_model.py MODEL.onnx
"""

import sys

import numpy as np
import onnx

import gingham

path = sys.argv[1]
model = gingham.onnx.load(path)
print(model, "on", model.device.name)

inputs = []
constants = {each.name for each in onnx.load(path).graph.initializer}
for each in onnx.load(path).graph.input:
    if each.name not in constants:
        sizes = [dim.dim_value or 1 for dim in each.type.tensor_type.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(each.type.tensor_type.elem_type)
        inputs.append(np.random.default_rng(0).random(sizes).astype(dtype))

results = model.run(inputs)
for number, result in enumerate(results):
    print(model.output_names[number], result.shape, result.dtype)
print(model.report(*inputs))
