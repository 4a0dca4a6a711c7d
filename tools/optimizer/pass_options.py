"""From the options in a textual pipeline to a pass, and back."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast, get_type_hints

from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec, ParameterListType, ParameterType
from xdsl.utils.exceptions import DiagnosticException
from xdsl.utils.hints import isa, type_repr

from ...errors import GinghamError, SourceLocation
from ...suggestions import alternatives, did_you_mean

_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]+)?")
_BARE = re.compile(r"[A-Za-z0-9_./:+=-]+")


@dataclass(frozen=True)
class OptionText:
    """An option as written: its key, the texts of its values, and its place."""

    key: str
    values: tuple[str, ...]
    location: SourceLocation


def build_pass(
    pass_class: type[ModulePass],
    options: Iterable[OptionText],
    location: SourceLocation,
) -> ModulePass:
    """The pass with these options; `location` is where the pipeline names it.

    Raises GinghamError for an option that the pass does not have or does not take.
    """
    types = _option_types(pass_class)
    parameters: dict[str, ParameterListType] = {}
    for option in options:
        name = option.key.replace("-", "_")
        if name not in types:
            raise _unknown_option(pass_class, option, types)
        if name in parameters:
            raise GinghamError(
                f"the option '{option.key}' is given twice", option.location
            )
        parameters[name] = _convert(option, types[name])
    missing = sorted(pass_class.required_fields() - parameters.keys())
    if missing:
        names = ", ".join(f"'{name.replace('_', '-')}'" for name in missing)
        raise GinghamError(f"'{pass_class.name}' needs the option {names}", location)
    try:
        return pass_class.from_spec(ArgSpec(pass_class.name, parameters))
    except (ValueError, DiagnosticException) as error:
        raise GinghamError(f"'{pass_class.name}': {error}", location) from error
    except GinghamError as error:
        raise GinghamError(error.message, location, error.hint) from error


def format_pass(module_pass: ModulePass) -> str:
    """A pass as a textual pipeline has it, `name{key=value ...}`."""
    spec = module_pass.spec()
    if not spec.parameters:
        return spec.name
    options = " ".join(
        _format_option(key.replace("_", "-"), values)
        for key, values in spec.parameters.items()
    )
    return f"{spec.name}{{{options}}}"


def describe_options(pass_class: type[ModulePass]) -> list[str]:
    """Each option of a pass as `name: type = default`."""
    types = _option_types(pass_class)
    described: list[str] = []
    for field in dataclasses.fields(pass_class):
        if field.name not in types:
            continue
        text = f"{field.name.replace('_', '-')}: {type_repr(types[field.name])}"
        if field.default is not dataclasses.MISSING:
            text += f" = {_format_default(field.default)}"
        described.append(text)
    return described


def _option_types(pass_class: type[ModulePass]) -> dict[str, Any]:
    """The types of the options, of hardware that of the text which names it."""
    from ...targets.hardware import Hardware

    hints = get_type_hints(pass_class)
    return {
        field.name: str if hints[field.name] == str | Hardware else hints[field.name]
        for field in dataclasses.fields(pass_class)
        if field.name != "name" and field.init
    }


def _unknown_option(
    pass_class: type[ModulePass], option: OptionText, types: dict[str, Any]
) -> GinghamError:
    known = [name.replace("_", "-") for name in types]
    hint = did_you_mean(option.key, known)
    if hint is None:
        hint = f"it takes {alternatives(known)}" if known else "it takes no options"
    return GinghamError(
        f"'{pass_class.name}' has no option '{option.key}'", option.location, hint
    )


def _convert(option: OptionText, expected: Any) -> ParameterListType:
    """The values of an option as the type that its pass declares."""
    values = option.values
    readings: list[ParameterListType] = [tuple(_read(value) for value in values)]
    readings.append(tuple(_as_float(value) for value in readings[0]))
    readings.append(values)
    if not values and isa(True, expected) and not isa(2, expected):
        # The key alone sets a flag.
        readings.append((True,))
    for reading in readings:
        if (len(reading) == 1 and isa(reading[0], expected)) or isa(reading, expected):
            return reading
    if not values and isa(None, expected):
        return ()
    given = ",".join(values) or "no value"
    raise GinghamError(
        f"the option '{option.key}' expects {type_repr(expected)}, got {given}",
        option.location,
    )


def _read(text: str) -> ParameterType:
    if text in ("true", "false"):
        return text == "true"
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text


def _as_float(value: ParameterType) -> ParameterType:
    return float(value) if type(value) is int else value


def _format_option(key: str, values: ParameterListType) -> str:
    return f"{key}={','.join(map(_format_value, values))}" if values else key


def _format_value(value: ParameterType) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value)
    if _BARE.fullmatch(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _format_default(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(map(str, cast(tuple[object, ...], value))) or "none"
    return "none" if value is None else str(value).lower()
