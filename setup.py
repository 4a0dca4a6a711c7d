"""What a wheel leaves out of the package; all else is in pyproject.toml."""

from __future__ import annotations

from setuptools import setup
from setuptools.command.build_py import build_py

_OURS = {"lit.cfg", "setup"}
"""Modules of the root, which is the package: what only this repository needs."""


class BuildPackage(build_py):
    """Takes the modules of a package but for those."""

    def find_package_modules(
        self, package: str, package_dir: str
    ) -> list[tuple[str, str, str]]:
        """The package, the name and the file of each module."""
        found = super().find_package_modules(package, package_dir)
        return [each for each in found if each[1] not in _OURS]


setup(cmdclass={"build_py": BuildPackage})
