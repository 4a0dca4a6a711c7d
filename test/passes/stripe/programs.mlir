// The programs that test_stripe_passes_execute.py runs before and after every pass. Here:
// that each prints and parses back.
// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// CHECK-LABEL: func.func @matmul
func.func @matmul(%A : !stripe.view<6x5xf32>, %B : !stripe.view<5x33xf32>) -> !stripe.view<6x33xf32> {
  %C = stripe.alloc : !stripe.view<6x33xf32>
  // CHECK: stripe.block "C" [%i : 6, %j : 33, %k : 5]
  // CHECK-NEXT: in %a = %A[%i, %k] : 1x1
  // CHECK-NEXT: in %b = %B[%k, %j] : 1x1
  // CHECK-NEXT: out %c = %C[%i, %j] : 1x1 add init 0 {
  stripe.block "C" [%i : 6, %j : 33, %k : 5]
      in %a = %A[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 add init 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %y = stripe.load %b : !stripe.view<1x1xf32>
    %z = eltwise.mul %x, %y : f32
    stripe.store %z, %c : !stripe.view<1x1xf32>
  }
  func.return %C : !stripe.view<6x33xf32>
}

// Zero padding by constraints.
// CHECK-LABEL: func.func @padded_conv
func.func @padded_conv(%I : !stripe.view<9x3xf32>, %K : !stripe.view<3x3x16xf32>) -> !stripe.view<9x16xf32> {
  %O = stripe.alloc : !stripe.view<9x16xf32>
  // CHECK: where %x + %k - 1 >= 0, -%x - %k + 9 >= 0 {
  stripe.block "O" [%x : 9, %co : 16, %k : 3, %ci : 3]
      in %i = %I[%x + %k - 1, %ci] : 1x1
      in %w = %K[%k, %ci, %co] : 1x1x1
      out %o = %O[%x, %co] : 1x1 add init 0
      where %x + %k - 1 >= 0, 9 - %x - %k >= 0 {
    %0 = stripe.load %i : !stripe.view<1x1xf32>
    %1 = stripe.load %w : !stripe.view<1x1x1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<9x16xf32>
}

// CHECK-LABEL: func.func @max_pool
func.func @max_pool(%I : !stripe.view<11xf32>) -> !stripe.view<6xf32> {
  %O = stripe.alloc : !stripe.view<6xf32>
  // CHECK: out %o = %O[%i] : 1 max init -inf
  stripe.block "O" [%i : 6, %j : 3]
      in %a = %I[2 * %i + %j] : 1
      out %o = %O[%i] : 1 max init -inf
      where 10 - 2 * %i - %j >= 0 {
    %0 = stripe.load %a : !stripe.view<1xf32>
    stripe.store %0, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<6xf32>
}

// CHECK-LABEL: func.func @row_sum
func.func @row_sum(%A : !stripe.view<7x20xf32>) -> (!stripe.view<7xf32>, !stripe.view<f32>) {
  %O = stripe.alloc : !stripe.view<7xf32>
  stripe.block "O" [%i : 7, %k : 20]
      in %a = %A[%i, %k] : 1x1
      out %o = %O[%i] : 1 add init 0 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %0, %o : !stripe.view<1xf32>
  }
  %S = stripe.alloc : !stripe.view<f32>
  // CHECK: out %s = %S[] add init 0 {
  stripe.block "S" [%i : 7]
      in %o = %O[%i] : 1
      out %s = %S[] add init 0 {
    %0 = stripe.load %o : !stripe.view<1xf32>
    stripe.store %0, %s : !stripe.view<f32>
  }
  func.return %O, %S : !stripe.view<7xf32>, !stripe.view<f32>
}

// An element-wise chain with broadcasting along each axis and of a number.
// CHECK-LABEL: func.func @chain
func.func @chain(%A : !stripe.view<5x24xf32>, %B : !stripe.view<24xf32>, %D : !stripe.view<5x1xf32>, %S : !stripe.view<f32>) -> !stripe.view<5x24xf32> {
  %T = stripe.alloc : !stripe.view<5x24xf32>
  stripe.block "T" [%i : 5, %j : 24]
      in %a = %A[%i, %j] : 1x1
      in %b = %B[%j] : 1
      out %t = %T[%i, %j] : 1x1 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    %1 = stripe.load %b : !stripe.view<1xf32>
    %2 = eltwise.add %0, %1 : f32
    stripe.store %2, %t : !stripe.view<1x1xf32>
  }
  %U = stripe.alloc : !stripe.view<5x24xf32>
  stripe.block "U" [%i : 5, %j : 24]
      in %t = %T[%i, %j] : 1x1
      in %d = %D[%i, 0] : 1x1
      out %u = %U[%i, %j] : 1x1 {
    %0 = stripe.load %t : !stripe.view<1x1xf32>
    %1 = eltwise.relu %0 : f32
    %2 = stripe.load %d : !stripe.view<1x1xf32>
    %3 = eltwise.mul %1, %2 : f32
    stripe.store %3, %u : !stripe.view<1x1xf32>
  }
  %O = stripe.alloc : !stripe.view<5x24xf32>
  stripe.block "O" [%i : 5, %j : 24]
      in %u = %U[%i, %j] : 1x1
      in %t = %T[%i, %j] : 1x1
      in %s = %S[]
      out %o = %O[%i, %j] : 1x1 {
    %0 = stripe.load %u : !stripe.view<1x1xf32>
    %1 = stripe.load %t : !stripe.view<1x1xf32>
    %2 = stripe.load %s : !stripe.view<f32>
    %3 = eltwise.mul %0, %2 : f32
    %4 = eltwise.sub %3, %1 : f32
    stripe.store %4, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<5x24xf32>
}

// CHECK-LABEL: func.func @transpose
func.func @transpose(%A : !stripe.view<5x16xf32>) -> !stripe.view<16x5xf32> {
  %O = stripe.alloc : !stripe.view<16x5xf32>
  stripe.block "O" [%i : 16, %j : 5]
      in %a = %A[%j, %i] : 1x1
      out %o = %O[%i, %j] : 1x1 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %0, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<16x5xf32>
}

// Only every second cell is aggregated, the others keep what was there.
// CHECK-LABEL: func.func @strided_output
func.func @strided_output(%A : !stripe.view<8x3xf32>) -> !stripe.view<17xf32> {
  %O = stripe.alloc : !stripe.view<17xf32>
  stripe.block "fill" [%i : 17]
      out %o = %O[%i] : 1 {
    %0 = eltwise.constant 7 : f32
    stripe.store %0, %o : !stripe.view<1xf32>
  }
  // CHECK: out %o = %O[2 * %i + 1] : 1 add init 0
  stripe.block "O" [%i : 8, %k : 3]
      in %a = %A[%i, %k] : 1x1
      out %o = %O[2 * %i + 1] : 1 add init 0 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %0, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<17xf32>
}

// Part of a buffer is aggregated, downwards; what is around keeps its values.
// CHECK-LABEL: func.func @backwards
func.func @backwards(%A : !stripe.view<8x5xf32>) -> !stripe.view<12xf32> {
  %O = stripe.alloc : !stripe.view<12xf32>
  stripe.block "fill" [%i : 12]
      out %o = %O[11 - %i] : 1 {
    %0 = eltwise.constant 7 : f32
    stripe.store %0, %o : !stripe.view<1xf32>
  }
  // CHECK: out %o = %O[-%i + 9] : 1 add init 1
  stripe.block "O" [%i : 8, %k : 5]
      in %a = %A[%i, 4 - %k] : 1x1
      out %o = %O[9 - %i] : 1 add init 1 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %0, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<12xf32>
}

// Different points aggregate into one cell, and no index is left out.
// CHECK-LABEL: func.func @full_convolution
func.func @full_convolution(%A : !stripe.view<8xf32>, %B : !stripe.view<5xf32>) -> (!stripe.view<12xf32>, !stripe.view<14xf32>) {
  %O = stripe.alloc : !stripe.view<12xf32>
  stripe.block "fill" [%i : 12]
      out %o = %O[%i] : 1 {
    %0 = eltwise.constant 3 : f32
    stripe.store %0, %o : !stripe.view<1xf32>
  }
  stripe.block "O" [%i : 8, %j : 5]
      in %a = %A[%i] : 1
      in %b = %B[%j] : 1
      out %o = %O[%i + %j] : 1 add {
    %0 = stripe.load %a : !stripe.view<1xf32>
    %1 = stripe.load %b : !stripe.view<1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %o : !stripe.view<1xf32>
  }
  %P = stripe.alloc : !stripe.view<14xf32>
  stripe.block "fill" [%i : 14]
      out %p = %P[%i] : 1 {
    %0 = eltwise.constant -9 : f32
    stripe.store %0, %p : !stripe.view<1xf32>
  }
  stripe.block "P" [%i : 8, %j : 5]
      in %a = %A[%i] : 1
      in %b = %B[%j] : 1
      out %p = %P[%i + %j + 1] : 1 add init 2 {
    %0 = stripe.load %a : !stripe.view<1xf32>
    %1 = stripe.load %b : !stripe.view<1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %p : !stripe.view<1xf32>
  }
  func.return %O, %P : !stripe.view<12xf32>, !stripe.view<14xf32>
}

// Truth values in buffers and in between; one condition does not vary along a row.
// CHECK-LABEL: func.func @selections
func.func @selections(%A : !stripe.view<3x16xf32>, %B : !stripe.view<3x16xf32>, %D : !stripe.view<3xf32>) -> (!stripe.view<3x16xf32>, !stripe.view<3x16xi1>) {
  %M = stripe.alloc : !stripe.view<3x16xi1>
  stripe.block "M" [%i : 3, %j : 16]
      in %a = %A[%i, %j] : 1x1
      in %b = %B[%i, %j] : 1x1
      out %m = %M[%i, %j] : 1x1 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    %1 = stripe.load %b : !stripe.view<1x1xf32>
    %2 = eltwise.cmp_lt %0, %1 : (f32, f32) -> i1
    %3 = eltwise.logical_not %2 : i1
    stripe.store %3, %m : !stripe.view<1x1xi1>
  }
  %T = stripe.alloc : !stripe.view<3x16xf32>
  stripe.block "T" [%i : 3, %j : 16]
      in %a = %A[%i, %j] : 1x1
      in %b = %B[%i, %j] : 1x1
      in %d = %D[%i] : 1
      out %t = %T[%i, %j] : 1x1 {
    %zero = eltwise.constant 0 : f32
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    %1 = stripe.load %b : !stripe.view<1x1xf32>
    %2 = stripe.load %d : !stripe.view<1xf32>
    %3 = eltwise.cmp_ge %2, %zero : (f32, f32) -> i1
    %4 = eltwise.cmp_ne %0, %1 : (f32, f32) -> i1
    %5 = eltwise.cond %4, %0, %2 : (i1, f32, f32) -> f32
    %6 = eltwise.cond %3, %5, %1 : (i1, f32, f32) -> f32
    stripe.store %6, %t : !stripe.view<1x1xf32>
  }
  %O = stripe.alloc : !stripe.view<3x16xf32>
  stripe.block "O" [%i : 3, %j : 16]
      in %m = %M[%i, %j] : 1x1
      in %t = %T[%i, %j] : 1x1
      out %o = %O[%i, %j] : 1x1 {
    %zero = eltwise.constant -1 : f32
    %0 = stripe.load %m : !stripe.view<1x1xi1>
    %1 = stripe.load %t : !stripe.view<1x1xf32>
    %2 = eltwise.cond %0, %1, %zero : (i1, f32, f32) -> f32
    stripe.store %2, %o : !stripe.view<1x1xf32>
  }
  func.return %O, %M : !stripe.view<3x16xf32>, !stripe.view<3x16xi1>
}

