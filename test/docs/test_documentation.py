"""The pages of `docs/`, and the tool that checks them, which has to notice mistakes.

The pages themselves are checked by the lit tests beside this file.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
GENERATED = {"dialects", "functions", "onnx-operators", "passes", "torch-operators"}


def run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The result of a command of the environment that runs the tests."""
    return subprocess.run(
        [str(part) for part in command],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )


def check(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """The result of checking pages."""
    return run(sys.executable, DOCS / "tools" / "check.py", *arguments)


def write_page(folder: Path, text: str, name: str = "page.md") -> Path:
    """A page with this text, in which `'''` stands for the marks of a fence."""
    page = folder / name
    page.write_text(dedent(text).replace("'''", "```"))
    return page


COMMANDS = """\
    # A page

    '''sh
    echo one > file; cat file; echo two; echo three four five; ls examples/skip.tile
    '''

    '''text
    one
    ...
    three ... five
    examples/...
    '''

    '''sh fails
    echo problem; exit 1
    '''

    '''text
    problem
    '''

    '''python
    x = 3
    '''

    '''python
    print(x + 1)
    '''

    '''text
    4
    '''

    '''toml title="docs/examples/interchange/pyproject.toml"
    {pyproject}
    '''

    '''mlir
    What is not run is not checked.
    '''
    """

PROGRAMS = """\
    '''tile
    function (A[N]) -> (B, S) {
      B[i : N] = =(A[N - 1 - i]);
      S[] = +(A[i]);
    }
    // A = [1, 2, 3] gives B = [3, 2, 1], S = 6
    // A = [0.5, 0.25] : f64 gives B = [0.25, 0.5] : f64, S = 0.75
    '''

    '''tile
    function (A[N], B[N]) -> (C) {
      C = A + B;
    }
    // A = [1], B = [1, 2]
    '''

    '''text
    program.tile:1:17: error: size N is 1 in A but 2 in B
    ...
    '''
    """


def right_pages() -> list[str]:
    """Pages without a mistake: one of commands, one of Tile programs."""
    pyproject = (DOCS / "examples" / "interchange" / "pyproject.toml").read_text()
    indented = pyproject.strip().replace("\n", "\n    ")
    return [COMMANDS.format(pyproject=indented), PROGRAMS]


MISTAKES = [
    ("    one\n", "    won\n", "-won\n+one"),
    ("    three ... five", "    three ... six", "-three ... six\n+three four five"),
    ("    ...\n    three", "    three", "+two"),
    ("sh fails", "sh", "expected exit status 0, got 1\nproblem"),
    ("echo two;", "false;", "expected exit status 0, got 1"),
    ("    4\n", "    5\n", "-5\n+4"),
    ("interchange:UNIVERSE", "interchange:UNIVERS", '+interchange = "interchange:U'),
    ("gives B = [3, 2, 1]", "gives B = [1, 2, 3]", "gives B = [3, 2, 1], S = 6"),
    ("0.5] : f64,", "0.5] : f32,", "gives B = [0.25, 0.5] : f64, S = 0.75"),
    ("is 1 in A", "is 2 in A", "+program.tile:1:17: error: size N is 1 in A"),
    ("B = [1, 2]\n", "B = [2]\n", "is shown with an error, and has none"),
    ("(A[N - 1 - i])", "(A[N - 1 - i)", "the program is wrong"),
    ("A = [1, 2, 3] gives", "A = [1, 2; 3] gives", "cannot read the value '[1, 2; 3]'"),
    ("A = [1, 2, 3] gives", "A = [1, 2, 3], B =", "shows no result"),
]


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What is reported of each of the pages with a mistake, in one run for all."""
    folder = tmp_path_factory.mktemp("mistakes")
    pages: list[Path] = []
    for number, (right, wrong, _) in enumerate(MISTAKES):
        (text,) = [page for page in right_pages() if right in page]
        name = f"mistake-{number}.md"
        pages.append(write_page(folder, text.replace(right, wrong, 1), name))
    result = check(*pages)
    assert result.returncode == 1
    starts = [result.stderr.find(f"{page}:") for page in pages]
    assert -1 not in starts, result.stderr
    return [
        result.stderr[start:end]
        for start, end in zip(starts, [*starts[1:], None], strict=True)
    ]


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_a_mistake_is_found(reports: list[str], number: int) -> None:
    assert MISTAKES[number][2] in reports[number]


@pytest.mark.parametrize("text", right_pages(), ids=["commands", "programs"])
def test_a_right_page_stays_as_it_is(tmp_path: Path, text: str) -> None:
    page = write_page(tmp_path, text)
    before = page.read_text()
    for options in ([], ["--refresh"]):
        result = check(page, *options)
        assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert page.read_text() == before


def test_refresh_corrects_and_keeps_what_is_elided(tmp_path: Path) -> None:
    page = write_page(
        tmp_path,
        """\
        '''sh
        seq 1 9; echo 'a line with words'; echo end
        '''

        '''text
        1
        3
        ...
        8
        8.5
        9
        a line ... words
        and
        '''

        Other text stays.

        '''tile
        function (A[N]) -> (S) {
          S[] = +(A[i]);
        }
        // A = [1, 2] gives
        '''
        """,
    )
    result = check(page, "--refresh")
    assert (result.returncode, result.stderr) == (0, "")
    shown = [fence.strip() for fence in page.read_text().split("```")[1::2]]
    assert shown[1].splitlines() == [
        "text", "1", "2", "3", "...", "8", "9", "a line ... words", "end"
    ]  # fmt: skip
    assert shown[2].endswith("// A = [1, 2] gives S = 3")
    assert "\n\nOther text stays.\n\n" in page.read_text()
    assert check(page).returncode == 0


def test_a_fence_without_an_end_is_an_error(tmp_path: Path) -> None:
    result = check(write_page(tmp_path, "'''sh\nls\n"))
    assert result.returncode == 1
    assert result.stderr == f"{tmp_path / 'page.md'}:1: this fence has no end\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_page_has_its_lit_test(page: Path) -> None:
    name = "generated" if page.stem in GENERATED else page.stem
    test = Path(__file__).with_name(f"{name}.test").read_text()
    assert "RUN: python %root/docs/tools/" in test
    assert name == "generated" or f"%root/docs/{page.name}" in test


def anchor(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    kept = re.sub(r"[^\w\- ]", "", heading.lower())
    return kept.replace(" ", "-")


def text_of(page: Path) -> str:
    """A page without its fences, in which brackets mean something else."""
    return re.sub(r"^(```+).*?^\1$", "", page.read_text(), flags=re.M | re.S)


@pytest.mark.parametrize(
    "page", [*PAGES, *sorted(ROOT.glob("*.md"))], ids=lambda page: page.stem
)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", text_of(page))
    assert links
    for link in links:
        if link.startswith("https://"):
            continue
        name, _, fragment = link.partition("#")
        target = page.parent / name if name else page
        assert target.exists(), link
        if fragment:
            headings = re.findall(r"^#+ (.*)$", text_of(target), flags=re.M)
            assert fragment in [anchor(heading) for heading in headings], link


def test_every_page_and_picture_is_used() -> None:
    """The index leads to every page, and a page shows every picture."""
    index = (DOCS / "index.md").read_text()
    for page in PAGES:
        assert page.stem == "index" or f"({page.name})" in index
    texts = "".join(path.read_text() for path in [*PAGES, *ROOT.glob("*.md")])
    for picture in (DOCS / "images").iterdir():
        assert picture.name in texts


def test_xdsl_finds_the_example_pass_when_it_is_installed(tmp_path: Path) -> None:
    """Installing a package makes the folder that is made here; pip needs a network."""
    import tomllib

    example = DOCS / "examples" / "interchange"
    declared = tomllib.loads((example / "pyproject.toml").read_text())["project"]
    information = tmp_path / f"{declared['name']}-{declared['version']}.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {declared['name']}\n"
        f"Version: {declared['version']}\n"
    )
    ((group, points),) = declared["entry-points"].items()
    lines = [f"{name} = {value}\n" for name, value in points.items()]
    (information / "entry_points.txt").write_text(f"[{group}]\n{''.join(lines)}")
    result = run(
        Path(sys.executable).with_name("xdsl-opt"),
        example / "interchange.mlir",
        "--passes=stripe-interchange",
        PYTHONPATH=os.pathsep.join([str(tmp_path), str(example)]),
    )
    assert result.returncode == 0, result.stderr
    assert 'stripe.block "C" [%i : 64, %k : 32, %j : 48]' in result.stdout


def test_tiles_of_the_tutorial() -> None:
    """The text names the tiles of the decision, which is checked itself."""
    text = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    schedule = re.search(r"#stripe\.schedule<(.*?)because", text, re.DOTALL)
    assert schedule is not None
    outer, *_, inner = re.findall(r"tile \[(\d+), (\d+), (\d+)\]", schedule[1])
    words = " ".join(text.split())
    rows, columns, depth = outer
    assert f"a work-group computes {rows} rows by {columns} columns of `C`" in words
    tile = f"in tiles of {inner[0]} by {inner[1]} that are held in registers"
    assert f"{tile}; each takes the whole sum of {depth}." in words
    assert depth == inner[2]
