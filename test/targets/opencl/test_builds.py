"""Sources of many kernels are built side by side, with the same programs and errors."""

from __future__ import annotations

import io
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gingham.errors import GinghamError
from gingham.targets.host_program import HostLaunch, HostProgram
from gingham.targets.opencl import build_helper as helper
from gingham.targets.opencl.builds import driver, processes, scheduling
from gingham.targets.opencl.builds.driver import InnerProgram
from gingham.targets.opencl.builds.helpers import Helper
from gingham.targets.opencl.builds.parts import kernel_of, merged, split
from gingham.targets.opencl.builds.processes import Helpers
from gingham.targets.opencl.compiled import CompiledCode, from_bytes, to_bytes
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.handles.buffer import allocate
from gingham.targets.opencl.memory.copies import download
from gingham.targets.opencl.program import (
    DeviceProgram,
    build_program,
    load_program,
)

LAUNCH = HostLaunch("s0", (1,), (1,), (), False)
HELPER = """#pragma OPENCL EXTENSION cl_khr_fp64 : enable

int twice(int x) {
  return 2 * x;
}

"""


def kernel(name: str, value: str) -> str:
    return f"""// net.tile:{len(name)}
// and :3
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void {name}(__global int *restrict X) {{
  X[0] = twice({value});
}}
"""


def source(*values: str, prefix: str = "k") -> str:
    names = [f"{prefix}{number}" for number in range(len(values))]
    return HELPER + "\n".join(map(kernel, names, values))


