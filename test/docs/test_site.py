"""The site of the documents, as far as that can be told without building it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from fences import Fence, Page
from lexers import MlirLexer, TileLexer
from navigation import HOME, NAVIGATION, contents
from pygments.lexer import Lexer
from pygments.token import Error
from sources import source_pages, with_source_links

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
LISTED = [page for pages in NAVIGATION.values() for page in pages]


def test_navigation_leads_to_every_page_once() -> None:
    names = [str(path.relative_to(ROOT).with_suffix("")) for path in PAGES]
    assert Counter([HOME, *LISTED]) == Counter(names)
    text = contents()
    for heading, pages in NAVIGATION.items():
        assert f":caption: {heading}\n" in text
        for page in pages:
            assert f"\n/{page}\n" in text


LINKS = """\
[a file](../affine/form.py) [a folder](../affine) [a page](language.md#types)
[elsewhere](https://x.org/a.py) [here](#types) [home](../README.md) [gone](../gone.py)
```text
[in a fence](../affine/form.py)
```
![](images/road.svg)
"""


def test_links_to_files_lead_to_their_pages() -> None:
    text, found = with_source_links("docs/page", LINKS, {"README", "docs/language"})
    assert found == {"affine/form.py", "affine"}
    changed = text.splitlines()
    assert changed[0] == (
        "[a file](source:../source/affine/form.py.html) "
        "[a folder](source:../source/affine.html) [a page](language.md#types)"
    )
    assert changed[1:] == LINKS.splitlines()[1:]
    text, _ = with_source_links("README", "[a file](affine/form.py)", set())
    assert text == "[a file](source:source/affine/form.py.html)"


def test_folders_come_with_their_files_and_tests_do_not() -> None:
    pages = {
        name: context["body"]
        for name, context, _ in source_pages({"affine", "test/affine", "LICENSE"})
    }
    files = {f"source/affine/{path.name}" for path in (ROOT / "affine").glob("*.py")}
    assert {*pages} == {"source/affine", "source/test/affine", "source/LICENSE", *files}
    assert '<a href="affine/form.py.html">form.py</a>' in pages["source/affine"]
    assert "<td>test_affine_flatten.py</td>" in pages["source/test/affine"]
    assert 'id="line-1"' in pages["source/affine/form.py"]


LEXERS: dict[str, Lexer] = {"tile": TileLexer(), "mlir": MlirLexer()}
FENCES = [
    pytest.param(fence, id=f"{path.stem}-{fence.opening + 1}")
    for path in PAGES
    for fence in Page.read(path).fences
    if fence.language in LEXERS
]


@pytest.mark.parametrize("fence", FENCES)
def test_programs_and_ir_are_highlighted_to_the_end(fence: Fence) -> None:
    tokens = [*LEXERS[fence.language].get_tokens(fence.text)]
    assert not [text for kind, text in tokens if kind is Error]
    assert "".join(text for _, text in tokens).strip() == fence.text.strip()
