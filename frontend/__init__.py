"""Frontends: what turns a program into `tile` IR.

`tile_text` reads Tile text: `parser` makes a syntax tree of it (`tile.lark`, `syntax`),
with `diagnostics` and `hints` for what is wrong, and `expressions` evaluates it. All
frontends build IR through `builder`.
"""
