"""The command line of `tile-opt`: the options of xdsl-opt, and those of mlir-opt.

A pass is an option too, `--cse` or `--stripe-tile='sizes=2,4'`. These and `--passes`,
`--pass-pipeline` and `--pipeline` may be mixed; the passes run in the order in which
they are written.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from ...errors import GinghamError
from ...suggestions import did_you_mean
from .input import EXTENSIONS
from .options import Options, PipelinePart

_DESCRIPTION = """\
Compiler passes over the tile, stripe and opencl dialects and those of xDSL: reads a
program from an .mlir or .tile file, runs a pipeline of passes on it and prints it."""


_VALUE_WHEN_ALONE = {
    "--verify-each": "--verify-each=1",
    "--mlir-print-ir-before": "--mlir-print-ir-before-all",
    "--mlir-print-ir-after": "--mlir-print-ir-after-all",
    "--list-passes": "--list-passes=ours",
    "--print-pipeline": "--print-pipeline=",
    "--explain": "--explain=table",
}
"""What an option whose value may be left out means without one.

argparse would take the next argument, such as the input file, for the value.
"""


def parse_arguments(
    arguments: Sequence[str],
    passes: Iterable[str],
    own_passes: Iterable[str],
    targets: Iterable[str],
) -> Options:
    """The options; `passes` are all names of passes, `own_passes` ours among them.

    Raises GinghamError when an argument is wrong. `--help` prints it and exits.
    """
    parser = _Parser(
        prog="tile-opt",
        usage="tile-opt [options] [input_file]",
        description=_DESCRIPTION,
        epilog=_pass_epilog(own_passes),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    _add_input_and_output(parser, targets)
    _add_pipeline(parser)
    _add_checks(parser)
    _add_printing(parser)
    _add_validation(parser)
    _add_general(parser)
    defined = set(parser.option_names())
    alone = dict(_VALUE_WHEN_ALONE)
    for name in passes:
        flag = f"--{name}"
        if flag not in defined:
            parser.add_argument(
                flag, action=_AppendPass, dest="pipeline", help=argparse.SUPPRESS
            )
            alone[flag] = f"{flag}="
    options, unknown = parser.parse_known_args(
        _normalized(arguments, parser.option_names(), alone), Options()
    )
    if unknown:
        _raise_unknown(unknown[0], parser.option_names())
    return options


class _Parser(argparse.ArgumentParser):
    """Raises GinghamError where argparse would print the usage and exit."""

    def error(self, message: str) -> NoReturn:
        raise GinghamError(message, hint="tile-opt --help lists the options")

    def option_names(self) -> Iterable[str]:
        """Each option as it is written, `-o`, `--output-file`."""
        return self._option_string_actions


def _normalized(
    arguments: Sequence[str], known: Iterable[str], alone: dict[str, str]
) -> list[str]:
    """The arguments with long options as `--name`, and values that may be left out."""
    long_names = {name for name in known if name.startswith("--")}
    result: list[str] = []
    for index, argument in enumerate(arguments):
        if argument == "--":
            return [*result, *arguments[index:]]
        # MLIR's options may have a single dash.
        if argument[:1] == "-" and f"-{argument.partition('=')[0]}" in long_names:
            argument = f"-{argument}"
        result.append(alone.get(argument, argument))
    return result


def _raise_unknown(argument: str, known: Iterable[str]) -> NoReturn:
    if not argument.startswith("-"):
        raise GinghamError(f"expected one input file, got '{argument}' too")
    name = argument.partition("=")[0]
    hint = did_you_mean(name, known)
    raise GinghamError(
        f"unknown option '{name}'", hint=hint or "tile-opt --help lists the options"
    )


class _AppendPart(argparse.Action):
    """Appends the passes that an option names to the pipeline."""

    named = False

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        label = option_string or self.dest
        part = PipelinePart(label, self.text_of(label, str(values)), self.named)
        setattr(namespace, self.dest, [*getattr(namespace, self.dest), part])

    def text_of(self, flag: str, value: str) -> str:
        """The text of the pipeline for the value of an option."""
        return value


class _AppendNamed(_AppendPart):
    """`--pipeline=NAME`."""

    named = True


class _AppendPass(_AppendPart):
    """`--name` or `--name=options`."""

    def text_of(self, flag: str, value: str) -> str:
        name = flag.lstrip("-")
        if not value or value.startswith("{"):
            return name + value
        return f"{name}{{{value}}}"


def _boolean(text: str) -> bool:
    values = {"0": False, "false": False, "1": True, "true": True}
    if text not in values:
        raise argparse.ArgumentTypeError(f"expected 0, 1, true or false, got '{text}'")
    return values[text]


def _natural(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected 0 or more, got '{text}'")
    return int(text)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _flag(group: argparse._ArgumentGroup, *names: str, help: str, dest: str) -> None:  # pyright: ignore[reportPrivateUsage]
    group.add_argument(*names, action="store_true", help=help, dest=dest)


def _add_input_and_output(parser: _Parser, targets: Iterable[str]) -> None:
    group = parser.add_argument_group("input and output")
    group.add_argument(
        "input_file",
        nargs="?",
        help="an .mlir, .tile or .onnx file; '-' or none is stdin",
    )
    group.add_argument(
        "-f", "--frontend", choices=EXTENSIONS, help="what the input holds"
    )
    group.add_argument(
        "--shape",
        metavar="NAME=SIZES",
        nargs="+",
        action="extend",
        default=[],
        help="sizes of an input of a model of ONNX, where it does not say them: "
        "x=1x3x224x224",
    )
    group.add_argument(
        "-o",
        "--output-file",
        metavar="FILE",
        help="write there instead of stdout; after an error it is left as it was",
    )
    group.add_argument(
        "-t",
        "--target",
        default="mlir",
        metavar="TARGET",
        help=f"what to print: {', '.join(targets)} (default: mlir)",
    )
    _flag(
        group,
        "--split-input-file",
        dest="split_input_file",
        help="compile the parts between lines '// -----' one by one",
    )
    _flag(
        group,
        "--allow-unregistered-dialect",
        dest="allow_unregistered_dialect",
        help="accept operations, types and attributes of unknown dialects",
    )
    _flag(
        group,
        "--no-implicit-module",
        dest="no_implicit_module",
        help="expect one builtin.module, and do not put one around the operations",
    )
    _flag(
        group,
        "--run-reproducer",
        dest="run_reproducer",
        help="take the passes from the first line of the input, a reproducer",
    )


def _add_pipeline(parser: _Parser) -> None:
    group = parser.add_argument_group("passes, run in the order of these options")
    group.add_argument(
        "-p",
        "--passes",
        "--pass-pipeline",
        action=_AppendPart,
        dest="pipeline",
        default=[],
        metavar="PIPELINE",
        help="such as 'a,b{x=1,2 y=z}' or 'builtin.module(func.func(a,b),c)'",
    )
    group.add_argument(
        "--pipeline",
        action=_AppendNamed,
        dest="pipeline",
        metavar="NAME",
        help="a named pipeline, with options as 'NAME{x=1}'",
    )
    group.add_argument(
        "--print-pipeline",
        metavar="NAME",
        help="print the text of a named pipeline (of all, when the name is left out)",
    )
    group.add_argument(
        "--hardware",
        metavar="FILE",
        help="the hardware description, a .toml file or a name, that named pipelines "
        "compile by instead of their own",
    )
    group.add_argument(
        "--explain",
        choices=("table", "json"),
        metavar="FORMAT",
        help="show on stderr what was fused, and for each block the ten nests that the "
        "cost model holds for the fastest, with the parts of their times: table "
        "(default) or json",
    )
    _flag(
        group,
        "--dump-pass-pipeline",
        dest="dump_pass_pipeline",
        help="print the whole pipeline to stderr before it runs",
    )
    group.add_argument(
        "--list-passes",
        metavar="WHICH",
        choices=("ours", "all"),
        help="list Gingham's passes and their options; those of xDSL too with =all",
    )
    group.add_argument(
        "--load-pass-plugin",
        action="append",
        default=[],
        metavar="FILE",
        help="a Python file with classes of further passes",
    )
    _flag(
        group,
        "--show-dialects",
        dest="show_dialects",
        help="list the dialects",
    )


def _add_checks(parser: _Parser) -> None:
    group = parser.add_argument_group("checks and failures")
    group.add_argument(
        "--verify-each",
        type=_boolean,
        default=True,
        metavar="0|1",
        help="verify the program after every pass (default: 1)",
    )
    _flag(
        group,
        "--disable-verify",
        dest="disable_verify",
        help="verify nothing, not even the input and its attributes",
    )
    _flag(
        group,
        "--verify-diagnostics",
        dest="verify_diagnostics",
        help="expect the errors that comments '// expected-error @+1 {{...}}' describe",
    )
    _flag(
        group,
        "--parsing-diagnostics",
        dest="parsing_diagnostics",
        help="print a syntax error to stdout, and exit with 0",
    )
    group.add_argument(
        "--mlir-pass-pipeline-crash-reproducer",
        dest="crash_reproducer",
        metavar="FILE",
        help="when a pass fails, write the program and the pipeline there",
    )
    _flag(
        group,
        "--mlir-pass-pipeline-local-reproducer",
        dest="local_reproducer",
        help="write the program before the failing pass, with that pass only",
    )
    _flag(
        group,
        "--shrink",
        dest="shrink",
        help="for shrinkray: exit with 0 iff a ShrinkException is raised",
    )
    _flag(
        group,
        "--debug",
        dest="debug",
        help="print the Python traceback of an error (also: GINGHAM_DEBUG=1)",
    )


def _add_printing(parser: _Parser) -> None:
    group = parser.add_argument_group("printing")
    _flag(
        group,
        "--print-op-generic",
        "--mlir-print-op-generic",
        dest="print_op_generic",
        help="print operations in their generic form",
    )
    _flag(
        group,
        "--print-debuginfo",
        "--mlir-print-debuginfo",
        dest="print_debuginfo",
        help="print the location of each operation",
    )
    _flag(
        group,
        "--print-no-properties",
        dest="print_no_properties",
        help="print properties as attributes",
    )
    _flag(
        group,
        "--syntax-highlight",
        dest="syntax_highlight",
        help="print with colors",
    )
    for when in ("before", "after"):
        group.add_argument(
            f"--mlir-print-ir-{when}",
            dest=f"print_ir_{when}",
            type=_names,
            default=(),
            metavar="PASSES",
            help=f"print the IR {when} these passes, or all, to stderr",
        )
    for when in ("before-all", "after-all", "after-change", "after-failure"):
        alias = ("--print-between-passes",) if when == "after-all" else ()
        _flag(
            group,
            f"--mlir-print-ir-{when}",
            *alias,
            dest=f"print_ir_{when.replace('-', '_')}",
            help={
                "before-all": "print the IR before each pass",
                "after-all": "print the IR after each pass",
                "after-change": "print the IR after each pass that changes it",
                "after-failure": "print the IR after a pass that fails",
            }[when],
        )
    _flag(
        group,
        "--mlir-timing",
        "--time-passes",
        dest="timing",
        help="print how long parsing, each pass and printing took, to stderr",
    )


def _add_validation(parser: _Parser) -> None:
    group = parser.add_argument_group(
        "validation",
        "Runs the program with the reference interpreter, as parsed and after each "
        "pass, on the same small random inputs, and stops at a pass that changes a "
        "result. With status 0, the final program ran and gave the results of the "
        "input. A stage in between that cannot be run gives a warning.",
    )
    _flag(
        group,
        "--validate-each",
        dest="validate_each",
        help="check that no pass changes what the program computes",
    )
    group.add_argument(
        "--validate-arguments",
        metavar="TYPES",
        help="types of the inputs, such as '4x5xf32,5x6xf32' (default: as declared)",
    )
    group.add_argument(
        "--validate-entry",
        default="main",
        metavar="NAME",
        help="the function to run (default: main)",
    )
    group.add_argument(
        "--validate-seed",
        type=_natural,
        default=0,
        metavar="N",
        help="chooses the random inputs (default: 0)",
    )
    group.add_argument(
        "--validate-points",
        type=_natural,
        default=None,
        metavar="N",
        help="the most points that all runs may have together (default: the setting "
        "interpreted_points)",
    )


def _add_general(parser: _Parser) -> None:
    group = parser.add_argument_group("general")
    _flag(group, "-v", "--version", dest="version", help="print the versions")
    # Options of mlir-opt that scripts pass and that change nothing here.
    for name in ("--mlir-disable-threading", "--mlir-print-ir-module-scope"):
        group.add_argument(name, action="store_true", help=argparse.SUPPRESS)


def _pass_epilog(own_passes: Iterable[str]) -> str:
    from textwrap import fill

    names = ", ".join(own_passes)
    return (
        "Each pass is an option too: --cse, --stripe-tile='sizes=2,4'.\n"
        + fill(f"Gingham's passes: {names or 'none'}.", 79)
        + "\n--list-passes says what they do, --list-passes=all lists those of xDSL."
    )
