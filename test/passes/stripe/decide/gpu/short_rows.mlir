// RUN: tile-opt %s -p 'stripe-share-reductions{hardware=nvidia-h200}' | filecheck %s
// RUN: tile-opt %s --validate-each -p 'stripe-share-reductions{hardware=nvidia-h200},stripe-tile,stripe-accumulate,stripe-map,lower-stripe-to-opencl' | filecheck %s --check-prefix=KERNEL
// KERNEL: opencl.barrier

// Of rows of 5 an item has one, and a group a hundred: 20 at once are copied to local
// memory as they lie, and what comes of them is copied back in the same way.
// CHECK: %x_rows = stripe.alloc : !stripe.view<100x5xf32, local>
// CHECK-NEXT: stripe.block [%e0 : 5, %e1 : 5, %lane : 20]
// CHECK-NEXT: in %from = %x[20 * %e0 + %lane, %e1] : 1x1
// CHECK-NEXT: out %to = %x_rows[20 * %e0 + %lane, %e1] : 1x1
// CHECK-NEXT: attributes {stripe.schedule = #stripe.schedule<
// CHECK-NEXT: tile [0, 1, 1] order [2, 0, 1] bind [_, group, group] because "20 rows are copied at once"
// CHECK: %E = stripe.alloc : !stripe.view<100x5xf32, private>
// CHECK: eltwise.div
// CHECK: in %from = %o_rows[20 * %e0 + %lane, %e1] : 1x1
// CHECK-NEXT: out %to = %o[20 * %e0 + %lane, %e1] : 1x1
func.func @main(%X : !stripe.view<500x5xf32>) -> !stripe.view<500x5xf32> {
  %O = stripe.alloc : !stripe.view<500x5xf32>
  stripe.block "O" [%i : 5]
      in %x = %X[100 * %i, 0] : 100x5
      out %o = %O[100 * %i, 0] : 100x5 {
    %N = stripe.alloc : !stripe.view<100xf32, private>
    %E = stripe.alloc : !stripe.view<100x5xf32, private>
    stripe.block [%r : 100, %j : 5]
        in %x_1 = %x[%r, %j] : 1x1
        out %e = %E[%r, %j] : 1x1 {
      %0 = stripe.load %x_1 : !stripe.view<1x1xf32>
      %1 = eltwise.exp %0 : f32
      stripe.store %1, %e : !stripe.view<1x1xf32, private>
    }
    stripe.block [%r : 100, %j : 5]
        in %x_1 = %x[%r, %j] : 1x1
        in %e = %E[%r, %j] : 1x1
        out %n = %N[%r] : 1 add init 0 {
      %0 = stripe.load %e : !stripe.view<1x1xf32, private>
      %1 = stripe.load %x_1 : !stripe.view<1x1xf32>
      %2 = eltwise.mul %0, %1 : f32
      stripe.store %2, %n : !stripe.view<1xf32, private>
    }
    stripe.block [%r : 100, %j : 5]
        in %e = %E[%r, %j] : 1x1
        in %n = %N[%r] : 1
        out %o_1 = %o[%r, %j] : 1x1 {
      %0 = stripe.load %e : !stripe.view<1x1xf32, private>
      %1 = stripe.load %n : !stripe.view<1xf32, private>
      %2 = eltwise.div %0, %1 : f32
      stripe.store %2, %o_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %O : !stripe.view<500x5xf32>
}
