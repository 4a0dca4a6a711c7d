// RUN: tile-opt %s -p stripe-separate | filecheck %s
// RUN: tile-opt %s -p 'stripe-separate{bits=128}' | filecheck %s --check-prefix=NARROW
// RUN: tile-opt %s -p 'stripe-separate{limit=1}' | filecheck %s --check-prefix=LIMIT
// RUN: tile-opt %s -p 'stripe-separate{grain=1}' | filecheck %s --check-prefix=CHEAP
// RUN: tile-opt %s -p 'stripe-separate{share=2}' | filecheck %s --check-prefix=SHARE
// RUN: tile-opt %s -p 'stripe-separate{grain=1000000}' | filecheck %s --check-prefix=RARE

// The pixels of a tile all take part where a condition on the tile and the row of the
// kernel says so, which is tested outside of the loop over channels; the others have a
// shorter range.
// CHECK-LABEL: func.func @convolution
// CHECK: stripe.block [%ky : 3, %c : 64, %y_1 : 14]
// CHECK-NEXT: in %i_1 = %i[%ky + %y_1, %c] : 1x1
// CHECK-NEXT: in %k_1 = %k[%ky, %c] : 1x1
// CHECK-NEXT: out %o = %o_acc[%y_1] : 1 add
// CHECK-NEXT: where %ky + 14 * %y - 1 >= 0, -%ky - 14 * %y + 43 >= 0 {
// CHECK: stripe.block [%ky : 1, %c : 64, %y_1 : 13]
// CHECK-NEXT: in %i_1 = %i[%ky + %y_1 + 1, %c] : 1x1
// CHECK-NEXT: in %k_1 = %k[%ky, %c] : 1x1
// CHECK-NEXT: out %o = %o_acc[%y_1 + 1] : 1 add
// CHECK-NEXT: where -%y >= 0 {
// CHECK: stripe.block [%ky : 1, %c : 64, %y_1 : 13]
// CHECK-NEXT: in %i_1 = %i[%ky + %y_1 + 2, %c] : 1x1
// CHECK-NEXT: in %k_1 = %k[%ky + 2, %c] : 1x1
// CHECK-NEXT: out %o = %o_acc[%y_1] : 1 add
// CHECK-NEXT: where %y - 3 >= 0 {
// CHECK-NOT: stripe.block

// With no further code allowed nothing is split.
// LIMIT-LABEL: func.func @convolution
// LIMIT: where %ky + %y_1 + 14 * %y - 1 >= 0, -%ky - %y_1 - 14 * %y + 56 >= 0 {
// LIMIT: func.return

// CHEAP-LABEL: func.func @convolution
// CHEAP: where %ky + %y_1 + 14 * %y - 1 >= 0, -%ky - %y_1 - 14 * %y + 56 >= 0 {
// CHEAP: func.return

// Where no loop contains enough, conditions are on the blocks around alone.
// RARE-LABEL: func.func @convolution
// RARE: where %y - 1 >= 0, -%y + 2 >= 0 {
// RARE: [%ky : 2, %c : 64, %y_1 : 14]
// RARE: where -%y >= 0 {
// RARE: [%ky : 2, %c : 64, %y_1 : 14]
// RARE: where %y - 3 >= 0 {
// RARE: [%ky : 1, %c : 64, %y_1 : 13]
// RARE: where -%y >= 0 {
// RARE: [%ky : 1, %c : 64, %y_1 : 13]
// RARE: where %y - 3 >= 0 {
func.func @convolution(%I : !stripe.view<56x64xf32>, %K : !stripe.view<3x64xf32>) -> !stripe.view<56xf32> {
  %O = stripe.alloc : !stripe.view<56xf32>
  stripe.block [%y : 4]
      in %i = %I[14 * %y - 1, 0] : 16x64
      in %k = %K[0, 0] : 3x64
      out %o_acc = %O[14 * %y] : 14 add {
    stripe.block [%ky : 3, %c : 64, %y_1 : 14]
        in %i_1 = %i[%ky + %y_1, %c] : 1x1
        in %k_1 = %k[%ky, %c] : 1x1
        out %o = %o_acc[%y_1] : 1 add
        where %ky + %y_1 + 14 * %y - 1 >= 0, 56 - %ky - %y_1 - 14 * %y >= 0 {
      %0 = stripe.load %i_1 : !stripe.view<1x1xf32>
      %1 = stripe.load %k_1 : !stripe.view<1x1xf32>
      %2 = eltwise.mul %0, %1 : f32
      stripe.store %2, %o : !stripe.view<1xf32>
    }
  }
  func.return %O : !stripe.view<56xf32>
}

