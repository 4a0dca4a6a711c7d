"""What `gingham.plaidml` exports is there, and documented."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from gingham import plaidml
from gingham.plaidml import tile

PAGE = Path(__file__).parents[2] / "docs" / "plaidml.md"


@pytest.mark.parametrize("module", [plaidml, tile])
def test_all_names_are_documented(module: Any) -> None:
    words = set(re.findall(r"\w+", PAGE.read_text()))
    for name in module.__all__:
        assert name in words
        assert getattr(module, name).__doc__, name


def test_the_documents_name_of_views() -> None:
    assert vars(plaidml)["_View"] is plaidml.View
