// RUN: tile-opt %s -p stripe-plan-vectors | filecheck %s
// RUN: tile-opt %s -p 'stripe-plan-vectors{bits=32}' | filecheck %s --check-prefix=SCALAR
// RUN: not tile-opt %s -p 'stripe-plan-vectors{bits=0}' 2>&1 | filecheck %s --check-prefix=ERROR
// ERROR: error: expected bits of 1 or more, got 0
// SCALAR-NOT: : 32 vector

// The index that steps through the last axis of the output; the longest of several.
// CHECK-LABEL: func.func @outputs
// CHECK: stripe.block "rows" [%i : 8, %j : 32 vector]
// CHECK: attributes {stripe.scheduled = #stripe.schedule<over [i, j], points bind [_, vector] because "16 at a time, as they are neighbours where written">} {
// CHECK: stripe.block "two" [%i : 2, %j : 32 vector, %k : 4]
func.func @outputs(%A : !stripe.view<8x32xf32>) -> (!stripe.view<8x32xf32>, !stripe.view<40xf32>) {
  %O = stripe.alloc : !stripe.view<8x32xf32>
  stripe.block "rows" [%i : 8, %j : 32]
      in %a = %A[%i, %j] : 1x1
      out %o = %O[%i, %j] : 1x1 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %o : !stripe.view<1x1xf32>
  }
  %P = stripe.alloc : !stripe.view<40xf32>
  stripe.block "two" [%i : 2, %j : 32, %k : 4]
      in %a = %A[%i, 0] : 1x1
      out %p = %P[%j + %k] : 1 add {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %p : !stripe.view<1xf32>
  }
  func.return %O, %P : !stripe.view<8x32xf32>, !stripe.view<40xf32>
}

// What is bound stays so: another index is chosen where one is free.
// CHECK-LABEL: func.func @bound
// CHECK: stripe.block "chosen" [%j : 32, %k : 4 vector]
// CHECK: stripe.block "loop" [%j : 32 loop, %k : 4 vector]
// CHECK: stripe.block "none" [%j : 32 loop, %k : 4 unroll]
// CHECK: stripe.block "outer" [%j : 32]
func.func @bound(%A : !stripe.view<f32>) -> !stripe.view<40xf32> {
  %P = stripe.alloc : !stripe.view<40xf32>
  stripe.block "chosen" [%j : 32, %k : 4 vector]
      in %a = %A[]
      out %p = %P[%j + %k] : 1 add {
    %x = stripe.load %a : !stripe.view<f32>
    stripe.store %x, %p : !stripe.view<1xf32>
  }
  stripe.block "loop" [%j : 32 loop, %k : 4]
      in %a = %A[]
      out %p = %P[%j + %k] : 1 add {
    %x = stripe.load %a : !stripe.view<f32>
    stripe.store %x, %p : !stripe.view<1xf32>
  }
  stripe.block "none" [%j : 32 loop, %k : 4 unroll]
      in %a = %A[]
      out %p = %P[%j + %k] : 1 add {
    %x = stripe.load %a : !stripe.view<f32>
    stripe.store %x, %p : !stripe.view<1xf32>
  }
  stripe.block "outer" [%j : 32]
      in %a = %A[]
      out %p = %P[%j] : 1 {
    stripe.block []
        in %b = %a[]
        out %q = %p[0] : 1 {
      %x = stripe.load %b : !stripe.view<f32>
      stripe.store %x, %q : !stripe.view<1xf32>
    }
  }
  func.return %P : !stripe.view<40xf32>
}

// The longer vectors: 12 columns make four lanes that are added up for each row, 32 rows
// sixteen that are collected. Of 48 columns neither is longer.
// CHECK-LABEL: func.func @longer
// CHECK: stripe.block "few" [%i : 32 vector, %j : 12]
// CHECK: stripe.block "many" [%i : 32, %j : 48 vector]
func.func @longer(%A : !stripe.view<32x12xf32>, %B : !stripe.view<32x48xf32>) -> !stripe.view<32xf32> {
  %S = stripe.alloc : !stripe.view<32xf32>
  stripe.block "few" [%i : 32, %j : 12]
      in %a = %A[%i, %j] : 1x1
      out %s = %S[%i] : 1 add {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %s : !stripe.view<1xf32>
  }
  stripe.block "many" [%i : 32, %j : 48]
      in %b = %B[%i, %j] : 1x1
      out %s = %S[%i] : 1 add {
    %x = stripe.load %b : !stripe.view<1x1xf32>
    stripe.store %x, %s : !stripe.view<1xf32>
  }
  func.return %S : !stripe.view<32xf32>
}
