"""Memory of a device: who has it, who may have it, and who gives it up.

`buffer` is a piece of it, `arena` several in one, and `copies` brings arrays there and
back. The `pool` of a device counts them against a budget; `program_memory` tells what a
program needs and gives up what it does not use at the moment, `spare_buffers` and
`result_memory` keep what may be used again.
"""
