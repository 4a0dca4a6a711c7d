// RUN: tile-opt %s -p stripe-align | filecheck %s

// Boxes around what is set; all step along the first axis.
// CHECK-LABEL: func.func @pad
// CHECK:      stripe.block "O_fill" [%i : 58, %j : 66]
// CHECK-NEXT:   out %o = %O[%i, %j] : 1x1
// CHECK-NEXT:   where -%i >= 0 {
// CHECK:      stripe.block "O_fill" [%i : 58, %j : 2]
// CHECK-NEXT:   out %o = %O[%i, %j] : 1x1
// CHECK-NEXT:   where %i - 1 >= 0 {
// CHECK:      stripe.block "O" [%x : 58, %y : 64]
// CHECK-NEXT:   in %a = %I[%x - 1, %y] : 1x1
// CHECK-NEXT:   out %o = %O[%x, %y + 2] : 1x1
// CHECK-NEXT:   where %x - 1 >= 0 {
func.func @pad(%I : !stripe.view<57x64xf32>) -> !stripe.view<58x66xf32> {
  %O = stripe.alloc : !stripe.view<58x66xf32>
  stripe.block "O_fill" [%i : 58, %j : 66]
      out %o = %O[%i, %j] : 1x1 {
    %0 = eltwise.constant 0 : f32
    stripe.store %0, %o : !stripe.view<1x1xf32>
  }
  stripe.block "O" [%x : 57, %y : 64]
      in %a = %I[%x, %y] : 1x1
      out %o = %O[%x + 1, %y + 2] : 1x1 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %0, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<58x66xf32>
}

// Gaps, a sum that starts at zero, and a single axis.
// CHECK-LABEL: func.func @others
// CHECK:      stripe.block "gaps_fill" [%i : 8, %j : 8]
// CHECK-NEXT:   out %o = %A[%i, %j] : 1x1 {
// CHECK:      stripe.block "gaps" [%x : 4, %y : 8]
// CHECK:      stripe.block "sum_fill" [%i : 8, %j : 8]
// CHECK-NEXT:   out %o = %B[%i, %j] : 1x1 {
// CHECK:      stripe.block "sum" [%x : 4, %y : 8]
// CHECK:      stripe.block "row_fill" [%i : 8]
// CHECK-NEXT:   out %o = %C[%i] : 1 {
// CHECK:      stripe.block "row" [%x : 4]
func.func @others(%I : !stripe.view<4x8xf32>)
    -> (!stripe.view<8x8xf32>, !stripe.view<8x8xf32>, !stripe.view<8xf32>) {
  %A = stripe.alloc : !stripe.view<8x8xf32>
  %B = stripe.alloc : !stripe.view<8x8xf32>
  %C = stripe.alloc : !stripe.view<8xf32>
  stripe.block "gaps_fill" [%i : 8, %j : 8]
      out %o = %A[%i, %j] : 1x1 {
    %0 = eltwise.constant 0 : f32
    stripe.store %0, %o : !stripe.view<1x1xf32>
  }
  stripe.block "gaps" [%x : 4, %y : 8]
      in %a = %I[%x, %y] : 1x1
      out %o = %A[2 * %x, %y] : 1x1 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %0, %o : !stripe.view<1x1xf32>
  }
  stripe.block "sum_fill" [%i : 8, %j : 8]
      out %o = %B[%i, %j] : 1x1 {
    %0 = eltwise.constant 0 : f32
    stripe.store %0, %o : !stripe.view<1x1xf32>
  }
  stripe.block "sum" [%x : 4, %y : 8]
      in %a = %I[%x, %y] : 1x1
      out %o = %B[%x, %y] : 1x1 add init 0 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %0, %o : !stripe.view<1x1xf32>
  }
  stripe.block "row_fill" [%i : 8]
      out %o = %C[%i] : 1 {
    %0 = eltwise.constant 0 : f32
    stripe.store %0, %o : !stripe.view<1xf32>
  }
  stripe.block "row" [%x : 4]
      in %a = %I[%x, 0] : 1x1
      out %o = %C[%x + 1] : 1 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %0, %o : !stripe.view<1xf32>
  }
  func.return %A, %B, %C : !stripe.view<8x8xf32>, !stripe.view<8x8xf32>, !stripe.view<8xf32>
}