@pytest.fixture
def device(
    opencl_device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> Iterator[OpenCLDevice]:
    """A device for which even short sources are worth a helper."""
    if not opencl_device.details.builds_whole_binaries:
        pytest.skip("its binaries save nothing")
    own = Helpers(Helper)
    monkeypatch.setattr(scheduling, "helpers", own)
    monkeypatch.setattr(scheduling, "core_count", lambda: 4)
    monkeypatch.setattr(processes, "core_count", lambda: 3)
    monkeypatch.setattr(scheduling, "_WORTH_STARTING", 1)
    monkeypatch.setattr(scheduling, "_WORTH_ASKING", 1)
    yield opencl_device
    own.end_all()


def run(device: OpenCLDevice, text: str) -> list[int]:
    program = build_program(device, text)
    found: list[int] = []
    for name in program.kernel_names:
        buffer = allocate(device, (1,), np.int32)
        device.queue.enqueue(program.kernel(name), (1,), (1,), (buffer,))
        found += download(device.queue, buffer).tolist()
    return found


def test_a_source_is_split_by_kernels() -> None:
    text = source("1", "2", "3")
    parts = split(text)
    assert len(parts) == 3
    lines = text.splitlines()
    for number, part in enumerate(parts):
        assert part.startswith(HELPER)
        assert part.count("__kernel") == 1
        first, *rest = part.removeprefix(HELPER).splitlines()
        line = int(first.removeprefix("#line "))
        assert rest == lines[line - 1 : line - 1 + len(rest)]
        assert f"void k{number}(" in part
    assert split(source("1")) == [source("1")]
    assert split("kernel void a() {} kernel void b() {}") == [
        "kernel void a() {} kernel void b() {}"
    ]


def test_parts_are_merged_up_to_a_size() -> None:
    text = source("1", "2", "3", "4 + 4 + 4 + 4 + 4 + 4 + 4 + 4")
    parts = split(text)
    assert merged(parts, 0) == parts
    two = merged(parts, len(parts[0]) + len(parts[1]) - len(HELPER))
    assert [part.count("__kernel") for part in two] == [2, 1, 1]
    lines = text.splitlines()
    assert all(part.startswith(HELPER) for part in two)
    for piece in two[0].removeprefix(HELPER).split("#line ")[1:]:
        first, *rest = piece.splitlines()
        assert rest == lines[int(first) - 1 : int(first) - 1 + len(rest)]
    (whole,) = merged(parts, len(text) * 2)
    assert whole.count("__kernel") == 4
    assert whole.count(HELPER) == 1


def test_short_kernels_are_built_together(
    device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many as leave each core something to do; an error names its own line."""
    monkeypatch.setattr(scheduling, "_PARTS_PER_CORE", 1)
    text = source(*[str(n) for n in range(16)], prefix="m")
    assert sorted(run(device, text)) == [2 * n for n in range(16)]
    assert len(build_program(device, f"{text}//").binaries()) < 16
    wrong = text.replace("twice(9)", "twice(unknown_thing)")
    line = 1 + wrong.splitlines().index("  X[0] = twice(unknown_thing);")
    with pytest.raises(GinghamError) as caught:
        build_program(device, wrong)
    assert f"> {line} |   X[0] = twice(unknown_thing);" in caught.value.message


def test_helpers_build_the_same(
    device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This process leaves the first parts to a helper, however long that takes.

    Of so many parts none keeps the compiler's memory: each is loaded, once.
    """
    helped = threading.Event()
    alone, together, load = driver.build, Helper.build, driver.load
    loaded: list[bytes] = []

    def build_here(
        device: OpenCLDevice, source: str, options: str, whole: str | None = None
    ) -> InnerProgram:
        assert helped.wait(120)
        return alone(device, source, options, whole)

    def build_there(
        helper: Helper, device: OpenCLDevice, source: str, options: str
    ) -> bytes:
        binary = together(helper, device, source, options)
        if "__kernel" in source:
            assert binary
            helped.set()
        return binary

    def load_counted(device: OpenCLDevice, binary: bytes, options: str) -> InnerProgram:
        loaded.append(binary)
        return load(device, binary, options)

    monkeypatch.setattr(driver, "build", build_here)
    monkeypatch.setattr(driver, "load", load_counted)
    monkeypatch.setattr(Helper, "build", build_there)
    monkeypatch.setattr(device, "built_count", 100)
    values = [str(n) for n in range(12)]
    for number in (1, 2):
        # The second time they are there.
        helped.clear()
        text = source(*values) + f"// {number}\n"
        assert run(device, text) == [2 * n for n in range(12)]
    assert len(loaded) == 2 * len(values)


def test_binaries_that_are_text_are_not_compiled_again(
    device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As NVIDIA's, which are no machine code."""
    loaded: list[bytes] = []
    load = driver.load

    def load_counted(device: OpenCLDevice, binary: bytes, options: str) -> InnerProgram:
        loaded.append(binary)
        return load(device, binary, options)

    monkeypatch.setattr(driver, "load", load_counted)
    monkeypatch.setattr(device, "built_count", 100)
    driver.build_to_keep(device, source("1", prefix="m"), "")
    assert len(loaded) == 1

    def text_of(program: InnerProgram) -> bytes:
        return b"//\n.version 9.0\n" * 99

    monkeypatch.setattr(driver, "binary_of", text_of)
    driver.build_to_keep(device, source("2", prefix="m"), "")
    assert len(loaded) == 1


def test_who_begins_does_not_wait_for_helpers(
    device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They start for ever, and the process builds all by itself."""
    goes_on = threading.Event()

    def wait(helper: Helper, device: OpenCLDevice) -> None:
        goes_on.wait(60)

    monkeypatch.setattr(Helper, "warm_up", wait)
    assert run(device, source("1", "2", "3", prefix="w")) == [2, 4, 6]
    goes_on.set()


def instead(*words: str) -> Callable[[str], list[str]]:
    """Another command than the one of a helper."""

    def command(module: str) -> list[str]:
        return [*words]

    return command


@pytest.mark.parametrize("answer", [b"", b"x\n", b"12\nshort", b"0\n", b"3\nabc"])
def test_helpers_that_fail_are_no_harm(
    device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch, answer: bytes
) -> None:
    """They end, answer nonsense, build nothing, or what the driver does not take."""
    told = f"import sys; sys.stdin.buffer.readline(); sys.stdout.buffer.write({answer})"

    def begin(helper: Helper, device: OpenCLDevice) -> None:
        pass

    monkeypatch.setattr(Helper, "warm_up", begin)
    monkeypatch.setattr(processes, "_command", instead(sys.executable, "-c", told))
    text = source("1", "2", "3", "4", prefix=f"f{len(answer)}_{answer[:1].hex()}_")
    assert run(device, text) == [2, 4, 6, 8]


def test_no_helper_can_be_started(
    device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "_command", instead("/no/such/program"))
    assert run(device, source("1", "2", prefix="n")) == [2, 4]
    assert scheduling.helpers.take() is None


def test_errors_name_the_kernel_and_the_line(device: OpenCLDevice) -> None:
    text = source("1", "2", "unknown_thing", "4", prefix="e")
    line = 1 + text.splitlines().index("  X[0] = twice(unknown_thing);")
    with pytest.raises(GinghamError) as caught:
        build_program(device, text)
    message = caught.value.message
    assert "unknown_thing" in message
    assert f"> {line} |   X[0] = twice(unknown_thing);" in message
    assert "void e2(" in message


def test_threads_build_at_once(device: OpenCLDevice) -> None:
    def work(number: int) -> None:
        values = [str(number + n) for n in range(5)]
        expected = [2 * (number + n) for n in range(5)]
        assert run(device, source(*values, prefix=f"t{number}_")) == expected

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(work, number) for number in range(6)]:
            done.result(120)


def test_programs_of_parts_are_stored(device: OpenCLDevice) -> None:
    text = source(*"12345", prefix="s")
    program = build_program(device, text)
    binaries = program.binaries()
    assert len(binaries) == 5
    loaded = load_program(device, text, binaries)
    assert loaded.kernel_names == program.kernel_names
    code = CompiledCode(HostProgram((), 0, (), (LAUNCH,), ()), text, program)
    stored = from_bytes(to_bytes(code), device)
    assert stored.built is not None
    assert stored.built.binaries() == binaries
    with pytest.raises(GinghamError, match="damaged"):
        from_bytes(to_bytes(code)[:-1], device)


def test_a_helper_answers_each_request(opencl_device: OpenCLDevice) -> None:
    good, bad = b"kernel void a() {}", b"kernel void a( {}"
    name, details = opencl_device.name, str(opencl_device.details)
    requests = [
        (helper.Request(name, details, "", len(good)), good),
        (helper.Request(name, details, "", len(bad)), bad),
        (helper.Request(name, "another driver", "", len(good)), good),
    ]
    given = b"".join(request.to_line() + text for request, text in requests)
    answers = io.BytesIO()
    processes.answer_all(helper.answered, io.BytesIO(given), answers)
    found = io.BytesIO(answers.getvalue())
    sizes: list[int] = []
    while line := found.readline():
        sizes.append(int(line))
        found.read(sizes[-1])
    assert sizes[0] > 0
    assert sizes[1:] == [0, 0]


def test_expected_helpers_are_there(device: OpenCLDevice) -> None:
    scheduling.helpers.expect(device)
    assert scheduling.helpers.take(warm=True) is not None
    assert run(device, source("1", "2", prefix="x")) == [2, 4]


def test_expected_helpers_that_fail(
    device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "_command", instead("/no/such/program"))
    scheduling.helpers.expect(device)
    assert scheduling.helpers.take() is None
    monkeypatch.setattr(scheduling, "helpers", Helpers(Helper))
    monkeypatch.setattr(processes, "_command", instead(sys.executable, "-c", ""))
    scheduling.helpers.expect(device)
    assert run(device, source("1", "2", prefix="y")) == [2, 4]


def test_idle_helpers_end(
    device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that has helped to build comes back, when it is there, and ends then."""
    is_back, give_back = threading.Event(), Helpers[Helper].give_back

    def noted(among: Helpers[Helper], helper: Helper, seconds: float = 0.0) -> None:
        give_back(among, helper, seconds)
        is_back.set()

    monkeypatch.setattr(Helpers, "give_back", noted)
    helpers = scheduling.helpers
    assert run(device, source("1", "2", prefix="i")) == [2, 4]
    assert is_back.wait(120)
    taken = helpers.take()
    assert taken is not None
    assert taken.is_warm
    helpers.give_back(taken)
    helpers.end_idle(3600)
    assert helpers.warm_count == 1
    helpers.end_idle()
    assert helpers.warm_count == 0
    with pytest.raises((OSError, ValueError)):
        taken.build(device, "kernel void a() {}", "")


def begin(device: OpenCLDevice, text: str) -> scheduling.BegunBuild:
    """A build of which all kernels are known one by one."""
    scheduling.helpers.expect(device)
    build = scheduling.BegunBuild(device, "")
    for part in split(text):
        build.add(kernel_of(part), part)
    return build


def finished(
    device: OpenCLDevice, build: scheduling.BegunBuild, text: str
) -> list[str]:
    """The kernels of the programs."""
    programs = scheduling.build_side_by_side(device, text, "", build)
    return [*DeviceProgram(device, text, programs).kernel_names]


def test_kernels_are_built_before_all_are_known(
    device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was begun and is not in the whole is forgotten; nothing is built twice."""
    built, all_built, build_there = list[str](), threading.Event(), Helper.build

    def noted(helper: Helper, device: OpenCLDevice, source: str, options: str) -> bytes:
        binary = build_there(helper, device, source, options)
        built.append(source)
        if len(built) == 3:
            all_built.set()
        return binary

    def build_here(*arguments: object) -> InnerProgram:
        raise AssertionError("it was there")

    monkeypatch.setattr(Helper, "build", noted)
    build = begin(device, source("1", "2", "3", prefix="b"))
    assert all_built.wait(120)
    monkeypatch.setattr(driver, "build", build_here)
    monkeypatch.setattr(device, "built_count", 100)
    text = source("1", "2", prefix="b")
    assert finished(device, build, text) == ["b0", "b1"]
    assert len(built) == 3


@pytest.mark.parametrize("words", ["raise SystemExit", "import time; time.sleep(60)"])
def test_begun_builds_do_not_depend_on_helpers(
    device: OpenCLDevice, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    """They are there, and end, or never answer."""
    monkeypatch.setattr(processes, "_command", instead(sys.executable, "-c", words))
    text = source("1", "2", "3", prefix=f"d{len(words)}_")
    assert len(finished(device, begin(device, text), text)) == 3


def test_errors_of_begun_kernels_name_the_line(device: OpenCLDevice) -> None:
    text = source("1", "unknown_thing", prefix="g")
    build = scheduling.BegunBuild(device, "")
    scheduling.helpers.expect(device)
    for part in split(text):
        # By itself it has other lines.
        build.add(kernel_of(part), HELPER + kernel_of(part))
    line = 1 + text.splitlines().index("  X[0] = twice(unknown_thing);")
    with pytest.raises(GinghamError) as caught:
        scheduling.build_side_by_side(device, text, "", build)
    assert f"> {line} |   X[0] = twice(unknown_thing);" in caught.value.message


def test_a_build_that_is_given_up_gives_helpers_back(device: OpenCLDevice) -> None:
    scheduling.helpers.expect(device)
    build = scheduling.BegunBuild(device, "")
    build.add("kernel void a() {}", "kernel void a() {}")
    assert build.has_helpers
    build.end()
    limit = time.monotonic() + 120
    while scheduling.helpers.warm_count == 0 and time.monotonic() < limit:
        time.sleep(0.05)
    assert scheduling.helpers.warm_count > 0
