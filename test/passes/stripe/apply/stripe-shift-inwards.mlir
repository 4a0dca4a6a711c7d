// RUN: tile-opt %s -p stripe-shift-inwards | filecheck %s
// RUN: tile-opt %s -p 'stripe-shift-inwards{bits=64}' | filecheck %s --check-prefix=PAIRS

// Two tiles of 48 of 90 columns are 42 apart.
// CHECK-LABEL: func.func @evenly
// CHECK: stripe.block serial [%j : 2]
// CHECK: in %b_1 = %b[0, 84 * %j] : 8x96
// CHECK: out %c_1 = %c[42 * %j] : 48
// CHECK: stripe.block [%k : 8, %x : 48]
// CHECK-NEXT: in %b_2 = %b_1[%k, 2 * %x] : 1x1
// CHECK-NEXT: out %sum = %acc[%x] : 1 add {
// CHECK: stripe.block [%x : 48]
// CHECK-NEXT: in %from = %acc[%x] : 1
// CHECK-NEXT: out %to = %c_1[%x] : 1 {
func.func @evenly(%B : !stripe.view<8x180xf32>) -> !stripe.view<90xf32> {
  %C = stripe.alloc : !stripe.view<90xf32>
  stripe.block []
      in %b = %B[0, 0] : 8x180
      out %c = %C[0] : 90 {
    stripe.block [%j : 2]
        in %b_1 = %b[0, 96 * %j] : 8x96
        out %c_1 = %c[48 * %j] : 48 {
      %acc = stripe.alloc : !stripe.view<48xf32, private>
      stripe.block [%x : 48]
          out %cell = %acc[%x] : 1 {
        %0 = eltwise.constant 0 : f32
        stripe.store %0, %cell : !stripe.view<1xf32, private>
      }
      stripe.block [%k : 8, %x : 48]
          in %b_2 = %b_1[%k, 2 * %x] : 1x1
          out %sum = %acc[%x] : 1 add
          where 89 - 48 * %j - %x >= 0 {
        %0 = stripe.load %b_2 : !stripe.view<1x1xf32>
        stripe.store %0, %sum : !stripe.view<1xf32, private>
      }
      stripe.block [%x : 48]
          in %from = %acc[%x] : 1
          out %to = %c_1[%x] : 1
          where 89 - 48 * %j - %x >= 0 {
        %0 = stripe.load %from : !stripe.view<1xf32, private>
        stripe.store %0, %to : !stripe.view<1xf32>
      }
    }
  }
  func.return %C : !stripe.view<90xf32>
}

// The fifth tile of 32 of 133 columns has one vector of 16, from 117 on.
// CHECK-LABEL: func.func @last
// CHECK: stripe.block [%j : 4]
// CHECK: in %a_1 = %a[32 * %j] : 32
// CHECK: stripe.block [%x : 32]
// CHECK-NEXT: in %a_2 = %a_1[%x] : 1
// CHECK-NEXT: out %c_2 = %c_1[%x] : 1 {
// CHECK: stripe.block [%j : 1]
// CHECK: in %a_1 = %a[117] : 32
// CHECK: stripe.block [%x : 16]
// CHECK-NEXT: in %a_2 = %a_1[%x] : 1
// CHECK-NEXT: out %c_2 = %c_1[%x] : 1 {
func.func @last(%A : !stripe.view<133xf32>) -> !stripe.view<133xf32> {
  %C = stripe.alloc : !stripe.view<133xf32>
  stripe.block []
      in %a = %A[0] : 133
      out %c = %C[0] : 133 {
    stripe.block [%j : 5]
        in %a_1 = %a[32 * %j] : 32
        out %c_1 = %c[32 * %j] : 32 {
      stripe.block [%x : 32]
          in %a_2 = %a_1[%x] : 1
          out %c_2 = %c_1[%x] : 1
          where 132 - 32 * %j - %x >= 0 {
        %0 = stripe.load %a_2 : !stripe.view<1xf32>
        stripe.store %0, %c_2 : !stripe.view<1xf32>
      }
    }
  }
  func.return %C : !stripe.view<133xf32>
}

