// RUN: tile-opt %s -p stripe-collect-outputs | filecheck %s

// What the group adds up over the loop, in private memory; and nothing where a point is
// the work of one work-item, or where the outermost block binds them.
// CHECK-LABEL: func.func @sums
// CHECK:       stripe.block "group" [%i : 4]
// CHECK:           out %c = %C[16 * %i] : 16 {
// CHECK-NEXT:    %c_acc = stripe.alloc : !stripe.view<16xf32, private>
// CHECK-NEXT:    stripe.block [%e0 : 16]
// CHECK-NEXT:        out %cell = %c_acc[%e0] : 1 {
// CHECK:         stripe.block [%k : 8]
// CHECK-NEXT:        in %a_1 = %a[0, %k] : 16x1
// CHECK-NEXT:        out %c_1 = %c_acc[0] : 16 add {
// CHECK-NEXT:      stripe.block [%x : 16 lane]
// CHECK:         stripe.block [%e0 : 16]
// CHECK-NEXT:        in %from = %c_acc[%e0] : 1
// CHECK-NEXT:        out %to = %c[%e0] : 1 {
// CHECK:       stripe.block "loops" [%i : 4]
// CHECK-NOT:     private
// CHECK:       stripe.block "bound" [%i : 4 group]
// CHECK-NOT:     private
func.func @sums(%A : !stripe.view<64x8xf32>) -> (!stripe.view<64xf32>, !stripe.view<64xf32>, !stripe.view<64xf32>) {
  %C = stripe.alloc : !stripe.view<64xf32>
  stripe.block "group" [%i : 4]
      in %a = %A[16 * %i, 0] : 16x8
      out %c = %C[16 * %i] : 16 {
    stripe.block [%k : 8]
        in %a_1 = %a[0, %k] : 16x1
        out %c_1 = %c[0] : 16 add init 0 {
      stripe.block [%x : 16 lane]
          in %a_2 = %a_1[%x, 0] : 1x1
          out %c_2 = %c_1[%x] : 1 add {
        %v = stripe.load %a_2 : !stripe.view<1x1xf32>
        stripe.store %v, %c_2 : !stripe.view<1xf32>
      }
    }
  }
  %D = stripe.alloc : !stripe.view<64xf32>
  stripe.block "loops" [%i : 4]
      in %a = %A[16 * %i, 0] : 16x8
      out %d = %D[16 * %i] : 16 {
    stripe.block [%k : 8, %x : 16]
        in %a_1 = %a[%x, %k] : 1x1
        out %d_1 = %d[%x] : 1 add init 0 {
      %v = stripe.load %a_1 : !stripe.view<1x1xf32>
      stripe.store %v, %d_1 : !stripe.view<1xf32>
    }
  }
  %E = stripe.alloc : !stripe.view<64xf32>
  stripe.block "bound" [%i : 4 group]
      in %a = %A[16 * %i, 0] : 16x8
      out %e = %E[16 * %i] : 16 {
    stripe.block [%k : 8, %x : 16]
        in %a_1 = %a[%x, %k] : 1x1
        out %e_1 = %e[%x] : 1 add init 0 {
      %v = stripe.load %a_1 : !stripe.view<1x1xf32>
      stripe.store %v, %e_1 : !stripe.view<1xf32>
    }
  }
  func.return %C, %D, %E : !stripe.view<64xf32>, !stripe.view<64xf32>, !stripe.view<64xf32>
}

// Cells are set where constraints fail, too: only what is inside checks them.
// CHECK-LABEL: func.func @border
// CHECK:       stripe.block "O" [%i : 4]
// CHECK-NOT:     where
// CHECK:         %[[ACC:.*]] = stripe.alloc : !stripe.view<1x8xf32, private>
// CHECK:         stripe.block [%j : 8 group]
// CHECK:           where %j - 2 >= 0, %i - 1 >= 0 {
// CHECK:         stripe.block [%e0 : 8]
// CHECK-NEXT:      in %from = %[[ACC]][0, %e0] : 1x1
// CHECK-NEXT:      out %to = %o[0, %e0] : 1x1 {
func.func @border(%A : !stripe.view<4x8xf32>) -> !stripe.view<4x8xf32> {
  %O = stripe.alloc : !stripe.view<4x8xf32>
  stripe.block "O" [%i : 4]
      in %a = %A[%i - 1, -2] : 1x8
      out %o = %O[%i, 0] : 1x8 init 0
      where %i - 1 >= 0 {
    stripe.block [%j : 8 group]
        in %a_1 = %a[0, %j] : 1x1
        out %o_1 = %o[0, %j] : 1x1
        where %j - 2 >= 0 {
      %0 = stripe.load %a_1 : !stripe.view<1x1xf32>
      stripe.store %0, %o_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %O : !stripe.view<4x8xf32>
}

// What work-items share without a loop around them, as sums of one step.
// CHECK-LABEL: func.func @one_step
// CHECK:         out %c = %C[16 * %i] : 16 {
// CHECK-NEXT:    %c_acc = stripe.alloc : !stripe.view<16xf32, private>
// CHECK-NEXT:    stripe.block [%e0 : 16]
// CHECK:         stripe.block [%x : 4 subgroup]
// CHECK-NEXT:        in %a_1 = %a[4 * %x, 0] : 4x8
// CHECK-NEXT:        out %c_1 = %c_acc[4 * %x] : 4 add {
// CHECK-NEXT:      stripe.block [%k : 8 unroll]
// CHECK-NEXT:          in %a_2 = %a_1[0, %k] : 4x1
// CHECK-NEXT:          out %c_2 = %c_1[0] : 4 add {
// CHECK:         stripe.block [%e0 : 16]
// CHECK-NEXT:        in %from = %c_acc[%e0] : 1
// CHECK-NEXT:        out %to = %c[%e0] : 1 {
func.func @one_step(%A : !stripe.view<64x8xf32>) -> !stripe.view<64xf32> {
  %C = stripe.alloc : !stripe.view<64xf32>
  stripe.block "C" [%i : 4]
      in %a = %A[16 * %i, 0] : 16x8
      out %c = %C[16 * %i] : 16 {
    stripe.block [%x : 4 subgroup]
        in %a_1 = %a[4 * %x, 0] : 4x8
        out %c_1 = %c[4 * %x] : 4 {
      stripe.block [%k : 8 unroll]
          in %a_2 = %a_1[0, %k] : 4x1
          out %c_2 = %c_1[0] : 4 add init 0 {
        stripe.block [%y : 4 lane]
            in %a_3 = %a_2[%y, 0] : 1x1
            out %c_3 = %c_2[%y] : 1 add {
          %v = stripe.load %a_3 : !stripe.view<1x1xf32>
          stripe.store %v, %c_3 : !stripe.view<1xf32>
        }
      }
    }
  }
  func.return %C : !stripe.view<64xf32>
}