// What tiles leave over: whole tiles, then whole vectors of the last one, then the rest.
// CHECK-LABEL: func.func @rest
// CHECK: stripe.block [%j_1 : 32]
// CHECK: where -%j + 1 >= 0 {
// CHECK: stripe.block [%j_1 : 4]
// CHECK-NEXT: in %a_1 = %a[%j_1] : 1
// CHECK-NEXT: out %c_1 = %c[%j_1] : 1
// CHECK-NEXT: where %j - 2 >= 0 {
// CHECK: stripe.block [%j_1 : 2]
// CHECK-NEXT: in %a_1 = %a[%j_1 + 4] : 1
// CHECK-NEXT: out %c_1 = %c[%j_1 + 4] : 1
// CHECK-NEXT: where %j - 2 >= 0 {
// CHECK-NOT: stripe.block
func.func @rest(%A : !stripe.view<70xf32>) -> !stripe.view<70xf32> {
  %C = stripe.alloc : !stripe.view<70xf32>
  stripe.block [%j : 3]
      in %a = %A[32 * %j] : 32
      out %c = %C[32 * %j] : 32 {
    stripe.block [%j_1 : 32]
        in %a_1 = %a[%j_1] : 1
        out %c_1 = %c[%j_1] : 1
        where 69 - 32 * %j - %j_1 >= 0 {
      %x = stripe.load %a_1 : !stripe.view<1xf32>
      stripe.store %x, %c_1 : !stripe.view<1xf32>
    }
  }
  func.return %C : !stripe.view<70xf32>
}

// Vectors alone: 31 is 16 + 8 + 4 + 3 with vectors of up to 16, with vectors of 4 it is
// 28 + 3. Indices as numbers count on.
// CHECK-LABEL: func.func @vectors
// CHECK: [%j : 16]
// CHECK: stripe.index %j : si32
// CHECK: [%j : 8]
// CHECK: stripe.index %j + 16 : si32
// CHECK: [%j : 4]
// CHECK: stripe.index %j + 24 : si32
// CHECK: [%j : 3]
// CHECK: stripe.index %j + 28 : si32
// NARROW-LABEL: func.func @vectors
// NARROW: [%j : 28]
// NARROW: [%j : 3]
func.func @vectors() -> !stripe.view<2x31xsi32> {
  %C = stripe.alloc : !stripe.view<2x31xsi32>
  stripe.block [%i : 2]
      out %c = %C[%i, 0] : 1x31 {
    stripe.block [%j : 31]
        out %c_1 = %c[0, %j] : 1x1 {
      %x = stripe.index %j : si32
      stripe.store %x, %c_1 : !stripe.view<1x1xsi32>
    }
  }
  func.return %C : !stripe.view<2x31xsi32>
}

// Not worth it: the last of three tiles has less than half of the points. Indices of
// vectors are split all the same.
// SHARE-LABEL: func.func @rare
// SHARE: stripe.block [%i : 3, %j_1 : 32, %c_1 : 8]
// SHARE: where -%j + 1 >= 0 {
// SHARE: stripe.block [%i : 3, %j_1 : 31, %c_1 : 8]
// SHARE: where %j - 2 >= 0, -%i - %j_1 - 32 * %j + 94 >= 0 {
// SHARE: func.return
func.func @rare(%A : !stripe.view<96x8xf32>) -> !stripe.view<96x8xf32> {
  %C = stripe.alloc : !stripe.view<96x8xf32>
  stripe.block [%j : 3]
      in %a = %A[32 * %j, 0] : 32x8
      out %c = %C[32 * %j, 0] : 32x8 max {
    stripe.block [%i : 3, %j_1 : 32, %c_1 : 8]
        in %a_1 = %a[%j_1, %c_1] : 1x1
        out %o = %c[%j_1, %c_1] : 1x1 max
        where 94 - 32 * %j - %j_1 - %i >= 0 {
      %x = stripe.load %a_1 : !stripe.view<1x1xf32>
      stripe.store %x, %o : !stripe.view<1x1xf32>
    }
  }
  func.return %C : !stripe.view<96x8xf32>
}

// Left alone: at the top level, where order matters, and where cells are set.
// CHECK-LABEL: func.func @left_alone
// CHECK: stripe.block [%i : 9]
// CHECK: where -%i + 7 >= 0
// CHECK: stripe.block [%i : 3]
// CHECK: stripe.block serial [%j : 4]
// CHECK: where %j - %i >= 0
// CHECK: stripe.block [%j : 4]
// CHECK: where %j - %i >= 0
// CHECK-NOT: stripe.block
func.func @left_alone(%A : !stripe.view<12xf32>) -> (!stripe.view<12xf32>, !stripe.view<12xf32>, !stripe.view<12xf32>) {
  %C = stripe.alloc : !stripe.view<12xf32>
  %D = stripe.alloc : !stripe.view<12xf32>
  %E = stripe.alloc : !stripe.view<12xf32>
  stripe.block [%i : 9]
      in %a = %A[%i] : 1
      out %c = %C[%i] : 1
      where 7 - %i >= 0 {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %c : !stripe.view<1xf32>
  }
  stripe.block [%i : 3]
      in %a = %A[4 * %i] : 4
      out %d = %D[4 * %i] : 4
      out %e = %E[4 * %i] : 4 {
    stripe.block serial [%j : 4]
        in %a_1 = %a[%j] : 1
        out %d_1 = %d[%j] : 1
        where %j - %i >= 0 {
      %x = stripe.load %a_1 : !stripe.view<1xf32>
      stripe.store %x, %d_1 : !stripe.view<1xf32>
    }
    stripe.block [%j : 4]
        in %a_1 = %a[%j] : 1
        out %e_1 = %e[%j] : 1 add init 0
        where %j - %i >= 0 {
      %x = stripe.load %a_1 : !stripe.view<1xf32>
      stripe.store %x, %e_1 : !stripe.view<1xf32>
    }
  }
  func.return %C, %D, %E : !stripe.view<12xf32>, !stripe.view<12xf32>, !stripe.view<12xf32>
}

