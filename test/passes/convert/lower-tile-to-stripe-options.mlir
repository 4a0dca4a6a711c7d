// RUN: not tile-opt %s -p 'lower-tile-to-stripe{run=6}' 2>&1 | filecheck %s
// CHECK: error: expected a power of two as run, got 6
func.func @main(%X : tensor<4xf32>) -> tensor<4xf32> {
  func.return %X : tensor<4xf32>
}
