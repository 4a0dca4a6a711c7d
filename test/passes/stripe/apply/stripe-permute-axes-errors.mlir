// RUN: not tile-opt %s -p stripe-permute-axes 2>&1 | filecheck %s

// CHECK: stripe-permute-axes-errors.mlir:[[# @LINE + 2]]:3: error: expected a buffer with a layout to be used by blocks alone that see a number of it at a time, and have no schedule
func.func @returned(%A : !stripe.view<4x6xf32>) -> !stripe.view<4x6xf32> {
  %O = stripe.alloc {layout = #stripe.layout<[1, 0]>} : !stripe.view<4x6xf32>
  stripe.block [%i : 4, %j : 6]
      in %a = %A[%i, %j] : 1x1
      out %o = %O[%i, %j] : 1x1 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %0, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<4x6xf32>
}