// Of 180 rows in tiles of 7 the 26th begins with row 173, and computes two once more.
// CHECK-LABEL: func.func @rows
// CHECK: stripe.block serial [%i : 25, %i_last : 2]
// CHECK-NEXT: in %a_1 = %a[7 * %i + 173 * %i_last, 0] : 7x32
// CHECK-NEXT: out %c_1 = %c[7 * %i + 173 * %i_last, 0] : 7x32
// CHECK-NEXT: where -%i - 24 * %i_last + 24 >= 0 {
// CHECK: stripe.block [%y : 7, %x : 32]
// CHECK-NEXT: in %a_2 = %a_1[%y, %x] : 1x1
// CHECK-NEXT: out %c_2 = %c_1[%y, %x] : 1x1 {
func.func @rows(%A : !stripe.view<180x32xf32>) -> !stripe.view<180x32xf32> {
  %C = stripe.alloc : !stripe.view<180x32xf32>
  stripe.block []
      in %a = %A[0, 0] : 180x32
      out %c = %C[0, 0] : 180x32 {
    stripe.block [%i : 26]
        in %a_1 = %a[7 * %i, 0] : 7x32
        out %c_1 = %c[7 * %i, 0] : 7x32 {
      stripe.block [%y : 7, %x : 32]
          in %a_2 = %a_1[%y, %x] : 1x1
          out %c_2 = %c_1[%y, %x] : 1x1
          where 179 - 7 * %i - %y >= 0 {
        %0 = stripe.load %a_2 : !stripe.view<1x1xf32>
        stripe.store %0, %c_2 : !stripe.view<1x1xf32>
      }
    }
  }
  func.return %C : !stripe.view<180x32xf32>
}

// Left alone where too much would be computed twice: of 7 rows in tiles of 5 three;
// 136 columns in tiles of 32 end with whole vectors of two.
// CHECK-LABEL: func.func @few
// CHECK: where -%y - 5 * %i + 6 >= 0
// PAIRS-LABEL: func.func @few
// PAIRS: where -%y - 5 * %i + 6 >= 0
// PAIRS: where -%x - 32 * %j + 135 >= 0
func.func @few(%A : !stripe.view<7x32xf32>, %B : !stripe.view<136xf32>) -> (!stripe.view<7x32xf32>, !stripe.view<136xf32>) {
  %C = stripe.alloc : !stripe.view<7x32xf32>
  %D = stripe.alloc : !stripe.view<136xf32>
  stripe.block []
      in %a = %A[0, 0] : 7x32
      in %b = %B[0] : 136
      out %c = %C[0, 0] : 7x32
      out %d = %D[0] : 136 {
    stripe.block [%i : 2]
        in %a_1 = %a[5 * %i, 0] : 5x32
        out %c_1 = %c[5 * %i, 0] : 5x32 {
      stripe.block [%y : 5, %x : 32]
          in %a_2 = %a_1[%y, %x] : 1x1
          out %c_2 = %c_1[%y, %x] : 1x1
          where 6 - 5 * %i - %y >= 0 {
        %0 = stripe.load %a_2 : !stripe.view<1x1xf32>
        stripe.store %0, %c_2 : !stripe.view<1x1xf32>
      }
    }
    stripe.block [%j : 5]
        in %b_1 = %b[32 * %j] : 32
        out %d_1 = %d[32 * %j] : 32 {
      stripe.block [%x : 32]
          in %b_2 = %b_1[%x] : 1
          out %d_2 = %d_1[%x] : 1
          where 135 - 32 * %j - %x >= 0 {
        %0 = stripe.load %b_2 : !stripe.view<1xf32>
        stripe.store %0, %d_2 : !stripe.view<1xf32>
      }
    }
  }
  func.return %C, %D : !stripe.view<7x32xf32>, !stripe.view<136xf32>
}

