// RUN: tile-opt %s -p stripe-round-up | filecheck %s
// RUN: tile-opt %s -p 'stripe-round-up{bits=256}' | filecheck %s --check-prefix=EIGHT

// The last tile has 4 of 32 columns; whole vectors of them are 16 or 8. What copies them
// out goes on to know where the end is.
// CHECK-LABEL: func.func @staged
// CHECK: stripe.block [%k : 8, %j_1 : 32]
// CHECK: where -%j_1 - 32 * %j + 111 >= 0 {
// CHECK: stripe.block [%e : 32]
// CHECK: where -%e - 32 * %j + 99 >= 0 {
// EIGHT-LABEL: func.func @staged
// EIGHT: where -%j_1 - 32 * %j + 103 >= 0 {
func.func @staged(%B : !stripe.view<4x8x32xf32>) -> !stripe.view<100xf32> {
  %C = stripe.alloc : !stripe.view<100xf32>
  stripe.block [%j : 4]
      in %b = %B[%j, 0, 0] : 1x8x32
      out %c = %C[32 * %j] : 32 {
    %acc = stripe.alloc : !stripe.view<32xf32, private>
    stripe.block [%k : 8, %j_1 : 32]
        in %b_1 = %b[0, %k, %j_1] : 1x1x1
        out %c_1 = %acc[%j_1] : 1 add
        where 99 - 32 * %j - %j_1 >= 0 {
      %x = stripe.load %b_1 : !stripe.view<1x1x1xf32>
      stripe.store %x, %c_1 : !stripe.view<1xf32, private>
    }
    stripe.block [%e : 32]
        in %from = %acc[%e] : 1
        out %to = %c[%e] : 1
        where 99 - 32 * %j - %e >= 0 {
      %x = stripe.load %from : !stripe.view<1xf32, private>
      stripe.store %x, %to : !stripe.view<1xf32>
    }
  }
  func.return %C : !stripe.view<100xf32>
}

// Left alone: inputs that end there, a reader of all elements, and integers.
// CHECK-LABEL: func.func @left_alone
// CHECK: where -%j_1 - 32 * %j + 99 >= 0 {
// CHECK: where -%e - 32 * %j + 99 >= 0 {
// CHECK: where -%j_1 - 32 * %j + 99 >= 0 {
// CHECK: where -%j_1 - 32 * %j + 99 >= 0 {
// CHECK: where -%e_1 - 32 * %j + 99 >= 0 {
func.func @left_alone(%A : !stripe.view<8x100xf32>, %B : !stripe.view<4x8x32xf32>, %I : !stripe.view<4x8x32xsi32>) -> (!stripe.view<100xf32>, !stripe.view<128xf32>, !stripe.view<100xsi32>) {
  %C = stripe.alloc : !stripe.view<100xf32>
  %D = stripe.alloc : !stripe.view<128xf32>
  %E = stripe.alloc : !stripe.view<100xsi32>
  stripe.block [%j : 4]
      in %a = %A[0, 32 * %j] : 8x32
      out %c = %C[32 * %j] : 32 {
    %acc = stripe.alloc : !stripe.view<32xf32, private>
    stripe.block [%k : 8, %j_1 : 32]
        in %a_1 = %a[%k, %j_1] : 1x1
        out %c_1 = %acc[%j_1] : 1 add
        where 99 - 32 * %j - %j_1 >= 0 {
      %x = stripe.load %a_1 : !stripe.view<1x1xf32>
      stripe.store %x, %c_1 : !stripe.view<1xf32, private>
    }
    stripe.block [%e : 32]
        in %from = %acc[%e] : 1
        out %to = %c[%e] : 1
        where 99 - 32 * %j - %e >= 0 {
      %x = stripe.load %from : !stripe.view<1xf32, private>
      stripe.store %x, %to : !stripe.view<1xf32>
    }
  }
  stripe.block [%j : 4]
      in %b = %B[%j, 0, 0] : 1x8x32
      out %d = %D[32 * %j] : 32 {
    %acc = stripe.alloc : !stripe.view<32xf32, private>
    stripe.block [%k : 8, %j_1 : 32]
        in %b_1 = %b[0, %k, %j_1] : 1x1x1
        out %c_1 = %acc[%j_1] : 1 add
        where 99 - 32 * %j - %j_1 >= 0 {
      %x = stripe.load %b_1 : !stripe.view<1x1x1xf32>
      stripe.store %x, %c_1 : !stripe.view<1xf32, private>
    }
    stripe.block [%e : 32]
        in %from = %acc[%e] : 1
        out %to = %d[%e] : 1 {
      %x = stripe.load %from : !stripe.view<1xf32, private>
      stripe.store %x, %to : !stripe.view<1xf32>
    }
  }
  stripe.block [%j : 4]
      in %i = %I[%j, 0, 0] : 1x8x32
      out %e = %E[32 * %j] : 32 {
    %acc = stripe.alloc : !stripe.view<32xsi32, private>
    stripe.block [%k : 8, %j_1 : 32]
        in %b_1 = %i[0, %k, %j_1] : 1x1x1
        out %c_1 = %acc[%j_1] : 1 add
        where 99 - 32 * %j - %j_1 >= 0 {
      %x = stripe.load %b_1 : !stripe.view<1x1x1xsi32>
      stripe.store %x, %c_1 : !stripe.view<1xsi32, private>
    }
    stripe.block [%e_1 : 32]
        in %from = %acc[%e_1] : 1
        out %to = %e[%e_1] : 1
        where 99 - 32 * %j - %e_1 >= 0 {
      %x = stripe.load %from : !stripe.view<1xsi32, private>
      stripe.store %x, %to : !stripe.view<1xsi32>
    }
  }
  func.return %C, %D, %E : !stripe.view<100xf32>, !stripe.view<128xf32>, !stripe.view<100xsi32>
}

