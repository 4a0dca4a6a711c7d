// RUN: not tile-opt %s -p stripe-transpose-outputs 2>&1 | filecheck %s
// RUN: sed 's/i64: 0, 0/i64: 1, 0/' %s | tile-opt - -p stripe-transpose-outputs | filecheck %s --check-prefix=RIGHT

// CHECK: stripe-transpose-outputs-errors.mlir:[[# @LINE + 7]]:3: error: expected stripe.output_order to be an array of the indices [0, 1] of the output, each once, got array<i64: 0, 0>
// RIGHT: %O_transposed = stripe.alloc : !stripe.view<6x4xf32>
// RIGHT: stripe.block [%j : 6, %i : 4, %k : 9]
func.func @main(
    %A : !stripe.view<4x6x9xf32>
) -> !stripe.view<4x6xf32> {
  %O = stripe.alloc : !stripe.view<4x6xf32>
  stripe.block [%i : 4, %j : 6, %k : 9]
      in %a = %A[%i, %j, %k] : 1x1x1
      out %o = %O[%i, %j] : 1x1 add init 0
      attributes {stripe.output_order = array<i64: 0, 0>} {
    %0 = stripe.load %a : !stripe.view<1x1x1xf32>
    stripe.store %0, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<4x6xf32>
}
