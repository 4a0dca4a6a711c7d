// RUN: tile-opt %s -p tile-flatten,tile-canonicalize | filecheck %s
// RUN: tile-opt %s -p tile-flatten,tile-canonicalize --validate-each --validate-entry=read

// A contraction reads a tensor where it was before its axes were reordered, twice here.
// CHECK-LABEL: func.func @read
// CHECK-NOT: assign
// CHECK: tile.contract add over [m : 5, n : 3 | k : 4] %A[0, k, m] * %B[k, n]
// CHECK-NEXT: func.return
func.func @read(%A : tensor<1x4x5xf32>, %B : tensor<4x3xf32>) -> tensor<5x3xf32> {
  %0 = tile.contract assign over [i, j, b] %A[b, i, j] -> [i : 4, b : 1, j : 5] : (tensor<1x4x5xf32>) -> tensor<4x1x5xf32>
  %1 = tile.contract assign over [i, j, b] %0[i, b, j] -> [b : 1, j : 5, i : 4] : (tensor<4x1x5xf32>) -> tensor<1x5x4xf32>
  %2 = tile.contract add over [m, n, k] %1[0, m, k] * %B[k, n] -> [m : 5, n : 3] : (tensor<1x5x4xf32>, tensor<4x3xf32>) -> tensor<5x3xf32>
  func.return %2 : tensor<5x3xf32>
}

// Not where there is less or more than the tensor, another order of elements, or a
// function of elements, which has no order.
// CHECK-LABEL: func.func @kept
// CHECK-COUNT-4: tile.contract assign
// CHECK-NEXT: tile.contract add over {{.*}} %padded[n, m] * %turned[m, n]
func.func @kept(%A : tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4x4xf32>) {
  %transposed = tile.contract assign over [i, j] %A[i, j] -> [j : 4, i : 4] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %diagonal = tile.contract assign over [i] %A[i, i] -> [i : 4] : (tensor<4x4xf32>) -> tensor<4xf32>
  %padded = tile.contract assign over [i, j] %A[j, i] -> [i : 5, j : 4] : (tensor<4x4xf32>) -> tensor<5x4xf32>
  %turned = tile.contract assign over [i, j] %A[i, j] -> [j : 4, 3 - i : 4] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %sum = tile.contract add over [m, n] %padded[n, m] * %turned[m, n] -> [m : 4] : (tensor<5x4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
  %both = tile.contract add over [m, n] %sum[m] * %diagonal[n] -> [m : 4] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %exp = eltwise.exp %transposed : tensor<4x4xf32>
  func.return %both, %exp : tensor<4xf32>, tensor<4x4xf32>
}
