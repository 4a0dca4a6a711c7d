// More programs for test_stripe_passes_execute.py: nested blocks, levels, buffers that
// are written more than once. Here: that each prints and parses back.
// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// Tiles whose last windows overhang the buffers.
// CHECK-LABEL: func.func @overhang
func.func @overhang(%A : !stripe.view<10x7xf32>) -> (!stripe.view<10x7xf32>, !stripe.view<10xf32>) {
  %C = stripe.alloc : !stripe.view<10x7xf32>
  stripe.block "C" [%i : 3, %j : 2]
      in %a = %A[4 * %i, 4 * %j] : 4x4
      out %c = %C[4 * %i, 4 * %j] : 4x4 {
    // CHECK: where -%i_1 - 4 * %i + 9 >= 0, -%j_1 - 4 * %j + 6 >= 0 {
    stripe.block [%i_1 : 4, %j_1 : 4]
        in %a_1 = %a[%i_1, %j_1] : 1x1
        out %c_1 = %c[%i_1, %j_1] : 1x1
        where 9 - 4 * %i - %i_1 >= 0, 6 - 4 * %j - %j_1 >= 0 {
      %0 = stripe.load %a_1 : !stripe.view<1x1xf32>
      %1 = eltwise.abs %0 : f32
      stripe.store %1, %c_1 : !stripe.view<1x1xf32>
    }
  }
  %S = stripe.alloc : !stripe.view<10xf32>
  // Aggregated, and the windows overhang at both ends.
  stripe.block "S" [%i : 3]
      in %a = %A[4 * %i - 1, 0] : 4x7
      out %s = %S[4 * %i - 1] : 4 add init 1 {
    stripe.block [%k : 7, %i_1 : 4]
        in %a_1 = %a[%i_1, %k] : 1x1
        out %s_1 = %s[%i_1] : 1 add
        where 10 - 4 * %i - %i_1 >= 0, 4 * %i + %i_1 - 1 >= 0 {
      %0 = stripe.load %a_1 : !stripe.view<1x1xf32>
      stripe.store %0, %s_1 : !stripe.view<1xf32>
    }
  }
  func.return %C, %S : !stripe.view<10x7xf32>, !stripe.view<10xf32>
}

// A tiled contraction with a constraint on the tiles.
// CHECK-LABEL: func.func @tiled
func.func @tiled(%A : !stripe.view<8x6xf32>, %B : !stripe.view<6x12xf32>) -> !stripe.view<8x12xf32> {
  %C = stripe.alloc : !stripe.view<8x12xf32>
  stripe.block "C" [%i : 2, %j : 3, %k : 2]
      in %a = %A[4 * %i, 3 * %k] : 4x3
      in %b = %B[3 * %k, 4 * %j] : 3x4
      out %c = %C[4 * %i, 4 * %j] : 4x4 add init 0
      where %i + %j - 1 >= 0 {
    stripe.block [%k_1 : 3, %i_1 : 4, %j_1 : 4]
        in %x = %a[%i_1, %k_1] : 1x1
        in %y = %b[%k_1, %j_1] : 1x1
        out %z = %c[%i_1, %j_1] : 1x1 add
        where %i + %k_1 - %j_1 + 2 >= 0 {
      %0 = stripe.load %x : !stripe.view<1x1xf32>
      %1 = stripe.load %y : !stripe.view<1x1xf32>
      %2 = eltwise.mul %0, %1 : f32
      stripe.store %2, %z : !stripe.view<1x1xf32>
    }
  }
  func.return %C : !stripe.view<8x12xf32>
}

