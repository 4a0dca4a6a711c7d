"""A kernel of a built program, with its arguments."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import numpy as np
    import pyopencl as cl

    from .handles.handle import DeviceHandle


class Kernel:
    """One kernel of a built program.

    `lock` must be held from setting the first argument until the launch, because the
    arguments belong to the kernel, not to the launch.
    """

    def __init__(self, device: DeviceHandle, name: str, handle: cl.Kernel) -> None:
        self.device = device
        self.name = name
        self.title = f"kernel {name!r}"
        self.handle = handle
        self.argument_count = handle.num_args
        self.set_memory: Callable[[int, cl.Buffer], None] = handle.set_arg
        # `set_arg` finds out by exceptions that a value is a scalar: 9 us, not 0.1.
        self.set_scalar = cast(
            "Callable[[int, np.generic], None]",
            getattr(handle, "_set_arg_buf", handle.set_arg),
        )
        self.lock = Lock()

    @property
    def max_work_group_size(self) -> int:
        """The most work-items of a group that this kernel can have on its device."""
        import pyopencl as cl

        return self._on_device(cl.kernel_work_group_info.WORK_GROUP_SIZE)

    @property
    def local_memory_bytes(self) -> int:
        """The local memory of one work-group of this kernel."""
        import pyopencl as cl

        return self._on_device(cl.kernel_work_group_info.LOCAL_MEM_SIZE)

    def _on_device(self, question: cl.kernel_work_group_info) -> int:
        answer: Any = self.handle.get_work_group_info(question, self.device.handle)
        return int(answer)

    def __repr__(self) -> str:
        return f"<Kernel {self.name!r} on {self.device.name}>"
