// RUN: tile-opt %s -p lower-tile-to-stripe | filecheck %s

// Operands of f16 and bf16 that are used many times are converted once.
// CHECK-LABEL: func.func @product
// CHECK:       stripe.block "C_wide_0" [%i0 : 32, %i1 : 16]
// CHECK:         eltwise.cast {{%\S+}} : bf16 to f32
// CHECK:       stripe.block "C_wide_1" [%i0 : 16, %i1 : 24]
// CHECK:       stripe.block "C" [%i : 32, %j : 24, %k : 16]
// CHECK-NOT:     eltwise.cast
// CHECK:         eltwise.mul {{.*}} : f32
// CHECK:       stripe.block "C_cast"
// CHECK:         eltwise.cast {{%\S+}} : f32 to bf16
func.func @product(%A : tensor<32x16xbf16>, %B : tensor<16x24xbf16>) -> tensor<32x24xbf16> {
  %C = tile.contract add over [i : 32, j : 24 | k : 16] %A[i, k] * %B[k, j] -> [i : 32, j : 24]
      : (tensor<32x16xbf16>, tensor<16x24xbf16>) -> tensor<32x24xbf16>
  func.return %C : tensor<32x24xbf16>
}

// The matrix of a product with a vector is used once, the vector often.
// CHECK-LABEL: func.func @vector
// CHECK-NOT:   C_wide_1
// CHECK:       stripe.block "C_wide_0" [%i0 : 16]
// CHECK-NOT:   C_wide_1
// CHECK:       stripe.block "C" [%i : 32, %k : 16]
// CHECK:         eltwise.cast {{%\S+}} : f16 to f32
func.func @vector(%A : tensor<32x16xf16>, %x : tensor<16xf16>) -> tensor<32xf16> {
  %C = tile.contract add over [i : 32 | k : 16] %A[i, k] * %x[k] -> [i : 32]
      : (tensor<32x16xf16>, tensor<16xf16>) -> tensor<32xf16>
  func.return %C : tensor<32xf16>
}

// A product with itself converts its one operand once; other types are left alone.
// CHECK-LABEL: func.func @square
// CHECK:       stripe.block "C_wide_0" [%i0 : 16, %i1 : 16]
// CHECK-NOT:   C_wide_1
func.func @square(%A : tensor<16x16xf16>, %B : tensor<16x16xf32>) -> (tensor<16x16xf16>, tensor<16x16xf32>) {
  %C = tile.contract add over [i : 16, j : 16 | k : 16] %A[i, k] * %A[k, j] -> [i : 16, j : 16]
      : (tensor<16x16xf16>, tensor<16x16xf16>) -> tensor<16x16xf16>
  // CHECK-NOT: D_wide
  %D = tile.contract add over [i : 16, j : 16 | k : 16] %B[i, k] * %B[k, j] -> [i : 16, j : 16]
      : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  func.return %C, %D : tensor<16x16xf16>, tensor<16x16xf32>
}

// A maximum needs no more than the type has.
// CHECK-LABEL: func.func @largest
// CHECK-NOT:   wide
func.func @largest(%A : tensor<16xf16>) -> tensor<32xf16> {
  %C = tile.contract max over [i : 32 | k : 16] %A[k] -> [i : 32] : (tensor<16xf16>) -> tensor<32xf16>
  func.return %C : tensor<32xf16>
}
