"""`tile-settings`: what is set for all programs, and where each value comes from.

tile-settings           each setting with its value and its source
tile-settings --json    the same for programs
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from .command import ArgumentParser, run_command, show


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0, or 1 after an error."""
    return run_command(lambda: _run(_parse(arguments)))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = ArgumentParser(
        prog="tile-settings",
        description="Show what is set for all programs, and where it is from.",
        allow_abbrev=False,
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace) -> int:
    from ..runtime.settings import SETTINGS, find, settings_path, unknown_variables

    found = [find(setting.name) for setting in SETTINGS]
    path = settings_path()
    if options.json:
        show(
            json.dumps(
                {
                    "file": None if path is None else str(path),
                    "settings": {
                        each.setting.name: {
                            "value": _plain(each.value),
                            "source": each.source,
                            "variable": each.setting.variable,
                            "documentation": each.setting.documentation,
                        }
                        for each in found
                    },
                },
                indent=2,
            )
        )
        return 0
    for each in found:
        show(f"{each.setting.name} = {_shown(each.value)}, from {each.source}")
        show(f"  {each.setting.documentation}")
    show(f"settings file: {_described(path)}")
    for variable, hint in unknown_variables().items():
        show(f"warning: no setting has the variable {variable}")
        if hint is not None:
            show(f"hint: {hint}")
    return 0


def _described(path: object) -> str:
    from pathlib import Path

    if not isinstance(path, Path):
        return "none (switched off)"
    return str(path) if path.exists() else f"{path} (not there)"


def _plain(value: object) -> object:
    return value if value is None or isinstance(value, int | str) else str(value)


def _shown(value: object) -> str:
    if value is None:
        return "not set"
    if isinstance(value, str):
        return f"'{value}'"
    return str(value).lower() if isinstance(value, bool) else str(value)


if __name__ == "__main__":
    sys.exit(main())
