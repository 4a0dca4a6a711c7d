"""OpenCL: from a module at the level `opencl` to something that can be called.

`printer` writes the kernels, `program` builds them, `executor` calls them; `devices`
finds devices and asks what they are, `memory` shares out theirs.
"""