// Forms over the indices of blocks two levels out.
// CHECK-LABEL: func.func @captures
func.func @captures(%A : !stripe.view<24xf32>) -> !stripe.view<2x3x4xf32> {
  %O = stripe.alloc : !stripe.view<2x3x4xf32>
  stripe.block "outer" [%i : 2]
      in %a = %A[0] : 24
      out %o = %O[%i, 0, 0] : 1x3x4 {
    stripe.block "middle" [%j : 3]
        in %a_1 = %a[12 * %i] : 12
        out %o_1 = %o[0, %j, 0] : 1x1x4 {
      // CHECK: stripe.block "inner" [%k : 4, %l : 3]
      // CHECK-NEXT: in %a_2 = %a_1[%k + 4 * %j] : 1
      // CHECK-NEXT: out %o_2 = %o_1[0, 0, %k] : 1x1x1 add init 0
      // CHECK-NEXT: where -%l + %j + 3 * %i >= 0
      stripe.block "inner" [%k : 4, %l : 3]
          in %a_2 = %a_1[%k + 4 * %j] : 1
          out %o_2 = %o_1[0, 0, %k] : 1x1x1 add init 0
          where 3 * %i + %j - %l >= 0, %i - %k + 2 >= 0 {
        %0 = stripe.load %a_2 : !stripe.view<1xf32>
        stripe.store %0, %o_2 : !stripe.view<1x1x1xf32>
      }
    }
  }
  func.return %O : !stripe.view<2x3x4xf32>
}

// Indices as values, also of blocks around.
// CHECK-LABEL: func.func @indices
func.func @indices(%A : !stripe.view<6x8xf32>) -> (!stripe.view<6x8xf32>, !stripe.view<4xsi32>) {
  %O = stripe.alloc : !stripe.view<6x8xf32>
  stripe.block "O" [%i : 6]
      in %a = %A[%i, 0] : 1x8
      out %o = %O[%i, 0] : 1x8 {
    %row = eltwise.cast %i : index to f32
    stripe.block [%j : 8]
        in %a_1 = %a[0, %j] : 1x1
        out %o_1 = %o[0, %j] : 1x1 {
      %column = eltwise.cast %j : index to f32
      %0 = stripe.load %a_1 : !stripe.view<1x1xf32>
      %1 = eltwise.mul %0, %row : f32
      %2 = eltwise.add %1, %column : f32
      stripe.store %2, %o_1 : !stripe.view<1x1xf32>
    }
  }
  %N = stripe.alloc : !stripe.view<4xsi32>
  stripe.block "fill" [%i : 4]
      out %n = %N[%i] : 1 {
    %0 = eltwise.constant 9 : si32
    stripe.store %0, %n : !stripe.view<1xsi32>
  }
  stripe.block "N" [%i : 4]
      out %n = %N[%i] : 1
      where %i - 1 >= 0 {
    %0 = eltwise.cast %i : index to si32
    stripe.store %0, %n : !stripe.view<1xsi32>
  }
  func.return %O, %N : !stripe.view<6x8xf32>, !stripe.view<4xsi32>
}

// Private buffers, one of them larger than a cell.
// CHECK-LABEL: func.func @private
func.func @private(%A : !stripe.view<4x8xf32>) -> !stripe.view<4x8xf32> {
  %O = stripe.alloc : !stripe.view<4x8xf32>
  stripe.block "O" [%i : 4]
      in %a = %A[%i, 0] : 1x8
      out %o = %O[%i, 0] : 1x8 {
    %sum = stripe.alloc : !stripe.view<f32, private>
    %row = stripe.alloc : !stripe.view<8xf32, private>
    stripe.block [%j : 8]
        in %x = %a[0, %j] : 1x1
        out %s = %sum[] add init 0
        out %r = %row[%j] : 1 {
      %0 = stripe.load %x : !stripe.view<1x1xf32>
      %1 = eltwise.mul %0, %0 : f32
      stripe.store %0, %s : !stripe.view<f32, private>
      stripe.store %1, %r : !stripe.view<1xf32, private>
    }
    // CHECK: %total = stripe.load %sum : !stripe.view<f32, private>
    %total = stripe.load %sum : !stripe.view<f32, private>
    stripe.block [%j : 8]
        in %r = %row[7 - %j] : 1
        out %y = %o[0, %j] : 1x1 {
      %0 = stripe.load %r : !stripe.view<1xf32, private>
      %1 = eltwise.sub %0, %total : f32
      stripe.store %1, %y : !stripe.view<1x1xf32>
    }
  }
  func.return %O : !stripe.view<4x8xf32>
}

