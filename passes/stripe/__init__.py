"""Passes over nested blocks, in four rooms.

* `analysis` asks about blocks and nests; nothing there changes the IR.
* `edit` rewrites them; it decides nothing.
* `decide` has the passes that choose, by models of the hardware, and their models.
* `apply` has the passes that carry decisions out: one file a pass, named as the pass.

`edit` stands on `analysis`; `decide` and `apply` stand on both, and not on each other.
"""
