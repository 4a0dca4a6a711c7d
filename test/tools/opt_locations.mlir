// RUN: tile-opt %s --print-debuginfo | filecheck %s
// RUN: tile-opt %s --print-debuginfo --print-op-generic | tile-opt --print-debuginfo | filecheck %s
// RUN: tile-opt %s --print-debuginfo --split-input-file | filecheck %s
// RUN: tile-opt %s --load-pass-plugin=%S/plugin_passes.py --test-sum-to-product --print-debuginfo | filecheck %s --check-prefix=PASS

// CHECK: func.func @main(%a: i32 loc("{{.*}}opt_locations.mlir":13:17)) -> i32
// CHECK-NEXT: %b = arith.addi %a, %a : i32 loc("{{.*}}opt_locations.mlir":15:3)
// CHECK-NEXT: %c = arith.addi %b, %a : i32 loc("model.tile":3:7)
// CHECK-NEXT: %d = arith.addi %c, %a : i32 loc(unknown)
// PASS: arith.muli %a, %a : i32 loc("{{.*}}opt_locations.mlir":15:3)
// PASS: arith.muli {{.*}} loc("model.tile":3:7)
// A comment between does not count.
func.func @main(%a: i32) -> i32 {

  %b = arith.addi %a, %a : i32
  %c = arith.addi %b, %a : i32 loc("model.tile":3:7)
  %d = arith.addi %c, %a : i32 loc(unknown)
  func.return %d : i32
// CHECK: } loc("{{.*}}opt_locations.mlir":13:1)
}
// The terminator that the text leaves out has the location of what is around.
// CHECK: scf.for
// CHECK: loc("{{.*}}opt_locations.mlir":25:3)
func.func @loop(%n: index) {
  scf.for %i = %n to %n step %n {
  }
  func.return
}
