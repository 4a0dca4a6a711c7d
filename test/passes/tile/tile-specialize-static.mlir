// RUN: tile-opt %s -p tile-specialize | filecheck %s
// RUN: not tile-opt %s -p 'tile-specialize{entry=other arguments="*xf32"}' 2>&1 | filecheck %s --check-prefix=TEXT
// RUN: tile-opt %s -p 'tile-specialize{entry=other arguments="2x0xf32"}' | filecheck %s --check-prefix=OTHER

// A static function stays as it is; other functions are left alone.

// CHECK-LABEL: func.func @main(%A: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %B = eltwise.exp %A : tensor<4xf32>
// CHECK-LABEL: func.func @other(%X: tensor<*x!eltwise.any>)
// TEXT: error: expected a type such as 4x5xf32, got '*xf32'
// OTHER-LABEL: func.func @other(%X: tensor<2x0xf32>) -> tensor<2x0xf32>
// OTHER: %Y = eltwise.add %X, %X : tensor<2x0xf32>
func.func @main(%A : tensor<4xf32>) -> tensor<4xf32> {
  %B = eltwise.exp %A : tensor<4xf32>
  func.return %B : tensor<4xf32>
}

func.func @other(%X : tensor<*x!eltwise.any>) -> tensor<*x!eltwise.any> {
  %Y = eltwise.add %X, %X : tensor<*x!eltwise.any>
  func.return %Y : tensor<*x!eltwise.any>
}
