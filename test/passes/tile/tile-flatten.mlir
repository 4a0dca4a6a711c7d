// RUN: tile-opt %s -p tile-flatten | filecheck %s

// Indices that keep their meaning keep their names; the bar is before the reduction.
// CHECK-LABEL: func.func @matmul
// CHECK: %C = tile.contract add over [i : 4, j : 6 | k : 5] %A[i, k] * %B[k, j] -> [i : 4, j : 6] :
func.func @matmul(%A : tensor<4x5xf32>, %B : tensor<5x6xf32>) -> tensor<4x6xf32> {
  %C = tile.contract add over [i, k, j] %A[i, k] * %B[k, j] -> [i : 4, j : 6]
      : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  func.return %C : tensor<4x6xf32>
}

// Only the constraints that the ranges do not imply are left.
// CHECK-LABEL: func.func @padded
// CHECK: tile.contract max over [x : 8 | i : 3] %I[x + i - 1] -> [x : 8] where 0 <= x + i - 1, 0 <= -x - i + 8 :
// CHECK: tile.contract max over [x : 4 | i : 2] %I[2 * x + i] -> [x : 4] :
func.func @padded(%I : tensor<8xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %0 = tile.contract max over [x, i] %I[x + i - 1] -> [x : 8] where 0 <= i < 3
      : (tensor<8xf32>) -> tensor<8xf32>
  %1 = tile.contract max over [x, i] %I[2*x + i] -> [x : 4] where 0 <= i < 2
      : (tensor<8xf32>) -> tensor<4xf32>
  func.return %0, %1 : tensor<8xf32>, tensor<4xf32>
}

// The first index decides the cell, so it is the place in the result.
// CHECK-LABEL: func.func @spread
// CHECK: tile.contract add over [o0 : 7 | k : 4] %I[o0 - k] * %K[k] -> [o0 : 7] where
func.func @spread(%I : tensor<4xf32>, %K : tensor<4xf32>) -> tensor<7xf32> {
  %0 = tile.contract add over [i, k] %I[i] * %K[k] -> [i + k : 7]
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<7xf32>
  func.return %0 : tensor<7xf32>
}

// Points where an access is no integer are not there.
// CHECK-LABEL: func.func @fractions
// CHECK: tile.contract add over [i_0 : 4] %I[i_0] -> [2 * i_0 : 8] :
// CHECK: tile.contract add over [i_0 : 4] %I[i_0] -> [2 * i_0 + 1 : 8] :
func.func @fractions(%I : tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = tile.contract add over [i] %I[i / 2] -> [i : 8] : (tensor<4xf32>) -> tensor<8xf32>
  %1 = tile.contract add over [i] %I[1 / 2 * i - 1 / 2] -> [i : 8] : (tensor<4xf32>) -> tensor<8xf32>
  func.return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// An index in constraints only multiplies points; a constraint may have no upper bound, and
// need not be an integer.
// CHECK-LABEL: func.func @constrained
// CHECK: %[[ONCE:.*]] = tile.contract add over [i : 4] %I[i] -> [i : 4] :
// CHECK: %[[COUNT:.*]] = eltwise.constant 3.0 : tensor<f32>
// CHECK: eltwise.mul %[[ONCE]], %[[COUNT]] :
// CHECK: tile.contract add over [i : 2] %I[i + 2] -> [i + 2 : 4] :
// CHECK: tile.contract add over [i : 3] %I[i] -> [i : 4] :
func.func @constrained(%I : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = tile.contract add over [i, k] %I[i] -> [i : 4] where 0 <= k < 3 : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tile.contract add over [i] %I[i] -> [i : 4] where 0 <= i - 2 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tile.contract add over [i] %I[i] -> [i : 4] where 0 <= i / 2 < 3 / 2 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Without a point: the default, or a range of 0.
// CHECK-LABEL: func.func @empty
// CHECK-NEXT: tile.contract max over [| i : 0] %I[0] -> [0 : 4] :
// CHECK-NEXT: tile.contract add over [| i : 0] %Z[0] -> [] :
// CHECK-NEXT: func.return %{{.*}}, %D, %{{.*}} :
func.func @empty(%I : tensor<4xf32>, %D : tensor<4xf32>, %Z : tensor<0xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<f32>) {
  %0 = tile.contract max over [i] %I[i] -> [i : 4] where 0 <= i - 4 < 9 : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tile.contract max over [i] %I[i] -> [i : 4] where 0 <= i - 4 < 9 default %D
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = tile.contract add over [i] %Z[i] -> [] : (tensor<0xf32>) -> tensor<f32>
  func.return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<f32>
}

// A flat contraction stays as it is; attributes are kept.
// CHECK-LABEL: func.func @flat
// CHECK: %0 = tile.contract add over [i : 2, j : 3] %A[i, j] -> [i : 4, j : 6] {tile.pid = "here"} :
// CHECK: tile.contract assign over [i : 4, j : 6] %A[i, j] -> [i : 4, j : 6] {tile.pid = "there"} :
func.func @flat(%A : tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %0 = tile.contract add over [i : 2, j : 3] %A[i, j] -> [i : 4, j : 6] {tile.pid = "here"}
      : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = tile.contract assign over [i, j] %A[i, j] -> [i : 4, j : 6] no_defract {tile.pid = "there"}
      : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return %0, %1 : tensor<4x6xf32>, tensor<4x6xf32>
}

// The place in the result is taken apart where a window moves by more than one cell: the
// parity decides which taps there are.
// CHECK-LABEL: func.func @digits
// CHECK: tile.contract add over [x_0 : 8, i_0 : 2 | x_1 : 2] %I[x_0 + x_1 - 1] -> [2 * x_0 + i_0 : 16] where 0 <= x_0 + x_1 - 1 :
// CHECK: tile.contract add over [x : 8, i : 2] %I[x] -> [2 * x + i : 16] :
func.func @digits(%I : tensor<8xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %0 = tile.contract add over [x, i] %I[x] -> [2 * x + i : 16] where 0 <= i < 4
      : (tensor<8xf32>) -> tensor<16xf32>
  %1 = tile.contract add over [x, i] %I[x] -> [2 * x + i : 16] where 0 <= i < 2
      : (tensor<8xf32>) -> tensor<16xf32>
  func.return %0, %1 : tensor<16xf32>, tensor<16xf32>
}

// Indices that always move together are one; those that only count are counted.
// CHECK-LABEL: func.func @contiguous
// CHECK: tile.contract add over [o0 : 8] %I[o0] -> [o0 : 8] :
// CHECK: tile.contract add over [| x_0 : 8] %I[x_0] -> [] :
// CHECK: tile.contract add over [x : 8] %I[x] -> [x : 8] :
// CHECK: eltwise.constant 10.0 : tensor<f32>
func.func @contiguous(%I : tensor<8xf32>) -> (tensor<8xf32>, tensor<f32>, tensor<8xf32>) {
  %0 = tile.contract add over [x, i] %I[2 * x + i] -> [2 * x + i : 8] where 0 <= i < 2
      : (tensor<8xf32>) -> tensor<8xf32>
  %1 = tile.contract add over [x, i] %I[2 * x + i] -> [] where 0 <= i < 2
      : (tensor<8xf32>) -> tensor<f32>
  %2 = tile.contract add over [x, j, k] %I[x] -> [x : 8] where 0 <= j < 2, 0 <= k - j < 5
      : (tensor<8xf32>) -> tensor<8xf32>
  func.return %0, %1, %2 : tensor<8xf32>, tensor<f32>, tensor<8xf32>
}
