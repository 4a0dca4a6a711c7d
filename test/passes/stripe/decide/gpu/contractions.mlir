// RUN: tile-opt %s -p 'stripe-autotile{hardware=nvidia-h200}' | filecheck %s --check-prefix=PLAN
// RUN: tile-opt %s -p 'stripe-autotile{hardware=nvidia-h200},stripe-pad,stripe-tile,stripe-stage,stripe-collect-outputs,stripe-distribute{bits=128},stripe-tile,stripe-vectorize{bits=128}' | filecheck %s
// RUN: tile-opt %s -t opencl -p 'stripe-autotile{hardware=nvidia-h200},stripe-pad,stripe-tile,stripe-stage,stripe-collect-outputs,stripe-distribute{bits=128},stripe-tile,stripe-vectorize{bits=128},stripe-unroll,stripe-map,lower-stripe-to-opencl' | filecheck %s --check-prefix=SOURCE

// Lanes have sub-tiles of 4 by 4 cells, which are apart by those of the other lanes. In
// local memory rows and columns lie side by side; what is turned on the way has padding.
// PLAN:      stripe.schedule = #stripe.schedule<
// PLAN-NEXT:   tile [64, 128, 0] bind [grid, grid, _],
// PLAN-NEXT:   tile [64, 128, 16],
// PLAN-NEXT:   tile [32, 64, 16] bind [subgroup, subgroup, _],
// PLAN-NEXT:   tile [16, 32, 1] bind [unroll, unroll, unroll],
// PLAN-NEXT:   tile [4, 4, 1] bind [lane, lane, _],
// PLAN-NEXT:   points bind [unroll, unroll, _],
// PLAN-NEXT:   stage input 0 at 2 of 2 order [1, 0] padding 4 local,
// PLAN-NEXT:   stage input 1 at 2 of 2 order [0, 1] local,
// PLAN-NEXT:   because "{{.*}}s: groups of 128 work-items with 8x8 of 64x128 cells each">

// What is summed up is private memory, which all blocks cut in the same way.
// CHECK:      %c_acc = stripe.alloc : !stripe.view<64x128xf32, private>
// CHECK:      stripe.block [%e0 : 2 subgroup, %e1 : 2 subgroup]
// CHECK-NEXT:     out %cell = %c_acc[32 * %e0, 64 * %e1] : 32x64
// CHECK:        stripe.block [%e0_1 : 2 unroll, %e1_1 : 2 unroll]
// CHECK-NEXT:       out %cell_1 = %cell[16 * %e0_1, 32 * %e1_1] : 16x32
// CHECK-NEXT:     stripe.block [%e0_2 : 4 lane, %e1_2 : 8 lane]
// CHECK-NEXT:         out %cell_2 = %cell_1[4 * %e0_2, 4 * %e1_2] : 4x4
// CHECK:      stripe.block [%k : 192]
// CHECK:        %a_stage = stripe.alloc : !stripe.view<2x16x36xf32, local>
// CHECK:        %b_stage = stripe.alloc : !stripe.view<2x16x64xf32, local>
// CHECK:            %0 = stripe.load %{{.*}} : !stripe.view<1x4xf32>
// CHECK-NEXT:       stripe.store %0, %{{.*}} : !stripe.view<1x1x4xf32, local>
// CHECK:        stripe.block [%i_1 : 2 subgroup, %j_1 : 2 subgroup]
// CHECK:          stripe.block [%k_1 : 16 unroll, %i_2 : 2 unroll, %j_2 : 2 unroll]
// CHECK:            stripe.block [%i_3 : 4 lane, %j_3 : 8 lane]
// CHECK:              stripe.block [%i_4 : 4 unroll, %j_4 : 4 unroll]
// CHECK-NEXT:             in %a_5 = %a_4[0, 0, %i_4] : 1x1x1
// CHECK-NEXT:             in %b_5 = %b_4[0, 0, %j_4] : 1x1x1
// CHECK-NEXT:             out %c_5 = %c_4[%i_4, %j_4] : 1x1 add {
// CHECK:      stripe.block [%e0 : 2 subgroup, %e1 : 2 subgroup]
// CHECK:              stripe.store %0, %to_3 : !stripe.view<1x4xf32>

// A work-item has its 64 cells side by side, and keeps them over the whole sum.
// SOURCE:     __kernel __attribute__((reqd_work_group_size(128, 1, 1)))
// SOURCE:     float c_acc[64];
// SOURCE:     barrier(CLK_LOCAL_MEM_FENCE);
// SOURCE:     c_acc[32 * i_1 + 8 * i_2 + 4 * j_2 + j_3] =
// SOURCE:     barrier(CLK_LOCAL_MEM_FENCE);
// SOURCE-NOT: barrier
// SOURCE:     vstore4(vload4(0, c_acc +
func.func @main(%A : !stripe.view<3072x3072xf32>, %B : !stripe.view<3072x3072xf32>)
    -> !stripe.view<3072x3072xf32> {
  %C = stripe.alloc : !stripe.view<3072x3072xf32>
  stripe.block "C" [%i : 3072, %j : 3072, %k : 3072]
      in %a = %A[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 add init 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %y = stripe.load %b : !stripe.view<1x1xf32>
    %z = eltwise.mul %x, %y : f32
    stripe.store %z, %c : !stripe.view<1x1xf32>
  }
  func.return %C : !stripe.view<3072x3072xf32>
}
