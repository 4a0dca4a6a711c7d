"""Taking modules through a part of the pipeline, from texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from ...passes.pipelines import TargetOptions

DECIDING_PASS = "stripe-autotile"
"""The pass that decides what is not decided yet: units are taken before it."""


def parsed(text: str) -> ModuleOp:
    """The module of a text."""
    from xdsl.parser import Parser

    from ...dialects import make_context

    return Parser(make_context(), text).parse_module()


def run_passes(module: ModuleOp, passes: str) -> None:
    """Run a pipeline on a module, in place, and verify what comes out."""
    from xdsl.passes import PassPipeline

    from ...dialects import make_context
    from ...passes import get_all_passes

    context = make_context()
    for each in PassPipeline.parse_spec(get_all_passes(), passes).passes:
        each.apply(context, module)
    module.verify()


def passes_around(options: TargetOptions) -> tuple[str, str]:
    """The passes from a specialized module to where units are taken, and the rest."""
    from ...passes.pipelines import stage_steps
    from ...passes.steps import text_of

    steps = [each for steps in stage_steps(options).values() for each in steps]
    place = [each.name for each in steps].index(DECIDING_PASS)
    return text_of(steps[:place]), text_of(steps[place:])
