"""Building OpenCL C: several kernels side by side, in processes of their own.

Drivers build one program at a time in a process, whatever thread asks: Intel's and
NVIDIA's and PoCL were measured, and four threads took as long as one. So a source with
many kernels is taken apart (`parts`), the process builds one part after the other
(`driver`), and others (`processes`) help it: `helpers` asks them by a `request`, which
`helper` answers there, so that what they have built comes back as binaries.
`scheduling` deals the parts out.
`inlined_vectors` makes a long part less work for a compiler.
"""
