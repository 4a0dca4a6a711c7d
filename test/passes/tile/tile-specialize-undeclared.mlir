// RUN: tile-opt %s -p tile-specialize --verify-diagnostics

// expected-error @+1 {{the type of argument A is not known}}
func.func @main(%A : tensor<?x!eltwise.any>) {
  func.return
}
