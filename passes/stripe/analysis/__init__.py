"""Questions about blocks and nests: nothing here changes the IR.

`nests` and `facts` answer what a nest looks like and what a block touches, `problem`
poses a block to the cost model, with the `footprint` of its accesses, and `nest` says
how one may run. `lanes` and `varying` find what may become vectors, `readers` who reads
a buffer, `shared_indices` which indices blocks could share, `statement_order` what has
to stay behind what, `window_reuse` which cells points of one block have in common,
`reductions` what kind of sum a block is, `kernels` which blocks become one kernel.
"""
