// RUN: tile-opt %s -p 'stripe-share-reductions{hardware=nvidia-h200}' | filecheck %s
// RUN: tile-opt %s --validate-each -p 'stripe-share-reductions{hardware=nvidia-h200},stripe-tile,stripe-accumulate,stripe-map,lower-stripe-to-opencl' | filecheck %s --check-prefix=KERNEL
// KERNEL-COUNT-2: opencl.kernel

// Three rows are no work for a device: a nest finds the sum of each part of a row, where
// the last part is shorter, and another one puts the parts together and divides. What is
// summed up on the way is computed in both.
// CHECK: %N_parts = stripe.alloc : !stripe.view<3x4x1xf32>
// CHECK-NEXT: stripe.block "O" [%i : 3, %c : 4]
// CHECK-NEXT: in %x = %X[%i, 5120 * %c] : 1x5120
// CHECK-NEXT: out %n = %N_parts[%i, %c, 0] : 1x1x1
// CHECK: where -256 * %e0 - %lane - 5120 * %c + 19999 >= 0
// CHECK: eltwise.exp
// CHECK: stripe.block "O" [%i : 3, %c : 4]
// CHECK-NEXT: in %x = %X[%i, 5120 * %c] : 1x5120
// CHECK-NEXT: in %N_parts_1 = %N_parts[%i, 0, 0] : 1x4x1
// CHECK-NEXT: out %o = %O[%i, 5120 * %c] : 1x5120
// CHECK: eltwise.exp
// CHECK: in %part
// CHECK: eltwise.div
func.func @main(%X : !stripe.view<3x20000xf32>) -> !stripe.view<3x20000xf32> {
  %O = stripe.alloc : !stripe.view<3x20000xf32>
  stripe.block "O" [%i : 3]
      in %x = %X[%i, 0] : 1x20000
      out %o = %O[%i, 0] : 1x20000 {
    %N = stripe.alloc : !stripe.view<1xf32, private>
    %E = stripe.alloc : !stripe.view<1x20000xf32, private>
    stripe.block [%j : 20000]
        in %x_1 = %x[0, %j] : 1x1
        out %e = %E[0, %j] : 1x1 {
      %0 = stripe.load %x_1 : !stripe.view<1x1xf32>
      %1 = eltwise.exp %0 : f32
      stripe.store %1, %e : !stripe.view<1x1xf32, private>
    }
    stripe.block [%j : 20000]
        in %x_1 = %x[0, %j] : 1x1
        in %e = %E[0, %j] : 1x1
        out %n = %N[0] : 1 add init 0 {
      %0 = stripe.load %e : !stripe.view<1x1xf32, private>
      %1 = stripe.load %x_1 : !stripe.view<1x1xf32>
      %2 = eltwise.mul %0, %1 : f32
      stripe.store %2, %n : !stripe.view<1xf32, private>
    }
    stripe.block [%j : 20000]
        in %e = %E[0, %j] : 1x1
        in %n = %N[0] : 1
        out %o_1 = %o[0, %j] : 1x1 {
      %0 = stripe.load %e : !stripe.view<1x1xf32, private>
      %1 = stripe.load %n : !stripe.view<1xf32, private>
      %2 = eltwise.div %0, %1 : f32
      stripe.store %2, %o_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %O : !stripe.view<3x20000xf32>
}
