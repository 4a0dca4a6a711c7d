// RUN: tile-opt %s -p 'tile-specialize{arguments="7xf32","si32=3"}' | filecheck %s

// An input that is used as a size is bound to a number, and stays an argument.
// CHECK-LABEL: func.func @main(%I: tensor<7xf32>, %K: tensor<si32>)
func.func @main(%I : tensor<?x!eltwise.any>, %K : tensor<*x!eltwise.any>) -> tensor<?x!eltwise.any> {
  %N = tile.sizes %I ["N"] : tensor<?x!eltwise.any>
  %k = tile.to_index %K : tensor<*x!eltwise.any>
  %size = eltwise.sub %N, %k : index
  // CHECK-NOT: tile.to_index
  // CHECK: %O = tile.contract add over [i, j] %I[i + j] -> [i : 4] where 0 <= j < 3
  %O = tile.contract add over [i, j] %I[i + j] -> [i : %size] where 0 <= j < %k
      : (tensor<?x!eltwise.any>) -> tensor<?x!eltwise.any>
  func.return %O : tensor<?x!eltwise.any>
}
