"""Tests that every mistake of the user gives one located message and the status 1."""

from __future__ import annotations

from pathlib import Path

import pytest

from gingham.passes.tile.specialize import TileSpecializePass
from gingham.tools.optimizer.driver import run
from gingham.tools.optimizer.input import EXTENSIONS

from ..optimizer_runs import VALID, Failing

PLUGIN = Path(__file__).with_name("plugin_passes.py")


def check(message: str, *expected: str) -> None:
    """That the lines of a message start as expected, from the first line on."""
    lines = message.splitlines()
    for line, start in zip(lines, expected, strict=False):
        assert line.startswith(start), message
    assert len(lines) >= len(expected), message


# What is wrong on line 2, column, message, and how many characters are underlined.
BAD_LINES = {
    "syntax": ("%b = arith.muli %a %a : i32", 22, "expected ','", 2),
    "lexer": ("%b = arith.muli %a, $ : i32", 23, "unexpected character: $", 1),
    "undefined": (
        "%b = arith.muli %a, %x : i32",
        23,
        "use of undefined value '%x'",
        2,
    ),
    "redefined": (
        "%a = arith.muli %a, %a : i32",
        3,
        "SSA value %a is already defined",
        2,
    ),
    "operation": (
        "%b = arith.mult %a, %a : i32",
        8,
        "unknown operation 'arith.mult'",
        10,
    ),
    "generic operation": (
        '%b = "arith.mult"(%a, %a) : (i32, i32) -> i32',
        9,
        "unknown operation 'arith.mult'",
        10,
    ),
    "dialect": ("%b = aritth.muli %a, %a", 8, "unknown operation 'aritth.muli'", 11),
    "type": (
        "%b = arith.constant 1 : !stripe.wiew<f32>",
        28,
        "unknown type 'stripe.wiew'",
        11,
    ),
    "opaque type": (
        "%b = arith.constant 1 : !stripe<wiew f32>",
        35,
        "unknown type 'stripe.wiew'",
        4,
    ),
    "attribute": (
        "%b = arith.constant {x = #stripe.no} 1 : i32",
        29,
        "unknown attribute 'stripe.no'",
        9,
    ),
    "invalid type": (
        "%b = arith.constant {x = !stripe.view<?xf32>} 1 : i32",
        29,
        "expected sizes of a view to be known",
        11,
    ),
    "types": (
        "%b = arith.muli %a, %a : i64",
        19,
        "operand is used with type i64, but has been previously used or defined "
        "with type i32",
        2,
    ),
    "verifier": (
        '%b = "arith.muli"(%a) : (i32) -> i32',
        3,
        "'arith.muli' op expected 2 operands, but got 1",
        1,
    ),
    "order": (
        "%b = arith.muli %c, %a : i32 %c = arith.muli %a, %a : i32",
        3,
        "'arith.muli' op operand #0 is used before it is defined",
        1,
    ),
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_invalid_program(name: str, failing: Failing) -> None:
    line, column, message, length = BAD_LINES[name]
    text = VALID.replace("%b = arith.muli %a, %a : i32", line)
    lines = failing(text=text).splitlines()
    assert lines[0] == f"main.mlir:2:{column}: error: {message}"
    assert lines[1] == f"  {line}"
    assert lines[2] == " " * (column - 1) + "^" + "~" * (length - 1)


def test_names_that_may_be_meant(failing: Failing) -> None:
    text = VALID.replace("arith.muli", "arith.mull")
    assert "\nhint: did you mean 'arith.muli'" in failing(text=text)
    text = VALID.replace("arith.muli", "arit.muli")
    hint = "\nhint: no dialect is named 'arit'; did you mean 'arith'"
    assert hint in failing(text=text)
    assert "hint: did you mean '%a'" in failing(text=VALID.replace("%a :", "%aa :"))


def test_all_undefined_values_are_told(failing: Failing) -> None:
    text = VALID.replace("%a, %a", "%x, %y")
    message = failing(text=text)
    check(message, "main.mlir:2:19: error: use of undefined value '%x'")
    assert "main.mlir:2:23: note: '%y' is not defined either" in message


def test_end_of_the_text(failing: Failing) -> None:
    """The place is behind the last word, not on a line after the text."""
    check(
        failing(text=VALID.rstrip("}\n") + "\n\n\n"),
        "main.mlir:3:23: error: expected an operation or '}'",
        "  func.return %b : i32",
        " " * 22 + "^",
    )


def test_long_line(failing: Failing) -> None:
    """Only the part of the line around the mistake is shown."""
    text = " ".join(VALID.replace("%b :", "%x :").splitlines())
    lines = failing(text=f"{' ' * 3000}{text}{' ' * 3000}// end").splitlines()
    column = 3001 + text.index("%x")
    assert lines[0] == f"main.mlir:1:{column}: error: use of undefined value '%x'"
    assert len(lines[1]) == 400
    caret = lines[2].index("^")
    assert lines[1][caret : caret + 2] == "%x"


def test_string_without_an_end(failing: Failing) -> None:
    """Found at once; xDSL's own lexer takes years for this one."""
    text = f'func.func @main() attributes {{a = "{"x" * 200}}} {{\n}}\n'
    message = failing(text=text)
    expected = "main.mlir:1:35: error: end of file reached before closing string"
    check(message, expected)


def test_dangling_block(failing: Failing) -> None:
    text = VALID.replace("func.return %b : i32", "cf.br ^bb1")
    message = failing(text=text)
    assert "error: region ends with missing block declarations" in message
    assert 'main.mlir:3:9: note: reference to block "^bb1"' in message


def test_deep_nesting(failing: Failing) -> None:
    text = "builtin.module {\n" * 3000 + "}\n" * 3000
    message = failing(text=text)
    assert "error: the program is nested too deeply here" in message
    assert message.startswith("main.mlir:")


@pytest.mark.parametrize("length", [*range(1, 22), *range(35, len(VALID), 3)])
def test_every_prefix(length: int, failing: Failing) -> None:
    """A text that ends anywhere gives an error that points into it."""
    text = VALID.replace(" -> i32", " -> (i32)")[:length]
    message = failing(text=text)
    assert message.startswith("main.mlir:")
    assert ": error: " in message


@pytest.mark.parametrize("seed", range(40))
def test_random_damage(seed: int, program: Path, capfd: pytest.CaptureFixture[str]):
    """Whatever the text: a program or an error message, and no exception."""
    from random import Random

    random = Random(seed)
    text = list(VALID)
    for _ in range(random.randint(1, 4)):
        text[random.randrange(len(text))] = random.choice('%^#!@<>(){}[]",:.0a\n é')
    program.write_text("".join(text), encoding="utf-8")
    status = run([program.name])
    err = capfd.readouterr().err
    assert status in (0, 1)
    assert "internal error" not in err
    assert (status == 0) == (err == "")
    assert status == 0 or err.startswith("main.mlir:")


def test_no_operation(failing: Failing) -> None:
    check(failing(text="// nothing\n"), "main.mlir:1:1: error: 'main.mlir' holds no")


def test_empty_file(failing: Failing) -> None:
    check(failing(text=" \n"), "error: 'main.mlir' is empty: expected a program")


def test_binary_file(failing: Failing) -> None:
    message = failing(text=b"func.func @\x9d")
    check(
        message,
        "main.mlir:1:12: error: expected a text, got the byte 0x9d",
        "func.func @\N{REPLACEMENT CHARACTER}",
        " " * 11 + "^",
    )
    message = failing(text=VALID.encode() + b"\n\0")
    check(message, "main.mlir:6:1: error: expected a text, got the byte 0x00")
    assert "is MLIR bytecode" in failing(text=b"ML\xefR\x01")


def test_missing_file(program: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["absent.mlir"]) == 1
    expected = "error: cannot read 'absent.mlir': No such file or directory\n"
    assert capfd.readouterr().err == expected


def test_folder_as_input(program: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run([str(program.parent)]) == 1
    assert capfd.readouterr().err.endswith(": Is a directory\n")


def test_unknown_extension(program: Path, capfd: pytest.CaptureFixture[str]) -> None:
    other = program.rename("main.txt")
    assert run([other.name]) == 1
    message = capfd.readouterr().err
    assert "a name that ends in .mlir, .tile or .onnx, got .txt" in message
    assert all(f"--frontend={kind}" in message for kind in EXTENSIONS)
    assert run([other.name, "--frontend=mlir"]) == 0


BAD_OPTIONS = {
    "unknown option": (["--stripe-fuze"], "error: unknown option '--stripe-fuze'"),
    "no value": (["-o"], "error: argument -o/--output-file: expected one argument"),
    "two files": (["b.mlir"], "error: expected one input file, got 'b.mlir' too"),
    "bad value": (["--verify-each=2"], "error: argument --verify-each: expected 0, 1"),
    "no number": (
        ["--validate-seed=-1"],
        "error: argument --validate-seed: expected 0",
    ),
    "target": (["-t", "wgls"], "error: unknown target 'wgls'"),
    "no kernels": (["-t", "opencl"], "error: the program has no kernels to print"),
    "index bits": (
        ["-t", "opencl{index-bits=7}"],
        "error: --target=opencl{index-bits=7}: expected index-bits to be 32 or 64",
    ),
    "target option": (["-t", "mlir{a=1}"], "error: --target=mlir{a=1}: "),
    "target syntax": (["-t", "mlir("], "error: --target=mlir(: "),
    "dump": (["--mlir-print-ir-after=csee"], "error: unknown pass 'csee'"),
    "pipeline name": (["--pipeline=nowhere"], "error: unknown pipeline 'nowhere'"),
    "printed name": (["--print-pipeline=no"], "error: unknown pipeline 'no'"),
    "plugin": (["--load-pass-plugin=no.py"], "error: cannot load 'no.py': "),
    "no plugin": (
        [f"--load-pass-plugin={Path(__file__).with_name('opt_timing.mlir')}"],
        "error: cannot load '",
    ),
}


@pytest.mark.parametrize("name", BAD_OPTIONS)
def test_bad_option(name: str, failing: Failing) -> None:
    arguments, expected = BAD_OPTIONS[name]
    check(failing(*arguments), expected)


def test_options_that_may_be_meant(failing: Failing) -> None:
    assert "hint: did you mean '--stripe-fuse'" in failing("--stripe-fuze")
    assert "hint: did you mean 'wgsl'" in failing("-t", "wgls")
    assert "hint: did you mean 'cse'" in failing("--mlir-print-ir-after=csee")


# The pipeline, the column, the message, how many characters are underlined.
BAD_PIPELINES = {
    "pass": ("cse,canonicalise", 5, "unknown pass 'canonicalise'", 12),
    "option": ("cse{a=1}", 5, "'cse' has no option 'a'", 1),
    "twice": ("test-fail{how=a how=b}", 17, "the option 'how' is given twice", 3),
    "value type": (
        "test-options{integers=1,x}",
        14,
        "the option 'integers' expects tuple[int, ...], got 1,x",
        8,
    ),
    "flag value": (
        "test-options{flag=3}",
        14,
        "the option 'flag' expects bool, got 3",
        4,
    ),
    "no value": (
        "test-options{number}",
        14,
        "the option 'number' expects float, got",
        6,
    ),
    "open brace": ("cse{", 5, "expected the name of an option or '}'", 1),
    "open quote": ('test-fail{how="a}', 15, "expected a value", 1),
    "open parenthesis": ("func.func(cse", 14, "expected ',' or ')'", 1),
    "extra": ("builtin.module(cse),dce", 20, "expected the end of the pipeline", 1),
    "empty": ("cse,,dce", 5, "expected the name of a pass", 1),
    "two words": ("cse dce", 5, "expected ','", 1),
    "anchor": ("func.fun(cse)", 1, "unknown operation 'func.fun'", 8),
    "open anchor": ("func.func", 1, "unknown pass 'func.func'", 9),
    "called pass": ("cse(dce)", 1, "'cse' is a pass, and its options are put in", 3),
    "not isolated": ("scf.for(cse)", 1, "passes cannot run on 'scf.for'", 7),
    "second line": ("cse,\n  ces", 3, "unknown pass 'ces'", 3),
}


@pytest.mark.parametrize("name", BAD_PIPELINES)
def test_bad_pipeline(name: str, failing: Failing) -> None:
    text, column, message, length = BAD_PIPELINES[name]
    arguments = [f"--load-pass-plugin={PLUGIN}", f"--pass-pipeline={text}"]
    lines = failing(*arguments).splitlines()
    line = text.count("\n") + 1
    place = f"--pass-pipeline:{line}:{column}"
    assert lines[0].startswith(f"{place}: error: {message}")
    assert lines[1] == text.splitlines()[-1]
    assert lines[2] == " " * (column - 1) + "^" + "~" * (length - 1)


def test_deep_pipeline(failing: Failing) -> None:
    pipeline = "builtin.module(" * 3000
    expected = "error: the input is nested too deeply\n"
    assert failing(f"--pass-pipeline={pipeline}") == expected


def test_bad_pass_flag(failing: Failing) -> None:
    message = failing("--cse=deep")
    check(message, "--cse:1:5: error: 'cse' has no option 'deep'", "cse{deep}")


def test_missing_option_of_a_pass(failing: Failing) -> None:
    message = failing("-p", "cse,scf-parallel-loop-tiling")
    check(
        message,
        "-p:1:5: error: 'scf-parallel-loop-tiling' needs the option "
        "'parallel-loop-tile-sizes'",
    )


FAILURES = {
    "emit": "main.mlir:2:3: error: no products, please",
    "pattern": "main.mlir:2:3: error: products are not supported",
    "user-error": "error: this is too much",
    "invalid": "main.mlir:3:3: error: 'func.return' op operand #0 is a result of "
    "'arith.muli', which is not in the program",
    "recursion": "error: the program is nested too deeply",
}


@pytest.mark.parametrize("how", FAILURES)
def test_failing_pass(how: str, failing: Failing) -> None:
    message = failing(f"--load-pass-plugin={PLUGIN}", f"--test-fail=how={how}")
    check(message, FAILURES[how])
    assert f"the pass 'test-fail{{how={how}}}'" in message or how == "emit"


def test_location_in_another_file(failing: Failing, tmp_path: Path) -> None:
    """What was lowered from a Tile file points there."""
    (tmp_path / "sum.tile").write_text("first\nS[i] = +(I[i, j]);\n")
    text = VALID.replace(": i32\n  func", ': i32 loc("sum.tile":2:8)\n  func')
    message = failing(f"--load-pass-plugin={PLUGIN}", "--test-fail", text=text)
    check(message, "sum.tile:2:8: error: ", "S[i] = +(I[i, j]);", "       ^")


def test_location_in_no_file(failing: Failing) -> None:
    """A location may name anything, and nothing but a text file is read."""
    for name in ("absent.tile", "/dev/zero", "", "a\\00b"):
        text = VALID.replace(": i32\n  func", f': i32 loc("{name}":2:8)\n  func')
        message = failing(f"--load-pass-plugin={PLUGIN}", "--test-fail", text=text)
        assert ":2:8: error: no products, please\nnote: " in message


def test_internal_error(
    failing: Failing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line, and a reproducer with which the error comes again."""

    def defect(*_: object) -> None:
        raise KeyError("a key that\nnobody has")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(TileSpecializePass, "apply", defect)
    message = failing("--cse", "--tile-specialize=entry=f")
    assert message.count("\n") == 1
    assert message.startswith(
        "error: internal error in the pass 'tile-specialize{entry=f}' "
        "(KeyError: 'a key that\\nnobody has'); this is a defect of the compiler: "
        "please report it with the reproducer '"
    )
    (reproducer,) = tmp_path.glob("tile-opt-*.mlir")
    first_line = reproducer.read_text().splitlines()[0]
    pipeline = "--pass-pipeline='builtin.module(cse,tile-specialize{entry=f})'"
    assert first_line == f"// configuration: {pipeline} --verify-each=1"
    again = failing("--run-reproducer", text=reproducer.read_text())
    assert "internal error in the pass 'tile-specialize{entry=f}'" in again


def test_traceback_on_demand(
    program: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = [program.name, f"--load-pass-plugin={PLUGIN}", "--test-fail=how=defect"]
    assert run([*arguments, "--debug"]) == 1
    assert "KeyError" in capfd.readouterr().err.partition("Traceback")[2]
    monkeypatch.setenv("GINGHAM_DEBUG", "1")
    assert run(arguments) == 1
    assert "KeyError" in capfd.readouterr().err.partition("Traceback")[2]


def test_target_that_fails(failing: Failing) -> None:
    """A target of xDSL that does not take the program."""
    assert failing("-t", "riscv-asm") != ""
