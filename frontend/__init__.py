"""Frontends: what turns a program into `tile` IR.

`tile_text` reads Tile text: `parser` makes a syntax tree of it (`tile.lark`, `syntax`),
with `diagnostics` and `hints` for what is wrong, and `expressions` evaluates it, with
`calls` and `special_calls` for the functions. `edsl` is the same language in Python.
All frontends build IR through `builder`, special operations through `special_builder`.
"""
