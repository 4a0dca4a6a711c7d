// RUN: tile-opt %s -p stripe-unroll | filecheck %s
// RUN: tile-opt %s -p 'stripe-unroll{hardware="cpu-avx512:overheads.unrolled_copies=15"}' | filecheck %s --check-prefix=LIMIT
// RUN: tile-opt %s -p 'stripe-unroll{hardware="cpu-avx512:parallel.vector.registers=19"}' | filecheck %s --check-prefix=FEW
// RUN: tile-opt %s -p 'stripe-unroll{hardware="cpu-avx512:overheads.unrolled_statements=79"}' | filecheck %s --check-prefix=SHORT

// The indices of a private buffer, together at most `unrolled_copies` values; what is bound stays so.
// CHECK-LABEL: func.func @accumulators
// CHECK: stripe.block [%i : 4, %l : 2]
// CHECK: stripe.block [%k : 32, %i_1 : 8 unroll, %j : 2 unroll]
// CHECK: over [k, i, j], points bind [_, unroll, unroll] because "registers hold %acc">} {
// CHECK: stripe.block [%k : 2, %j : 8 unroll]
// LIMIT: stripe.block [%k : 32, %i_1 : 8, %j : 2]
func.func @accumulators(%A : !stripe.view<8x32xf32>) -> !stripe.view<4xf32> {
  %O = stripe.alloc : !stripe.view<4xf32>
  stripe.block [%i : 4, %l : 2]
      in %a = %A[0, 0] : 8x32
      out %o = %O[%i] : 1 add {
    %acc = stripe.alloc : !stripe.view<8x16xf32, private>
    stripe.block [%k : 32, %i_1 : 8, %j : 2]
        in %a_1 = %a[%i_1, %k] : 1x1
        out %c = %acc[%i_1, 2 * %i + %j] : 1x1 add init 0 {
      %0 = stripe.load %a_1 : !stripe.view<1x1xf32>
      stripe.store %0, %c : !stripe.view<1x1xf32, private>
    }
    stripe.block [%k : 2, %j : 8 unroll]
        in %c = %acc[%j, 0] : 1x1
        out %o_1 = %o[0] : 1 add {
      %0 = stripe.load %c : !stripe.view<1x1xf32, private>
      stripe.store %0, %o_1 : !stripe.view<1xf32>
    }
  }
  func.return %O : !stripe.view<4xf32>
}

// An array in which subscripts choose is in memory; a serial block may be unrolled.
// CHECK-LABEL: func.func @chosen
// CHECK: stripe.block [%j : 4]
// CHECK: stripe.block serial [%k : 4 unroll]
func.func @chosen(%I : !stripe.view<8xsi32>) -> !stripe.view<8xsi32> {
  %O = stripe.alloc : !stripe.view<8xsi32>
  stripe.block [%i : 8]
      in %n = %I[%i] : 1
      out %o = %O[%i] : 1 {
    %t = stripe.alloc : !stripe.view<4xsi32, private>
    %u = stripe.alloc : !stripe.view<5xsi32, private>
    stripe.block [%j : 4]
        out %c = %t[%j] : 1 {
      %p = stripe.index %j : si32
      stripe.store %p, %c : !stripe.view<1xsi32, private>
    }
    %p = stripe.load %n : !stripe.view<1xsi32>
    %x = stripe.load %t[%p] : !stripe.view<4xsi32, private>
    stripe.block []
        out %c = %u[0] : 1 {
      stripe.store %x, %c : !stripe.view<1xsi32, private>
    }
    stripe.block serial [%k : 4]
        in %c = %u[%k] : 1
        out %d = %u[%k + 1] : 1 {
      %y = stripe.load %c : !stripe.view<1xsi32, private>
      stripe.store %y, %d : !stripe.view<1xsi32, private>
    }
    stripe.block []
        in %c = %u[4] : 1
        out %d = %o[0] : 1 {
      %y = stripe.load %c : !stripe.view<1xsi32, private>
      stripe.store %y, %d : !stripe.view<1xsi32>
    }
  }
  func.return %O : !stripe.view<8xsi32>
}

