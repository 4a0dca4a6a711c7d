"""Compiled programs in memory and on disk, so that they are compiled once.

`programs` finds a program by all that it depends on, of which `code_state` knows the
versions. `store` is the folder on disk, which trusts nothing that is in it. `probes`
remembers there which devices work.
"""
