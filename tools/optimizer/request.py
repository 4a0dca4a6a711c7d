"""What the options ask to run and to print: the steps and the target."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from xdsl.context import Context
from xdsl.utils.exceptions import ArgSpecParseError
from xdsl.utils.target import Target

from ...errors import GinghamError
from ...suggestions import did_you_mean
from .options import Options, PipelinePart
from .pipeline import PassRegistry, Step, parse_named_options, parse_pipeline
from .registry import TargetFactory, named_pipeline, pipeline_names


def requested_steps(
    parts: Iterable[PipelinePart],
    ctx: Context,
    passes: PassRegistry,
    hardware: str | None = None,
) -> list[Step]:
    """The steps that the command line names, in its order.

    `hardware` is the description that named pipelines compile by, if not their own.
    Raises GinghamError, which points into the text of the option.
    """
    steps: list[Step] = []
    for part in parts:
        text = pipeline_text(part.text, hardware) if part.named else part.text
        steps.extend(parse_pipeline(text, part.label, ctx, passes))
    return steps


def pipeline_text(name_and_options: str, hardware: str | None = None) -> str:
    """The text of a named pipeline, given as `NAME` or `NAME{option=value}`."""
    name, options = parse_named_options(name_and_options, "--pipeline")
    return named_pipeline(name, options, hardware)


def pipeline_texts(name_and_options: str, hardware: str | None = None) -> str:
    """What `--print-pipeline` prints: one pipeline's text, or all with their names."""
    if name_and_options:
        return pipeline_text(name_and_options, hardware)
    return "\n".join(
        f"{name}: {named_pipeline(name, {}, hardware)}" for name in pipeline_names()
    )


def check_pass_names(names: Sequence[str], passes: PassRegistry) -> None:
    """Raises GinghamError unless each of the names is one of a pass."""
    for name in names:
        if name not in passes:
            raise GinghamError(
                f"unknown pass '{name}'", hint=did_you_mean(name, passes)
            )


def requested_target(options: Options, targets: Mapping[str, TargetFactory]) -> Target:
    """The target that prints the result.

    Raises GinghamError when there is none of that name or with such options.
    """
    from xdsl.utils.arg_spec import parse_spec

    try:
        spec = parse_spec(options.target)
        if spec.name not in targets:
            hint = did_you_mean(spec.name, targets)
            raise GinghamError(
                f"unknown target '{spec.name}'",
                hint=hint or f"there are {', '.join(targets)}",
            )
        target = _target_class(spec.name, targets).from_spec(spec)
    except (ValueError, ArgSpecParseError) as error:
        message = str(error).strip()
        raise GinghamError(f"--target={options.target}: {message}") from error
    if spec.name != "mlir":
        return target
    return dataclasses.replace(
        target,
        **{
            "print_generic_format": options.print_op_generic,
            "print_properties_as_attributes": options.print_no_properties,
            "print_debuginfo": options.print_debuginfo,
            "syntax_highlight": options.syntax_highlight,
        },
    )


def _target_class(name: str, targets: Mapping[str, TargetFactory]) -> type[Target]:
    try:
        return targets[name]()
    except ImportError as error:
        from .blame import unexpected

        raise unexpected(error, f"the target '{name}'") from error
