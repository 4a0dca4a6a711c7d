"""C: kernels compiled by the system's C compiler, for the processor of this machine.

`language` spells kernels, `compiler` builds them, `executable` calls them, `device` is
the processor, as `gingham.compile(..., device="c")` names it.
"""
