// RUN: tile-opt %s -p stripe-fuse-epilogues | filecheck %s

// What a group has in registers is computed with where it would be stored; memory for it
// is there before, and what is read of the others are the same cells, under other shapes.
// CHECK-LABEL: func.func @bias
// CHECK-NEXT:  %R = stripe.alloc : !stripe.view<512xf32>
// CHECK-NEXT:  %R_1 = stripe.reshape %R : !stripe.view<512xf32> to !stripe.view<32x16xf32>
// CHECK-NEXT:  stripe.block "C" [%n : 4 grid, %i : 2 grid]
// CHECK-NEXT:    in %a = %A[%n, 4 * %i] : 1x4
// CHECK-NEXT:    in %b = %B[0] : 16
// CHECK-NEXT:    out %r = %R_1[8 * %n + 4 * %i, 0] : 4x16 {
// CHECK:         stripe.store %x, %acc_1
// CHECK:         stripe.block [%e0 : 4, %e1 : 16]
// CHECK:           in %c = %acc[0, %e0, %e1] : 1x1x1
// CHECK-NEXT:      in %b_1 = %b[%e1] : 1
// CHECK-NEXT:      out %r_1 = %r[%e0, %e1] : 1x1
// CHECK-NEXT:      where -%e1 + 14 >= 0
// CHECK-NEXT:      attributes {stripe.scheduled = #stripe.schedule<epilogue because "cheap">} {
// CHECK-NEXT:      %x = stripe.load %c : !stripe.view<1x1x1xf32, private>
// CHECK-NEXT:      %y = stripe.load %b_1 : !stripe.view<1xf32>
// CHECK-NEXT:      %z = eltwise.add %x, %y : f32
// CHECK-NEXT:      stripe.store %z, %r_1 : !stripe.view<1x1xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:  }
// CHECK-NEXT:  func.return %R
func.func @bias(%A : !stripe.view<4x8xf32>, %B : !stripe.view<16xf32>) -> !stripe.view<512xf32> {
  %C = stripe.alloc : !stripe.view<4x8x16xf32>
  stripe.block "C" [%n : 4 grid, %i : 2 grid]
      in %a = %A[%n, 4 * %i] : 1x4
      out %c = %C[%n, 4 * %i, 0] : 1x4x16 {
    %acc = stripe.alloc : !stripe.view<1x4x16xf32, private>
    stripe.block [%e0 : 4, %e1 : 16]
        in %a_1 = %a[0, %e0] : 1x1
        out %acc_1 = %acc[0, %e0, %e1] : 1x1x1 {
      %x = stripe.load %a_1 : !stripe.view<1x1xf32>
      stripe.store %x, %acc_1 : !stripe.view<1x1x1xf32, private>
    }
    stripe.block [%e0 : 4, %e1 : 16]
        in %from = %acc[0, %e0, %e1] : 1x1x1
        out %to = %c[0, %e0, %e1] : 1x1x1
        where -%e1 + 14 >= 0 {
      %x = stripe.load %from : !stripe.view<1x1x1xf32, private>
      stripe.store %x, %to : !stripe.view<1x1x1xf32>
    }
  }
  %C_1 = stripe.reshape %C : !stripe.view<4x8x16xf32> to !stripe.view<32x16xf32>
  %R = stripe.alloc : !stripe.view<512xf32>
  %R_1 = stripe.reshape %R : !stripe.view<512xf32> to !stripe.view<32x16xf32>
  stripe.block "R" [%m : 32, %j : 16]
      in %c = %C_1[%m, %j] : 1x1
      in %b = %B[%j] : 1
      out %r = %R_1[%m, %j] : 1x1
      attributes {stripe.schedule = #stripe.schedule<epilogue because "cheap">} {
    %x = stripe.load %c : !stripe.view<1x1xf32>
    %y = stripe.load %b : !stripe.view<1xf32>
    %z = eltwise.add %x, %y : f32
    stripe.store %z, %r : !stripe.view<1x1xf32>
  }
  func.return %R : !stripe.view<512xf32>
}
