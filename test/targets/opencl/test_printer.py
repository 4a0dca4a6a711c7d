"""OpenCL C as text: names, index arithmetic, places in the source, memory."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr
from xdsl.ir import Operation

from gingham.errors import GinghamError
from gingham.targets.opencl.devices.device import OpenCLDevice
from gingham.targets.opencl.printer import print_opencl
from gingham.targets.opencl.program import build_program
from gingham.targets.printer import kernel_names
from gingham.targets.printer.names import NameScope

Parse = Callable[[str], ModuleOp]

POINTER = "!opencl.pointer<f32, global>"


def at(op: Operation, file: str, line: int) -> None:
    op.location = FileLineColLoc(StringAttr(file), IntAttr(line), IntAttr(1))


def test_a_tile_of_a_matrix_product(parse_module: Parse) -> None:
    module = parse_module(f"""
opencl.kernel @C(%A : {POINTER}, %B : {POINTER}, %C : {POINTER}) group [1, 1, 1] {{
  %jo = opencl.work_item group_id 0 below 60
  %io = opencl.work_item group_id 1 below 160
  %acc = opencl.array 12 : !opencl.pointer<vector<8xf32>, private>
  opencl.for %k : 960 {{
    opencl.for %i : 6 unroll {{
      opencl.for %j : 2 unroll {{
        %x = opencl.load %A[5760 * %io + 960 * %i + %k] : {POINTER} -> f32
        %xv = eltwise.broadcast %x : f32 to vector<8xf32>
        %y = opencl.load %B[960 * %k + 16 * %jo + 8 * %j] : {POINTER} -> vector<8xf32>
        %z = eltwise.mul %xv, %y : vector<8xf32>
        %old = opencl.load %acc[2 * %i + %j]
          : !opencl.pointer<vector<8xf32>, private> -> vector<8xf32>
        %new = eltwise.add %old, %z : vector<8xf32>
        opencl.store %new, %acc[2 * %i + %j]
          : vector<8xf32> -> !opencl.pointer<vector<8xf32>, private>
      }}
    }}
  }}
  %r = opencl.load %acc[0] : !opencl.pointer<vector<8xf32>, private> -> vector<8xf32>
  opencl.store %r, %C[0] : vector<8xf32> -> {POINTER}
}}
""")
    assert print_opencl(module) == (
        """\
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void C(
    __global const float *restrict A,
    __global const float *restrict B,
    __global float *restrict C) {
  const int jo = get_group_id(0);
  const int io = get_group_id(1);
  float8 acc[12];
  for (int k = 0; k < 960; ++k) {
    #pragma unroll
    for (int i = 0; i < 6; ++i) {
      #pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float x = A[5760 * io + k + 960 * i];
        const float8 y = vload8(0, B + (960 * k + 16 * jo + 8 * j));
        const float8 old = acc[2 * i + j];
        acc[2 * i + j] = old + (float8)(x) * y;
      }
    }
  }
  vstore8(acc[0], 0, C);
}
"""
    )


def test_source_lines_are_comments_where_they_change(parse_module: Parse) -> None:
    module = parse_module(f"""
opencl.kernel @k(%A : {POINTER}, %B : {POINTER}) group [1, 1, 1] {{
  %x = opencl.load %A[0] : {POINTER} -> f32
  %y = eltwise.exp %x : f32
  %z = eltwise.sqrt %y : f32
  opencl.store %z, %B[0] : f32 -> {POINTER}
}}
""")
    kernel = next(iter(module.ops))
    at(kernel, "/home/me/soft\nmax\\.tile", 3)
    load, exp, sqrt, store = kernel.regions[0].block.ops
    for op, line in ((load, 3), (exp, 4), (sqrt, 4), (store, 3)):
        at(op, "/home/me/soft\nmax\\.tile", line)
    assert print_opencl(module) == (
        """\
// .tile:3
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k(__global const float *restrict A, __global float *restrict B) {
  const float x = A[0];
  // .tile:4
  const float y = exp(x);
  // .tile:3
  B[0] = sqrt(y);
}
"""
    )


def test_a_file_name_can_not_leave_its_comment(parse_module: Parse) -> None:
    module = parse_module("opencl.kernel @k() group [1, 1, 1] {}")
    at(next(iter(module.ops)), "a\nb\r??/é\u2028;", 3)
    assert print_opencl(module).splitlines()[0] == "// ___:3"


def test_index_arithmetic_is_as_wide_as_it_must_be(parse_module: Parse) -> None:
    module = parse_module(f"""
