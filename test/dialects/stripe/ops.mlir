// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP
// RUN: tile-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: func.func @views
// CHECK-SAME: %A: !stripe.view<8x32xf32>
// CHECK-SAME: %B: !stripe.view<f64>
// CHECK-SAME: %C: !stripe.view<0x4xsi8>
// CHECK-SAME: %D: !stripe.view<4x2xvector<16xf32>, private>
// CHECK-SAME: %E: !stripe.view<3xi1, local>
func.func @views(%A : !stripe.view<8x32xf32>, %B : !stripe.view<f64, global>, %C : !stripe.view<0x4xsi8>, %D : !stripe.view<4x2xvector<16xf32>, private>, %E : !stripe.view<3xi1, local>) {
  // CHECK-NEXT: %0 = stripe.alloc : !stripe.view<16xui16>
  %0 = stripe.alloc : !stripe.view<16xui16>
  // CHECK-NEXT: %t = stripe.alloc {note} : !stripe.view<bf16, private>
  %t = stripe.alloc {note} : !stripe.view<bf16, private>
  // CHECK-NEXT: func.return
  func.return
}

// A block with everything: a name, bindings, each form of a refinement, constraints and
// attributes. Forms are printed canonically.
// CHECK-LABEL: func.func @everything
func.func @everything(%A : !stripe.view<64x64xf32>, %N : !stripe.view<f32>) -> (!stripe.view<64x64xf32>, !stripe.view<64xf32>) {
  %C = stripe.alloc : !stripe.view<64x64xf32>
  %D = stripe.alloc : !stripe.view<64xf32>
  // CHECK: stripe.block "all \22of\22 it" [%i : 8 grid, %j : 4 group, %k : 2 loop, %v : 1 unroll]
  // CHECK-NEXT:     in %a = %A[8 * %i - %k + 1, 2 * %j] : 1x4
  // CHECK-NEXT:     in %n = %N[]
  // CHECK-NEXT:     out %c = %C[8 * %i, 0] : 1x1
  // CHECK-NEXT:     out %d = %D[-%j + 3] : 1 max init -inf
  // CHECK-NEXT:     where %i - 1 >= 0, -2 * %i - %k + 14 >= 0
  // CHECK-NEXT:     attributes {stripe.schedule = #stripe.schedule<tile [4, 2, 0, 0]>} {
  stripe.block "all \"of\" it" [%i : 8 grid, %j : 4 group, %k : 2 loop, %v : 1 unroll]
      in %a = %A[2 * (4 * %i + 1) - %k - 1, %j + %j] : 1x4
      in %n = %N[]
      out %c = %C[%k + 8 * %i - %k, 0] : 1x1 assign
      out %d = %D[3 - %j] : 1 max init -inf
      where %i - 1 >= 0, 14 - 2 * %i - %k >= 0
      attributes {stripe.schedule = #stripe.schedule<tile [4, 2, 0, 0]>} {
    // CHECK-NEXT: %x = stripe.load %a : !stripe.view<1x4xf32>
    %x = stripe.load %a : !stripe.view<1x4xf32>
    // CHECK-NEXT: %y = stripe.load %n {volatile} : !stripe.view<f32>
    %y = stripe.load %n {volatile} : !stripe.view<f32>
    // CHECK-NEXT: stripe.store %y, %c : !stripe.view<1x1xf32>
    stripe.store %y, %c : !stripe.view<1x1xf32>
    // CHECK-NEXT: stripe.store %y, %d {note = 3 : i64} : !stripe.view<1xf32>
    stripe.store %y, %d {note = 3 : i64} : !stripe.view<1xf32>
  }
  func.return %C, %D : !stripe.view<64x64xf32>, !stripe.view<64xf32>
}

// Nothing but the brackets.
// CHECK-LABEL: func.func @nothing
func.func @nothing() {
  // CHECK-NEXT: stripe.block [] {
  // CHECK-NEXT: }
  stripe.block [] {
  }
  // CHECK-NEXT: stripe.block [%i : 0] {
  // CHECK-NEXT: }
  stripe.block [%i : 0] {
  }
  func.return
}

