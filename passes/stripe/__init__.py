"""Passes over nested blocks: one file a pass, named as the pass.

The folders hold what several passes share: `blocks` asks about nests and rewrites them,
`cost` predicts their times, `fusion` decides which blocks are put together, `vectors`
makes statements compute vectors, `recall` keeps measured decisions.
"""
