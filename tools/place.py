"""`tile-place`: where the operations of a program run, and why.

tile-place FILE.tile --shape A=64x128 B=128x32 --devices intel.0,nvidia.0 --measure
tile-place FILE.tile --shape A=64x128 B=128x32 --machine host.json --html=place.html
tile-place FILE.tile --shape A=64x128 B=128x32 --machine host.json --emit=ir
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import GinghamError
from .command import ArgumentParser, run_command, show

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from ..placement.build import Residency
    from ..targets.hardware.machine import Machine
    from .optimizer.input import Source


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0, or 1 after an error."""
    return run_command(lambda: _run(_parse(arguments)))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    from .inputs import add_input_options

    parser = ArgumentParser(
        prog="tile-place",
        description="Decide which device each operation of a program runs on, so that "
        "the whole ends first, and show why.",
        allow_abbrev=False,
    )
    add_input_options(parser)
    parser.add_argument(
        "--devices",
        metavar="A,B",
        help="the devices to choose from, such as intel.0,nvidia.0 (default: all of "
        "the machine)",
    )
    parser.add_argument(
        "--machine",
        metavar="FILE",
        help="take the figures of devices and links from a JSON file, and touch no "
        "device; without it they are measured",
    )
    parser.add_argument(
        "--measure",
        action="store_true",
        help="measure what the parts of the program take on each device, and keep it",
    )
    parser.add_argument(
        "--save-machine",
        metavar="FILE",
        help="write the figures that it was decided by",
    )
    _add_place(parser, "--force", "DEVICE", "run what computes a tensor on a device")
    _add_place(parser, "--at", "PLACE", "where an input is before (default: host)")
    _add_place(
        parser,
        "--to",
        "PLACE",
        "where an output has to be after: a device, host (default) or anywhere",
    )
    parser.add_argument(
        "--html", metavar="FILE", help="write a page with pictures of it all"
    )
    parser.add_argument("--json", action="store_true", help="print JSON, not tables")
    parser.add_argument(
        "--emit", choices=("ir",), help="print the program with its devices instead"
    )
    options = parser.parse_args(arguments)
    if options.json and options.emit:
        parser.error("--json and --emit print different things")
    if options.machine is not None and options.measure:
        parser.error("--machine touches no device, so there is nothing to measure")
    if options.machine is None and options.devices is None:
        parser.error("one of --devices and --machine is needed")
    return options


def _add_place(
    parser: argparse.ArgumentParser, option: str, what: str, words: str
) -> None:
    parser.add_argument(
        option,
        metavar=f"NAME={what}",
        nargs="+",
        action="extend",
        default=[],
        help=words,
    )


def _run(options: argparse.Namespace) -> int:
    from .optimizer.input import read_program

    source = read_program(options.file, "tile")
    try:
        return _place(source, options)
    except GinghamError as error:
        place = error.location
        if place is not None and place.text is None and place.file == source.file:
            error.location = replace(place, text=source.text)
        raise


def _place(source: Source, options: argparse.Namespace) -> int:
    from ..placement.decide import decide

    module = _module(source, options)
    machine = _machine(options, module)
    decision = decide(module, machine, _residency(options))
    if options.save_machine is not None:
        from ..targets.hardware.machine_file import machine_text

        _write(options.save_machine, machine_text(machine))
    if options.html is not None:
        _write(options.html, decision.explain().html(Path(source.file).name))
    if options.emit is not None:
        decision.write()
        show(module)
    elif options.json:
        show(json.dumps(decision.explain().as_json(), indent=2))
    else:
        show(decision.explain())
    return 0


def _module(source: Source, options: argparse.Namespace) -> ModuleOp:
    """The program as `tile-place` takes it: specialized and flattened."""
    from ..dialects import make_context
    from ..passes.pipelines import TargetOptions, run_stages
    from ..runtime.compilation import compile_source
    from ..runtime.placement.names import resolved_places
    from ..runtime.placement.segments import forced_devices
    from .inputs import input_arrays

    function = compile_source(source.text, source.file, device="reference")
    module = function.specialized(*input_arrays(function, options))
    forced = dict(_pairs(options.force, "--force"))
    places = resolved_places(module, tuple(function.input_names), forced)
    run_stages(module, make_context(), TargetOptions(), ("tile",))
    forced_devices(module, places)
    return module


def _machine(options: argparse.Namespace, module: ModuleOp) -> Machine:
    names = None if options.devices is None else options.devices.split(",")
    if options.machine is not None:
        from ..targets.hardware.machine_file import load_machine

        machine = load_machine(options.machine)
        return machine if names is None else machine.restricted(names)
    from ..runtime.devices import chosen_devices
    from ..runtime.placement.plan import machine_for
    from ..runtime.placement.times import measure_units

    devices = chosen_devices(names or [])
    if options.measure:
        measure_units(module, devices)
    return machine_for(module, devices)


def _residency(options: argparse.Namespace) -> Residency:
    from ..placement.build import Residency

    inputs: dict[str, str | tuple[str, ...]] = {}
    for name, place in _pairs(options.at, "--at"):
        known = inputs.get(name, ())
        inputs[name] = (*((known,) if isinstance(known, str) else known), place)
    return Residency(inputs, dict(_pairs(options.to, "--to")))


def _pairs(texts: Sequence[str], option: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for text in texts:
        name, equals, place = text.partition("=")
        if not (name and equals and place):
            raise GinghamError(f"{option} {text}: expected NAME=PLACE, got '{text}'")
        found.append((name, place))
    return found


def _write(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise GinghamError(f"cannot write '{path}': {error.strerror}") from error
    show(f"wrote {path}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