opencl.kernel @k(%A : {POINTER}, %B : {POINTER}) group [1, 1, 1] {{
  %i = opencl.work_item global_id 0 below 50000
  %h = opencl.work_item group_id 1 below 4294967296
  %a, %b, %c = opencl.delinearize %i into [10, 50, 100]
  opencl.for %k : 50000 {{
    opencl.if %i + %k - 7 >= 0, 2 * %h - %i >= 0, 9 - %k >= 0, 40000 * %k - %i >= 0 {{
      %x = opencl.load %A[40000 * %i + %k] : {POINTER} -> f32
      %y = opencl.load %A[50000 * %i + %k - 1] : {POINTER} -> f32
      %z = eltwise.add %x, %y : f32
      opencl.store %z, %B[%a - 2 * %b + %h] : f32 -> {POINTER}
    }}
  }}
  opencl.for %l : 3000000000 {{}}
}}
""")
    lines = [line.strip() for line in print_opencl(module).splitlines()]
    assert lines[2:-1] == [
        "const int i = get_global_id(0);",
        "const long h = get_group_id(1);",
        "const int a = i / 5000;",
        "const int b = i / 100 % 50;",
        "const int c = i % 100;",
        "for (int k = 0; k < 50000; ++k) {",
        "if (i + k >= 7 && 2L * h >= (long)i && k <= 9 && 40000 * k >= i) {",
        "const float x = A[40000 * i + k];",
        "const float y = A[50000L * (long)i + (long)k - 1];",
        "B[(long)a - 2L * (long)b + h] = x + y;",
        "}",
        "}",
        "for (long l = 0; l < 3000000000; ++l) {",
        "}",
    ]
    wide = print_opencl(module, index_bits=64)
    assert "const long i = get_global_id(0);" in wide
    assert "int " not in wide


def test_names_mean_nothing_to_the_compiler(
    parse_module: Parse, opencl_device: OpenCLDevice
) -> None:
    names = """
        float float16 half uchar3 double4x4 image2d_t size_t ptrdiff_t exp fma min max
        get_group_id vload16 vstore4 barrier mem_fence convert_int as_float kernel main
        __kernel global restrict if for while true NULL NAN INFINITY M_PI M_PI_F
        CHAR_BIT FLT_MAX MAXFLOAT CLK_LOCAL_MEM_FENCE cl_khr_fp64 __OPENCL_VERSION__
        linux unix
        atomic_add sub_group_reduce printf select dot intel_sub_group_shuffle defined
        divide_int remainder_int bool bool2 quad complex imaginary signed unsigned asm
        typeof _Bool __private this template class new public event_t queue_t
        x_ X_1 x_1 é a-b a.b $ 7up
    """.split()
    scalar = "!opencl.pointer<si32, global>"
    lines = [
        f"%v{n} = opencl.load %p[{n}] : {scalar} -> si32" for n in range(len(names))
    ]
    total = ["%s0 = eltwise.ident %v0 : si32"]
    total += [
        f"%s{n} = eltwise.div %s{n - 1}, %v{n} : si32" for n in range(1, len(names))
    ]
    store = f"opencl.store %s{len(names) - 1}, %q[0] : si32 -> {scalar}"
    body = "\n".join([*lines, *total, store])
    kernels = "\n".join(
        f'opencl.kernel @"{name}"(%p : {scalar}, %q : {scalar}) group [1, 1, 1] {{ '
        f"{body if number == 0 else ''} }}"
        for number, name in enumerate(names)
    )
    module = parse_module(kernels)
    first = next(iter(module.ops))
    for value, name in zip(first.regions[0].block.ops, names, strict=False):
        # As a name in a .mlir file it would not parse, but a pass may set any.
        setattr(value.results[0], "_name", name)
    source = print_opencl(module)
    build_program(opencl_device, source)
    printed = kernel_names(module)
    assert len(set(printed.values())) == len(names)
    for name in printed.values():
        assert name.isascii()
        assert name.isidentifier()
        assert not name.startswith("_")
    assert printed["x_1"] == "x_1"
    assert printed["exp"] == "exp_"


def test_names_that_may_not_be_numbered() -> None:
    """What begins with `get_` or `M_` is the compiler's, `get` and `M` are not."""
    scope = NameScope(NameScope(names=["M"]))
    assert [scope.declare(wish, "t") for wish in ("get", "get", "get")] == [
        "get",
        "v_get_1",
        "v_get_2",
    ]
    assert [scope.declare(wish, "t") for wish in ("M", "M_PI", "v_get")] == [
        "v_M_1",
        "v_M_PI_",
        "v_get",
    ]


