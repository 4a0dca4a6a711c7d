// RUN: not tile-opt %s -p stripe-transpose-outputs 2>&1 | filecheck %s
// RUN: sed 's/order \[0, 0/order [1, 0/' %s | tile-opt - -p stripe-transpose-outputs | filecheck %s --check-prefix=RIGHT

// CHECK: stripe-transpose-outputs-errors.mlir:[[# @LINE + 7]]:3: error: 'stripe.block' op expected an order of the indices [0, 1] of the output, each once, got [0, 0]
// RIGHT: %O_transposed = stripe.alloc : !stripe.view<6x4xf32>
// RIGHT: stripe.block [%j : 6, %i : 4, %k : 9]
func.func @main(
    %A : !stripe.view<4x6x9xf32>
) -> !stripe.view<4x6xf32> {
  %O = stripe.alloc : !stripe.view<4x6xf32>
  stripe.block [%i : 4, %j : 6, %k : 9]
      in %a = %A[%i, %j, %k] : 1x1x1
      out %o = %O[%i, %j] : 1x1 add init 0
      attributes {stripe.schedule = #stripe.schedule<output order [0, 0]>} {
    %0 = stripe.load %a : !stripe.view<1x1x1xf32>
    stripe.store %0, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<4x6xf32>
}
