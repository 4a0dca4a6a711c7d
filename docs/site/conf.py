"""The site of the documents, for Sphinx: `sh scripts/site` builds it in `build/site`.

The pages are the Markdown files as they are; the root of the repository is the folder
of sources, so that a link means the same on the site as it does in a checkout.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "docs" / "site"), str(ROOT / "docs" / "tools")]

from lexers import MlirLexer, TileLexer  # noqa: E402
from navigation import HOME, NAVIGATION, contents  # noqa: E402
from sources import source_pages, with_source_links  # noqa: E402

_DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
_PAGES = {HOME, *(page for pages in NAVIGATION.values() for page in pages)}

project = "Gingham"
release = version = _DECLARED["project"]["version"]
html_title = f"Gingham {release}"
root_doc = HOME
include_patterns = sorted(f"{page}.md" for page in _PAGES)
exclude_patterns = [".*", "build", "test", "**/__pycache__"]
extensions = ["myst_parser", "sphinx_copybutton"]
myst_heading_anchors = 4
myst_url_schemes = {
    "https": None,
    "source": {"url": "{{path}}", "title": "{{path}}", "classes": ["source"]},
}
html_theme = "furo"
html_extra_path = ["root"]
html_static_path = ["style"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
highlight_language = "text"
pygments_style = "friendly"
pygments_dark_style = "github-dark"
nitpicky = True


def _prepare(app: Sphinx, docname: str, source: list[str]) -> None:
    """Lead links to files to their pages; put the navigation behind the home page."""
    source[0], found = with_source_links(docname, source[0], _PAGES)
    _linked(app.env)[docname] = found
    if docname == HOME:
        source[0] += contents()


def _linked(env: BuildEnvironment) -> dict[str, set[str]]:
    """By page the files that it links; kept with what Sphinx knows of the pages."""
    if not hasattr(env, "gingham_linked"):
        vars(env)["gingham_linked"] = {}
    return vars(env)["gingham_linked"]


def _sources(app: Sphinx) -> Iterator[tuple[str, dict[str, str], str]]:
    return source_pages(set().union(*_linked(app.env).values()))


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls for a configuration that has code."""
    app.add_lexer("tile", TileLexer)
    app.add_lexer("mlir", MlirLexer)
    app.connect("source-read", _prepare)
    app.connect("html-collect-pages", _sources)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