def test_names_of_ended_loops_are_used_again(parse_module: Parse) -> None:
    module = parse_module(f"""
opencl.kernel @k(%i : {POINTER}) group [1, 1, 1] {{
  opencl.for %j : 2 {{
    %x = opencl.load %i[%j] : {POINTER} -> f32
    opencl.for %k : 2 {{
      opencl.store %x, %i[%j + %k] : f32 -> {POINTER}
    }}
  }}
  opencl.for %j : 2 {{
    opencl.for %j1 : 2 {{
      %x = opencl.load %i[%j] : {POINTER} -> f32
      opencl.store %x, %i[%j1] : f32 -> {POINTER}
    }}
  }}
}}
""")
    for loop in module.walk():
        if loop.name == "opencl.for" and loop.parent_op() is not None:
            loop.regions[0].block.args[0].name_hint = "j"
    lines = [line.strip() for line in print_opencl(module).splitlines()]
    assert [line for line in lines if line.startswith("for")] == [
        "for (int j = 0; j < 2; ++j) {",
        "for (int j_1 = 0; j_1 < 2; ++j_1) {",
        "for (int j = 0; j < 2; ++j) {",
        "for (int j_1 = 0; j_1 < 2; ++j_1) {",
    ]


def test_memory_of_every_kind(parse_module: Parse, opencl_device: OpenCLDevice) -> None:
    module = parse_module("""
opencl.kernel @k(%A : !opencl.pointer<i1, global>, %B : !opencl.pointer<i1, global>,
                 %C : !opencl.pointer<f32, global>)
    group [4, 2, 1] {
  %t = opencl.array 8 : !opencl.pointer<f32, local>
  %u = opencl.array 1 : !opencl.pointer<vector<4xi1>, private>
  %l = opencl.work_item local_id 0 below 4
  %a = opencl.load %A[%l] : !opencl.pointer<i1, global> -> i1
  %v = opencl.load %A[0] : !opencl.pointer<i1, global> -> vector<4xi1>
  opencl.store %v, %u[0] : vector<4xi1> -> !opencl.pointer<vector<4xi1>, private>
  %w = opencl.load %u[0] : !opencl.pointer<vector<4xi1>, private> -> vector<4xi1>
  opencl.store %w, %B[4] : vector<4xi1> -> !opencl.pointer<i1, global>
  opencl.store %a, %B[%l] : i1 -> !opencl.pointer<i1, global>
  %f = eltwise.cast %a : i1 to f32
  opencl.store %f, %t[%l] : f32 -> !opencl.pointer<f32, local>
  opencl.barrier local
  %g = opencl.load %t[4 - %l] : !opencl.pointer<f32, local> -> f32
  opencl.store %g, %C[%l] : f32 -> !opencl.pointer<f32, global>
}
""")
    source = print_opencl(module)
    build_program(opencl_device, source)
    assert source == (
        """\
__kernel __attribute__((reqd_work_group_size(4, 2, 1)))
void k(
    __global const uchar *restrict A,
    __global uchar *restrict B,
    __global float *restrict C) {
  __local float t[8] __attribute__((aligned(16)));
  uchar4 u;
  const int l = get_local_id(0);
  const int a = A[l] != 0;
  u = convert_uchar4(-(vload4(0, A) != (uchar4)(0)));
  vstore4(convert_uchar4(-(u != (uchar4)(0))), 0, B + 4);
  B[l] = a;
  t[l] = (float)a;
  barrier(CLK_LOCAL_MEM_FENCE);
  C[l] = t[4 - l];
}
"""
    )


