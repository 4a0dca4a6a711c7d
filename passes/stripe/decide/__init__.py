"""What is to be done with blocks: written as attributes, with the reason.

`search` finds the nest of a block by the times of `model`, `fusion` which blocks become
one nest, `layout` which axis of an output is computed last, `recall` keeps what was
measured. The passes are `autotile`, `plan_fusion` and `recall`; `explain` tells what
they decide.
"""
