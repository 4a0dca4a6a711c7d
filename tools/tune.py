"""`tile-tune`: measure which decisions are fastest, and keep them for the compiler.

tile-tune run FILE.tile --shape A=64x128 B=128x32    measure a program's blocks
tile-tune show                                       what has been measured
tile-tune export FOLDER                              the best as files for tile-opt
tile-tune clear                                      forget it all
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import progress
from ..errors import GinghamError
from .command import ArgumentParser, SubcommandParser, run_command, show

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from ..passes.stripe.decide.recall.database import Database, Record
    from ..runtime.tuning import Progress, Tuning


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0, or 1 after an error."""
    return run_command(lambda: _run(_parse(arguments)))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    from .inputs import add_device_options, add_input_options

    parser = ArgumentParser(
        prog="tile-tune",
        description="Measure which decisions are fastest, and keep them for the "
        "compiler, which then takes them by itself.",
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(
        dest="command",
        required=True,
        metavar="COMMAND",
        parser_class=SubcommandParser,
    )
    run = commands.add_parser("run", help="measure the blocks of a program")
    add_input_options(run)
    add_device_options(run)
    _add_measuring_options(run)
    show = commands.add_parser("show", help="show what has been measured")
    show.add_argument("--all", action="store_true", help="not only the best")
    show.add_argument("--json", action="store_true", help="print JSON, with all of it")
    clear = commands.add_parser("clear", help="forget what has been measured")
    clear.add_argument(
        "--failed", action="store_true", help="only what did not work, to try it again"
    )
    export = commands.add_parser(
        "export", help="write files that `tile-opt --run-reproducer` runs"
    )
    export.add_argument("folder", help="where the files go")
    export.add_argument("--all", action="store_true", help="not only the best")
    for each in (run, show, clear, export):
        each.add_argument(
            "--records",
            metavar="FILE",
            help="the file of the records (default: that of the setting records, "
            "GINGHAM_RECORDS, else one in the user's folder for data)",
        )
    return parser.parse_args(arguments)


def _add_measuring_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--count",
        type=_natural,
        default=10,
        metavar="N",
        help="how many of the model's best decisions to measure for each block "
        "(default 10)",
    )
    parser.add_argument(
        "--seconds",
        type=_positive,
        default=0.25,
        metavar="T",
        help="how long to measure each (default 0.25)",
    )
    parser.add_argument(
        "--time-limit",
        type=_positive,
        default=60.0,
        metavar="T",
        help="seconds after which one is given up (default 60)",
    )
    parser.add_argument(
        "--spread",
        action="store_true",
        help="measure decisions all over the space, good and bad ones, to see how well "
        "the model ranks them",
    )
    parser.add_argument(
        "--again", action="store_true", help="measure also what has been measured"
    )
    parser.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="measure on a Dask cluster, given the address of its scheduler",
    )


