// RUN: tile-opt %s -p stripe-unroll | filecheck %s
// RUN: tile-opt %s -p 'stripe-unroll{limit=15}' | filecheck %s --check-prefix=LIMIT

// The indices of a private buffer, together at most `limit` values; a level stays.
// CHECK-LABEL: func.func @accumulators
// CHECK: stripe.block [%i : 4, %l : 2]
// CHECK: stripe.block [%k : 32, %i_1 : 8 unroll, %j : 2 unroll]
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
