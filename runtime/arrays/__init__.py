"""`gingham.Array`: tensors in the memory of devices.

`array` is what a user has, `storage` what that is made of, `memory` who reads and
writes it and in which order. `transfers` moves contents between devices, `host_values`
takes what callers have, and `dlpack` exchanges arrays with other libraries.
"""
