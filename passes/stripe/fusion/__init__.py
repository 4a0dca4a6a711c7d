"""What the fusion of blocks is decided by, and what carries it out.

`shared_indices` finds the indices that blocks could share and `join` puts blocks over
the same points together. `cost` predicts the time of a group as one kernel, with its
tiles from `tiling`, its memory from `footprint` and long contractions in the `panels`
of their reduction. `widen` makes one window of the different ones of a buffer.
"""
