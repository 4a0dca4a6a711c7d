// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP
// RUN: tile-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: func.func @sizes
func.func @sizes(%A : tensor<?x4x!eltwise.any>, %S : tensor<!eltwise.any>) -> tensor<!eltwise.any> {
  // CHECK-NEXT: %M, %N = tile.sizes %A ["M", "N'"] : tensor<?x4x!eltwise.any>
  %M, %N = tile.sizes %A ["M", "N'"] : tensor<?x4x!eltwise.any>
  // CHECK-NEXT: tile.sizes %S [] : tensor<!eltwise.any>
  tile.sizes %S [] : tensor<!eltwise.any>
  // CHECK-NEXT: %0 = tile.from_index %M {note} : tensor<!eltwise.any>
  %0 = tile.from_index %M {note} : tensor<!eltwise.any>
  // CHECK-NEXT: %1 = tile.from_index %M : tensor<si32>
  %1 = tile.from_index %M : tensor<si32>
  // CHECK-NEXT: %2 = tile.to_index %S : tensor<!eltwise.any>
  %2 = tile.to_index %S : tensor<!eltwise.any>
  func.return %0 : tensor<!eltwise.any>
}

// Symbolic: sizes of results and in expressions; a name of a size more than once.
// CHECK-LABEL: func.func @symbolic
// GENERIC-LABEL: "func.func"() <{sym_name = "symbolic"
func.func @symbolic(%A : tensor<?x?x!eltwise.any>, %B : tensor<?x?x!eltwise.any>) {
  %M, %K = tile.sizes %A ["M", "K"] : tensor<?x?x!eltwise.any>
  %K_1, %N = tile.sizes %B ["K", "N"] : tensor<?x?x!eltwise.any>
  // CHECK: %C = tile.contract add over [i, k, j] %A[i, k] * %B[k, j] -> [i : %M, j : %N] : (tensor<?x?x!eltwise.any>, tensor<?x?x!eltwise.any>) -> tensor<?x?x!eltwise.any>
  %C = tile.contract add over [i, k, j] %A[i, k] * %B[k, j] -> [i : %M, j : %N]
      : (tensor<?x?x!eltwise.any>, tensor<?x?x!eltwise.any>) -> tensor<?x?x!eltwise.any>
  // CHECK-NEXT: tile.contract max over [i, j] %A[%K * i + j + 1 - %M, i / %N] -> [2 * i : 7, j / 3 : %M] where 0 <= i - j < %K, 0 <= j default %C no_defract {tile.pid = "x"}
  // GENERIC: input_accesses = {{\[\[}}#tile.polynomial<s0 * d0 + d1 + 1 - s1>, #tile.polynomial<d0 / s2>]]
  // GENERIC-SAME: #tile.constraint<d0 - d1 < s0>, #tile.constraint<d1>
  %D = tile.contract max over [i, j] %A[%K * i + j - %M + 1, i / %N] -> [i + i : 7, j / 3 : %M]
      where 0 <= i - j < %K, 0 <= j default %C no_defract {tile.pid = "x"}
      : (tensor<?x?x!eltwise.any>, tensor<?x?x!eltwise.any>) -> tensor<7x?x!eltwise.any>
  func.return
}

// The combinations and aggregations.
// CHECK-LABEL: func.func @kinds
func.func @kinds(%A : tensor<4x5xf32>, %B : tensor<5xf32>, %U : tensor<*xf32>) {
  // CHECK-NEXT: tile.contract add over [i, j] %A[i, j] -> [i : 4] : (tensor<4x5xf32>) -> tensor<4xf32>
  %0 = tile.contract add over [i, j] %A[i, j] -> [i : 4] : (tensor<4x5xf32>) -> tensor<4xf32>
  // CHECK-NEXT: tile.contract mul over [i, j] %A[i, j] + %B[j] -> [i : 4]
  %1 = tile.contract mul over [i, j] %A[i, j] + %B[j] -> [i : 4] : (tensor<4x5xf32>, tensor<5xf32>) -> tensor<4xf32>
  // CHECK-NEXT: tile.contract max over [i, j] %A[i, j] * %B[j] -> [i : 4]
  %2 = tile.contract max over [i, j] %A[i, j] * %B[j] -> [i : 4] : (tensor<4x5xf32>, tensor<5xf32>) -> tensor<4xf32>
  // CHECK-NEXT: tile.contract min over [i, j] %A[i, j] == %B[j] -> [i : 4]
  %3 = tile.contract min over [i, j] %A[i, j] == %B[j] -> [i : 4] : (tensor<4x5xf32>, tensor<5xf32>) -> tensor<4xi1>
  // CHECK-NEXT: tile.contract assign over [i, j] %A[i, j] == %B[j] ? %A[i, 0] -> [i : 4, j : 5]
  %4 = tile.contract assign over [i, j] %A[i, j] == %B[j] ? %A[i, 0] -> [i : 4, j : 5] : (tensor<4x5xf32>, tensor<5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  // CHECK-NEXT: tile.contract add over [i, j] %A[i, j] == %B[j] -> []
  %5 = tile.contract add over [i, j] %A[i, j] == %B[j] -> [] : (tensor<4x5xf32>, tensor<5xf32>) -> tensor<si32>
  // CHECK-NEXT: tile.contract add over [] %U[] -> [0 : 1] : (tensor<*xf32>) -> tensor<1xf32>
  %6 = tile.contract add over [] %U[] -> [0 : 1] : (tensor<*xf32>) -> tensor<1xf32>
  func.return
}

// Flat: a box of ranges, a bar before those that only aggregate.
// CHECK-LABEL: func.func @flat
func.func @flat(%A : tensor<4x5xf32>, %S : tensor<f32>) {
  // CHECK-NEXT: tile.contract add over [i : 4 | j : 5] %A[i, j] -> [i : 4]
  %0 = tile.contract add over [i : 4 | j : 5] %A[i, j] -> [i : 4] : (tensor<4x5xf32>) -> tensor<4xf32>
  // CHECK-NEXT: tile.contract assign over [i : 4, j : 5] %A[i, j] -> [i : 4, j : 5]
  %1 = tile.contract assign over [i : 4, j : 5] %A[i, j] -> [i : 4, j : 5] : (tensor<4x5xf32>) -> tensor<4x5xf32>
  // CHECK-NEXT: tile.contract add over [| i : 4, j : 5] %A[i, j] -> []
  %2 = tile.contract add over [| i : 4, j : 5] %A[i, j] -> [] where 0 <= i - j : (tensor<4x5xf32>) -> tensor<f32>
  // CHECK-NEXT: tile.contract add over [|] %S[] -> []
  %3 = tile.contract add over [|] %S[] -> [] : (tensor<f32>) -> tensor<f32>
  func.return
}