// Steps of `%j` read cells again: with 8 values of `%y` there are 10 to load, not 24.
// Those of `%i` read other rows. With few registers what is read again does not fit.
// CHECK-LABEL: func.func @windows
// CHECK: stripe.block [%i : 3, %j : 3 unroll, %y_1 : 8 unroll]
// LIMIT-LABEL: func.func @windows
// LIMIT: stripe.block [%i : 3, %j : 3, %y_1 : 8 unroll]
// FEW-LABEL: func.func @windows
// FEW: stripe.block [%i : 3, %j : 3, %y_1 : 8 unroll]
func.func @windows(%I : !stripe.view<18x18xf32>, %K : !stripe.view<3x3xf32>) -> !stripe.view<16x16xf32> {
  %O = stripe.alloc : !stripe.view<16x16xf32>
  stripe.block [%x : 16, %y : 2]
      in %I_1 = %I[%x, 8 * %y] : 3x10
      in %k = %K[0, 0] : 3x3
      out %o = %O[%x, 8 * %y] : 1x8 {
    %acc = stripe.alloc : !stripe.view<8xf32, private>
    stripe.block [%i : 3, %j : 3, %y_1 : 8]
        in %i_1 = %I_1[%i, %j + %y_1] : 1x1
        in %k_1 = %k[%i, %j] : 1x1
        out %c = %acc[%y_1] : 1 add init 0 {
      %0 = stripe.load %i_1 : !stripe.view<1x1xf32>
      %1 = stripe.load %k_1 : !stripe.view<1x1xf32>
      %2 = eltwise.mul %0, %1 : f32
      stripe.store %2, %c : !stripe.view<1xf32, private>
    }
    stripe.block [%e : 8]
        in %c = %acc[%e] : 1
        out %o_1 = %o[0, %e] : 1x1 {
      %0 = stripe.load %c : !stripe.view<1xf32, private>
      stripe.store %0, %o_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %O : !stripe.view<16x16xf32>
}

// A product reads other cells in each step: nothing around its tile is unrolled.
// CHECK-LABEL: func.func @product
// CHECK: stripe.block [%k : 4, %i_1 : 4 unroll, %j : 4 unroll]
func.func @product(%A : !stripe.view<8x4xf32>, %B : !stripe.view<4x4xf32>) -> !stripe.view<8x4xf32> {
  %O = stripe.alloc : !stripe.view<8x4xf32>
  stripe.block [%i : 2]
      in %a = %A[4 * %i, 0] : 4x4
      in %b = %B[0, 0] : 4x4
      out %o = %O[4 * %i, 0] : 4x4 {
    %acc = stripe.alloc : !stripe.view<4x4xf32, private>
    stripe.block [%k : 4, %i_1 : 4, %j : 4]
        in %a_1 = %a[%i_1, %k] : 1x1
        in %b_1 = %b[%k, %j] : 1x1
        out %c = %acc[%i_1, %j] : 1x1 add init 0 {
      %0 = stripe.load %a_1 : !stripe.view<1x1xf32>
      %1 = stripe.load %b_1 : !stripe.view<1x1xf32>
      %2 = eltwise.mul %0, %1 : f32
      stripe.store %2, %c : !stripe.view<1x1xf32, private>
    }
    stripe.block [%e : 4, %f : 4]
        in %c = %acc[%e, %f] : 1x1
        out %o_1 = %o[%e, %f] : 1x1 {
      %0 = stripe.load %c : !stripe.view<1x1xf32, private>
      stripe.store %0, %o_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %O : !stripe.view<8x4xf32>
}

// A buffer of 80 cells is too long for registers: a loop over a part of it is unrolled
// only where that makes few statements, and a loop over an accumulator in any case.
// CHECK-LABEL: func.func @long
// CHECK: stripe.block [%j : 40 unroll]
// CHECK: stripe.block [%k : 4, %j : 40 unroll]
// SHORT-LABEL: func.func @long
// SHORT: stripe.block [%j : 40]
// SHORT: stripe.block [%k : 4, %j : 40 unroll]
func.func @long(%A : !stripe.view<2x4x80xf32>) -> !stripe.view<2x80xf32> {
  %O = stripe.alloc : !stripe.view<2x80xf32>
  stripe.block [%i : 2]
      in %a = %A[%i, 0, 0] : 1x4x80
      out %o = %O[%i, 0] : 1x80 {
    %row = stripe.alloc : !stripe.view<80xf32, private>
    stripe.block [%j : 40]
        in %a_1 = %a[0, 0, %j] : 1x1x1
        out %r = %row[%j] : 1 {
      %0 = stripe.load %a_1 : !stripe.view<1x1x1xf32>
      stripe.store %0, %r : !stripe.view<1xf32, private>
    }
    %acc = stripe.alloc : !stripe.view<40xf32, private>
    stripe.block [%k : 4, %j : 40]
        in %a_1 = %a[0, %k, %j] : 1x1x1
        out %c = %acc[%j] : 1 add init 0 {
      %0 = stripe.load %a_1 : !stripe.view<1x1x1xf32>
      stripe.store %0, %c : !stripe.view<1xf32, private>
    }
    stripe.block [%j : 40]
        in %r = %row[%j] : 1
        in %c = %acc[%j] : 1
        out %o_1 = %o[0, %j] : 1x1 {
      %0 = stripe.load %r : !stripe.view<1xf32, private>
      %1 = stripe.load %c : !stripe.view<1xf32, private>
      %2 = eltwise.add %0, %1 : f32
      stripe.store %2, %o_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %O : !stripe.view<2x80xf32>
}

// What is in no accumulator is unrolled where that makes few statements, not 16 times 9.
// CHECK-LABEL: func.func @statements
// CHECK: stripe.block [%j : 16]
// CHECK: stripe.block [%j : 16 unroll]
func.func @statements(%A : !stripe.view<2x16xf32>) -> !stripe.view<2x16xf32> {
  %O = stripe.alloc : !stripe.view<2x16xf32>
  stripe.block [%i : 2]
      in %a = %A[%i, 0] : 1x16
      out %o = %O[%i, 0] : 1x16 {
    %row = stripe.alloc : !stripe.view<16xf32, private>
    stripe.block [%j : 16]
        in %a_1 = %a[0, %j] : 1x1
        out %r = %row[%j] : 1 {
      %0 = stripe.load %a_1 : !stripe.view<1x1xf32>
      %1 = eltwise.mul %0, %0 : f32
      %2 = eltwise.mul %1, %0 : f32
      %3 = eltwise.mul %2, %1 : f32
      %4 = eltwise.mul %3, %2 : f32
      %5 = eltwise.mul %4, %3 : f32
      %6 = eltwise.mul %5, %4 : f32
      %7 = eltwise.mul %6, %5 : f32
      stripe.store %7, %r : !stripe.view<1xf32, private>
    }
    stripe.block [%j : 16]
        in %r = %row[%j] : 1
        out %o_1 = %o[0, %j] : 1x1 {
      %0 = stripe.load %r : !stripe.view<1xf32, private>
      stripe.store %0, %o_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %O : !stripe.view<2x16xf32>
}