// CHECK-LABEL: func.func @element_types
func.func @element_types(%A : !stripe.view<2x32xsi8>, %B : !stripe.view<2x32xf64>, %U : !stripe.view<32xui16>) -> (!stripe.view<2x32xf64>, !stripe.view<2xsi64>, !stripe.view<2xsi32>, !stripe.view<ui16>) {
  %D = stripe.alloc : !stripe.view<2x32xf64>
  stripe.block "D" [%i : 2, %j : 32]
      in %a = %A[%i, %j] : 1x1
      in %b = %B[%i, %j] : 1x1
      out %d = %D[%i, %j] : 1x1 {
    %0 = stripe.load %a : !stripe.view<1x1xsi8>
    %1 = stripe.load %b : !stripe.view<1x1xf64>
    %2 = eltwise.cast %0 : si8 to f64
    %3 = eltwise.mul %1, %2 : f64
    stripe.store %3, %d : !stripe.view<1x1xf64>
  }
  %L = stripe.alloc : !stripe.view<2xsi64>
  // CHECK: out %l = %L[%i] : 1 mul init 1
  stripe.block "L" [%i : 2, %j : 32]
      in %a = %A[%i, %j] : 1x1
      out %l = %L[%i] : 1 mul init 1 {
    %0 = stripe.load %a : !stripe.view<1x1xsi8>
    %1 = eltwise.cast %0 : si8 to si64
    stripe.store %1, %l : !stripe.view<1xsi64>
  }
  %M = stripe.alloc : !stripe.view<2xsi32>
  // CHECK: out %m = %M[%i] : 1 max init -2147483648
  stripe.block "M" [%i : 2, %j : 32]
      in %b = %B[%i, %j] : 1x1
      out %m = %M[%i] : 1 max init -2147483648 {
    %0 = stripe.load %b : !stripe.view<1x1xf64>
    %1 = eltwise.cast %0 : f64 to si32
    stripe.store %1, %m : !stripe.view<1xsi32>
  }
  %V = stripe.alloc : !stripe.view<ui16>
  stripe.block "V" [%j : 32]
      in %u = %U[%j] : 1
      out %v = %V[] min init 65535 {
    %0 = stripe.load %u : !stripe.view<1xui16>
    stripe.store %0, %v : !stripe.view<ui16>
  }
  func.return %D, %L, %M, %V : !stripe.view<2x32xf64>, !stripe.view<2xsi64>, !stripe.view<2xsi32>, !stripe.view<ui16>
}

