"""The files of the repository that pages speak of, as pages of the site.

A link from a page to a file or folder that is no page leads to `source/PATH.html`: the
text of the file, highlighted, or the list of what lies in the folder.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

from fences import Page
from lexers import MlirLexer, TileLexer
from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import find_lexer_class_by_name, find_lexer_class_for_filename

ROOT = Path(__file__).resolve().parents[2]
_OURS: dict[str, type[Lexer]] = {".mlir": MlirLexer, ".tile": TileLexer}
_LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")
_SHOWN = {".json", ".lark", ".md", ".mlir", ".py", ".test", ".tile", ".toml", ".txt"}
_HIDDEN = {"__pycache__", "build"}


def with_source_links(page: str, text: str, pages: set[str]) -> tuple[str, set[str]]:
    """The text with links to files led to their pages, and those files and folders.

    `page` and `pages` are paths from the root, without a suffix. Fences stay as they
    are.
    """
    lines = text.split("\n")
    fenced = {
        number
        for fence in Page.of(ROOT / page, lines).fences
        for number in range(fence.opening, fence.closing + 1)
    }
    found: set[str] = set()

    def led(match: re.Match[str]) -> str:
        name, _, _ = match["target"].partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), name))
        is_page = path.removesuffix(".md") in pages or path.endswith(".svg")
        if ":" in name or not name or is_page or not (ROOT / path).exists():
            return match[0]
        found.add(path)
        up = posixpath.relpath("source", posixpath.dirname(page) or ".")
        return f"](source:{up}/{path}.html)"

    shown = [
        line if number in fenced else _LINK.sub(led, line)
        for number, line in enumerate(lines)
    ]
    return "\n".join(shown), found


def source_pages(paths: set[str]) -> Iterator[tuple[str, dict[str, str], str]]:
    """For Sphinx: name, title and body, and template of each page of a file or folder.

    Folders come with all that they hold; tests are only listed.
    """
    pending = sorted(paths)
    shown = set(pending)
    while pending:
        path = pending.pop()
        if (ROOT / path).is_dir():
            inner = [f"{path}/{name}" for name in _listed(ROOT / path)]
            if not path.startswith("test"):
                pending += [each for each in inner if each not in shown]
                shown.update(inner)
            body = _folder(path, inner, shown)
        else:
            body = _file(path)
        title = f"<h1><code>{escape(path)}</code></h1>"
        yield f"source/{path}", {"title": path, "body": title + body}, "page.html"


def _listed(folder: Path) -> list[str]:
    return sorted(
        each.name
        for each in folder.iterdir()
        if not each.name.startswith(".")
        and each.name not in _HIDDEN
        and (each.is_dir() or each.suffix in _SHOWN)
    )


def _folder(path: str, inner: list[str], shown: set[str]) -> str:
    rows: list[str] = []
    for each in inner:
        name = escape(posixpath.basename(each))
        if each in shown:
            target = posixpath.relpath(each, posixpath.dirname(path))
            name = f'<a href="{target}.html">{name}</a>'
        rows.append(f"<tr><td>{name}</td><td>{_summary(ROOT / each)}</td></tr>")
    return f'<table class="docutils"><tbody>{"".join(rows)}</tbody></table>'


def _summary(path: Path) -> str:
    """The first line of the docstring of a module, or of a package."""
    path = path / "__init__.py" if path.is_dir() else path
    if path.suffix != ".py" or not path.is_file():
        return ""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    first = escape(text.partition("\n")[0])
    return re.sub("`([^`]+)`", r"<code>\1</code>", first)


def _file(path: str) -> str:
    text = (ROOT / path).read_text(encoding="utf-8")
    lexer = _OURS.get(Path(path).suffix) or find_lexer_class_for_filename(path)
    lexer = lexer or find_lexer_class_by_name("text")
    body: str = highlight(text, lexer(), HtmlFormatter(lineanchors="line"))
    return f'<div class="highlight-default notranslate">{body}</div>'
