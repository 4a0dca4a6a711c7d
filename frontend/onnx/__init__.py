"""Models of ONNX: how they are read, and what their operators are in the eDSL.

`reading` makes a `Model` of a file from anybody, within limits. `table` has a row for
each operator, which makes tensors of the eDSL from those of a `Node`. In which order
nodes are visited, and what runs where, is up to the runtime.
"""
