// RUN: tile-opt %s -p tile-canonicalize | filecheck %s
// RUN: tile-opt %s -p tile-flatten,tile-canonicalize | filecheck %s

// A reshape to its own shape is nothing, and of two reshapes the first is dropped.
// CHECK-LABEL: func.func @reshapes
func.func @reshapes(%A : tensor<4x5xf32>) -> (tensor<4x5xf32>, tensor<2x10xf32>, tensor<4x5xf32>) {
  // CHECK-NEXT: %0 = tile.reshape %A -> [2, 10] {tile.pid = "x"} : tensor<4x5xf32> -> tensor<2x10xf32>
  // CHECK-NEXT: return %A, %0, %A
  %0 = tile.reshape %A -> [4, 5] : tensor<4x5xf32> -> tensor<4x5xf32>
  %flat = tile.reshape %A -> [20] : tensor<4x5xf32> -> tensor<20xf32>
  %1 = tile.reshape %flat -> [2, 10] {tile.pid = "x"} : tensor<20xf32> -> tensor<2x10xf32>
  %2 = tile.reshape %1 -> [4, 5] : tensor<2x10xf32> -> tensor<4x5xf32>
  func.return %0, %1, %2 : tensor<4x5xf32>, tensor<2x10xf32>, tensor<4x5xf32>
}

// Before sizes are known a reshape also says what they have in common.
// CHECK-LABEL: func.func @symbolic
func.func @symbolic(%A : tensor<?x?xf32>, %B : tensor<*xf32>) -> tensor<?x?xf32> {
  // CHECK-NEXT: %M, %N = tile.sizes
  // CHECK-NEXT: %0 = tile.reshape %A -> [%N]
  // CHECK-NEXT: %1 = tile.reshape %0 -> [%N, %M]
  // CHECK-NEXT: %2 = tile.reshape %1 -> [%N, %M]
  %M, %N = tile.sizes %A ["M", "N"] : tensor<?x?xf32>
  %0 = tile.reshape %A -> [%N] : tensor<?x?xf32> -> tensor<?xf32>
  %1 = tile.reshape %0 -> [%N, %M] : tensor<?xf32> -> tensor<?x?xf32>
  %2 = tile.reshape %1 -> [%N, %M] : tensor<?x?xf32> -> tensor<?x?xf32>
  func.return %2 : tensor<?x?xf32>
}

// What is equal is computed once, what is unused not at all; the rest stays as it is.
// CHECK-LABEL: func.func @others
func.func @others(%A : tensor<4x5xf32>, %I : tensor<3xsi32>, %S : tensor<3x8xui32>) -> (tensor<3x5xf32>, tensor<3x5xf32>, tensor<4x5xf32>, tensor<6xf32>, tensor<3x8xui32>, tensor<4x5xsi32>) {
  // CHECK-NEXT: %g0 = tile.gather %A, %I :
  // CHECK-NEXT: %s = tile.scatter %g0, %I, %A mode update_slice :
  // CHECK-NEXT: %r, %t = tile.prng %S -> [6]
  // CHECK-NEXT: %q = tile.argsort %A axis 0 ascending
  // CHECK-NEXT: return %g0, %g0, %s, %r, %t, %q
  %g0 = tile.gather %A, %I : (tensor<4x5xf32>, tensor<3xsi32>) -> tensor<3x5xf32>
  %g1 = tile.gather %A, %I : (tensor<4x5xf32>, tensor<3xsi32>) -> tensor<3x5xf32>
  %s = tile.scatter %g0, %I, %A mode update_slice : (tensor<3x5xf32>, tensor<3xsi32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  %unused = tile.shape %A : tensor<4x5xf32>
  %r, %t = tile.prng %S -> [6] : tensor<3x8xui32> -> tensor<6xf32>
  %q = tile.argsort %A axis 0 ascending : tensor<4x5xf32>
  func.return %g0, %g1, %s, %r, %t, %q : tensor<3x5xf32>, tensor<3x5xf32>, tensor<4x5xf32>, tensor<6xf32>, tensor<3x8xui32>, tensor<4x5xsi32>
}

// An assertion stays until sizes are known.
// CHECK-LABEL: func.func @assertion
func.func @assertion(%A : tensor<?xf32>) {
  // CHECK: tile.assert %N "assert_some"
  %N = tile.sizes %A ["N"] : tensor<?xf32>
  tile.assert %N "assert_some"
  func.return
}
