"""The time model: what a nest takes on a device, by its index structure alone.

`estimate` adds up the parts: arithmetic of register tiles from `kernel`, memory from
`traffic`, `copying` of windows, `code` that a driver has to build.
"""
