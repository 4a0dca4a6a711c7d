// RUN: tile-opt %s -p 'cse,func.func(cse),dce' --mlir-print-ir-before=dce --mlir-print-ir-after=cse 2>&1 >/dev/null | filecheck %s
// RUN: tile-opt %s -p 'cse,func.func(cse),dce' --mlir-print-ir-after-change 2>&1 >/dev/null | filecheck %s --check-prefix=CHANGE
// RUN: tile-opt %s -p 'cse,dce' --mlir-print-ir-before-all --mlir-print-ir-after-all 2>&1 >/dev/null | filecheck %s --check-prefix=ALL
// RUN: tile-opt -p 'cse,dce' --mlir-print-ir-before --mlir-print-ir-after %s 2>&1 >/dev/null | filecheck %s --check-prefix=ALL
// RUN: tile-opt %s -p 'cse' --print-between-passes --mlir-print-op-generic --mlir-print-debuginfo 2>&1 >/dev/null | filecheck %s --check-prefix=GENERIC

// RUN: not tile-opt %s --load-pass-plugin=%S/plugin_passes.py -p 'cse,test-fail' --mlir-print-ir-after-failure 2>&1 | filecheck %s --check-prefix=FAILURE
// RUN: tile-opt %s -p 'cse' --mlir-print-ir-before-all 2>/dev/null | filecheck %s --check-prefix=STDOUT

// CHECK:      // -----// IR Dump After cse //----- //
// CHECK-NEXT: builtin.module {
// CHECK:      // -----// IR Dump After func.func(cse) //----- //
// CHECK:      // -----// IR Dump Before dce //----- //
// CHECK-NOT:  Dump

// CHANGE:     // -----// IR Dump After cse //----- //
// CHANGE-NOT: Dump

// ALL:      IR Dump Before cse
// ALL:      IR Dump After cse
// ALL:      IR Dump Before dce
// ALL:      IR Dump After dce

// GENERIC:  IR Dump After cse
// GENERIC:  "arith.muli"(%{{.*}}, %{{.*}}) {{.*}} loc("{{.*}}opt_print_ir.mlir":{{[0-9]+}}:3)

// FAILURE-NOT: IR Dump After cse
// FAILURE: IR Dump After test-fail Failed
// FAILURE: "arith.muli"
// FAILURE: error: no products, please

// STDOUT-NOT: Dump
func.func @main(%a: i32) -> i32 {
  %b = arith.addi %a, %a : i32
  %c = arith.addi %a, %a : i32
  %d = arith.muli %b, %c : i32
  func.return %d : i32
}
