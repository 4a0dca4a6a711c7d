"""What passes over blocks share: questions about nests, and blocks made for a purpose.

`nests` answers what a nest of blocks looks like, and `loop_order` in which order its
loops run. `copies`, `partial` and `scans` make blocks: that copy windows, that
aggregate in parts, that keep running aggregations. `redirect` lets a block read another
buffer, and `window_reuse` finds cells that points of one block have in common.
"""
