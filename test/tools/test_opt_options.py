"""Tests of the options of `tile-opt` that are not errors."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from counted_calls import count_calls
from xdsl.xdsl_opt_main import xDSLOptMain

from gingham.passes import get_all_passes
from gingham.passes.pipelines import PIPELINES, pipeline_text
from gingham.tools.optimizer.arguments import parse_arguments
from gingham.tools.optimizer.driver import run
from gingham.tools.optimizer.registry import all_passes, all_targets, own_passes

PLUGIN = Path(__file__).with_name("plugin_passes.py")

PROGRAM = """\
func.func @main(%a: i32) -> i32 {
  %b = arith.muli %a, %a : i32
  %c = arith.muli %a, %a : i32
  func.return %b : i32
}
"""

AFTER_CSE = """\
builtin.module {
  func.func @main(%a: i32) -> i32 {
    %b = arith.muli %a, %a : i32
    func.return %b : i32
  }
}
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A program, `main.mlir` in the current folder."""
    monkeypatch.chdir(tmp_path)
    Path("main.mlir").write_text(PROGRAM)
    return "main.mlir"


def output(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a successful run prints; it prints nothing to stderr."""
    status = run(arguments)
    out, err = capfd.readouterr()
    assert (status, err) == (0, "")
    return out


def test_every_option_of_xdsl_is_known() -> None:
    """Found in xDSL's own parser, so that a new one shows up here."""
    import argparse

    parser = argparse.ArgumentParser()
    tool = xDSLOptMain(args=[])
    tool.register_all_arguments(parser)
    names = [name for name in parser._option_string_actions if name not in ("-h",)]  # pyright: ignore[reportPrivateUsage]
    assert "--print-op-generic" in names
    for name in names:
        if name in ("--help",):
            continue
        value = {
            "-t": "mlir",
            "--target": "mlir",
            "-o": "-",
            "--output-file": "-",
            "-p": "cse",
            "--passes": "cse",
            "-f": "mlir",
            "--frontend": "mlir",
        }.get(name)
        arguments = [name] if value is None else [name, value]
        parse_arguments(arguments, all_passes(), own_passes(), all_targets())