// A test in a loop stays in front of 16 vectors; one in the middle of accumulators, in
// front of 8, does not.
// CHECK-LABEL: func.func @accumulators
// CHECK: stripe.block [%k : 3, %x : 2, %v : 128]
// CHECK: where -%g + 2 >= 0, %k + %g - 1 >= 0 {
// CHECK: stripe.block [%k : 3, %x : 1, %v : 128]
// CHECK: where %g - 3 >= 0 {
func.func @accumulators(%I : !stripe.view<6x7x128xf32>) -> !stripe.view<4x2x128xf32> {
  %O = stripe.alloc : !stripe.view<4x2x128xf32>
  stripe.block [%g : 4]
      in %i = %I[%g - 1, 2 * %g, 0] : 3x2x128
      out %o = %O[%g, 0, 0] : 1x2x128 {
    %t = stripe.alloc : !stripe.view<2x128xf32, private>
    stripe.block [%x : 2, %v : 128]
        out %t_1 = %t[%x, %v] : 1x1 {
      %0 = eltwise.constant 0.0 : f32
      stripe.store %0, %t_1 : !stripe.view<1x1xf32, private>
    }
    stripe.block [%k : 3, %x : 2, %v : 128]
        in %i_1 = %i[%k, %x, %v] : 1x1x1
        out %t_1 = %t[%x, %v] : 1x1 add
        where %k + %g - 1 >= 0, 6 - %x - 2 * %g >= 0 {
      %0 = stripe.load %i_1 : !stripe.view<1x1x1xf32>
      stripe.store %0, %t_1 : !stripe.view<1x1xf32, private>
    }
    stripe.block [%x : 2, %v : 128]
        in %t_1 = %t[%x, %v] : 1x1
        out %o_1 = %o[0, %x, %v] : 1x1x1 {
      %0 = stripe.load %t_1 : !stripe.view<1x1xf32, private>
      stripe.store %0, %o_1 : !stripe.view<1x1x1xf32>
    }
  }
  func.return %O : !stripe.view<4x2x128xf32>
}

// Nor does one of an index that moves windows along accumulators.
// CHECK-LABEL: func.func @window
// CHECK: stripe.block [%k : 3, %x : 2, %v : 128]
// CHECK: where %g - 1 >= 0 {
// CHECK: stripe.block [%k : 2, %x : 2, %v : 128]
// CHECK: where -%g >= 0 {
func.func @window(%I : !stripe.view<7x128xf32>) -> !stripe.view<4x2x128xf32> {
  %O = stripe.alloc : !stripe.view<4x2x128xf32>
  stripe.block [%g : 4]
      in %i = %I[%g - 1, 0] : 4x128
      out %o = %O[%g, 0, 0] : 1x2x128 {
    %t = stripe.alloc : !stripe.view<2x128xf32, private>
    stripe.block [%x : 2, %v : 128]
        out %t_1 = %t[%x, %v] : 1x1 {
      %0 = eltwise.constant 0.0 : f32
      stripe.store %0, %t_1 : !stripe.view<1x1xf32, private>
    }
    stripe.block [%k : 3, %x : 2, %v : 128]
        in %i_1 = %i[%k + %x, %v] : 1x1
        out %t_1 = %t[%x, %v] : 1x1 add
        where %k + %g - 1 >= 0 {
      %0 = stripe.load %i_1 : !stripe.view<1x1xf32>
      stripe.store %0, %t_1 : !stripe.view<1x1xf32, private>
    }
    stripe.block [%x : 2, %v : 128]
        in %t_1 = %t[%x, %v] : 1x1
        out %o_1 = %o[0, %x, %v] : 1x1x1 {
      %0 = stripe.load %t_1 : !stripe.view<1x1xf32, private>
      stripe.store %0, %o_1 : !stripe.view<1x1x1xf32>
    }
  }
  func.return %O : !stripe.view<4x2x128xf32>
}