// Initial values that are integers, floats, infinite and no number.
// CHECK-LABEL: func.func @initial_values
func.func @initial_values() {
  %F = stripe.alloc : !stripe.view<4xf32>
  %I = stripe.alloc : !stripe.view<4xsi64>
  stripe.block [%i : 4]
      // CHECK: out %a = %F[%i] : 1 add init 0
      out %a = %F[%i] : 1 add init 0
      // CHECK-NEXT: out %b = %F[%i] : 1 mul init 1.5
      out %b = %F[%i] : 1 mul init 1.5
      // CHECK-NEXT: out %c = %F[%i] : 1 min init inf
      out %c = %F[%i] : 1 min init inf
      // CHECK-NEXT: out %d = %F[%i] : 1 init nan
      out %d = %F[%i] : 1 init nan
      // CHECK-NEXT: out %e = %F[%i] : 1 init -1.0e-30
      out %e = %F[%i] : 1 assign init -1.0e-30
      // CHECK-NEXT: out %f = %I[%i] : 1 max init -9223372036854775808 {
      out %f = %I[%i] : 1 max init -9223372036854775808 {
  }
  func.return
}

// Forms over indices of blocks around: each is captured once, in order of occurrence.
// CHECK-LABEL: func.func @captures
// GENERIC-LABEL: "func.func"() <{sym_name = "captures"
func.func @captures(%A : !stripe.view<64xf32>) {
  stripe.block [%i : 2]
      in %a = %A[0] : 64 {
    stripe.block [%j : 3]
        in %b = %a[32 * %i] : 32 {
      // CHECK: stripe.block [%k : 4]
      // CHECK-NEXT: in %c = %b[%k + 3 * %j] : 1
      // CHECK-NEXT: where -%k - %j + %i + 2 >= 0, %j >= 0 {
      // GENERIC: #stripe.refinement<3 : in [d0 + 3 * d1]>
      // GENERIC-SAME: #stripe.form<3 : -d0 - d1 + d2 + 2>
      stripe.block [%k : 4]
          in %c = %b[3 * %j + %k] : 1
          where %i - %j - %k + 2 >= 0, %j >= 0 {
      }
    }
  }
  func.return
}

// Allocations are read and written.
// CHECK-LABEL: func.func @allocation
func.func @allocation() {
  stripe.block [%i : 2] {
    %t = stripe.alloc : !stripe.view<4xf32, private>
    %u = stripe.alloc : !stripe.view<1x1xvector<4xf32>, private>
    // CHECK: %x = stripe.load %t : !stripe.view<4xf32, private>
    %x = stripe.load %t : !stripe.view<4xf32, private>
    // CHECK-NEXT: stripe.store %x, %u : !stripe.view<1x1xvector<4xf32>, private>
    stripe.store %x, %u : !stripe.view<1x1xvector<4xf32>, private>
    // CHECK-NEXT: stripe.block []
    // CHECK-NEXT: in %r = %t[2] : 1
    // CHECK-NEXT: out %w = %t[3] : 1 {
    stripe.block []
        in %r = %t[2] : 1
        out %w = %t[3] : 1 {
    }
  }
  func.return
}

// Names of one block's arguments may be used by the next.
// CHECK-LABEL: func.func @names
func.func @names(%A : !stripe.view<4xf32>) {
  // CHECK: stripe.block [%i : 4]
  // CHECK-NEXT: in %a = %A[%i] : 1 {
  stripe.block [%i : 4]
      in %a = %A[%i] : 1 {
  }
  // CHECK: stripe.block [%i : 4]
  // CHECK-NEXT: in %a = %A[%i] : 1 {
  stripe.block [%i : 4]
      in %a = %A[%i] : 1 {
  }
  func.return
}

