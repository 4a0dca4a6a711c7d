"""Gingham: an MLIR-style compiler from Tile, a language of tensor contractions."""
