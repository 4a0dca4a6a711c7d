"""Configuration of lit for the tests of this folder."""

from pathlib import Path

from gingham.tools.lit_suite import configure

configure(config, Path(__file__).parent)