// Ranges of one value, of none, and blocks without an index.
// CHECK-LABEL: func.func @small_ranges
func.func @small_ranges(%A : !stripe.view<1x5xf32>, %S : !stripe.view<f32>) -> (!stripe.view<1x5xf32>, !stripe.view<4xf32>, !stripe.view<f32>) {
  %O = stripe.alloc : !stripe.view<1x5xf32>
  stripe.block [%i : 1, %j : 5, %k : 1]
      in %a = %A[%k, %j] : 1x1
      out %o = %O[%i, %j] : 1x1 add init 0 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %0, %o : !stripe.view<1x1xf32>
  }
  %P = stripe.alloc : !stripe.view<4xf32>
  stripe.block "fill" [%i : 4]
      out %p = %P[%i] : 1 {
    %0 = eltwise.constant 2 : f32
    stripe.store %0, %p : !stripe.view<1xf32>
  }
  // CHECK: [%i : 4, %k : 0]
  stripe.block [%i : 4, %k : 0]
      in %a = %A[0, %k] : 1x1
      out %p = %P[%i] : 1 add init 0 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %0, %p : !stripe.view<1xf32>
  }
  %T = stripe.alloc : !stripe.view<f32>
  // CHECK: stripe.block []
  stripe.block []
      in %s = %S[]
      out %t = %T[] {
    %0 = stripe.load %s : !stripe.view<f32>
    %1 = eltwise.neg %0 : f32
    stripe.store %1, %t : !stripe.view<f32>
  }
  %V = stripe.alloc : !stripe.view<f32>
  stripe.block []
      in %t = %T[]
      in %s = %S[]
      out %v = %V[] {
    %0 = stripe.load %s : !stripe.view<f32>
    %1 = stripe.load %t : !stripe.view<f32>
    %2 = eltwise.sub %0, %1 : f32
    stripe.store %2, %v : !stripe.view<f32>
  }
  func.return %O, %P, %V : !stripe.view<1x5xf32>, !stripe.view<4xf32>, !stripe.view<f32>
}