def test_help_names_our_passes(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_info:
        run(["--help"])
    assert exit_info.value.code == 0
    text = "".join(capfd.readouterr().out.split())
    for name in get_all_passes():
        assert name in text


def test_version(capfd: pytest.CaptureFixture[str]) -> None:
    words = output(capfd, "--version").split()
    assert words[0] == "tile-opt"
    assert words[2] == "(xDSL"


def test_show_dialects(capfd: pytest.CaptureFixture[str]) -> None:
    names = output(capfd, "--show-dialects").splitlines()
    assert {"tile", "stripe", "opencl", "eltwise", "func"} <= set(names)
    assert names == sorted(names)


def test_list_passes(capfd: pytest.CaptureFixture[str]) -> None:
    lines = output(capfd, "--list-passes").splitlines()
    listed = {line.partition(":")[0] for line in lines if not line.startswith(" ")}
    assert listed == set(get_all_passes())
    every_line = output(capfd, "--list-passes=all").splitlines()
    assert set(lines) < set(every_line)
    assert any(line.startswith("canonicalize: ") for line in every_line)


def test_list_passes_of_a_plugin(capfd: pytest.CaptureFixture[str]) -> None:
    text = output(capfd, "--list-passes=all", f"--load-pass-plugin={PLUGIN}")
    assert (
        "\ntest-fail: Fail at the first product, in the way that is asked for.\n"
        "    how: str = emit\n"
    ) in text
    assert "    integers: tuple[int, ...] = none\n    number: float = 0.5\n" in text


@pytest.mark.parametrize("name", PIPELINES)
def test_print_pipeline(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert (
        output(capfd, f"--print-pipeline={name}")
        == pipeline_text(PIPELINES[name]) + "\n"
    )
    every_pipeline = output(capfd, "--print-pipeline").splitlines()
    assert f"{name}: {pipeline_text(PIPELINES[name])}" in every_pipeline


@pytest.mark.parametrize("name", PIPELINES)
def test_printed_pipeline_is_accepted(
    name: str, program: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Both ways to give a pipeline are the same passes; options of default are dumped
    by neither."""
    empty = Path("empty.mlir")
    empty.write_text("builtin.module {}")
    dumps: list[str] = []
    for option in (
        f"--pipeline={name}",
        f"--pass-pipeline={pipeline_text(PIPELINES[name])}",
    ):
        assert run([empty.name, option, "--dump-pass-pipeline"]) == 0
        dumps.append(capfd.readouterr().err)
    assert dumps[0] == dumps[1]
    passes = re.sub(r"\{.*?\}", "", pipeline_text(PIPELINES[name]))
    assert re.sub(r"\{.*?\}", "", dumps[0]) == passes + "\n"


def test_named_pipeline_with_options(capfd: pytest.CaptureFixture[str]) -> None:
    text = output(capfd, "--print-pipeline=opencl-cpu-avx2{vector-bits=128}")
    assert "bits=128" in text
    assert "bits=256" not in text


def test_passes_run_in_the_order_of_their_options(
    program: str, capfd: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--dce", "-p", "cse,dce", "-canonicalize", "--pass-pipeline=cse"]
    assert run([program, *arguments, "--dump-pass-pipeline"]) == 0
    expected = "builtin.module(dce,cse,dce,canonicalize,cse)\n"
    assert capfd.readouterr().err == expected


def test_standard_input(program: str) -> None:
    """In a process of its own, and located as `<stdin>`."""
    command = [Path(sys.executable).with_name("tile-opt"), "--cse"]
    result = subprocess.run(command, input=PROGRAM, capture_output=True, text=True)
    assert (result.stdout, result.stderr) == (AFTER_CSE, "")
    text = PROGRAM.replace("%b,", "%x,").replace("return %b", "return %x")
    result = subprocess.run([*command, "-"], input=text, capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr.startswith("<stdin>:4:15: error: use of undefined value '%x'")


def test_reader_that_has_gone(program: str) -> None:
    """`tile-opt ... | head -1` does not complain."""
    command = f"{Path(sys.executable).with_name('tile-opt')} {program} | true"
    result = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, check=True
    )
    assert result.stderr == ""


def test_output_file(program: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert output(capfd, program, "--cse", "-o", "out.mlir") == ""
    assert Path("out.mlir").read_text() == AFTER_CSE
    assert output(capfd, program, "--cse", "-o", "-") == AFTER_CSE


def test_generic_form(program: str, capfd: pytest.CaptureFixture[str]) -> None:
    text = output(capfd, program, "--print-op-generic")
    assert '"func.return"(%b) : (i32) -> ()' in text
    assert text == output(capfd, program, "--mlir-print-op-generic")
    assert "<{" not in output(
        capfd, program, "--print-op-generic", "--print-no-properties"
    )
    assert "<{" in text


def test_syntax_highlight(program: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert "\033[" in output(capfd, program, "--syntax-highlight")


def test_target(capfd: pytest.CaptureFixture[str], program: str) -> None:
    """A target of xDSL, with the program that it wants."""
    Path("wasm.mlir").write_text("wasm.module")
    assert output(capfd, "wasm.mlir", "-t", "wat") == "(module)\n"


def test_opencl_target(program: str, capfd: pytest.CaptureFixture[str]) -> None:
    """From Tile text to OpenCL C in one command."""
    Path("twice.tile").write_text("function (A[N]) -> (B) { B = A + A; }")
    arguments = ["--tile-specialize=arguments=64xf32", "--pipeline=opencl-cpu-avx2"]
    text = output(capfd, "twice.tile", *arguments, "-t", "opencl")
    assert "__kernel" in text
    assert "// twice.tile:1" in text


def test_unregistered_dialect(program: str, capfd: pytest.CaptureFixture[str]) -> None:
    Path("new.mlir").write_text('"new.op"() : () -> ()')
    assert run(["new.mlir"]) == 1
    assert "unknown operation 'new.op'" in capfd.readouterr().err
    text = output(capfd, "new.mlir", "--allow-unregistered-dialect")
    assert '"new.op"() : () -> ()' in text


def test_no_implicit_module(program: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run([program, "--no-implicit-module"]) == 1
    err = capfd.readouterr().err
    assert err.startswith("main.mlir:1:1: error: builtin.module operation expected\n")
    Path("module.mlir").write_text(AFTER_CSE)
    assert output(capfd, "module.mlir", "--no-implicit-module") == AFTER_CSE


def test_verify_each(program: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Without verification, the pass after the invalid one still runs."""
    plugin = f"--load-pass-plugin={PLUGIN}"
    passes = ["--test-fail=how=invalid", "--test-options"]
    assert run([program, plugin, *passes, "--mlir-print-ir-after=test-options"]) == 1
    assert "IR Dump" not in capfd.readouterr().err
    for off in ("--verify-each=0", "--verify-each=false", "--disable-verify"):
        dump = "--mlir-print-ir-before=test-options"
        run([program, plugin, *passes, off, dump, "--print-op-generic"])
        assert "IR Dump Before test-options" in capfd.readouterr().err
    assert run([program, plugin, "--verify-each", *passes]) == 1


def test_disable_verify_ends_with_the_run(program: str) -> None:
    """xDSL turns off the check of attributes for good."""
    Path("bad.mlir").write_text('"arith.muli"() : () -> ()')
    assert run(["bad.mlir"]) == 1
    assert run(["bad.mlir", "--disable-verify", "--print-op-generic"]) == 0
    assert run(["bad.mlir"]) == 1


def test_parsing_diagnostics(program: str, capfd: pytest.CaptureFixture[str]) -> None:
    Path("bad.mlir").write_text("func.func")
    text = output(capfd, "bad.mlir", "--parsing-diagnostics")
    assert text.startswith("bad.mlir:1:10: error: ")
    Path("invalid.mlir").write_text('"arith.muli"() : () -> ()')
    assert run(["invalid.mlir", "--parsing-diagnostics"]) == 1


WRONG_EXPECTATIONS = {
    "missing error": (
        "// expected-error {{nothing}}\nfunc.func private @f()\n",
        'x.mlir:1:4: error: expected error "nothing" was not produced',
    ),
    "other message": (
        'builtin.module {\n"arith.muli"() : () -> () // expected-error {{nothing}}\n}',
        "x.mlir:2:1: error: unexpected error: 'arith.muli' op expected 2 operands",
    ),
    "other line": (
        '"arith.muli"() : () -> ()\n// expected-error {{op expected 2}}',
        "x.mlir:1:1: error: unexpected error: 'arith.muli' op expected 2 operands",
    ),
    "unexpected": (
        '"arith.muli"() : () -> ()',
        "x.mlir:1:1: error: unexpected error: 'arith.muli' op expected 2 operands",
    ),
    "other severity": (
        '"arith.muli"() : () -> () // expected-warning {{op expected 2}}',
        "x.mlir:1:1: error: unexpected error: 'arith.muli' op expected 2 operands",
    ),
    "bad expression": (
        "func.func private @f() // expected-error-re {{a{{(}}}}",
        "x.mlir:1:27: error: invalid regular expression",
    ),
}


@pytest.mark.parametrize("name", WRONG_EXPECTATIONS)
def test_unmet_expectations(
    name: str, program: str, capfd: pytest.CaptureFixture[str]
) -> None:
    text, expected = WRONG_EXPECTATIONS[name]
    Path("x.mlir").write_text(text)
    assert run(["x.mlir", "--verify-diagnostics"]) == 1
    assert capfd.readouterr().err.startswith(expected)


def test_expectation_without_a_place(
    program: str, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("x.mlir").write_text(
        PROGRAM + "// expected-error @unknown {{this is too much}}\n"
    )
    plugin = f"--load-pass-plugin={PLUGIN}"
    how = "--test-fail=how=user-error"
    assert run(["x.mlir", plugin, how, "--verify-diagnostics"]) == 0


def test_crash_reproducer(program: str, capfd: pytest.CaptureFixture[str]) -> None:
    """The program before the whole pipeline, or before the pass that fails."""
    plugin = f"--load-pass-plugin={PLUGIN}"
    arguments = [program, plugin, "--cse", "--test-fail", "--verify-each=0"]
    reproducer = "--mlir-pass-pipeline-crash-reproducer=crash.mlir"
    assert run([*arguments, reproducer]) == 1
    assert "note: the reproducer is in 'crash.mlir'\n" in capfd.readouterr().err
    first_line, text = Path("crash.mlir").read_text().split("\n", 1)
    pipeline = "--pass-pipeline='builtin.module(cse,test-fail)'"
    assert first_line == f"// configuration: {pipeline} --verify-each=0"
    assert text.count("arith.muli") == 2

    local = "--mlir-pass-pipeline-local-reproducer"
    assert run([*arguments, reproducer, local]) == 1
    capfd.readouterr()
    first_line, text = Path("crash.mlir").read_text().split("\n", 1)
    assert "'builtin.module(test-fail)'" in first_line
    assert text == AFTER_CSE

    assert run(["--run-reproducer", "crash.mlir", plugin]) == 1
    expected = "crash.mlir:4:5: error: no products, please\n"
    assert capfd.readouterr().err.startswith(expected)


def test_no_reproducer_without_a_failure(program: str) -> None:
    assert run([program, "--mlir-pass-pipeline-crash-reproducer=no.mlir", "--cse"]) == 0
    assert not Path("no.mlir").exists()


def test_run_reproducer(program: str, capfd: pytest.CaptureFixture[str]) -> None:
    text = "// configuration: --pass-pipeline='builtin.module(cse)'\n"
    Path("good.mlir").write_text(text + PROGRAM)
    assert output(capfd, "--run-reproducer", "good.mlir") == AFTER_CSE


BAD_REPRODUCERS = {
    "no configuration": (PROGRAM, "expected a reproducer, whose first line starts"),
    "an output": (
        "// configuration: --cse -o /etc/passwd\n",
        "a reproducer cannot set '--cse'",
    ),
    "open quote": (
        "// configuration: --pass-pipeline='a\n",
        "this line cannot be read",
    ),
}


@pytest.mark.parametrize("name", BAD_REPRODUCERS)
def test_bad_reproducer(
    name: str, program: str, capfd: pytest.CaptureFixture[str]
) -> None:
    text, expected = BAD_REPRODUCERS[name]
    Path("bad.mlir").write_text(text)
    assert run(["--run-reproducer", "bad.mlir"]) == 1
    message = capfd.readouterr().err
    assert message.startswith(f"bad.mlir:1:1: error: {expected}")


def test_shrink(program: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run([program, "--shrink"]) == 1
    assert capfd.readouterr().out == "Failure, can't shrink\n"
    Path("shrinking.py").write_text(
        "from xdsl.passes import ModulePass\n"
        "from xdsl.utils.exceptions import ShrinkException\n"
        "class Shrinking(ModulePass):\n"
        '    name = "test-shrink"\n'
        "    def apply(self, ctx, op):\n"
        "        raise ShrinkException\n"
    )
    plugin = "--load-pass-plugin=shrinking.py"
    assert run([program, "--shrink", plugin, "--test-shrink"]) == 0
    assert capfd.readouterr().out == "Success, can shrink\n"


def test_locations_are_cheap() -> None:
    """A long program is parsed with at most half as much again of what xDSL does."""
    from xdsl.parser import Parser

    from gingham.tools.optimizer.located_parser import parse_mlir
    from gingham.tools.optimizer.registry import new_context
    from gingham.tools.optimizer.sources import Sources

    line = "  %{} = arith.addi %a, %a : i32\n"
    text = "func.func @main(%a: i32) {\n"
    text += "".join(line.format(f"x{number}") for number in range(500))
    text += "  func.return\n}\n"

    theirs = count_calls(lambda: Parser(new_context(), text, "a").parse_module())
    sources = Sources({"a": text})
    ours = count_calls(lambda: parse_mlir(new_context(), text, "a", sources))
    assert ours < 1.5 * theirs
