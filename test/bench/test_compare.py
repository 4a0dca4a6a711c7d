"""The gate between two versions: what it lets pass, and which version it runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gingham.bench import versions
from gingham.bench.cases import CASES
from gingham.bench.compare import Limits, judge, pooled, print_verdict
from gingham.bench.contest import Result, Row
from gingham.bench.versions import VersionError, interpreter_of

ROOT = Path(__file__).resolve().parents[2]
LIMITS = Limits(row=1.1, mean=1.02)


def row(
    number: int,
    new: float | None,
    old: float | None,
    error: float | None = 0.0,
) -> Row:
    """A made-up row: seconds of a call, None for a version that has no result."""

    def result(peer: str, seconds: float | None) -> Result:
        if seconds is None:
            return Result(peer, missing="no memory")
        # Neighbours have made some rounds slower, more of the old version's.
        noise = (9 * seconds,) if peer == "gingham" else (5 * seconds,) * 4
        return Result(peer, (*noise, seconds), error=error)

    return Row(
        CASES[number],
        (result("gingham", new), result("gingham-old", old), result("numpy", 1e-6)),
    )


@pytest.mark.parametrize(
    ("rows", "failed"),
    [
        ([row(0, 1.0, 1.0)], []),
        ([row(0, 1.09, 1.0), row(1, 0.92, 1.0)], []),
        ([row(0, 1.11, 1.0), row(1, 0.5, 1.0)], [CASES[0].name]),
        ([row(0, 1.05, 1.0), row(1, 1.05, 1.0)], ["all rows"]),
        ([row(0, None, 1.0), row(1, 1.0, 1.0)], [CASES[0].name]),
        ([row(0, 1.0, None), row(1, 1.0, 1.0)], []),
        ([row(0, None, None), row(1, 1.0, 1.0)], []),
        ([row(0, 0.5, 1.0, error=1.0)], [CASES[0].name]),
        ([row(0, 0.5, 1.0, error=None)], [CASES[0].name]),
        ([row(0, 1.0, None)], ["all rows"]),
    ],
)
def test_verdict(rows: list[Row], failed: list[str]) -> None:
    assert list(judge(rows, LIMITS).faults) == failed


def test_ratios_are_new_over_old_and_the_mean_is_geometric(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [row(0, 2.0, 1.0), row(1, 1.0, 8.0), row(2, None, 1.0)]
    verdict = judge(rows, LIMITS)
    assert verdict.ratios == {CASES[0].name: 2.0, CASES[1].name: 0.125}
    assert verdict.mean == pytest.approx(0.5)
    print_verdict(rows, verdict)
    printed = capsys.readouterr().out
    assert "geometric mean of 2 rows: 0.500" in printed
    assert f"worst row: {CASES[0].name}, 2.000" in printed
    assert f"FAILED: {CASES[0].name}: the ratio 2.000 is above 1.100" in printed
    assert f"FAILED: {CASES[2].name}: is missing: no memory" in printed


def test_what_is_measured_again_is_pooled() -> None:
    slow, fast = row(0, 1.2, 1.0), row(0, 1.0, 1.1)
    assert pooled(slow, None) is slow
    both = pooled(slow, fast)
    assert judge([slow], LIMITS).faults
    assert judge([both], LIMITS).ratios == {CASES[0].name: 1.0}
    assert len(both.ours.seconds) == 4
    for wrong in (pooled(row(0, 1, 1, error=1), fast), pooled(fast, row(0, 1, 1, 1))):
        assert list(judge([wrong], LIMITS).faults) == [CASES[0].name]
    assert not judge([pooled(row(0, None, 1.0), fast)], LIMITS).faults


def test_another_version_is_no_peer_to_be_faster_than() -> None:
    fastest = row(0, 2.0, 1e-9).fastest_peer
    assert fastest is not None
    assert fastest.peer == "numpy"


ENVIRONMENT = """\
[ "$1" = cpu ] || exit 1
root=$(dirname "$0")/..
mkdir -p "$root/.venv/bin"
cat >"$root/.venv/bin/python" <<END
#!/bin/sh
echo $(cd "$root" && pwd -P)/__init__.py
END
chmod +x "$root/.venv/bin/python"
echo installed >>"$root/log"
"""


def test_commit_is_installed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = tmp_path / "repository"
    (repository / "scripts").mkdir(parents=True)
    (repository / "scripts" / "environment").write_text(ENVIRONMENT)
    identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run(["git", *identity, *arguments], cwd=repository, check=True)
    (repository / "scripts" / "environment").write_text("exit 1\n")
    monkeypatch.setattr(versions, "ROOT", repository)
    first = interpreter_of("HEAD", tmp_path / "installed")
    assert first == interpreter_of("HEAD~0", tmp_path / "installed")
    (checkout,) = (tmp_path / "installed").iterdir()
    assert first == checkout / ".venv" / "bin" / "python"
    subprocess.run(
        ["git", *identity, "commit", "-qam", "broken"], cwd=repository, check=True
    )
    with pytest.raises(VersionError, match="cannot be installed"):
        interpreter_of("HEAD", tmp_path / "installed")


def test_version_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(VersionError, match="'no-such-thing' is neither a commit nor"):
        interpreter_of("no-such-thing", tmp_path)


def test_environment_of_another_checkout_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    python = tmp_path / ".venv" / "bin" / "python"
    python.write_text("#!/bin/sh\necho /elsewhere/__init__.py\n")
    python.chmod(0o755)
    with pytest.raises(VersionError, match="imports gingham of /elsewhere, not of"):
        interpreter_of(str(tmp_path), tmp_path)


def test_command_names_what_it_cannot_do() -> None:
    command = [sys.executable, "-m", "bench.compare", "no-such-thing"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 2
    assert result.stderr.startswith("error: 'no-such-thing' is neither a commit")
