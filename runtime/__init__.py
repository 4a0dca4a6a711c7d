"""The Python interface: what `import gingham` gives is made here.

`compilation`, `function` and `jit` compile and call, `devices` finds what programs run
on, `arrays` are tensors of devices, `cache` keeps compiled programs, `placement` runs
one program on several devices, `profiling` measures, and `tuning` lets candidates
compete.
"""
