// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// CHECK-LABEL: func.func @static
func.func @static(%L : tensor<f32>, %X : tensor<4x5xf32>, %W : tensor<5xf16>) {
  // CHECK-NEXT: %dX, %dW = tile.gradient %L, %X, %W : tensor<f32>, tensor<4x5xf32>, tensor<5xf16>
  %dX, %dW = tile.gradient %L, %X, %W : tensor<f32>, tensor<4x5xf32>, tensor<5xf16>
  // CHECK-NEXT: tile.gradient %X, %X {note = "all"} : tensor<4x5xf32>, tensor<4x5xf32>
  %0 = tile.gradient %X, %X {note = "all"} : tensor<4x5xf32>, tensor<4x5xf32>
  func.return
}

// CHECK-LABEL: func.func @symbolic
func.func @symbolic(%L : tensor<!eltwise.any>, %X : tensor<*x!eltwise.any>) {
  // CHECK-NEXT: tile.gradient %L, %X : tensor<!eltwise.any>, tensor<*x!eltwise.any>
  %0 = tile.gradient %L, %X : tensor<!eltwise.any>, tensor<*x!eltwise.any>
  func.return
}
