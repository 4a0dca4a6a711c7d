"""`torch.compile(model, backend="gingham")`: PyTorch's models on Gingham's devices.

`backend` is what PyTorch calls with a graph. It comes out of AOTAutograd in core ATen
operators, forward and backward; `compiled` has one program for each set of shapes;
`plan` says which of its nodes run on the device and which in PyTorch; `segment` is a
part of it that is one program, `exchange` what tensors share their memory.
"""
