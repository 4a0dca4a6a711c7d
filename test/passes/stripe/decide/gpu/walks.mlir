// RUN: tile-opt %s -p 'stripe-share-reductions{hardware=nvidia-h200}' | filecheck %s
// RUN: tile-opt %s --validate-each -p 'stripe-share-reductions{hardware=nvidia-h200},stripe-tile,stripe-map,lower-stripe-to-opencl' | filecheck %s --check-prefix=KERNEL
// KERNEL: opencl.barrier

// A group's chunks are copied to local memory as they lie, one cell further apart there,
// and what the walks store is copied back; the last group has fewer chunks.
// CHECK: stripe.block "O" [%c : 2]
// CHECK-NEXT: in %i = %I[512 * %c] : 512
// CHECK-NEXT: out %o = %O[512 * %c] : 512
// CHECK: %i_chunks = stripe.alloc : !stripe.view<576xf32, local>
// CHECK-NEXT: stripe.block [%e0 : 64, %e1 : 8]
// CHECK-NEXT: in %from = %i[8 * %e0 + %e1] : 1
// CHECK-NEXT: out %to = %i_chunks[9 * %e0 + %e1] : 1
// CHECK: stripe.block [%c_1 : 64 group]
// CHECK-NEXT: in %i_1 = %i_chunks[9 * %c_1] : 8
// CHECK-NEXT: out %o_1 = %o_chunks[9 * %c_1] : 8
// CHECK: stripe.block serial [%t : 8]
// CHECK: stripe.block [%e0 : 64, %e1 : 8]
// CHECK-NEXT: in %from = %o_chunks[9 * %e0 + %e1] : 1
// CHECK-NEXT: out %to = %o[8 * %e0 + %e1] : 1
func.func @main(%I : !stripe.view<800xf32>) -> !stripe.view<800xf32> {
  %O = stripe.alloc : !stripe.view<800xf32>
  stripe.block "O" [%c : 100]
      in %i = %I[8 * %c] : 8
      out %o = %O[8 * %c] : 8 {
    %state = stripe.alloc : !stripe.view<1xf32, private>
    stripe.block []
        out %s = %state[0] : 1 {
      %0 = eltwise.constant 0 : f32
      stripe.store %0, %s : !stripe.view<1xf32, private>
    }
    stripe.block serial [%t : 8]
        in %i_1 = %i[%t] : 1
        inout %s = %state[0] : 1
        out %o_1 = %o[%t] : 1 {
      %0 = stripe.load %s : !stripe.view<1xf32, private>
      %1 = stripe.load %i_1 : !stripe.view<1xf32>
      %2 = eltwise.add %0, %1 : f32
      stripe.store %2, %s : !stripe.view<1xf32, private>
      stripe.store %2, %o_1 : !stripe.view<1xf32>
    }
  }
  func.return %O : !stripe.view<800xf32>
}
