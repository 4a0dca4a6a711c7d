// RUN: tile-opt %s -p stripe-stage | filecheck %s

// Panels in global memory, made by a launch of their own; pieces share them.
// CHECK-LABEL: func.func @packed
// CHECK: %b_stage = stripe.alloc : !stripe.view<2x32x32xf32>
// CHECK-NEXT: stripe.block "C_stage_b"
// CHECK: in %from_1 = %from[%w0_1, 32 * %j + %w1] : 1x1
// CHECK-NEXT: out %to_1 = %to[%j, %w0_1, %w1] : 1x1x1
// CHECK: stripe.block "C" [%i : 7, %j : 2]
// CHECK-NEXT: in %a = %A[8 * %i, 0] : 8x32
// CHECK-NEXT: in %b = %b_stage[%j, 0, 0] : 1x32x32
// CHECK-NEXT: out %c = %C[8 * %i, 32 * %j] : 8x32 add init 0
// CHECK: stripe.block [%k : 32, %i_1 : 8, %j_1 : 32]
// CHECK-NEXT: in %a_1 = %a[%i_1, %k] : 1x1
// CHECK-NEXT: in %b_1 = %b[0, %k, %j_1] : 1x1x1
// CHECK: stripe.load %b_1 : !stripe.view<1x1x1xf32>
// CHECK-NOT: stage = stripe.alloc
// CHECK: stripe.block "C" [%j : 2]
// CHECK-NEXT: in %a = %A[56, 0] : 4x32
// CHECK-NEXT: in %b = %b_stage[%j, 0, 0] : 1x32x32
// CHECK-NOT: stripe.schedule =
func.func @packed(%A : !stripe.view<60x32xf32>, %B : !stripe.view<32x64xf32>) -> !stripe.view<60x64xf32> {
  %C = stripe.alloc : !stripe.view<60x64xf32>
  stripe.block "C" [%i : 7, %j : 2]
      in %a = %A[8 * %i, 0] : 8x32
      in %b = %B[0, 32 * %j] : 32x32
      out %c = %C[8 * %i, 32 * %j] : 8x32 add init 0
      attributes {stripe.schedule = #stripe.schedule<stage input 1 at 0 of 0 order [0, 1] global>} {
    stripe.block [%k : 32, %i_1 : 8, %j_1 : 32]
        in %a_1 = %a[%i_1, %k] : 1x1
        in %b_1 = %b[%k, %j_1] : 1x1
        out %c_1 = %c[%i_1, %j_1] : 1x1 add {
      %x = stripe.load %a_1 : !stripe.view<1x1xf32>
      %y = stripe.load %b_1 : !stripe.view<1x1xf32>
      %z = eltwise.mul %x, %y : f32
      stripe.store %z, %c_1 : !stripe.view<1x1xf32>
    }
  }
  stripe.block "C" [%j : 2]
      in %a = %A[56, 0] : 4x32
      in %b = %B[0, 32 * %j] : 32x32
      out %c = %C[56, 32 * %j] : 4x32 add init 0
      attributes {stripe.schedule = #stripe.schedule<stage input 1 at 0 of 0 order [0, 1] global>} {
    stripe.block [%k : 32, %i_1 : 4, %j_1 : 32]
        in %a_1 = %a[%i_1, %k] : 1x1
        in %b_1 = %b[%k, %j_1] : 1x1
        out %c_1 = %c[%i_1, %j_1] : 1x1 add {
      %x = stripe.load %a_1 : !stripe.view<1x1xf32>
      %y = stripe.load %b_1 : !stripe.view<1x1xf32>
      %z = eltwise.mul %x, %y : f32
      stripe.store %z, %c_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %C : !stripe.view<60x64xf32>
}

// A block of the operand in local memory, transposed, in the point of the block around.
// CHECK-LABEL: func.func @inside
// CHECK: stripe.block "S" [%i : 4]
// CHECK-NEXT: in %a = %A[0, 8 * %i] : 16x8
// CHECK-NEXT: out %s = %S[8 * %i] : 8 add init 0
// CHECK: %a_stage = stripe.alloc : !stripe.view<2x8x8xf32, local>
// CHECK-NEXT: stripe.block
// CHECK: stripe.block [%k : 2]
// CHECK-NEXT: in %a_1 = %a_stage[%k, 0, 0] : 1x8x8
// CHECK-NEXT: out %s_1 = %s[0] : 8 add
// CHECK: stripe.block [%k_1 : 8, %i_1 : 8]
// CHECK-NEXT: in %a_2 = %a_1[0, %i_1, %k_1] : 1x1x1
func.func @inside(%A : !stripe.view<16x32xf32>) -> !stripe.view<32xf32> {
  %S = stripe.alloc : !stripe.view<32xf32>
  stripe.block "S" [%i : 4]
      in %a = %A[0, 8 * %i] : 16x8
      out %s = %S[8 * %i] : 8 add init 0
      attributes {stripe.schedule = #stripe.schedule<stage input 0 at 1 of 1 order [1, 0] local>} {
    stripe.block [%k : 2]
        in %a_1 = %a[8 * %k, 0] : 8x8
        out %s_1 = %s[0] : 8 add {
      stripe.block [%k_1 : 8, %i_1 : 8]
          in %a_2 = %a_1[%k_1, %i_1] : 1x1
          out %s_2 = %s_1[%i_1] : 1 add {
        %x = stripe.load %a_2 : !stripe.view<1x1xf32>
        stripe.store %x, %s_2 : !stripe.view<1xf32>
      }
    }
  }
  func.return %S : !stripe.view<32xf32>
}

// Where windows stick out of the buffer, what is inside is copied. Nobody reads what is
// before it; a vector of four may read what is behind it.
// CHECK-LABEL: func.func @overhang
// CHECK: %a_stage = stripe.alloc : !stripe.view<4x6xf32>
// CHECK-NEXT: stripe.block "S_stage_a" []
// CHECK-NEXT: in %from = %A[-1] : 18
// CHECK-NEXT: out %to = %a_stage[0, 0] : 4x6
// CHECK: stripe.block [%i : 4, %w0 : 6]
// CHECK-NEXT: out %to_1 = %to[%i, %w0] : 1x1
// CHECK-NEXT: where 4 * %i + %w0 - 1 >= 0, 4 * %i + %w0 - 17 >= 0
// CHECK: eltwise.constant 0 : f32
// CHECK-NEXT: stripe.store
// CHECK-NEXT: }
// CHECK-NEXT: stripe.block [%i : 4, %w0 : 6]
// CHECK-NEXT: in %from_1 = %from[4 * %i + %w0] : 1
// CHECK-NEXT: out %to_1 = %to[%i, %w0] : 1x1
// CHECK-NEXT: where 4 * %i + %w0 - 1 >= 0, -4 * %i - %w0 + 16 >= 0
// CHECK: stripe.load
// CHECK-NEXT: stripe.store
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: stripe.block "S" [%i : 4]
func.func @overhang(%A : !stripe.view<16xf32>) -> !stripe.view<16xf32> {
  %S = stripe.alloc : !stripe.view<16xf32>
  stripe.block "S" [%i : 4]
      in %a = %A[4 * %i - 1] : 6
      out %s = %S[4 * %i] : 4 add init 0
      attributes {stripe.schedule = #stripe.schedule<stage input 0 at 0 of 0 order [0] global>} {
    stripe.block [%k : 3, %i_1 : 4]
        in %a_1 = %a[%i_1 + %k] : 1
        out %s_1 = %s[%i_1] : 1 add
        where 4 * %i + %i_1 + %k - 1 >= 0, 16 - 4 * %i - %i_1 - %k >= 0 {
      %x = stripe.load %a_1 : !stripe.view<1xf32>
      stripe.store %x, %s_1 : !stripe.view<1xf32>
    }
  }
  func.return %S : !stripe.view<16xf32>
}

// Where there is a reader, one block for each border sets what is beyond.
// CHECK-LABEL: func.func @filled
// CHECK: stripe.block "S_stage_a" []
// CHECK-NEXT: in %from = %A[-1] : 18
// CHECK-NEXT: out %to = %a_stage[0, 0] : 4x6
// CHECK: stripe.block [%i : 4, %w0 : 6]
// CHECK-NEXT: out %to_1 = %to[%i, %w0] : 1x1
// CHECK-NEXT: where -4 * %i - %w0 >= 0
// CHECK: eltwise.constant 3 : f32
// CHECK: stripe.block [%i : 4, %w0 : 6]
// CHECK-NEXT: out %to_1 = %to[%i, %w0] : 1x1
// CHECK-NEXT: where 4 * %i + %w0 - 1 >= 0, 4 * %i + %w0 - 17 >= 0
// CHECK: eltwise.constant 3 : f32
// CHECK: where 4 * %i + %w0 - 1 >= 0, -4 * %i - %w0 + 16 >= 0
// CHECK: stripe.load
func.func @filled(%A : !stripe.view<16xf32>) -> !stripe.view<16xf32> {
  %S = stripe.alloc : !stripe.view<16xf32>
  stripe.block "S" [%i : 4]
      in %a = %A[4 * %i - 1] : 6
      out %s = %S[4 * %i] : 4 add init 0
      attributes {stripe.schedule = #stripe.schedule<stage input 0 at 0 of 0 order [0] global fill 3>} {
    stripe.block [%k : 3, %i_1 : 4]
        in %a_1 = %a[%i_1 + %k] : 1
        out %s_1 = %s[%i_1] : 1 add {
      %x = stripe.load %a_1 : !stripe.view<1xf32>
      stripe.store %x, %s_1 : !stripe.view<1xf32>
    }
  }
  func.return %S : !stripe.view<16xf32>
}

// Of the last window 40 elements are there, and up to 48 may be read by a vector of 16. Where 16 are there, a vector, nobody reads more.
// CHECK-LABEL: func.func @vectors
// CHECK: eltwise.constant 0 : f32
// CHECK-LABEL: func.func @whole_vectors
// CHECK-NOT: eltwise.constant
func.func @vectors(%A : !stripe.view<88xf32>) -> !stripe.view<88xf32> {
  %S = stripe.alloc : !stripe.view<88xf32>
  stripe.block "S" [%i : 2]
      in %a = %A[48 * %i] : 48
      out %s = %S[48 * %i] : 48 add init 0
      attributes {stripe.schedule = #stripe.schedule<stage input 0 at 0 of 0 order [0] global>} {
    stripe.block [%i_1 : 48]
        in %a_1 = %a[%i_1] : 1
        out %s_1 = %s[%i_1] : 1 add
        where 87 - 48 * %i - %i_1 >= 0 {
      %x = stripe.load %a_1 : !stripe.view<1xf32>
      stripe.store %x, %s_1 : !stripe.view<1xf32>
    }
  }
  func.return %S : !stripe.view<88xf32>
}
func.func @whole_vectors(%A : !stripe.view<64xf32>) -> !stripe.view<64xf32> {
  %S = stripe.alloc : !stripe.view<64xf32>
  stripe.block "S" [%i : 2]
      in %a = %A[48 * %i] : 48
      out %s = %S[48 * %i] : 48 add init 0
      attributes {stripe.schedule = #stripe.schedule<stage input 0 at 0 of 0 order [0] global>} {
    stripe.block [%i_1 : 48]
        in %a_1 = %a[%i_1] : 1
        out %s_1 = %s[%i_1] : 1 add
        where 63 - 48 * %i - %i_1 >= 0 {
      %x = stripe.load %a_1 : !stripe.view<1xf32>
      stripe.store %x, %s_1 : !stripe.view<1xf32>
    }
  }
  func.return %S : !stripe.view<64xf32>
}

// Work-groups copy their own panel: which one it is decides what is there.
// CHECK-LABEL: func.func @near
// CHECK: %b_stage = stripe.alloc : !stripe.view<8x48xf32, local>
// CHECK-NEXT: stripe.block [%w0 : 8, %w1 : 48]
// CHECK-NEXT: in %from = %b[%w0, %w1] : 1x1
// CHECK-NEXT: out %to = %b_stage[%w0, %w1] : 1x1
// CHECK-NEXT: where -%w1 - 48 * %j + 63 >= 0
// CHECK: stripe.load
// CHECK-NEXT: stripe.store
// CHECK-NEXT: }
// CHECK-NEXT: stripe.block [%i : 4]
func.func @near(%A : !stripe.view<16x8xf32>, %B : !stripe.view<8x64xf32>) -> !stripe.view<16x64xf32> {
  %C = stripe.alloc : !stripe.view<16x64xf32>
  stripe.block "C" [%j : 2]
      in %a = %A[0, 0] : 16x8
      in %b = %B[0, 48 * %j] : 8x48
      out %c = %C[0, 48 * %j] : 16x48
      attributes {stripe.schedule = #stripe.schedule<stage input 1 at 1 of 1 order [0, 1] local>} {
    stripe.block [%i : 4]
        in %a_1 = %a[4 * %i, 0] : 4x8
        in %b_1 = %b[0, 0] : 8x48
        out %c_1 = %c[4 * %i, 0] : 4x48 add init 0 {
      stripe.block [%k : 8, %i_1 : 4, %j_1 : 48]
          in %a_2 = %a_1[%i_1, %k] : 1x1
          in %b_2 = %b_1[%k, %j_1] : 1x1
          out %c_2 = %c_1[%i_1, %j_1] : 1x1 add
          where 63 - 48 * %j - %j_1 >= 0 {
        %x = stripe.load %a_2 : !stripe.view<1x1xf32>
        %y = stripe.load %b_2 : !stripe.view<1x1xf32>
        %z = eltwise.mul %x, %y : f32
        stripe.store %z, %c_2 : !stripe.view<1x1xf32>
      }
    }
  }
  func.return %C : !stripe.view<16x64xf32>
}

// Subscripts are counted in the staged window.
// CHECK-LABEL: func.func @gather
// CHECK: %t_stage = stripe.alloc : !stripe.view<2x8x5xf32>
// CHECK: in %t = %t_stage[%j, 0, 0] : 1x8x5
// CHECK: stripe.load %t[0, 3, %{{.*}}] : !stripe.view<1x8x5xf32>
func.func @gather(%T : !stripe.view<5x16xf32>, %I : !stripe.view<6xsi32>) -> !stripe.view<6x2xf32> {
  %O = stripe.alloc : !stripe.view<6x2xf32>
  stripe.block "O" [%i : 6, %j : 2]
      in %t = %T[0, 8 * %j] : 5x8
      in %n = %I[%i] : 1
      out %o = %O[%i, %j] : 1x1
      attributes {stripe.schedule = #stripe.schedule<stage input 0 at 0 of 0 order [1, 0] global>} {
    %x = stripe.load %n : !stripe.view<1xsi32>
    %y = eltwise.constant 0 : si32
    %m = eltwise.max %x, %y : si32
    %z = eltwise.constant 4 : si32
    %c = eltwise.min %m, %z : si32
    %v = stripe.load %t[%c, 3] : !stripe.view<5x8xf32>
    stripe.store %v, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<6x2xf32>
}

// Without the attribute nothing changes.
// CHECK-LABEL: func.func @plain
// CHECK-NEXT: %S = stripe.alloc
// CHECK-NEXT: stripe.block "S" [%i : 4]
// CHECK-NEXT: in %a = %A[%i] : 1
func.func @plain(%A : !stripe.view<4xf32>) -> !stripe.view<4xf32> {
  %S = stripe.alloc : !stripe.view<4xf32>
  stripe.block "S" [%i : 4]
      in %a = %A[%i] : 1
      out %s = %S[%i] : 1 {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %s : !stripe.view<1xf32>
  }
  func.return %S : !stripe.view<4xf32>
}

// Only the cells that a stride leaves are copied, and lie side by side; along the axis
// where another index fills the gaps, all.
// CHECK-LABEL: func.func @strided
// CHECK: stripe.block "C" [%i : 4]
// CHECK: %a_stage = stripe.alloc : !stripe.view<4x7xf32, local>
// CHECK: stripe.block [%w0 : 4, %w1 : 7]
// CHECK-NEXT: in %from = %a[2 * %w0, %w1] : 1x1
// CHECK-NEXT: out %to = %a_stage[%w0, %w1] : 1x1
// CHECK: in %a_1 = %a_stage[0, 0] : 4x7
// CHECK: stripe.block [%x : 4]
// CHECK-NEXT: in %a_2 = %a_1[%x, 0] : 1x7
// CHECK: stripe.block [%y : 3, %k : 3]
// CHECK-NEXT: in %a_3 = %a_2[0, 2 * %y + %k] : 1x1
func.func @strided(%A : !stripe.view<28x7xf32>) -> !stripe.view<16x3xf32> {
  %C = stripe.alloc : !stripe.view<16x3xf32>
  stripe.block "C" [%i : 4]
      in %a = %A[7 * %i, 0] : 7x7
      out %c = %C[4 * %i, 0] : 4x3 add init 0
      attributes {stripe.schedule = #stripe.schedule<stage input 0 at 1 of 1 order [0, 1] local>} {
    stripe.block [%one : 1]
        in %a_0 = %a[0, 0] : 7x7
        out %c_0 = %c[0, 0] : 4x3 add {
      stripe.block [%x : 4]
          in %a_1 = %a_0[2 * %x, 0] : 1x7
          out %c_1 = %c_0[%x, 0] : 1x3 add {
        stripe.block [%y : 3, %k : 3]
            in %a_2 = %a_1[0, 2 * %y + %k] : 1x1
            out %c_2 = %c_1[0, %y] : 1x1 add {
          %v = stripe.load %a_2 : !stripe.view<1x1xf32>
          stripe.store %v, %c_2 : !stripe.view<1x1xf32>
        }
      }
    }
  }
  func.return %C : !stripe.view<16x3xf32>
}
