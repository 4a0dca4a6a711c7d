"""Passes from a user's own Python file, for `--load-pass-plugin=FILE`."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType

from xdsl.passes import ModulePass

from ...errors import GinghamError
from .blame import PLUGIN_MODULE, place_in_plugin, summary

_OPTION = "--load-pass-plugin"


def plugin_paths(arguments: Sequence[str]) -> list[str]:
    """The files that a command line names, looked up before it can be parsed.

    Their passes are options themselves.
    """
    paths: list[str] = []
    for index, argument in enumerate(arguments):
        option, equals, value = argument.partition("=")
        if option not in (_OPTION, _OPTION[1:]):
            continue
        if equals:
            paths.append(value)
        elif index + 1 < len(arguments):
            paths.append(arguments[index + 1])
    return paths


def load_passes(paths: Iterable[str]) -> dict[str, Callable[[], type[ModulePass]]]:
    """The passes that are defined in Python files, by name.

    Raises GinghamError when a file cannot be run or defines no pass.
    """
    passes: dict[str, Callable[[], type[ModulePass]]] = {}
    for number, path in enumerate(paths):
        module = _run_file(path, f"{PLUGIN_MODULE}{number}")
        found = [
            value
            for value in vars(module).values()
            if _is_pass(value) and value.__module__ == module.__name__
        ]
        if not found:
            raise GinghamError(
                f"'{path}' defines no pass",
                hint="a pass is a subclass of xdsl.passes.ModulePass with a name",
            )
        for pass_class in found:
            passes[pass_class.name] = lambda pass_class=pass_class: pass_class
    return passes


def _run_file(path: str, name: str) -> ModuleType:
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise GinghamError(f"cannot load '{path}': expected a Python file, *.py")
    module = module_from_spec(spec)
    # Dataclasses look their module up there.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        message = f"cannot load '{path}': {summary(error)}"
        raise GinghamError(message, place_in_plugin(error)) from error
    return module


def _is_pass(value: object) -> bool:
    return (
        inspect.isclass(value)
        and issubclass(value, ModulePass)
        and not inspect.isabstract(value)
        and isinstance(getattr(value, "name", None), str)
    )
