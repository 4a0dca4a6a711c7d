"""Which blocks are put together into one nest.

`cost` predicts the time of a group as one kernel, with its tiles from `tiling` and long
contractions in the `cache_tiles` that they share; `plan` joins what gains by it.
"""
