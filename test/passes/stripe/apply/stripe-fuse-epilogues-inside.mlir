// RUN: tile-opt %s -p 'stripe-fuse-epilogues{inside=true}' | filecheck %s
// RUN: tile-opt %s -p 'stripe-fuse-epilogues{inside=true}' --validate-each --validate-entry=in_place | filecheck %s
// RUN: tile-opt %s -p 'stripe-fuse-epilogues{inside=true}' --validate-each --validate-entry=needed | filecheck %s
// RUN: tile-opt %s -p 'stripe-fuse-epilogues{inside=true}' --validate-each --validate-entry=left_alone | filecheck %s
// RUN: tile-opt %s -p stripe-fuse-epilogues | filecheck %s --check-prefix=TOP

// Without the option blocks inside of others stay as they are.
// TOP-NOT: epilogue

// In place of the sums that are read, whose memory had other values before: the tiles
// cover all of it.
// CHECK-LABEL: func.func @in_place
// CHECK:         stripe.block [%j : 2]
// CHECK-NEXT:      in %b_1 = %b[48 * %j] : 48
// CHECK-NEXT:      out %z = %S[0, 48 * %j] : 4x48 {
// CHECK:             out %cell
// CHECK:           stripe.block [%e0 : 4, %e1 : 48]
// CHECK-NEXT:        in %y = %acc[%e0, %e1] : 1x1
// CHECK-NEXT:        in %b_2 = %b_1[%e1] : 1
// CHECK-NEXT:        out %z_1 = %z[%e0, %e1] : 1x1
// CHECK-NEXT:        where -%e1 - 48 * %j + 54 >= 0
// CHECK-NEXT:        attributes {stripe.scheduled = #stripe.schedule<epilogue>} {
// CHECK-NEXT:        %0 = stripe.load %y
// CHECK:             eltwise.add
// CHECK-NEXT:        stripe.store %2, %z_1
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    stripe.block "copy" [%i : 4, %j : 55]
func.func @in_place(%A : !stripe.view<8x55xf32>, %B : !stripe.view<55xf32>) -> !stripe.view<8x55xf32> {
  %R = stripe.alloc : !stripe.view<8x55xf32>
  stripe.block [%m : 2]
      in %a = %A[4 * %m, 0] : 4x55
      in %b_0 = %B[0] : 55
      out %r = %R[4 * %m, 0] : 4x55 {
    %S = stripe.alloc : !stripe.view<4x55xf32, private>
    stripe.block "other" [%i : 4, %j : 55]
        out %s = %S[%i, %j] : 1x1 {
      %0 = eltwise.constant 3 : f32
      stripe.store %0, %s : !stripe.view<1x1xf32, private>
    }
    stripe.block [%j : 2]
        out %s = %S[0, 48 * %j] : 4x48 {
      %acc = stripe.alloc : !stripe.view<4x48xf32, private>
      stripe.block [%e0 : 4, %e1 : 48]
          out %cell = %acc[%e0, %e1] : 1x1 {
        %0 = eltwise.constant 1 : f32
        stripe.store %0, %cell : !stripe.view<1x1xf32, private>
      }
      stripe.block [%e0 : 4, %e1 : 48]
          in %from = %acc[%e0, %e1] : 1x1
          out %to = %s[%e0, %e1] : 1x1
          where -%e1 - 48 * %j + 54 >= 0 {
        %0 = stripe.load %from : !stripe.view<1x1xf32, private>
        stripe.store %0, %to : !stripe.view<1x1xf32, private>
      }
    }
    stripe.block [%i : 4, %j : 55]
        in %y = %S[%i, %j] : 1x1
        in %b = %b_0[%j] : 1
        out %z = %S[%i, %j] : 1x1 {
      %0 = stripe.load %y : !stripe.view<1x1xf32, private>
      %1 = stripe.load %b : !stripe.view<1xf32>
      %2 = eltwise.add %0, %1 : f32
      stripe.store %2, %z : !stripe.view<1x1xf32, private>
    }
    stripe.block "copy" [%i : 4, %j : 55]
        in %s = %S[%i, %j] : 1x1
        out %r_1 = %r[%i, %j] : 1x1 {
      %0 = stripe.load %s : !stripe.view<1x1xf32, private>
      stripe.store %0, %r_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %R : !stripe.view<8x55xf32>
}

// What somebody else needs, too, is still stored; here in memory of the function, which
// the nest sees through two windows.
// CHECK-LABEL: func.func @needed
// CHECK:         stripe.block []
// CHECK-NEXT:      out %y = %y_out[0] : 8
// CHECK-NEXT:      out %z = %z_out[0] : 8 {
// CHECK:             out %cell
// CHECK:           stripe.block [%e0 : 8]
// CHECK-NEXT:        in %from = %acc[%e0] : 1
// CHECK-NEXT:        out %to = %y[%e0] : 1 {
// CHECK:           stripe.block [%e0 : 8]
// CHECK-NEXT:        in %y_1 = %acc[%e0] : 1
// CHECK-NEXT:        out %z_1 = %z[%e0] : 1
// CHECK:         func.return
func.func @needed(%A : !stripe.view<16xf32>) -> (!stripe.view<16xf32>, !stripe.view<16xf32>) {
  %Y = stripe.alloc : !stripe.view<16xf32>
  %Z = stripe.alloc : !stripe.view<16xf32>
  stripe.block [%m : 2]
      out %y_out = %Y[8 * %m] : 8
      in %y_in = %Y[8 * %m] : 8
      out %z_out = %Z[8 * %m] : 8 {
    stripe.block []
        out %y = %y_out[0] : 8 {
      %acc = stripe.alloc : !stripe.view<8xf32, private>
      stripe.block [%e0 : 8]
          out %cell = %acc[%e0] : 1 {
        %0 = eltwise.constant 1 : f32
        stripe.store %0, %cell : !stripe.view<1xf32, private>
      }
      stripe.block [%e0 : 8]
          in %from = %acc[%e0] : 1
          out %to = %y[%e0] : 1 {
        %0 = stripe.load %from : !stripe.view<1xf32, private>
        stripe.store %0, %to : !stripe.view<1xf32>
      }
    }
    stripe.block [%i : 8]
        in %y = %y_in[%i] : 1
        out %z = %z_out[%i] : 1 {
      %0 = stripe.load %y : !stripe.view<1xf32>
      %1 = eltwise.add %0, %0 : f32
      stripe.store %1, %z : !stripe.view<1xf32>
    }
  }
  func.return %Y, %Z : !stripe.view<16xf32>, !stripe.view<16xf32>
}

// Left alone: sums of parts that are added to others; memory of which the tiles set a
// part; what is read in between and then replaced; cells of another place.
// CHECK-LABEL: func.func @left_alone
// CHECK-NOT: epilogue
func.func @left_alone(%A : !stripe.view<8xf32>) -> (!stripe.view<8xf32>, !stripe.view<8xf32>) {
  %R = stripe.alloc : !stripe.view<8xf32>
  %Q = stripe.alloc : !stripe.view<8xf32>
  stripe.block []
      in %a = %A[0] : 8
      out %r = %R[0] : 8
      out %q = %Q[0] : 8 {
    %parts = stripe.alloc : !stripe.view<8xf32, private>
    %some = stripe.alloc : !stripe.view<8xf32, private>
    %late = stripe.alloc : !stripe.view<8xf32, private>
    %turned = stripe.alloc : !stripe.view<8xf32, private>
    stripe.block [%i : 8]
        out %x = %parts[%i] : 1
        out %y = %some[%i] : 1 {
      %0 = eltwise.constant 1 : f32
      stripe.store %0, %x : !stripe.view<1xf32, private>
      stripe.store %0, %y : !stripe.view<1xf32, private>
    }
    stripe.block []
        in %a_1 = %a[0] : 8
        out %x = %parts[0] : 8 add {
      %acc = stripe.alloc : !stripe.view<8xf32, private>
      stripe.block [%e : 8]
          in %from = %a_1[%e] : 1
          out %to = %acc[%e] : 1 {
        %0 = stripe.load %from : !stripe.view<1xf32>
        stripe.store %0, %to : !stripe.view<1xf32, private>
      }
      stripe.block [%e : 8]
          in %from = %acc[%e] : 1
          out %to = %x[%e] : 1 add {
        %0 = stripe.load %from : !stripe.view<1xf32, private>
        stripe.store %0, %to : !stripe.view<1xf32, private>
      }
    }
    stripe.block [%i : 8]
        in %x = %parts[%i] : 1
        out %y = %parts[%i] : 1 {
      %0 = stripe.load %x : !stripe.view<1xf32, private>
      %1 = eltwise.neg %0 : f32
      stripe.store %1, %y : !stripe.view<1xf32, private>
    }
    stripe.block []
        in %a_1 = %a[0] : 8
        out %x = %some[0] : 6 {
      %acc = stripe.alloc : !stripe.view<6xf32, private>
      stripe.block [%e : 6]
          in %from = %a_1[%e] : 1
          out %to = %acc[%e] : 1 {
        %0 = stripe.load %from : !stripe.view<1xf32>
        stripe.store %0, %to : !stripe.view<1xf32, private>
      }
      stripe.block [%e : 6]
          in %from = %acc[%e] : 1
          out %to = %x[%e] : 1 {
        %0 = stripe.load %from : !stripe.view<1xf32, private>
        stripe.store %0, %to : !stripe.view<1xf32, private>
      }
    }
    stripe.block [%i : 8]
        in %x = %some[%i] : 1
        out %y = %some[%i] : 1 {
      %0 = stripe.load %x : !stripe.view<1xf32, private>
      %1 = eltwise.neg %0 : f32
      stripe.store %1, %y : !stripe.view<1xf32, private>
    }
    stripe.block []
        in %a_1 = %a[0] : 8
        out %x = %late[0] : 8 {
      %acc = stripe.alloc : !stripe.view<8xf32, private>
      stripe.block [%e : 8]
          in %from = %a_1[%e] : 1
          out %to = %acc[%e] : 1 {
        %0 = stripe.load %from : !stripe.view<1xf32>
        stripe.store %0, %to : !stripe.view<1xf32, private>
      }
      stripe.block [%e : 8]
          in %from = %acc[%e] : 1
          out %to = %x[%e] : 1 {
        %0 = stripe.load %from : !stripe.view<1xf32, private>
        stripe.store %0, %to : !stripe.view<1xf32, private>
      }
    }
    stripe.block [%i : 8]
        in %x = %late[%i] : 1
        in %p = %parts[%i] : 1
        in %s = %some[%i] : 1
        out %y = %turned[-%i + 7] : 1 {
      %0 = stripe.load %x : !stripe.view<1xf32, private>
      %1 = stripe.load %p : !stripe.view<1xf32, private>
      %2 = stripe.load %s : !stripe.view<1xf32, private>
      %3 = eltwise.add %0, %1 : f32
      %4 = eltwise.add %3, %2 : f32
      stripe.store %4, %y : !stripe.view<1xf32, private>
    }
    stripe.block [%i : 8]
        in %x = %late[%i] : 1
        out %y = %late[%i] : 1 {
      %0 = stripe.load %x : !stripe.view<1xf32, private>
      %1 = eltwise.neg %0 : f32
      stripe.store %1, %y : !stripe.view<1xf32, private>
    }
    stripe.block [%i : 8]
        in %x = %late[%i] : 1
        in %z = %turned[%i] : 1
        out %y = %r[%i] : 1
        out %w = %q[%i] : 1 {
      %0 = stripe.load %x : !stripe.view<1xf32, private>
      %1 = stripe.load %z : !stripe.view<1xf32, private>
      stripe.store %0, %y : !stripe.view<1xf32>
      stripe.store %1, %w : !stripe.view<1xf32>
    }
  }
  func.return %R, %Q : !stripe.view<8xf32>, !stripe.view<8xf32>
}