// A tile of the diagonal is not a rectangle.
// CHECK-LABEL: func.func @diagonal
func.func @diagonal(%A : !stripe.view<6x3xf32>) -> !stripe.view<6x6xf32> {
  %O = stripe.alloc : !stripe.view<6x6xf32>
  stripe.block "fill" [%i : 6, %j : 6]
      out %o = %O[%i, %j] : 1x1 {
    %0 = eltwise.constant 5 : f32
    stripe.store %0, %o : !stripe.view<1x1xf32>
  }
  stripe.block "O" [%i : 6, %k : 3]
      in %a = %A[%i, %k] : 1x1
      out %o = %O[%i, %i] : 1x1 add init 0 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %0, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<6x6xf32>
}

// Outputs over different indices of one block.
// CHECK-LABEL: func.func @two_outputs
func.func @two_outputs(%A : !stripe.view<7x4xf32>) -> (!stripe.view<9xf32>, !stripe.view<9xf32>, !stripe.view<7xf32>, !stripe.view<f32>) {
  %O = stripe.alloc : !stripe.view<9xf32>
  %P = stripe.alloc : !stripe.view<9xf32>
  stripe.block "fill" [%i : 9]
      out %o = %O[%i] : 1
      out %p = %P[%i] : 1 {
    %0 = eltwise.constant 4 : f32
    stripe.store %0, %o : !stripe.view<1xf32>
    stripe.store %0, %p : !stripe.view<1xf32>
  }
  stripe.block "both" [%i : 7, %k : 4]
      in %a = %A[%i, %k] : 1x1
      out %o = %O[%i + 1] : 1 add init 0
      out %p = %P[%i + 2] : 1 max init -inf {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %0, %o : !stripe.view<1xf32>
    stripe.store %0, %p : !stripe.view<1xf32>
  }
  %Q = stripe.alloc : !stripe.view<7xf32>
  %S = stripe.alloc : !stripe.view<f32>
  stripe.block "sums" [%i : 7]
      in %a = %A[%i, 0] : 1x1
      out %q = %Q[%i] : 1 add init 1
      out %s = %S[] add init 2 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %0, %q : !stripe.view<1xf32>
    stripe.store %0, %s : !stripe.view<f32>
  }
  func.return %O, %P, %Q, %S : !stripe.view<9xf32>, !stripe.view<9xf32>, !stripe.view<7xf32>, !stripe.view<f32>
}

