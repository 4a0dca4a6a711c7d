// RUN: tile-opt %s --split-input-file -p 'stripe-collect-outputs,stripe-distribute{items=64},stripe-tile' | filecheck %s
// RUN: tile-opt %s --split-input-file -p 'stripe-collect-outputs,stripe-distribute{items=64}' | filecheck %s --check-prefix=PLAN

// Copies are tiled where they have more points than there are work-items; the sum over
// the loop is collected in private memory, divided as the block inside uses it.
// CHECK-LABEL: func.func @product
// PLAN-LABEL: func.func @product
// PLAN:         stripe.block [%e0 : 16, %e1 : 16]
// PLAN:             attributes {stripe.schedule = #stripe.schedule<tile [2, 2] bind [group, group] because "64 work-items of 64">} {
// PLAN:           stripe.block [%y : 16, %x : 8]
// PLAN:               attributes {stripe.schedule = #stripe.schedule<tile [2, 1] bind [group, group] because "64 work-items of 64">} {
// PLAN:           stripe.block [%i_1 : 8, %j_1 : 8]
// PLAN:               attributes {stripe.schedule = #stripe.schedule<points bind [group, group] because "64 work-items of 64">} {
// CHECK:       stripe.block "product" [%i : 4, %j : 4]
// CHECK:           out %c = %C[16 * %i, 16 * %j] : 16x16
// CHECK-NEXT:    %c_acc = stripe.alloc : !stripe.view<16x16xf32, private>
// CHECK-NEXT:    stripe.block [%e0 : 8 group, %e1 : 8 group]
// CHECK-NEXT:        out %cell = %c_acc[2 * %e0, 2 * %e1] : 2x2
// CHECK:         stripe.block [%k : 8]
// CHECK:             out %c_1 = %c_acc[0, 0] : 16x16 add
// CHECK-NEXT:      %t = stripe.alloc : !stripe.view<16x8xf32, local>
// CHECK-NEXT:      stripe.block [%y : 8 group, %x : 8 group]
// CHECK-NEXT:          in %from = %a_1[2 * %y, %x] : 2x1
// CHECK-NEXT:          out %to = %t[2 * %y, %x] : 2x1
// CHECK:             stripe.block [%y_1 : 2]
// CHECK:           stripe.block [%i_1 : 8 group, %j_1 : 8 group]
// CHECK:               out %c_2 = %c_1[2 * %i_1, 2 * %j_1] : 2x2 add
// CHECK:         stripe.block [%e0 : 8 group, %e1 : 8 group]
// CHECK-NEXT:        in %from = %c_acc[2 * %e0, 2 * %e1] : 2x2
// CHECK-NEXT:        out %to = %c[2 * %e0, 2 * %e1] : 2x2
func.func @product(%A : !stripe.view<64x64xf32>) -> !stripe.view<64x64xf32> {
  %C = stripe.alloc : !stripe.view<64x64xf32>
  stripe.block "product" [%i : 4, %j : 4]
      in %a = %A[16 * %i, 0] : 16x64
      out %c = %C[16 * %i, 16 * %j] : 16x16 {
    stripe.block [%k : 8]
        in %a_1 = %a[0, 8 * %k] : 16x8
        out %c_1 = %c[0, 0] : 16x16 add init 0 {
      %t = stripe.alloc : !stripe.view<16x8xf32, local>
      stripe.block [%y : 16, %x : 8]
          in %from = %a_1[%y, %x] : 1x1
          out %to = %t[%y, %x] : 1x1 {
        %v = stripe.load %from : !stripe.view<1x1xf32>
        stripe.store %v, %to : !stripe.view<1x1xf32, local>
      }
      stripe.block [%i_1 : 8, %j_1 : 8]
          in %t_1 = %t[2 * %i_1, 0] : 2x8
          out %c_2 = %c_1[2 * %i_1, 2 * %j_1] : 2x2 add {
        stripe.block [%k_1 : 8, %i_2 : 2, %j_2 : 2]
            in %t_2 = %t_1[%i_2, %k_1] : 1x1
            out %c_3 = %c_2[%i_2, %j_2] : 1x1 add {
          %v = stripe.load %t_2 : !stripe.view<1x1xf32, local>
          stripe.store %v, %c_3 : !stripe.view<1x1xf32>
        }
      }
    }
  }
  func.return %C : !stripe.view<64x64xf32>
}

// -----

// A point of the grid that owns its cells collects them itself. Indices that only
// aggregate are loops.
// CHECK-LABEL: func.func @rows
// CHECK:       stripe.block "rows" [%i : 4]
// CHECK:           out %c = %C[4 * %i] : 4
// CHECK-NEXT:    %c_acc = stripe.alloc : !stripe.view<4xf32, private>
// CHECK-NEXT:    stripe.block [%e0 : 4 group]
// CHECK:         stripe.block [%y : 4 group, %x : 16 group]
// CHECK:         stripe.block [%y : 4 group]
// CHECK-NEXT:        in %t_1 = %t[%y, 0] : 1x16
// CHECK-NEXT:        out %c_1 = %c_acc[%y] : 1 add
// CHECK:           stripe.block [%x : 16]
// CHECK:         stripe.block [%e0 : 4 group]
// CHECK-NEXT:        in %from = %c_acc[%e0] : 1
// CHECK-NEXT:        out %to = %c[%e0] : 1
func.func @rows(%A : !stripe.view<16x16xf32>) -> !stripe.view<16xf32> {
  %C = stripe.alloc : !stripe.view<16xf32>
  stripe.block "rows" [%i : 4]
      in %a = %A[4 * %i, 0] : 4x16
      out %c = %C[4 * %i] : 4 add init 0 {
    %t = stripe.alloc : !stripe.view<4x16xf32, local>
    stripe.block [%y : 4, %x : 16]
        in %from = %a[%y, %x] : 1x1
        out %to = %t[%y, %x] : 1x1 {
      %v = stripe.load %from : !stripe.view<1x1xf32>
      stripe.store %v, %to : !stripe.view<1x1xf32, local>
    }
    stripe.block [%y : 4, %x : 16]
        in %t_1 = %t[%y, %x] : 1x1
        out %c_1 = %c[%y] : 1 add {
      %v = stripe.load %t_1 : !stripe.view<1x1xf32, local>
      stripe.store %v, %c_1 : !stripe.view<1xf32>
    }
  }
  func.return %C : !stripe.view<16xf32>
}

// -----

// Nothing is done without local memory, or where there are work-items already.
// CHECK-LABEL: func.func @alone
// CHECK:       stripe.block "plain" [%i : 16]
// CHECK:       stripe.block [%j : 16 group]
func.func @alone(%A : !stripe.view<16xf32>) -> !stripe.view<16xf32> {
  %B = stripe.alloc : !stripe.view<16xf32>
  %C = stripe.alloc : !stripe.view<16xf32>
  stripe.block "plain" [%i : 16]
      in %a = %A[%i] : 1
      out %b = %B[%i] : 1 {
    %v = stripe.load %a : !stripe.view<1xf32>
    stripe.store %v, %b : !stripe.view<1xf32>
  }
  stripe.block "given" [%i : 1]
      in %b = %B[0] : 16
      out %c = %C[0] : 16 {
    %t = stripe.alloc : !stripe.view<16xf32, local>
    stripe.block [%j : 16 group]
        in %b_1 = %b[%j] : 1
        out %c_1 = %c[%j] : 1 {
      %v = stripe.load %b_1 : !stripe.view<1xf32>
      stripe.store %v, %c_1 : !stripe.view<1xf32>
    }
  }
  func.return %C : !stripe.view<16xf32>
}
