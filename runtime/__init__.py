"""The Python interface: what `import gingham` gives is made here.

`compilation` and `jit` make a `function` by `options`. A call goes from the caller's
`arguments` through `calls` to what is compiled for them: by a `compiler`, from what
`lowering` prints, for a device that `devices` found. `arrays` are tensors of devices,
`cache` keeps compiled programs, `placement` runs one program on several devices,
`profiling` measures, and `tuning` lets candidates compete.
"""