// `init` sets cells also where the constraints leave no point.
// CHECK-LABEL: func.func @constrained
func.func @constrained(%A : !stripe.view<8x4xf32>) -> (!stripe.view<8xf32>, !stripe.view<8xf32>, !stripe.view<3xf32>) {
  %O = stripe.alloc : !stripe.view<8xf32>
  stripe.block "O" [%i : 8, %k : 4]
      in %a = %A[%i, %k] : 1x1
      out %o = %O[%i] : 1 add init 6
      where %i - 3 >= 0, 2 - %k >= 0, 10 - %i >= 0, %i - 1 >= 0 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %0, %o : !stripe.view<1xf32>
  }
  %P = stripe.alloc : !stripe.view<8xf32>
  // A triangle.
  stripe.block "P" [%i : 8, %k : 8]
      in %o = %O[%k] : 1
      out %p = %P[%i] : 1 add init 0
      where %i - %k >= 0, %i + %k - 5 >= 0 {
    %0 = stripe.load %o : !stripe.view<1xf32>
    stripe.store %0, %p : !stripe.view<1xf32>
  }
  %Q = stripe.alloc : !stripe.view<3xf32>
  // No point at all.
  stripe.block "Q" [%i : 3, %k : 4]
      in %a = %A[%i, %k] : 1x1
      out %q = %Q[%i] : 1 max init -5
      where %k - 4 >= 0 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %0, %q : !stripe.view<1xf32>
  }
  stripe.block "R" [%i : 3, %k : 4]
      in %a = %A[%i, %k] : 1x1
      out %q = %Q[%i] : 1 add
      where %k + %i - 7 >= 0 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %0, %q : !stripe.view<1xf32>
  }
  // Constraints that shorten ranges from both sides, the step of a condition not 1.
  stripe.block "S" [%i : 3, %k : 4]
      in %a = %A[%i + 2, %k] : 1x1
      out %q = %Q[%i] : 1 add
      where 2 * %k - 1 >= 0, 5 - 2 * %k >= 0, %i - 1 >= 0 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %0, %q : !stripe.view<1xf32>
  }
  func.return %O, %P, %Q : !stripe.view<8xf32>, !stripe.view<8xf32>, !stripe.view<3xf32>
}

// Where the tiles of one index end depends on another.
// CHECK-LABEL: func.func @slanted
func.func @slanted(%A : !stripe.view<7x7x4xf32>) -> !stripe.view<13x19xf32> {
  %O = stripe.alloc : !stripe.view<13x19xf32>
  stripe.block "fill" [%i : 13, %j : 19]
      out %o = %O[%i, %j] : 1x1 {
    %0 = eltwise.constant 3 : f32
    stripe.store %0, %o : !stripe.view<1x1xf32>
  }
  // CHECK: out %o = %O[2 * %i, 2 * %i + %j] : 1x1 min init -2 {
  stripe.block "O" [%i : 7, %j : 7, %k : 4]
      in %a = %A[%i, %j, %k] : 1x1x1
      out %o = %O[2 * %i, 2 * %i + %j] : 1x1 min init -2 {
    %0 = stripe.load %a : !stripe.view<1x1x1xf32>
    stripe.store %0, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<13x19xf32>
}