def _natural(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected 1 or more, got {text}")
    return int(text)


def _positive(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number above 0, got {text}")
    return number


def _run(options: argparse.Namespace) -> int:
    commands = {"run": _tune, "show": _show, "clear": _clear, "export": _export}
    return commands[options.command](options)


def _database(options: argparse.Namespace) -> Database:
    from ..runtime.tuning.session import database_at

    return database_at(options.records)


def _tune(options: argparse.Namespace) -> int:
    from ..runtime.compilation import compile_source
    from ..runtime.tuning import tune
    from ..runtime.tuning.session import Settings
    from .inputs import input_arrays
    from .optimizer.input import read_program

    source = read_program(options.file, "tile")
    function = compile_source(
        source.text, source.file, device=options.device, hardware=options.hardware
    )
    inputs = input_arrays(function, options)
    settings = Settings(
        options.count,
        options.seconds,
        options.time_limit,
        options.again,
        options.spread,
    )
    show(f"device: {function.device.name}, {function.device.description}")
    with _executor(options.dask) as executor, progress.working("Measuring"):
        tuning = tune(
            function,
            *inputs,
            executor=executor,
            records=_database(options).path,
            settings=settings,
            program=source.file,
            on_progress=_show_progress,
        )
    _print_tuning(tuning)
    return 0


@contextmanager
def _executor(address: str | None) -> Generator[Executor | None]:
    """The executor of a Dask cluster, if one is asked for."""
    if address is None:
        yield None
        return
    try:
        distributed: Any = import_module("distributed")
    except ImportError as error:
        raise GinghamError(
            "--dask needs Dask", hint="pip install 'gingham[tune]'"
        ) from error
    try:
        client = distributed.Client(address, timeout="10s")
    except (OSError, ValueError) as error:
        raise GinghamError(f"no Dask scheduler at '{address}': {error}") from error
    with client:
        yield client.get_executor()


def _show_progress(measured: Progress) -> None:
    record = measured.latest
    words = "" if record is None else _in_words(record)
    progress.step(words, measured.done, measured.total)


def _in_words(record: Record) -> str:
    """What a measurement gave, on one line."""
    if record.seconds is None:
        return f"{record.block}: {record.status}"
    return f"{record.block}: {1e3 * record.seconds:.4g} ms, {record.speedup:.2f} times"


def _print_tuning(tuning: Tuning) -> None:
    for note in tuning.notes:
        show(f"note: {note}", file=sys.stderr)
    count, measured = len(tuning.records), tuning.measured
    show(f"decisions: {count}, {measured} of them measured now")
    failed = [record for record in tuning.records if record.status != "ok"]
    for status in sorted({record.status for record in failed}):
        some = [record for record in failed if record.status == status]
        show(f"{status}: {len(some)}, such as: {some[0].message}")
    _print_table(tuning.best)


def _show(options: argparse.Namespace) -> int:
    from ..passes.stripe.decide.recall.database import as_json

    records = _database(options).records()
    if options.json:
        show(json.dumps([as_json(record) for record in records], indent=2))
    elif not records:
        show("nothing has been measured")
    else:
        _print_table(records if options.all else _best(records))
    return 0


def _best(records: Sequence[Record]) -> list[Record]:
    """The fastest of each leaf, target and version; records come fastest first."""
    best: dict[tuple[object, ...], Record] = {}
    for record in records:
        place = record.unit, record.leaf, record.target, record.compiler
        best.setdefault(place, record)
    return [*best.values()]


def _print_table(records: Sequence[Record]) -> None:
    """One row a record, in columns."""
    rows = [("program", "block", "time", "speedup", "model's place", "schedule")]
    rows += [
        (
            record.program or "-",
            record.block,
            record.status
            if record.seconds is None
            else f"{1e3 * record.seconds:.4g} ms",
            f"{record.speedup:.2f}" if record.seconds is not None else "-",
            str(record.rank + 1),
            record.schedule,
        )
        for record in records
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = (f"{cell:{width}}" for cell, width in zip(row, widths, strict=True))
        show("  ".join(cells).rstrip())


def _clear(options: argparse.Namespace) -> int:
    from ..passes.stripe.decide.recall.database import DatabaseError

    database = _database(options)
    if not options.failed:
        try:
            count = len(database.records())
            database.path.unlink(missing_ok=True)
        except DatabaseError as error:
            # It may be a file of another program, which is not ours to remove.
            show(f"{error.message}; it is now '{database.set_aside()}'")
            count = 0
    else:
        count = database.remove_failed()
    show(f"forgotten: {count}")
    return 0


def _export(options: argparse.Namespace) -> int:
    from ..runtime.tuning.replay import replay_name, replay_text

    records = _database(options).records()
    if not options.all:
        records = [record for record in _best(records) if record.status == "ok"]
    folder = Path(options.folder)
    path = folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for record in records:
            path = folder / replay_name(record)
            path.write_text(replay_text(record), encoding="utf-8")
            show(f"wrote {path}")
    except OSError as error:
        raise GinghamError(f"cannot write '{path}': {error.strerror}") from error
    return 0


if __name__ == "__main__":
    sys.exit(main())
