"""Rewrites of blocks and nests, for passes to call: they decide nothing.

`blocks` has the small ones, `split` cuts an index space into tiles, `stage` copies
windows for the blocks of a nest, `localize` moves buffers inwards, `join` puts blocks
over the same points together, `widen` makes one window of different ones, `merge` one
index of two, `partition` two blocks of one, `loop_order` another order of loops,
`transpose` another order of axes. `copies`, `copy_nests`, `partial` and `scans` make
blocks: that copy windows, that aggregate in parts, that keep running aggregations.
`redirect` lets a block read another buffer, `vectors` lets it compute vectors.
"""
