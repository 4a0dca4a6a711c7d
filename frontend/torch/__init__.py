"""Graphs of PyTorch as programs: core ATen operators on tensors of the eDSL.

`graphs` walks a graph of `torch.fx`; what each operator means is a row of `rows`, by
modules that go by idea. Nothing here imports PyTorch: nodes are read by what they have.
"""