// What is read beyond the end was set in one block, and never in the other.
// CHECK-LABEL: func.func @set
// CHECK: stripe.block [%e : 32]
// CHECK-NEXT: in %b_1
// CHECK-NEXT: out %whole_1 = %whole[%e] : 1 {
// CHECK: stripe.block [%e : 32]
// CHECK: where -%e - 32 * %j + 99 >= 0 {
// CHECK: where -%j_1 - 32 * %j + 111 >= 0 {
// CHECK: where -%j_1 - 32 * %j + 99 >= 0 {
func.func @set(%A : !stripe.view<100xf32>, %B : !stripe.view<4x32xf32>) -> !stripe.view<100xf32> {
  %C = stripe.alloc : !stripe.view<100xf32>
  stripe.block [%j : 4]
      in %a = %A[32 * %j] : 32
      in %b = %B[%j, 0] : 1x32
      out %c = %C[32 * %j] : 32 {
    %whole = stripe.alloc : !stripe.view<32xf32, private>
    %part = stripe.alloc : !stripe.view<32xf32, private>
    %acc = stripe.alloc : !stripe.view<32xf32, private>
    stripe.block [%e : 32]
        in %b_1 = %b[0, %e] : 1x1
        out %whole_1 = %whole[%e] : 1 {
      %x = stripe.load %b_1 : !stripe.view<1x1xf32>
      stripe.store %x, %whole_1 : !stripe.view<1xf32, private>
    }
    stripe.block [%e : 32]
        in %a_1 = %a[%e] : 1
        out %part_1 = %part[%e] : 1
        where 99 - 32 * %j - %e >= 0 {
      %x = stripe.load %a_1 : !stripe.view<1xf32>
      %y = eltwise.add %x, %x : f32
      stripe.store %y, %part_1 : !stripe.view<1xf32, private>
    }
    stripe.block [%j_1 : 32]
        in %whole_1 = %whole[%j_1] : 1
        out %acc_1 = %acc[%j_1] : 1 add init 0
        where 99 - 32 * %j - %j_1 >= 0 {
      %x = stripe.load %whole_1 : !stripe.view<1xf32, private>
      stripe.store %x, %acc_1 : !stripe.view<1xf32, private>
    }
    stripe.block [%j_1 : 32]
        in %part_1 = %part[%j_1] : 1
        out %acc_1 = %acc[%j_1] : 1 add
        where 99 - 32 * %j - %j_1 >= 0 {
      %x = stripe.load %part_1 : !stripe.view<1xf32, private>
      stripe.store %x, %acc_1 : !stripe.view<1xf32, private>
    }
    stripe.block [%e : 32]
        in %acc_1 = %acc[%e] : 1
        out %c_1 = %c[%e] : 1
        where 99 - 32 * %j - %e >= 0 {
      %x = stripe.load %acc_1 : !stripe.view<1xf32, private>
      stripe.store %x, %c_1 : !stripe.view<1xf32>
    }
  }
  func.return %C : !stripe.view<100xf32>
}

