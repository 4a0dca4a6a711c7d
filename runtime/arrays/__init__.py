"""`gingham.Array`: tensors in the memory of devices, and calls that nobody waits for.

`array` is what a user has, `memory` who reads and writes it and in which order.
`transfers` moves contents between devices, `starter` runs a program on arrays, and
`dlpack` exchanges them with other libraries.
"""
