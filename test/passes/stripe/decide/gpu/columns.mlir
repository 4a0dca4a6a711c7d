// RUN: tile-opt %s -p 'stripe-share-reductions{hardware=nvidia-h200}' | filecheck %s
// RUN: tile-opt %s --validate-each -p 'stripe-share-reductions{hardware=nvidia-h200},stripe-tile,stripe-accumulate,stripe-map,lower-stripe-to-opencl' | filecheck %s --check-prefix=KERNEL
// KERNEL: opencl.barrier

// A group has neighbouring columns. Items that follow each other have following ones,
// and several take turns at the values of each: a part for each turn, then a tree.
// CHECK: stripe.block "O" [%i : 8]
// CHECK: %x_1 = stripe.alloc : !stripe.view<16x64x8xf32, private>
// CHECK-NEXT: stripe.block [%e0 : 16, %e1 : 8, %lane : 64]
// CHECK-NEXT: in %from = %x[64 * %e0 + %lane, %e1] : 1x1
// CHECK-NEXT: out %to = %x_1[%e0, %lane, %e1] : 1x1x1
// CHECK: tile [0, 1, 1] order [2, 0, 1] bind [_, group, group] because "64 work-items take turns at the cells of a column"
// CHECK: %N = stripe.alloc : !stripe.view<8xf32, local>
// CHECK: %N_parts = stripe.alloc : !stripe.view<64x8xf32, local>
// CHECK: out %s = %N_parts[%lane, %n] : 1x1 add init 0
// CHECK: in %part = %N_parts[8 * %lane + %lane_1, %n] : 1x1
func.func @main(%X : !stripe.view<1000x64xf32>) -> !stripe.view<1000x64xf32> {
  %O = stripe.alloc : !stripe.view<1000x64xf32>
  stripe.block "O" [%i : 8]
      in %x = %X[0, 8 * %i] : 1000x8
      out %o = %O[0, 8 * %i] : 1000x8 {
    %N = stripe.alloc : !stripe.view<8xf32, private>
    %E = stripe.alloc : !stripe.view<1000x8xf32, private>
    stripe.block [%j : 1000, %n : 8]
        in %x_1 = %x[%j, %n] : 1x1
        out %e = %E[%j, %n] : 1x1 {
      %0 = stripe.load %x_1 : !stripe.view<1x1xf32>
      %1 = eltwise.exp %0 : f32
      stripe.store %1, %e : !stripe.view<1x1xf32, private>
    }
    stripe.block [%j : 1000, %n : 8]
        in %x_1 = %x[%j, %n] : 1x1
        in %e = %E[%j, %n] : 1x1
        out %s = %N[%n] : 1 add init 0 {
      %0 = stripe.load %e : !stripe.view<1x1xf32, private>
      %1 = stripe.load %x_1 : !stripe.view<1x1xf32>
      %2 = eltwise.mul %0, %1 : f32
      stripe.store %2, %s : !stripe.view<1xf32, private>
    }
    stripe.block [%j : 1000, %n : 8]
        in %e = %E[%j, %n] : 1x1
        in %s = %N[%n] : 1
        out %o_1 = %o[%j, %n] : 1x1 {
      %0 = stripe.load %e : !stripe.view<1x1xf32, private>
      %1 = stripe.load %s : !stripe.view<1xf32, private>
      %2 = eltwise.div %0, %1 : f32
      stripe.store %2, %o_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %O : !stripe.view<1000x64xf32>
}
