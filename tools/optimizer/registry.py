"""The dialects, passes, targets and named pipelines that `tile-opt` knows.

They are those of xDSL and ours, and not those of other installed plugins: the tool
works the same everywhere, and does not spend its start-up looking for them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

from xdsl.context import Context
from xdsl.dialects import get_all_dialects as get_xdsl_dialects
from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.targets import get_all_targets as get_xdsl_targets
from xdsl.transforms import get_all_passes as get_xdsl_passes
from xdsl.utils.target import Target

from ...dialects import get_all_dialects
from ...errors import GinghamError
from ...passes import get_all_passes
from ...suggestions import did_you_mean

DialectFactory = Callable[[], Dialect]
PassFactory = Callable[[], type[ModulePass]]
TargetFactory = Callable[[], type[Target]]

_HARDWARE = "hardware"
_NUMBERS = ("vector_bits", "vector_registers")


def own_passes() -> dict[str, PassFactory]:
    """Our passes by name."""
    return get_all_passes()


def all_passes() -> dict[str, PassFactory]:
    """The passes of xDSL and ours, by name."""
    return get_xdsl_passes() | get_all_passes()


def all_targets() -> dict[str, TargetFactory]:
    """What can be printed, by name."""
    return get_xdsl_targets() | {"opencl": _opencl_target}


def _opencl_target() -> type[Target]:
    from .targets import OpenCLTarget

    return OpenCLTarget


def all_dialects() -> dict[str, DialectFactory]:
    """The dialects of xDSL and ours, by name."""
    return get_xdsl_dialects() | get_all_dialects()


def new_context(*, allow_unregistered: bool = False) -> Context:
    """A context in which each dialect is imported when it is first met."""
    ctx = Context(allow_unregistered=allow_unregistered)
    for name, factory in all_dialects().items():
        ctx.register_dialect(name, factory)
    return ctx


def pipeline_names() -> list[str]:
    """The names of the pipelines that `named_pipeline` knows."""
    from ...passes.pipelines import PIPELINES

    return list(PIPELINES)


def named_pipeline(
    name: str, options: Mapping[str, str], hardware: str | None = None
) -> str:
    """The text of a named pipeline; `options` are what is special about the device.

    `hardware` is the description to compile by instead of the pipeline's own. Raises
    GinghamError for a name or an option that does not exist.
    """
    from ...passes.pipelines import PIPELINES, pipeline_text
    from ...targets.hardware import load_hardware

    if name not in PIPELINES:
        names = pipeline_names()
        raise GinghamError(
            f"unknown pipeline '{name}'",
            hint=did_you_mean(name, names) or f"there are {', '.join(names)}",
        )
    device = PIPELINES[name]
    values = dict(options)
    hardware = values.pop(_HARDWARE, hardware)
    if hardware is not None:
        device = dataclasses.replace(device, hardware=load_hardware(hardware))
    numbers = _numbers(values)
    try:
        return pipeline_text(
            device.with_vectors(*(numbers.get(each, 0) for each in _NUMBERS))
        )
    except ValueError as error:
        raise GinghamError(str(error)) from error


def _numbers(options: Mapping[str, str]) -> dict[str, int]:
    """The options of a pipeline that are numbers."""
    for key, text in options.items():
        if key not in _NUMBERS:
            known = [_HARDWARE, *_NUMBERS]
            raise GinghamError(
                f"pipelines have no option '{key}'",
                hint=did_you_mean(key, known) or f"there are {', '.join(known)}",
            )
        if not text.isdecimal():
            raise GinghamError(f"the option '{key}' expects a number, got '{text}'")
    return {key: int(text) for key, text in options.items()}
