"""What is to be done with blocks, and why.

`search` finds the nest of a block by the times of `model`, `fusion` which blocks become
one nest, `recall` keeps what was measured; `explain` tells what they decide. The passes
here choose, and move nothing themselves: `plan_layout`, `plan_fusion`, `recall`,
`autotile`, `distribute`, `plan_vectors`, `unroll` and `map` write their choice on the
block. `scan`, `inline`, `split_reduction` and `separate` have it carried out at once by
an edit, as what they choose next depends on the blocks that came of it.
"""
