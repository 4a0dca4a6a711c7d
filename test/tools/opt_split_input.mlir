// RUN: tile-opt %s --split-input-file --cse | filecheck %s
// RUN: not tile-opt %s --split-input-file -p 'test-fail' --load-pass-plugin=%S/plugin_passes.py 2>&1 | filecheck %s --check-prefix=ERRORS

// A heading of a dump does not split.
// -----// IR Dump After cse //----- //

// CHECK:      func.func @first
// CHECK:      // -----
// CHECK-NEXT: builtin.module
// CHECK-NEXT:   func.func @second
// CHECK-NOT:  // -----
// ERRORS:     opt_split_input.mlir:15:3: error: no products, please
// ERRORS:     opt_split_input.mlir:22:3: error: no products, please
func.func @first(%a: i32) {
  %0 = arith.muli %a, %a : i32
  func.return
}

// -----

func.func @second(%a: i32) {
  %0 = arith.muli %a, %a : i32
  func.return
}

// -----