// A place in a larger window, by values and literals; vectors start there.
// CHECK-LABEL: func.func @subscripts
func.func @subscripts(%I : !stripe.view<8xsi32>, %V : !stripe.view<100x16xf32>) -> !stripe.view<100x16xf32> {
  %O = stripe.alloc : !stripe.view<100x16xf32>
  stripe.block [%i : 8]
      in %n = %I[%i] : 1
      in %v = %V[0, 0] : 100x16
      out %o = %O[0, 0] : 100x16 add init 0 {
    %p = stripe.load %n : !stripe.view<1xsi32>
    %zero = eltwise.constant 0 : si32
    %keep = eltwise.cmp_ge %p, %zero : (si32, si32) -> i1
    // CHECK: %x = stripe.load %v[%p, 3] {note} : !stripe.view<100x16xf32>
    %x = stripe.load %v[%p, 3] {note} : !stripe.view<100x16xf32>
    // CHECK-NEXT: %y = stripe.load %v[%p, 8] : !stripe.view<100x16xf32> -> vector<8xf32>
    %y = stripe.load %v[%p, 8] : !stripe.view<100x16xf32> -> vector<8xf32>
    // CHECK-NEXT: stripe.store %x, %o[99, %p] : !stripe.view<100x16xf32>
    stripe.store %x, %o[99, %p] : !stripe.view<100x16xf32>
    // CHECK-NEXT: stripe.store %x, %o[%p, %p] if %keep {note} : !stripe.view<100x16xf32>
    stripe.store %x, %o[%p, %p] if %keep {note} : !stripe.view<100x16xf32>
    // CHECK-NEXT: stripe.store %y, %o[%p, 0] : vector<8xf32> -> !stripe.view<100x16xf32>
    stripe.store %y, %o[%p, 0] : vector<8xf32> -> !stripe.view<100x16xf32>
  }
  stripe.block [%i : 8]
      in %n = %I[%i] : 1
      out %o = %O[%i, 0] : 1x1 {
    %p = stripe.load %n : !stripe.view<1xsi32>
    %zero = eltwise.constant 0 : si32
    %keep = eltwise.cmp_ge %p, %zero : (si32, si32) -> i1
    %x = eltwise.cast %p : si32 to f32
    // CHECK: stripe.store %x, %o if %keep : !stripe.view<1x1xf32>
    stripe.store %x, %o if %keep : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<100x16xf32>
}

// Indices as numbers, also those of blocks around.
// CHECK-LABEL: func.func @indices
func.func @indices() -> !stripe.view<8x4xsi64> {
  %O = stripe.alloc : !stripe.view<8x4xsi64>
  stripe.block [%i : 8]
      out %o = %O[%i, 0] : 1x4 {
    stripe.block [%j : 4]
        out %p = %o[0, %j] : 1x1 {
      // CHECK: %x = stripe.index 2 * %i - %j + 1 : si64
      %x = stripe.index %i + 1 - %j + %i : si64
      // CHECK-NEXT: %y = stripe.index 7 {note} : ui8
      %y = stripe.index 7 {note} : ui8
      // CHECK-NEXT: %z = stripe.index 4 * %j step -2 : vector<4xsi16>
      %z = stripe.index 4 * %j step -2 : vector<4xsi16>
      stripe.store %x, %p : !stripe.view<1x1xsi64>
    }
  }
  func.return %O : !stripe.view<8x4xsi64>
}

// Points in order, in place.
// CHECK-LABEL: func.func @serial
func.func @serial() {
  %A = stripe.alloc : !stripe.view<4x9xf32>
  // CHECK: stripe.block "rows" [%r : 4]
  // CHECK-NEXT: inout %row = %A[%r, 0] : 1x9 {
  stripe.block "rows" [%r : 4]
      inout %row = %A[%r, 0] : 1x9 {
    // CHECK-NEXT: stripe.block serial [%t : 8, %u : 1 unroll]
    // CHECK-NEXT: in %last = %row[0, %t] : 1x1
    // CHECK-NEXT: inout %next = %row[0, %t + 1] : 1x1 {
    stripe.block serial [%t : 8, %u : 1 unroll]
        in %last = %row[0, %t] : 1x1
        inout %next = %row[0, %t + 1] : 1x1 {
      %x = stripe.load %last : !stripe.view<1x1xf32>
      %y = stripe.load %next : !stripe.view<1x1xf32>
      %z = eltwise.add %x, %y : f32
      stripe.store %z, %next : !stripe.view<1x1xf32>
    }
  }
  // CHECK: stripe.block "named" serial []
  stripe.block "named" serial [] {
  }
  func.return
}

// One memory under other shapes.
// CHECK-LABEL: func.func @reshaped
func.func @reshaped(%A : !stripe.view<4x5xf32>) {
  // CHECK-NEXT: %b = stripe.reshape %A : !stripe.view<4x5xf32> to !stripe.view<20xf32>
  %b = stripe.reshape %A : !stripe.view<4x5xf32> to !stripe.view<20xf32>
  // CHECK-NEXT: %c = stripe.reshape %b {note} : !stripe.view<20xf32> to !stripe.view<2x10x1xf32>
  %c = stripe.reshape %b {note} : !stripe.view<20xf32> to !stripe.view<2x10x1xf32>
  func.return
}
