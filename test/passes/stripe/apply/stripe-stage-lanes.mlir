// RUN: tile-opt %s -p 'stripe-tile,stripe-stage{hardware=nvidia-h200}' --validate-each | filecheck %s
// RUN: tile-opt %s -p 'stripe-tile,stripe-stage' | filecheck %s --check-prefix=VECTORS

// What lies outside is not set where constraints, of blocks around the innermost one as
// well, keep from reading it. Where vectors may reach over an end, it is.
// CHECK-LABEL: func.func @main
// CHECK:       %a_stage = stripe.alloc : !stripe.view<8x9xf32, local>
// CHECK-NEXT:  stripe.block [%w0 : 8, %w1 : 8]
// CHECK-NEXT:    in %from = %a[%w0, %w1] : 1x1
// CHECK-NOT:   eltwise.constant
// CHECK:       stripe.block []
// VECTORS:     eltwise.constant 0
func.func @main(%A : !stripe.view<13x11xf32>) -> !stripe.view<11x13xf32> {
  %O = stripe.alloc : !stripe.view<11x13xf32>
  stripe.block "O" [%j : 11, %i : 13]
      in %a = %A[%i, %j] : 1x1
      out %o = %O[%j, %i] : 1x1
      attributes {stripe.schedule = #stripe.schedule<
        tile [8, 8] bind [grid, grid],
        tile [8, 8],
        tile [1, 2] bind [group, group],
        stage input 0 at 1 of 1 order [0, 1] padding 1 local>} {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<11x13xf32>
}
