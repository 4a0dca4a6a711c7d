"""Vectors in blocks: which index becomes lanes, and the statements that compute them.

`lanes` chooses the index and the width, `varying` tells which values differ from lane
to lane, `statements` rewrites what computes them, and `buffers` makes private buffers
hold whole vectors.
"""
