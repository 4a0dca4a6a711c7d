"""Settings of PlaidML: variables of the environment, or a file of `plaidml-setup`.

`plaidml.settings.device_ids = ["intel.0"]` is what `PLAIDML_DEVICE_IDS` says, which
precedes the file: that which `PLAIDML_SETTINGS` names, `~/.plaidml`, or `/etc/plaidml`.
The devices are what decides something here; the other settings are kept.
"""

from __future__ import annotations

import json
import os
import sys
import uuid
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from . import exceptions

_SETTINGS = "PLAIDML_SETTINGS"
_PREFIX = "PLAIDML_"
_KEYS = (
    "PLAIDML_CONFIG",
    "PLAIDML_CONFIG_FILE",
    "PLAIDML_DEVICE_IDS",
    "PLAIDML_EXPERIMENTAL",
    "PLAIDML_SESSION",
    "PLAIDML_TELEMETRY",
    "PLAIDML_ENABLE_WINOGRAD",
)


_files = [os.path.join("~", ".plaidml"), os.path.normpath("/etc/plaidml")]
"""The file of the user, and that of the machine."""


class _Settings(ModuleType):
    """The module, whose settings are attributes."""

    @property
    def user_settings(self) -> str:
        """The file of the user."""
        return os.path.expanduser(_files[0])

    @property
    def system_settings(self) -> str:
        """The file of the machine."""
        return _files[1]

    @property
    def config(self) -> str | None:
        """A description of devices for PlaidML; of no effect here."""
        return _get("config")

    @config.setter
    def config(self, value: str | None) -> None:
        _set("config", value)

    @property
    def config_file(self) -> str | None:
        """A file with a description of devices for PlaidML; of no effect here."""
        return _get("config_file")

    @config_file.setter
    def config_file(self, value: str | None) -> None:
        _set("config_file", value)

    @property
    def default_config(self) -> str | None:
        """A file with descriptions of usual devices; of no effect here."""
        return os.environ.get("PLAIDML_DEFAULT_CONFIG")

    @property
    def experimental_config(self) -> str | None:
        """A file with descriptions of further devices; of no effect here."""
        return os.environ.get("PLAIDML_EXPERIMENTAL_CONFIG")

    @property
    def device_ids(self) -> list[str]:
        """The devices that programs run on; the default one where none is chosen.

        Names as of `gingham.devices()`, or `auto` for all that work. Programs that want
        one device and are given several are placed over them.
        """
        from ..runtime.devices import default_device

        return chosen_devices() or [default_device().name]

    @device_ids.setter
    def device_ids(self, value: list[str]) -> None:
        _set("device_ids", " ".join(value))

    @property
    def experimental(self) -> bool:
        """Whether experimental devices are wanted; of no effect here."""
        return _is_on("experimental")

    @experimental.setter
    def experimental(self, value: bool) -> None:
        _switch("experimental", value)

    @property
    def telemetry(self) -> bool:
        """Whether something is reported to somebody; nothing is, ever."""
        return _is_on("telemetry")

    @telemetry.setter
    def telemetry(self, value: bool) -> None:
        _switch("telemetry", value)

    @property
    def enable_winograd(self) -> bool:
        """Whether convolutions may be Winograd's, which lose some digits."""
        return _is_on("enable_winograd")

    @enable_winograd.setter
    def enable_winograd(self, value: bool) -> None:
        _switch("enable_winograd", value)

    @property
    def prohibit_winograd(self) -> bool:
        """The opposite, by which name PlaidML had it before 0.6.4."""
        return not self.enable_winograd

    @prohibit_winograd.setter
    def prohibit_winograd(self, value: bool) -> None:
        self.enable_winograd = not value

    @property
    def session(self) -> str | None:
        """A random name for what this process does, once `start_session` was called."""
        return os.environ.get("PLAIDML_SESSION")

    @session.setter
    def session(self, value: str | None) -> None:
        _set("session", value)

    @property
    def setup(self) -> bool:
        """Whether devices are chosen: always, as there is a default one."""
        return True

    @setup.setter
    def setup(self, value: bool) -> None:
        pass

    def start_session(self) -> None:
        """Name the session, if it has no name."""
        if self.session is None:
            self.session = str(uuid.uuid4())

    def forget(self, user_settings: str = "", system_settings: str = "") -> None:
        """Unset all settings of the environment, and take others for the files.

        Programs that choose devices anew, such as `plaidml-setup`, call it by PlaidML's
        name, `_setup_for_test`.
        """
        for key in (*_KEYS, _SETTINGS):
            os.environ.pop(key, None)
        _files[:] = [user_settings, system_settings]

    _setup_for_test = forget

    def save(self, filename: str) -> None:
        """Write the settings to a file, for `PLAIDML_SETTINGS` or `~/.plaidml`."""
        saved: dict[str, object] = {}
        for key in _KEYS:
            value = _get(key.removeprefix(_PREFIX).lower())
            if value is not None and key != "PLAIDML_SESSION":
                saved[key] = value.split() if key == "PLAIDML_DEVICE_IDS" else value
        try:
            with open(filename, "w", encoding="utf-8") as file:
                json.dump(saved, file, indent=4, sort_keys=True)
        except OSError as error:
            raise exceptions.PlaidMLError(
                f"cannot write '{filename}': {error.strerror}"
            ) from error


def chosen_devices() -> list[str]:
    """The names of `device_ids`."""
    return (_get("device_ids") or "").split()


def _get(name: str) -> str | None:
    key = _PREFIX + name.upper()
    if key in os.environ:
        return os.environ[key]
    return _of_file().get(key)


def _set(name: str, value: str | None) -> None:
    key = _PREFIX + name.upper()
    if value is None:
        os.environ.pop(key, None)
    else:
        os.environ[key] = value


def _is_on(name: str) -> bool:
    return (_get(name) or "0") not in ("0", "False", "false")


def _switch(name: str, value: bool) -> None:
    _set(name, "1" if value else "0")


def _of_file() -> Mapping[str, str]:
    """The settings of the file, each as the environment would have it."""
    module = sys.modules[__name__]
    candidates = [os.environ.get(_SETTINGS, "")]
    if isinstance(module, _Settings):
        candidates += [module.user_settings, module.system_settings]
    for path in candidates:
        if not os.path.isfile(path):
            continue
        try:
            with open(path, encoding="utf-8") as file:
                given: dict[str, Any] = {**json.load(file)}
        except (OSError, ValueError, TypeError) as error:
            raise exceptions.PlaidMLError(
                f"cannot read the settings in '{path}': {error}"
            ) from error
        return {key: _text(path, key, value) for key, value in given.items()}
    return {}


def _text(path: str, key: str, value: Any) -> str:
    if key not in _KEYS:
        raise exceptions.OutOfRange(
            f"there is no setting {key!r} ('{path}')",
            hint=f"settings are {', '.join(_KEYS)}",
        )
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, str | int | float):
        return str(value)
    return " ".join(map(str, value))


sys.modules[__name__].__class__ = _Settings
