// RUN: tile-opt %s -p tile-differentiate | filecheck %s

// A contraction is differentiated by contractions over the same points.
// CHECK-LABEL: func.func @product
func.func @product(%A : tensor<4x5xf32>, %B : tensor<5x6xf32>, %W : tensor<4x6xf32>)
    -> (tensor<4x5xf32>, tensor<5x6xf32>) {
  %C = tile.contract add over [i, j, k] %A[i, k] * %B[k, j] -> [i : 4, j : 6]
      : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  %L = eltwise.mul %C, %W : tensor<4x6xf32>
  // CHECK: %dA = tile.contract add over [i, j, k] %W[i, j] * %B[k, j] -> [i : 4, k : 5]
  // CHECK-NEXT: %dB = tile.contract add over [i, j, k] %A[i, k] * %W[i, j] -> [k : 5, j : 6]
  // CHECK-NEXT: func.return %dA, %dB
  %0, %1 = tile.gradient %L, %A, %B : tensor<4x6xf32>, tensor<4x5xf32>, tensor<5x6xf32>
  func.return %0, %1 : tensor<4x5xf32>, tensor<5x6xf32>
}

// Fractions, strides and constraints stay what they are.
// CHECK-LABEL: func.func @fractions
func.func @fractions(%A : tensor<9xf32>) -> tensor<9xf32> {
  %C = tile.contract add over [i, k] %A[i / 2 + k] -> [3 * i : 20] where 0 <= k < 3
      : (tensor<9xf32>) -> tensor<20xf32>
  // CHECK: tile.contract add over [i, k] %dC[3 * i] -> [i / 2 + k : 9] where 0 <= k < 3
  %0 = tile.gradient %C, %A : tensor<20xf32>, tensor<9xf32>
  func.return %0 : tensor<9xf32>
}

// What an operand that is not read demands of the points becomes a constraint.
// CHECK-LABEL: func.func @bounds
func.func @bounds(%A : tensor<9xf32>, %B : tensor<4xf32>) -> tensor<9xf32> {
  %C = tile.contract add over [i, k] %A[i] + %B[i - k] -> [k : 3]
      : (tensor<9xf32>, tensor<4xf32>) -> tensor<3xf32>
  // CHECK: tile.contract add over [i, k] %dC[k] -> [i : 9] where 0 <= i - k < 4
  %0 = tile.gradient %C, %A : tensor<3xf32>, tensor<9xf32>
  func.return %0 : tensor<9xf32>
}

// A maximum goes to the points that reach it, in equal parts.
// CHECK-LABEL: func.func @maximum
func.func @maximum(%A : tensor<4x5xf32>) -> tensor<4x5xf32> {
  %M = tile.contract max over [i, j] %A[i, j] -> [i : 4] : (tensor<4x5xf32>) -> tensor<4xf32>
  // CHECK: %[[N:.*]] = tile.contract add over [i, j] %A[i, j] == %M[i] ? %{{.*}}[] -> [i : 4]
  // CHECK-NEXT: %[[SAFE:.*]] = eltwise.max %[[N]]
  // CHECK-NEXT: %[[PART:.*]] = eltwise.div %dM, %[[SAFE]]
  // CHECK-NEXT: %dA = tile.contract add over [i, j] %A[i, j] == %M[i] ? %[[PART]][i] -> [i : 4, j : 5]
  %0 = tile.gradient %M, %A : tensor<4xf32>, tensor<4x5xf32>
  func.return %0 : tensor<4x5xf32>
}

// What was broadcast is summed; what is used twice is added.
// CHECK-LABEL: func.func @broadcast
func.func @broadcast(%A : tensor<4x5xf32>, %b : tensor<5xf32>) -> tensor<5xf32> {
  %C = eltwise.add %A, %b : (tensor<4x5xf32>, tensor<5xf32>) -> tensor<4x5xf32>
  %D = eltwise.mul %C, %b : (tensor<4x5xf32>, tensor<5xf32>) -> tensor<4x5xf32>
  // CHECK: %[[ONE:.*]] = tile.contract add over [i0, i1] %{{.*}}[i0, i1] -> [i1 : 5]
  // CHECK: %[[TWO:.*]] = tile.contract add over [i0, i1] %dC[i0, i1] -> [i1 : 5]
  // CHECK-NEXT: %db = eltwise.add %[[ONE]], %[[TWO]]
  // CHECK-NEXT: func.return %db
  %0 = tile.gradient %D, %b : tensor<4x5xf32>, tensor<5xf32>
  func.return %0 : tensor<5xf32>
}

// Only what lies between is differentiated, and what the loss does not need is zero.
// CHECK-LABEL: func.func @between
func.func @between(%A : tensor<4xf32>, %B : tensor<4xf32>, %C : tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  %unused = eltwise.exp %A : tensor<4xf32>
  %fixed = eltwise.tanh %B : tensor<4xf32>
  %L = eltwise.mul %A, %fixed : tensor<4xf32>
  // CHECK: %L = eltwise.mul
  // CHECK-NEXT: %dL = eltwise.constant 1.0 : tensor<4xf32>
  // CHECK-NEXT: %[[ZERO:.*]] = eltwise.constant 0.0 : tensor<4xf32>
  // CHECK-NEXT: func.return %fixed, %[[ZERO]]
  %0, %1 = tile.gradient %L, %A, %C : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  func.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// Integers stop a gradient, floats of another type do not.
// CHECK-LABEL: func.func @casts
func.func @casts(%A : tensor<4xf16>) -> tensor<4xf16> {
  %0 = eltwise.cast %A : tensor<4xf16> to tensor<4xf32>
  %1 = eltwise.cast %A : tensor<4xf16> to tensor<4xsi32>
  %2 = eltwise.cast %1 : tensor<4xsi32> to tensor<4xf32>
  %L = eltwise.mul %0, %2 : tensor<4xf32>
  // CHECK: %dA = eltwise.cast %2 : tensor<4xf32> to tensor<4xf16>
  // CHECK-NEXT: func.return %dA
  %3 = tile.gradient %L, %A : tensor<4xf32>, tensor<4xf16>
  func.return %3 : tensor<4xf16>
}

// A gather is differentiated by a scatter of sums.
// CHECK-LABEL: func.func @gather
func.func @gather(%V : tensor<9x4xf32>, %I : tensor<5xsi32>) -> tensor<9x4xf32> {
  %R = tile.gather %V, %I : (tensor<9x4xf32>, tensor<5xsi32>) -> tensor<5x4xf32>
  // CHECK: %dV = tile.scatter %dR, %I, %V : (tensor<5x4xf32>, tensor<5xsi32>, tensor<9x4xf32>) -> tensor<9x4xf32>
  %0 = tile.gradient %R, %V : tensor<5x4xf32>, tensor<9x4xf32>
  func.return %0 : tensor<9x4xf32>
}

// Without gradients nothing changes.
// CHECK-LABEL: func.func @none
// CHECK-NEXT: %0 = tile.gather %V, %X interpolation linear
// CHECK-NEXT: func.return %0
func.func @none(%V : tensor<?xf32>, %X : tensor<5xf32>) -> tensor<5xf32> {
  %0 = tile.gather %V, %X interpolation linear : (tensor<?xf32>, tensor<5xf32>) -> tensor<5xf32>
  func.return %0 : tensor<5xf32>
}
