"""What the command line of `tile-opt` says, once it is read."""

from __future__ import annotations

import argparse
from dataclasses import dataclass


@dataclass(frozen=True)
class PipelinePart:
    """Some passes, as the command line gives them.

    `label` is the option, for messages. `text` is a pipeline, or the name of one with
    its options when `named` is set.
    """

    label: str
    text: str
    named: bool = False


class Options(argparse.Namespace):
    """What the command line says."""

    input_file: str | None
    frontend: str | None
    shape: list[str]
    output_file: str | None
    target: str
    pipeline: list[PipelinePart]
    allow_unregistered_dialect: bool
    no_implicit_module: bool
    split_input_file: bool
    run_reproducer: bool
    disable_verify: bool
    verify_each: bool
    verify_diagnostics: bool
    parsing_diagnostics: bool
    print_op_generic: bool
    print_no_properties: bool
    print_debuginfo: bool
    syntax_highlight: bool
    print_ir_before: tuple[str, ...]
    print_ir_after: tuple[str, ...]
    print_ir_before_all: bool
    print_ir_after_all: bool
    print_ir_after_change: bool
    print_ir_after_failure: bool
    timing: bool
    crash_reproducer: str | None
    local_reproducer: bool
    dump_pass_pipeline: bool
    list_passes: str | None
    print_pipeline: str | None
    hardware: str | None
    explain: str | None
    load_pass_plugin: list[str]
    show_dialects: bool
    validate_each: bool
    validate_arguments: str | None
    validate_entry: str
    validate_seed: int
    validate_points: int | None
    shrink: bool
    debug: bool
    version: bool
