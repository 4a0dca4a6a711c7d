// RUN: tile-opt %s -p stripe-tile | filecheck %s
// RUN: tile-opt %s -p 'stripe-tile{sizes=4,0,3}' | filecheck %s --check-prefix=OPTION

// The indices that only aggregate come first; an uneven size gives a constraint.
// CHECK-LABEL: func.func @matmul
// CHECK: stripe.block "C" [%i : 8, %j : 2]
// CHECK-NEXT: in %a = %A[8 * %i, 0] : 8x32
// CHECK-NEXT: in %b = %B[0, 32 * %j] : 32x32
// CHECK-NEXT: out %c = %C[8 * %i, 32 * %j] : 8x32 add init 0
// CHECK: stripe.block [%k : 32, %i_1 : 8, %j_1 : 32]
// CHECK-NEXT: in %a_1 = %a[%i_1, %k] : 1x1
// CHECK-NEXT: in %b_1 = %b[%k, %j_1] : 1x1
// CHECK-NEXT: out %c_1 = %c[%i_1, %j_1] : 1x1 add
// CHECK-NEXT: where -%j_1 - 32 * %j + 59 >= 0
// CHECK-NOT: stripe.schedule =
func.func @matmul(%A : !stripe.view<64x32xf32>, %B : !stripe.view<32x60xf32>) -> !stripe.view<64x60xf32> {
  %C = stripe.alloc : !stripe.view<64x60xf32>
  stripe.block "C" [%i : 64, %j : 60, %k : 32]
      in %a = %A[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 add init 0
      attributes {stripe.schedule = #stripe.schedule<tile [8, 32, 32], because "by hand">} {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %y = stripe.load %b : !stripe.view<1x1xf32>
    %z = eltwise.mul %x, %y : f32
    stripe.store %z, %c : !stripe.view<1x1xf32>
  }
  func.return %C : !stripe.view<64x60xf32>
}

// Two levels: cells are complete in the outer tiles, so `init` moves inward.
// CHECK-LABEL: func.func @two_levels
// CHECK: stripe.block "S" [%i : 2]
// CHECK-NEXT: in %a = %A[16 * %i, 0] : 16x32
// CHECK-NEXT: out %s = %S[16 * %i] : 16
// CHECK: stripe.block [%i_1 : 4]
// CHECK-NEXT: in %a_1 = %a[4 * %i_1, 0] : 4x32
// CHECK-NEXT: out %s_1 = %s[4 * %i_1] : 4 add init 0
// CHECK: stripe.block [%k : 32, %i_2 : 4]
// CHECK-NEXT: in %a_2 = %a_1[%i_2, %k] : 1x1
// CHECK-NEXT: out %s_2 = %s_1[%i_2] : 1 add
func.func @two_levels(%A : !stripe.view<32x32xf32>) -> !stripe.view<32xf32> {
  %S = stripe.alloc : !stripe.view<32xf32>
  stripe.block "S" [%i : 32, %k : 32]
      in %a = %A[%i, %k] : 1x1
      out %s = %S[%i] : 1 add init 0
      attributes {stripe.schedule = #stripe.schedule<tile [16, 0], tile [4, 0]>} {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %s : !stripe.view<1xf32>
  }
  func.return %S : !stripe.view<32xf32>
}

// A level that cuts what aggregates sets the cells; those inside add to them.
// CHECK-LABEL: func.func @divided_sum
// CHECK: stripe.block "S" [%i : 2]
// CHECK-NEXT: in %a = %A[16 * %i, 0] : 16x32
// CHECK-NEXT: out %s = %S[16 * %i] : 16
// CHECK: stripe.block [%k : 2]
// CHECK-NEXT: in %a_1 = %a[0, 16 * %k] : 16x16
// CHECK-NEXT: out %s_1 = %s[0] : 16 add init 0
// CHECK: stripe.block [%i_1 : 4]
// CHECK-NEXT: in %a_2 = %a_1[4 * %i_1, 0] : 4x16
// CHECK-NEXT: out %s_2 = %s_1[4 * %i_1] : 4 add
// CHECK: stripe.block [%k_1 : 16, %i_2 : 4]
// CHECK-NEXT: in %a_3 = %a_2[%i_2, %k_1] : 1x1
// CHECK-NEXT: out %s_3 = %s_2[%i_2] : 1 add
func.func @divided_sum(%A : !stripe.view<32x32xf32>) -> !stripe.view<32xf32> {
  %S = stripe.alloc : !stripe.view<32xf32>
  stripe.block "S" [%i : 32, %k : 32]
      in %a = %A[%i, %k] : 1x1
      out %s = %S[%i] : 1 add init 0
      attributes {stripe.schedule = #stripe.schedule<tile [16, 0], tile [16, 16], tile [4, 16]>} {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %s : !stripe.view<1xf32>
  }
  func.return %S : !stripe.view<32xf32>
}

// The order of the loops of each block of the nest, by the numbers of the indices.
// CHECK-LABEL: func.func @ordered
// CHECK: stripe.block "S" [%j : 2, %i : 4]
// CHECK-NEXT: in %a = %A[4 * %i, 8 * %j, 0] : 4x8x3
// CHECK-NEXT: out %s = %S[4 * %i, 8 * %j] : 4x8 add init 0
// CHECK: stripe.block [%i_1 : 4, %k : 3, %j_1 : 8]
// CHECK-NEXT: in %a_1 = %a[%i_1, %j_1, %k] : 1x1x1
// CHECK-NEXT: out %s_1 = %s[%i_1, %j_1] : 1x1 add
// CHECK-NEXT: where -%i_1 + %k - 4 * %i + 13 >= 0
// CHECK-NOT: stripe.schedule =
func.func @ordered(%A : !stripe.view<16x16x3xf32>) -> !stripe.view<16x16xf32> {
  %S = stripe.alloc : !stripe.view<16x16xf32>
  stripe.block "S" [%i : 16, %j : 16, %k : 3]
      in %a = %A[%i, %j, %k] : 1x1x1
      out %s = %S[%i, %j] : 1x1 add init 0
      where 13 - %i + %k >= 0
      attributes {stripe.schedule = #stripe.schedule<tile [4, 8, 0] order [1, 0], points order [0, 2]>} {
    %x = stripe.load %a : !stripe.view<1x1x1xf32>
    stripe.store %x, %s : !stripe.view<1x1xf32>
  }
  func.return %S : !stripe.view<16x16xf32>
}

// Strides, offsets and negative coefficients: windows start at the smallest place.
// CHECK-LABEL: func.func @windows
// CHECK: stripe.block [%i : 3, %j : 2]
// CHECK-NEXT: in %a = %A[-8 * %i + 17, 3 * %j + 1] : 7x5
// CHECK-NEXT: out %o = %O[4 * %i, 3 * %j] : 4x3
// CHECK: stripe.block [%k : 3, %i_1 : 4, %j_1 : 3]
// CHECK-NEXT: in %a_1 = %a[-2 * %i_1 + 6, %k + %j_1] : 1x1
func.func @windows(%A : !stripe.view<24x9xf32>) -> !stripe.view<12x6xf32> {
  %O = stripe.alloc : !stripe.view<12x6xf32>
  stripe.block [%i : 12, %j : 6, %k : 3]
      in %a = %A[23 - 2 * %i, %j + %k + 1] : 1x1
      out %o = %O[%i, %j] : 1x1
      where %k - 2 >= 0
      attributes {stripe.schedule = #stripe.schedule<tile [4, 3, 0]>} {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<12x6xf32>
}

// Nested blocks capture both parts of an index, and so do values.
// CHECK-LABEL: func.func @nest
// CHECK: stripe.block [%i : 2 grid]
// CHECK: stripe.block [%i_1 : 4]
// CHECK: eltwise.mul %i,
// CHECK: %[[I:[0-9]+]] = eltwise.add %{{[0-9]+}}, %i_1 : index
// CHECK: eltwise.cast %[[I]] : index to f32
// CHECK: in %{{.*}} = %{{.*}}[%j + 4 * %i + %i_1] : 1
func.func @nest(%A : !stripe.view<16xf32>) -> !stripe.view<8x8xf32> {
  %O = stripe.alloc : !stripe.view<8x8xf32>
  stripe.block [%i : 8 grid]
      in %a = %A[0] : 16
      out %o = %O[%i, 0] : 1x8
      attributes {stripe.schedule = #stripe.schedule<tile [4]>} {
    %number = eltwise.cast %i : index to f32
    stripe.block [%j : 8]
        in %a_1 = %a[%i + %j] : 1
        out %o_1 = %o[0, %j] : 1x1 {
      %x = stripe.load %a_1 : !stripe.view<1xf32>
      %y = eltwise.add %x, %number : f32
      stripe.store %y, %o_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %O : !stripe.view<8x8xf32>
}

// No sizes, or sizes for another number of indices: left alone.
// CHECK-LABEL: func.func @option
// CHECK: [%i : 8, %j : 6, %k : 10]
// CHECK: [%i : 8, %j : 6]
// OPTION-LABEL: func.func @option
// OPTION: stripe.block [%i : 2, %k : 4]
// OPTION-NEXT: in %a = %A[4 * %i, 0, 3 * %k] : 4x6x3
// OPTION: stripe.block [%k_1 : 3, %i_1 : 4, %j : 6]
// OPTION: where -%k_1 - 3 * %k + 9 >= 0
// OPTION: stripe.block [%i : 8, %j : 6]
func.func @option(%A : !stripe.view<8x6x10xf32>) -> (!stripe.view<8x6xf32>, !stripe.view<8x6xf32>) {
  %O = stripe.alloc : !stripe.view<8x6xf32>
  stripe.block [%i : 8, %j : 6, %k : 10]
      in %a = %A[%i, %j, %k] : 1x1x1
      out %o = %O[%i, %j] : 1x1 max init -inf {
    %x = stripe.load %a : !stripe.view<1x1x1xf32>
    stripe.store %x, %o : !stripe.view<1x1xf32>
  }
  %P = stripe.alloc : !stripe.view<8x6xf32>
  stripe.block [%i : 8, %j : 6]
      in %o = %O[%i, %j] : 1x1
      out %p = %P[%i, %j] : 1x1 {
    %x = stripe.load %o : !stripe.view<1x1xf32>
    stripe.store %x, %p : !stripe.view<1x1xf32>
  }
  func.return %O, %P : !stripe.view<8x6xf32>, !stripe.view<8x6xf32>
}

// A window in which subscripts choose grows with the tile; those stay as they are. Indices
// as numbers are those of both blocks.
// CHECK-LABEL: func.func @chosen
// CHECK: stripe.block [%i : 2, %j : 3]
// CHECK-NEXT: in %v = %V[0, 4 * %j] : 9x4
// CHECK: stripe.block [%i_1 : 2, %j_1 : 4]
// CHECK-NEXT: in %v_1 = %v[0, %j_1] : 9x1
// CHECK: %n = stripe.index 2 * %i + %i_1 + 1 : si32
// CHECK-NEXT: stripe.load %v_1[%n, 0] : !stripe.view<9x1xf32>
func.func @chosen(%V : !stripe.view<9x12xf32>) -> !stripe.view<4x12xf32> {
  %O = stripe.alloc : !stripe.view<4x12xf32>
  stripe.block [%i : 4, %j : 12]
      in %v = %V[0, %j] : 9x1
      out %o = %O[%i, %j] : 1x1
      attributes {stripe.schedule = #stripe.schedule<tile [2, 4]>} {
    %n = stripe.index %i + 1 : si32
    %x = stripe.load %v[%n, 0] : !stripe.view<9x1xf32>
    stripe.store %x, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<4x12xf32>
}

// The option is not for serial blocks.
// OPTION-LABEL: func.func @serial
// OPTION: stripe.block serial [%i : 8, %j : 8, %k : 8]
// OPTION-NOT: stripe.block
func.func @serial() -> !stripe.view<8xsi32> {
  %O = stripe.alloc : !stripe.view<8xsi32>
  stripe.block serial [%i : 8, %j : 8, %k : 8]
      out %o = %O[%i] : 1 {
    %x = stripe.index %j + %k : si32
    stripe.store %x, %o : !stripe.view<1xsi32>
  }
  func.return %O : !stripe.view<8xsi32>
}