def test_helpers_and_extensions_come_first_and_once(parse_module: Parse) -> None:
    integer, double = "!opencl.pointer<si32, global>", "!opencl.pointer<f64, global>"
    module = parse_module(f"""
opencl.kernel @k(%A : {integer}, %B : {double}) group [1, 1, 1] {{
  %x = opencl.load %A[0] : {integer} -> si32
  %y = eltwise.div %x, %x : si32
  %z = eltwise.div %y, %x : si32
  opencl.store %z, %A[0] : si32 -> {integer}
}}
""")
    source = print_opencl(module)
    assert source.startswith("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n\nint div")
    assert source.count("int divide_int(int a, int b)") == 1


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "%x = opencl.load %A[0] : !opencl.pointer<f32, global> -> vector<5xf32>\n"
            "opencl.store %x, %A[0] : vector<5xf32> -> !opencl.pointer<f32, global>",
            "a kernel has no vector like vector<5xf32>",
        ),
        (
            "opencl.for %i : 2 {\n"
            "  %t = opencl.array 4 : !opencl.pointer<f32, local>\n"
            "}",
            "expected a local array outside of loops and conditions",
        ),
        (
            "%t = stripe.alloc : !stripe.view<f32, private>",
            "'stripe.alloc' has no form in OpenCL C",
        ),
    ],
)
def test_what_opencl_c_does_not_have(
    body: str, message: str, parse_module: Parse
) -> None:
    module = parse_module(
        f"opencl.kernel @k(%A : {POINTER}) group [1, 1, 1] {{\n{body}\n}}"
    )
    for op in module.walk():
        at(op, "a.tile", 7)
    with pytest.raises(GinghamError, match=r"has no|expected") as caught:
        print_opencl(module)
    assert message in caught.value.message
    assert caught.value.location is not None
    assert caught.value.location.line == 7


def test_numbers_of_indices_and_indices_of_numbers(parse_module: Parse) -> None:
    """Narrow integers are ints in C; others become the type of the arithmetic."""
    pointers = {"B": "ui8", "C": "ui32", "D": "si64", "E": "si32"}
    arguments = ", ".join(
        f"%{name} : !opencl.pointer<{type}, global>" for name, type in pointers.items()
    )
    loads = "\n".join(
        f"%{name.lower()} = opencl.load %{name}[0] : "
        f"!opencl.pointer<{type}, global> -> {type}"
        for name, type in pointers.items()
    )
    module = parse_module(f"""
opencl.kernel @k({arguments}) group [1, 1, 1] {{
  %i = opencl.work_item group_id 0 below 100
  {loads}
  %pb = opencl.position %b below 100
  %pc = opencl.position %c below 100
  %pd = opencl.position %d below 100
  %pe = opencl.position %e below 5000000000
  %sum = opencl.load %E[%pb + 2 * %pc + %pd]
    : !opencl.pointer<si32, global> -> si32
  %far = opencl.load %E[%pe + %i] : !opencl.pointer<si32, global> -> si32
  %keep = eltwise.cmp_lt %sum, %far : (si32, si32) -> i1
  opencl.when %keep {{
    %x = opencl.index 2 * %i + 1 : ui8
    %y = opencl.index 3 * %i : si32
    %v = opencl.index %i step -2 : vector<4xsi16>
    opencl.store %x, %B[1] : ui8 -> !opencl.pointer<ui8, global>
    opencl.store %y, %E[1] : si32 -> !opencl.pointer<si32, global>
  }}
}}
""")
    text = print_opencl(module)
    assert "E[b + 2 * (int)c + (int)d]" in text
    assert "E[(long)e + (long)i]" in text
    assert "const int keep = sum < far;\n  if (keep) {\n" in text
    assert "    const uchar x = (uchar)(2 * i + 1);\n" in text
    assert "    const int y = 3 * i;\n" in text
    assert "const short4 v" not in text


def test_places_of_several_unrolled_loops_are_put_together(parse_module: Parse) -> None:
    """So that compilers see that copies with the same sum read the same place."""
    module = parse_module(f"""
opencl.kernel @k(%A : {POINTER}, %B : {POINTER}) group [1, 1, 1] {{
  %g = opencl.work_item group_id 0 below 4
  opencl.for %j : 3 unroll {{
    opencl.for %i : 8 unroll {{
      %x = opencl.load %A[640 * %g + 64 * %j + 64 * %i - 65] : {POINTER} -> f32
      opencl.store %x, %B[3 * %i + %j] : f32 -> {POINTER}
    }}
  }}
}}
""")
    text = print_opencl(module)
    assert "A[640 * g + (64 * j + 64 * i - 65)]" in text
    assert "B[3 * i + j]" in text or "B[j + 3 * i]" in text
