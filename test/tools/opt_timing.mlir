// RUN: tile-opt %s -p 'cse,func.func(dce)' --mlir-timing 2>&1 >/dev/null | filecheck %s
// RUN: tile-opt %s -p 'cse,func.func(dce)' --time-passes 2>/dev/null | filecheck %s --check-prefix=STDOUT

// CHECK:      ... Execution time report ...
// CHECK:      Total Execution Time: {{[0-9.]+}} seconds
// CHECK:      ----Wall Time----  ----Name----
// CHECK:      %) Parser
// CHECK:      %) cse
// CHECK:      %) func.func(dce)
// CHECK:      %) Output
// CHECK:      (100.0%) Total
// STDOUT:     builtin.module
// STDOUT-NOT: seconds
func.func @main() {
  func.return
}