// Left alone: work-groups, which would store to the same cells; what is aggregated
// outside of the tile; what depends on the place in the tile, in three ways; what each
// tile sets anew; a block that reads what it writes.
// CHECK-LABEL: func.func @left_alone
// CHECK-COUNT-7: where -%x - 32 * %j + 132 >= 0
// CHECK-NOT: where
func.func @left_alone(%A : !stripe.view<133xf32>, %B : !stripe.view<32xf32>) -> (!stripe.view<133xf32>, !stripe.view<133xf32>) {
  %C = stripe.alloc : !stripe.view<133xf32>
  %D = stripe.alloc : !stripe.view<133xf32>
  stripe.block [%j : 5]
      in %a = %A[32 * %j] : 32
      out %c = %C[32 * %j] : 32 {
    stripe.block [%x : 32]
        in %a_1 = %a[%x] : 1
        out %c_1 = %c[%x] : 1
        where 132 - 32 * %j - %x >= 0 {
      %0 = stripe.load %a_1 : !stripe.view<1xf32>
      stripe.store %0, %c_1 : !stripe.view<1xf32>
    }
  }
  stripe.block []
      in %a = %A[0] : 133
      in %b = %B[0] : 32
      out %d = %D[0] : 133 {
    %s = stripe.alloc : !stripe.view<133xf32, private>
    stripe.block [%j : 5]
        in %a_1 = %a[32 * %j] : 32
        out %s_1 = %s[32 * %j] : 32 add init 0 {
      stripe.block [%x : 32]
          in %a_2 = %a_1[%x] : 1
          out %s_2 = %s_1[%x] : 1 add
          where 132 - 32 * %j - %x >= 0 {
        %0 = stripe.load %a_2 : !stripe.view<1xf32>
        stripe.store %0, %s_2 : !stripe.view<1xf32, private>
      }
    }
    stripe.block [%j : 5]
        in %b_1 = %b[0] : 32
        out %s_1 = %s[32 * %j] : 32 {
      stripe.block [%x : 32]
          in %b_2 = %b_1[%x] : 1
          out %s_2 = %s_1[%x] : 1
          where 132 - 32 * %j - %x >= 0 {
        %0 = stripe.load %b_2 : !stripe.view<1xf32>
        stripe.store %0, %s_2 : !stripe.view<1xf32, private>
      }
    }
    stripe.block [%j : 5]
        out %s_1 = %s[32 * %j] : 32 {
      stripe.block [%x : 32]
          out %s_2 = %s_1[%x] : 1
          where 132 - 32 * %j - %x >= 0 {
        %n = stripe.index %x : si32
        %0 = eltwise.cast %n : si32 to f32
        stripe.store %0, %s_2 : !stripe.view<1xf32, private>
      }
    }
    stripe.block [%j : 5]
        out %s_1 = %s[32 * %j] : 32 {
      stripe.block [%x : 32]
          out %s_2 = %s_1[%x] : 1
          where 132 - 32 * %j - %x >= 0 {
        %n = stripe.index %j : si32
        %0 = eltwise.cast %n : si32 to f32
        stripe.store %0, %s_2 : !stripe.view<1xf32, private>
      }
    }
    stripe.block [%j : 5]
        in %a_1 = %a[32 * %j] : 32
        out %d_1 = %d[0] : 133 {
      %t = stripe.alloc : !stripe.view<32xf32, private>
      stripe.block [%x : 32]
          in %a_2 = %a_1[%x] : 1
          out %t_1 = %t[%x] : 1
          where 132 - 32 * %j - %x >= 0 {
        %0 = stripe.load %a_2 : !stripe.view<1xf32>
        stripe.store %0, %t_1 : !stripe.view<1xf32, private>
      }
      stripe.block []
          in %t_1 = %t[0] : 1
          out %d_2 = %d_1[0] : 1 {
        %0 = stripe.load %t_1 : !stripe.view<1xf32, private>
        stripe.store %0, %d_2 : !stripe.view<1xf32>
      }
    }
    stripe.block [%j : 5]
        in %s_1 = %s[0] : 133
        out %d_1 = %d[32 * %j] : 32
        out %s_2 = %s[32 * %j] : 32 {
      stripe.block [%x : 32]
          in %s_3 = %s_1[%x] : 1
          out %d_2 = %d_1[%x] : 1
          out %s_4 = %s_2[%x] : 1
          where 132 - 32 * %j - %x >= 0 {
        %0 = stripe.load %s_3 : !stripe.view<1xf32, private>
        stripe.store %0, %d_2 : !stripe.view<1xf32>
        stripe.store %0, %s_4 : !stripe.view<1xf32, private>
      }
    }
  }
  func.return %C, %D : !stripe.view<133xf32>, !stripe.view<133xf32>
}
