// RUN: tile-opt %s -p 'tile-specialize{arguments="4x5xf32","5x6xf16","f64"}' | filecheck %s

// Sizes and element types of all values follow from those of the arguments.

// CHECK-LABEL: func.func @main(%A: tensor<4x5xf32>, %B: tensor<5x6xf16>, %S: tensor<f64>) -> (tensor<4x6xf32>, tensor<2x4xf64>, tensor<6xsi32>)
func.func @main(
    %A : tensor<?x?x!eltwise.any>, %B : tensor<?x?x!eltwise.any>,
    %S : tensor<!eltwise.any>) -> (
    tensor<?x?x!eltwise.any>, tensor<?x?x!eltwise.any>, tensor<?x!eltwise.any>) {
  // CHECK-NOT: tile.sizes
  %M, %K = tile.sizes %A ["M", "K"] : tensor<?x?x!eltwise.any>
  %K_1, %N = tile.sizes %B ["K", "N"] : tensor<?x?x!eltwise.any>

  // CHECK: %[[B:.*]] = eltwise.cast %B : tensor<5x6xf16> to tensor<5x6xf32>
  // CHECK: %C = tile.contract add over [i, k, j] %A[i, k] * %[[B]][k, j] -> [i : 4, j : 6]
  %C = tile.contract add over [i, k, j] %A[i, k] * %B[k, j] -> [i : %M, j : %N]
      : (tensor<?x?x!eltwise.any>, tensor<?x?x!eltwise.any>) -> tensor<?x?x!eltwise.any>

  // Sizes become numbers in sizes, accesses and constraints.
  // CHECK: %T = tile.contract max over [i, j] %A[2 * j, i / 5 + 1] -> [i : 2, j : 4] where 0 <= i + 4 * j < 9
  %two = eltwise.constant 2 : index
  %half = eltwise.div %M, %two : index
  %limit = eltwise.add %M, %K : index
  %T = tile.contract max over [i, j] %A[%half * j, i / %K + %K - %M] -> [i : %half, j : %M]
      where 0 <= i + %M * j < %limit
      : (tensor<?x?x!eltwise.any>) -> tensor<?x?x!eltwise.any>

  // CHECK: %[[T:.*]] = eltwise.cast %T : tensor<2x4xf32> to tensor<2x4xf64>
  // CHECK: %U = eltwise.mul %[[T]], %S : (tensor<2x4xf64>, tensor<f64>) -> tensor<2x4xf64>
  %U = eltwise.mul %T, %S : (tensor<?x?x!eltwise.any>, tensor<!eltwise.any>) -> tensor<?x?x!eltwise.any>

  // A count of i1 is si32.
  // CHECK: %V = tile.contract add over [k, j] %{{.*}}[k, j] == %{{.*}}[k, j] -> [j : 6] : (tensor<5x6xf32>, tensor<5x6xf32>) -> tensor<6xsi32>
  %B32 = eltwise.cast %B : tensor<?x?x!eltwise.any> to tensor<?x?xf32>
  %V = tile.contract add over [k, j] %B32[k, j] == %B[k, j] -> [j : %N]
      : (tensor<?x?xf32>, tensor<?x?x!eltwise.any>) -> tensor<?x!eltwise.any>
  func.return %C, %U, %V : tensor<?x?x!eltwise.any>, tensor<?x?x!eltwise.any>, tensor<?x!eltwise.any>
}
