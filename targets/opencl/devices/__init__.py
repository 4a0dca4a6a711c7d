"""OpenCL devices: which there are, what they say of themselves, whether they work.

A `handle` is what buffers, queues and kernels know of a device: its name, its context,
its memory, and its `properties`, which the driver tells. On it stands the `device` of a
user, with queues; `partition` divides it. `discovery` lists devices by lasting names,
with the runtimes that `vendor_files` finds; `calibration` has what is to be measured,
`probe` whether a device computes at all, and `own_functions` what it computes badly.
"""