// What the first of the points along the vectors reads, too, is set, whoever sets it; not
// where that point may be left out itself.
// CHECK-LABEL: func.func @read_anyway
// CHECK: where -5 * %t - %e + 7 >= 0 {
// CHECK: where -%j_1 - 32 * %j + 111 >= 0 {
// CHECK: where -%j_1 - 32 * %j + 99 >= 0, %k - %j_1 >= 0 {
func.func @read_anyway(%A : !stripe.view<8xf32>, %B : !stripe.view<4x8x32xf32>) -> !stripe.view<100xf32> {
  %C = stripe.alloc : !stripe.view<100xf32>
  stripe.block []
      in %a = %A[0] : 8
      in %b = %B[0, 0, 0] : 4x8x32
      out %c = %C[0] : 100 {
    %row = stripe.alloc : !stripe.view<8xf32, private>
    stripe.block [%t : 2, %e : 5]
        in %a_1 = %a[5 * %t + %e] : 1
        out %row_1 = %row[5 * %t + %e] : 1
        where 7 - 5 * %t - %e >= 0 {
      %x = stripe.load %a_1 : !stripe.view<1xf32>
      stripe.store %x, %row_1 : !stripe.view<1xf32, private>
    }
    stripe.block [%j : 4]
        in %b_1 = %b[%j, 0, 0] : 1x8x32
        in %row_1 = %row[0] : 8
        out %c_1 = %c[32 * %j] : 32 {
      %acc = stripe.alloc : !stripe.view<32xf32, private>
      stripe.block [%k : 8, %j_1 : 32]
          in %x_1 = %row_1[%k] : 1
          in %y_1 = %b_1[0, %k, %j_1] : 1x1x1
          out %acc_1 = %acc[%j_1] : 1 add init 0
          where 99 - 32 * %j - %j_1 >= 0 {
        %x = stripe.load %x_1 : !stripe.view<1xf32, private>
        %y = stripe.load %y_1 : !stripe.view<1x1x1xf32>
        %z = eltwise.mul %x, %y : f32
        stripe.store %z, %acc_1 : !stripe.view<1xf32, private>
      }
      stripe.block [%k : 8, %j_1 : 32]
          in %x_1 = %row_1[%k] : 1
          in %y_1 = %b_1[0, %k, %j_1] : 1x1x1
          out %acc_1 = %acc[%j_1] : 1 add
          where 99 - 32 * %j - %j_1 >= 0, %k - %j_1 >= 0 {
        %x = stripe.load %x_1 : !stripe.view<1xf32, private>
        %y = stripe.load %y_1 : !stripe.view<1x1x1xf32>
        %z = eltwise.mul %x, %y : f32
        stripe.store %z, %acc_1 : !stripe.view<1xf32, private>
      }
      stripe.block [%e : 32]
          in %acc_1 = %acc[%e] : 1
          out %c_2 = %c_1[%e] : 1
          where 99 - 32 * %j - %e >= 0 {
        %x = stripe.load %acc_1 : !stripe.view<1xf32, private>
        stripe.store %x, %c_2 : !stripe.view<1xf32>
      }
    }
  }
  func.return %C : !stripe.view<100xf32>
}