// A buffer that is set as a whole, and only read.
// CHECK-LABEL: func.func @initialized
func.func @initialized(%A : !stripe.view<4xf32>) -> !stripe.view<4xf32> {
  %T = stripe.alloc : !stripe.view<4xf32>
  %O = stripe.alloc : !stripe.view<4xf32>
  // CHECK: out %w = %T[%i] : 1 init 3
  stripe.block "O" [%i : 4]
      in %a = %A[%i] : 1
      out %w = %T[%i] : 1 init 3
      in %r = %T[%i] : 1
      out %o = %O[%i] : 1 {
    %0 = stripe.load %a : !stripe.view<1xf32>
    %1 = stripe.load %r : !stripe.view<1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<4xf32>
}

// A point that aggregates twice, and reads its cell in between.
// CHECK-LABEL: func.func @read_back
func.func @read_back(%A : !stripe.view<4xf32>) -> (!stripe.view<4xf32>, !stripe.view<4xf32>, !stripe.view<4xf32>) {
  %O = stripe.alloc : !stripe.view<4xf32>
  %P = stripe.alloc : !stripe.view<4xf32>
  %Q = stripe.alloc : !stripe.view<4xf32>
  stripe.block "O" [%i : 4]
      in %a = %A[%i] : 1
      out %o = %O[%i] : 1 add init 0
      in %r = %O[%i] : 1
      out %p = %P[%i] : 1
      out %q = %Q[%i] : 1 add init 0 {
    %0 = stripe.load %a : !stripe.view<1xf32>
    stripe.store %0, %o : !stripe.view<1xf32>
    %1 = stripe.load %r : !stripe.view<1xf32>
    stripe.store %1, %o : !stripe.view<1xf32>
    %2 = stripe.load %r : !stripe.view<1xf32>
    stripe.store %2, %p : !stripe.view<1xf32>
    stripe.store %0, %q : !stripe.view<1xf32>
    stripe.store %2, %q : !stripe.view<1xf32>
  }
  func.return %O, %P, %Q : !stripe.view<4xf32>, !stripe.view<4xf32>, !stripe.view<4xf32>
}

// Blocks whose order matters: a buffer is read, then written anew.
// CHECK-LABEL: func.func @rewritten
func.func @rewritten(%A : !stripe.view<8xf32>) -> (!stripe.view<8xf32>, !stripe.view<8xf32>, !stripe.view<8xf32>) {
  %T = stripe.alloc : !stripe.view<8xf32>
  %U = stripe.alloc : !stripe.view<8xf32>
  %V = stripe.alloc : !stripe.view<8xf32>
  stripe.block "T" [%i : 8]
      in %a = %A[%i] : 1
      out %t = %T[%i] : 1 {
    %0 = stripe.load %a : !stripe.view<1xf32>
    %1 = eltwise.neg %0 : f32
    stripe.store %1, %t : !stripe.view<1xf32>
  }
  // Reads in another order.
  stripe.block "U" [%i : 8]
      in %t = %T[7 - %i] : 1
      out %u = %U[%i] : 1 {
    %0 = stripe.load %t : !stripe.view<1xf32>
    stripe.store %0, %u : !stripe.view<1xf32>
  }
  stripe.block "T" [%i : 8]
      in %a = %A[%i] : 1
      out %t = %T[%i] : 1 {
    %0 = stripe.load %a : !stripe.view<1xf32>
    %1 = eltwise.add %0, %0 : f32
    stripe.store %1, %t : !stripe.view<1xf32>
  }
  // Reads what it has written, within a point.
  stripe.block "V" [%i : 8]
      in %t = %T[%i] : 1
      in %u = %U[%i] : 1
      out %w = %U[%i] : 1
      out %v = %V[%i] : 1 {
    %0 = stripe.load %t : !stripe.view<1xf32>
    %1 = stripe.load %u : !stripe.view<1xf32>
    %2 = eltwise.sub %0, %1 : f32
    stripe.store %2, %w : !stripe.view<1xf32>
    %3 = stripe.load %u : !stripe.view<1xf32>
    %4 = eltwise.mul %3, %0 : f32
    stripe.store %4, %v : !stripe.view<1xf32>
  }
  func.return %T, %U, %V : !stripe.view<8xf32>, !stripe.view<8xf32>, !stripe.view<8xf32>
}

// Values, buffers, blocks and parts of blocks that nothing depends on.
// CHECK-LABEL: func.func @unused
func.func @unused(%A : !stripe.view<8xf32>) -> !stripe.view<8xf32> {
  %T = stripe.alloc : !stripe.view<8xf32>
  %U = stripe.alloc : !stripe.view<8xf32>
  %V = stripe.alloc : !stripe.view<8xf32>
  %O = stripe.alloc : !stripe.view<8xf32>
  stripe.block "T" [%i : 8]
      in %a = %A[%i] : 1
      out %t = %T[%i] : 1
      out %o = %O[%i] : 1 {
    %0 = stripe.load %a : !stripe.view<1xf32>
    %1 = eltwise.exp %0 : f32
    stripe.store %1, %t : !stripe.view<1xf32>
    stripe.store %0, %o : !stripe.view<1xf32>
  }
  stripe.block "U" [%i : 8]
      in %t = %T[%i] : 1
      out %u = %U[%i] : 1 add init 0 {
    %0 = stripe.load %t : !stripe.view<1xf32>
    stripe.store %0, %u : !stripe.view<1xf32>
  }
  stripe.block "V" [%i : 2]
      in %u = %U[4 * %i] : 4
      out %v = %V[4 * %i] : 4 {
    %s = stripe.alloc : !stripe.view<4xf32, private>
    stripe.block [%j : 4]
        in %u_1 = %u[%j] : 1
        out %v_1 = %v[%j] : 1
        out %s_1 = %s[%j] : 1 {
      %0 = stripe.load %u_1 : !stripe.view<1xf32>
      stripe.store %0, %v_1 : !stripe.view<1xf32>
      stripe.store %0, %s_1 : !stripe.view<1xf32, private>
    }
  }
  func.return %O : !stripe.view<8xf32>
}

// Whole vectors, written by hand.
// CHECK-LABEL: func.func @vectors
func.func @vectors(%A : !stripe.view<3x16xf32>, %S : !stripe.view<3xf32>) -> (!stripe.view<3x16xf32>, !stripe.view<8xf32>) {
  %O = stripe.alloc : !stripe.view<3x16xf32>
  %sum = stripe.alloc : !stripe.view<8xf32>
  // CHECK: in %a = %A[%i, 8 * %j] : 1x8
  stripe.block "O" [%i : 3, %j : 2]
      in %a = %A[%i, 8 * %j] : 1x8
      in %s = %S[%i] : 1
      out %o = %O[%i, 8 * %j] : 1x8
      out %t = %sum[0] : 8 add init 0 {
    %0 = stripe.load %a : !stripe.view<1x8xf32>
    %1 = stripe.load %s : !stripe.view<1xf32>
    %2 = eltwise.broadcast %1 : f32 to vector<8xf32>
    %3 = eltwise.mul %0, %2 : vector<8xf32>
    stripe.store %3, %o : !stripe.view<1x8xf32>
    stripe.store %0, %t : !stripe.view<8xf32>
  }
  func.return %O, %sum : !stripe.view<3x16xf32>, !stripe.view<8xf32>
}

// Levels do not change the meaning.
// CHECK-LABEL: func.func @levels
func.func @levels(%A : !stripe.view<4x8x3xf32>) -> !stripe.view<4x8xf32> {
  %O = stripe.alloc : !stripe.view<4x8xf32>
  // CHECK: [%i : 4 grid, %j : 8 group, %k : 3 unroll]
  stripe.block "O" [%i : 4 grid, %j : 8 group, %k : 3 unroll]
      in %a = %A[%i, %j, %k] : 1x1x1
      out %o = %O[%i, %j] : 1x1 max init -inf {
    %0 = stripe.load %a : !stripe.view<1x1x1xf32>
    stripe.store %0, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<4x8xf32>
}
