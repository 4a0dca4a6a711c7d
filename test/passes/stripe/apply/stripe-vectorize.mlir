// RUN: tile-opt %s -p stripe-plan-vectors,stripe-vectorize | filecheck %s
// RUN: tile-opt %s -p 'stripe-plan-vectors{bits=128},stripe-vectorize{bits=128}' | filecheck %s --check-prefix=NARROW
// RUN: tile-opt %s -p stripe-plan-vectors,stripe-vectorize,stripe-plan-vectors,stripe-vectorize | filecheck %s
// RUN: not tile-opt %s -p 'stripe-vectorize{bits=0}' 2>&1 | filecheck %s --check-prefix=ERROR
// ERROR: error: expected bits of 1 or more, got 0

// What steps along is loaded as a vector, what does not is broadcast.
// CHECK-LABEL: func.func @product
// CHECK: stripe.block [%k : 4, %j : 2]
// CHECK-NEXT: in %a = %A[%k] : 1
// CHECK-NEXT: in %b = %B[%k, 16 * %j] : 1x16
// CHECK-NEXT: out %c = %C[16 * %j] : 16 add
// CHECK: %x = stripe.load %a : !stripe.view<1xf32>
// CHECK-NEXT: %y = stripe.load %b : !stripe.view<1x16xf32>
// CHECK-NEXT: %x_1 = eltwise.broadcast %x : f32 to vector<16xf32>
// CHECK-NEXT: %z = eltwise.mul %x_1, %y : vector<16xf32>
// CHECK-NEXT: %two_1 = eltwise.constant 2 : vector<16xf32>
// CHECK-NEXT: %u = eltwise.add %z, %two_1 : vector<16xf32>
// CHECK-NEXT: stripe.store %u, %c : !stripe.view<16xf32>
// NARROW-LABEL: func.func @product
// NARROW: stripe.block [%k : 4, %j : 8]
func.func @product(%A : !stripe.view<4xf32>, %B : !stripe.view<4x32xf32>) -> !stripe.view<32xf32> {
  %C = stripe.alloc : !stripe.view<32xf32>
  stripe.block [%k : 4, %j : 32]
      in %a = %A[%k] : 1
      in %b = %B[%k, %j] : 1x1
      out %c = %C[%j] : 1 add {
    %two = eltwise.constant 2 : f32
    %x = stripe.load %a : !stripe.view<1xf32>
    %y = stripe.load %b : !stripe.view<1x1xf32>
    %z = eltwise.mul %x, %y : f32
    %u = eltwise.add %z, %two : f32
    stripe.store %u, %c : !stripe.view<1xf32>
  }
  func.return %C : !stripe.view<32xf32>
}

// The width divides the range and follows the widest element; a number is broadcast.
// CHECK-LABEL: func.func @widths
// CHECK: stripe.block [%i : 3]
// CHECK: out %o = %O[8 * %i] : 8
// CHECK: eltwise.cast %{{.*}} : vector<8xsi16> to vector<8xf64>
// CHECK: out %p = %P[2 * %i] : 2
// CHECK: eltwise.broadcast %{{.*}} : f32 to vector<2xf32>
// CHECK-NEXT: stripe.store %{{.*}}, %p
func.func @widths(%A : !stripe.view<24xsi16>, %S : !stripe.view<f32>) -> (!stripe.view<24xf64>, !stripe.view<6xf32>) {
  %O = stripe.alloc : !stripe.view<24xf64>
  stripe.block [%i : 24]
      in %a = %A[%i] : 1
      out %o = %O[%i] : 1 {
    %x = stripe.load %a : !stripe.view<1xsi16>
    %y = eltwise.cast %x : si16 to f64
    stripe.store %y, %o : !stripe.view<1xf64>
  }
  %P = stripe.alloc : !stripe.view<6xf32>
  stripe.block [%i : 6]
      in %s = %S[]
      out %p = %P[%i] : 1 {
    %x = stripe.load %s : !stripe.view<f32>
    stripe.store %x, %p : !stripe.view<1xf32>
  }
  func.return %O, %P : !stripe.view<24xf64>, !stripe.view<6xf32>
}

// A private buffer that is used by whole vectors becomes one of vectors.
// CHECK-LABEL: func.func @registers
// CHECK: %acc = stripe.alloc : !stripe.view<2x2xvector<16xf32>, private>
// CHECK: stripe.block [%e0 : 2, %e1 : 2]
// CHECK-NEXT: out %x = %acc[%e0, %e1] : 1x1
// CHECK: stripe.store %{{.*}}, %x : !stripe.view<1x1xvector<16xf32>, private>
// CHECK: out %c_1 = %acc[%i_1, %j] : 1x1 add
// CHECK: in %y = %acc[%e0, %e1] : 1x1
// CHECK-NEXT: out %z = %c[%e0, 16 * %e1] : 1x16
func.func @registers(%A : !stripe.view<4x5xf32>, %B : !stripe.view<5x32xf32>) -> !stripe.view<4x32xf32> {
  %C = stripe.alloc : !stripe.view<4x32xf32>
  stripe.block [%i : 2]
      in %a = %A[2 * %i, 0] : 2x5
      in %b = %B[0, 0] : 5x32
      out %c = %C[2 * %i, 0] : 2x32 {
    %acc = stripe.alloc : !stripe.view<2x32xf32, private>
    stripe.block [%e0 : 2, %e1 : 32]
        out %x = %acc[%e0, %e1] : 1x1 {
      %0 = eltwise.constant 0 : f32
      stripe.store %0, %x : !stripe.view<1x1xf32, private>
    }
    stripe.block [%k : 5, %i_1 : 2, %j : 32]
        in %a_1 = %a[%i_1, %k] : 1x1
        in %b_1 = %b[%k, %j] : 1x1
        out %c_1 = %acc[%i_1, %j] : 1x1 add {
      %0 = stripe.load %a_1 : !stripe.view<1x1xf32>
      %1 = stripe.load %b_1 : !stripe.view<1x1xf32>
      %2 = eltwise.mul %0, %1 : f32
      stripe.store %2, %c_1 : !stripe.view<1x1xf32, private>
    }
    stripe.block [%e0 : 2, %e1 : 32]
        in %y = %acc[%e0, %e1] : 1x1
        out %z = %c[%e0, %e1] : 1x1 {
      %0 = stripe.load %y : !stripe.view<1x1xf32, private>
      stripe.store %0, %z : !stripe.view<1x1xf32>
    }
  }
  func.return %C : !stripe.view<4x32xf32>
}

// Truth values that select between numbers of the compared width.
// CHECK-LABEL: func.func @masks
// CHECK: out %o = %O[16 * %i] : 16
// CHECK: eltwise.cmp_lt %{{.*}} : (vector<16xf32>, vector<16xf32>) -> vector<16xi1>
// CHECK: eltwise.cond %{{.*}} : (vector<16xi1>, vector<16xf32>, vector<16xf32>) -> vector<16xf32>
func.func @masks(%A : !stripe.view<16xf32>) -> !stripe.view<16xf32> {
  %O = stripe.alloc : !stripe.view<16xf32>
  stripe.block [%i : 16]
      in %a = %A[%i] : 1
      out %o = %O[%i] : 1 {
    %zero = eltwise.constant 0 : f32
    %x = stripe.load %a : !stripe.view<1xf32>
    %m = eltwise.cmp_lt %x, %zero : (f32, f32) -> i1
    %y = eltwise.cond %m, %zero, %x : (i1, f32, f32) -> f32
    stripe.store %y, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<16xf32>
}

// Left alone: a constraint on the index, outputs in steps of two, an odd range, and an
// index as a value.
// CHECK-LABEL: func.func @left_alone
// CHECK-NOT: vector
func.func @left_alone(%A : !stripe.view<16x16xf32>) -> (!stripe.view<16x16xf32>, !stripe.view<32xf32>, !stripe.view<15xf32>, !stripe.view<16xf32>) {
  %O = stripe.alloc : !stripe.view<16x16xf32>
  stripe.block "constrained" [%i : 16, %j : 16]
      in %a = %A[%i, %j] : 1x1
      out %o = %O[%i, %j] : 1x1
      where %i - %j >= 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %o : !stripe.view<1x1xf32>
  }
  %P = stripe.alloc : !stripe.view<32xf32>
  stripe.block "strided" [%i : 16]
      in %a = %A[0, %i] : 1x1
      out %o = %P[2 * %i] : 1 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %o : !stripe.view<1xf32>
  }
  %Q = stripe.alloc : !stripe.view<15xf32>
  stripe.block "odd" [%i : 15]
      in %a = %A[0, %i] : 1x1
      out %o = %Q[%i] : 1 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %o : !stripe.view<1xf32>
  }
  %S = stripe.alloc : !stripe.view<16xf32>
  stripe.block "counted" [%i : 16]
      out %o = %S[%i] : 1 {
    %x = eltwise.cast %i : index to f32
    stripe.store %x, %o : !stripe.view<1xf32>
  }
  func.return %O, %P, %Q, %S : !stripe.view<16x16xf32>, !stripe.view<32xf32>, !stripe.view<15xf32>, !stripe.view<16xf32>
}

// Rows of a square are loaded and transposed.
// CHECK-LABEL: func.func @transposition
// NARROW-LABEL: func.func @transposition
// NARROW: stripe.block [%i : 4, %j : 4]
// NARROW-NEXT: in %a = %A[4 * %j, 4 * %i] : 4x4
// NARROW-NEXT: out %o = %O[4 * %i, 4 * %j] : 4x4
// NARROW: [[R0:%[0-9]+]] = stripe.load %a[0, 0] : !stripe.view<4x4xf32> -> vector<4xf32>
// NARROW-NEXT: [[R1:%[0-9]+]] = stripe.load %a[1, 0]
// NARROW-NEXT: [[R2:%[0-9]+]] = stripe.load %a[2, 0]
// NARROW-NEXT: [[R3:%[0-9]+]] = stripe.load %a[3, 0]
// NARROW-NEXT: [[L0:%[0-9]+]] = eltwise.shuffle [[R0]], [[R2]] [0, 4, 1, 5]
// NARROW-NEXT: eltwise.shuffle [[R0]], [[R2]] [2, 6, 3, 7]
// NARROW-NEXT: [[L1:%[0-9]+]] = eltwise.shuffle [[R1]], [[R3]] [0, 4, 1, 5]
// NARROW-NEXT: eltwise.shuffle [[R1]], [[R3]] [2, 6, 3, 7]
// NARROW-NEXT: %x = eltwise.shuffle [[L0]], [[L1]] [0, 4, 1, 5]
// NARROW: stripe.store %x, %o[0, 0] : vector<4xf32> -> !stripe.view<4x4xf32>
// NARROW-NEXT: stripe.store %x_1, %o[1, 0]
// NARROW-NEXT: stripe.store %x_2, %o[2, 0]
// NARROW-NEXT: stripe.store %x_3, %o[3, 0]
func.func @transposition(%A : !stripe.view<16x16xf32>) -> !stripe.view<16x16xf32> {
  %O = stripe.alloc : !stripe.view<16x16xf32>
  stripe.block [%i : 16, %j : 16]
      in %a = %A[%j, %i] : 1x1
      out %o = %O[%i, %j] : 1x1 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<16x16xf32>
}

// Lanes a few elements apart are picked from whole vectors; others are loaded alone.
// NARROW-LABEL: func.func @steps
// NARROW: in %two = %A[0, 8 * %i] : 1x7
// NARROW-NEXT: in %back = %A[1, -4 * %i + 12] : 1x4
// NARROW-NEXT: in %down = %A[4 * %i, 2] : 4x1
// NARROW: [[V:%[0-9]+]] = stripe.load %two[0, 0] : !stripe.view<1x7xf32> -> vector<4xf32>
// NARROW-NEXT: [[W:%[0-9]+]] = stripe.load %two[0, 3] : !stripe.view<1x7xf32> -> vector<4xf32>
// NARROW-NEXT: %x = eltwise.shuffle [[V]], [[W]] [0, 2, 5, 7]
// NARROW-NEXT: [[B:%[0-9]+]] = stripe.load %back[0, 0] : !stripe.view<1x4xf32>
// NARROW-NEXT: %y = eltwise.shuffle [[B]] [3, 2, 1, 0]
// NARROW: stripe.load %down[3, 0] : !stripe.view<4x1xf32>
// NARROW-NEXT: %z = eltwise.shuffle %{{.*}} : (f32, f32, f32, f32) -> vector<4xf32>
func.func @steps(%A : !stripe.view<16x32xf32>) -> !stripe.view<16xf32> {
  %O = stripe.alloc : !stripe.view<16xf32>
  stripe.block [%i : 16]
      in %two = %A[0, 2 * %i] : 1x1
      in %back = %A[1, -%i + 15] : 1x1
      in %down = %A[%i, 2] : 1x1
      out %o = %O[%i] : 1 {
    %x = stripe.load %two : !stripe.view<1x1xf32>
    %y = stripe.load %back : !stripe.view<1x1xf32>
    %z = stripe.load %down : !stripe.view<1x1xf32>
    %u = eltwise.add %x, %y : f32
    %v = eltwise.add %u, %z : f32
    stripe.store %v, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<16xf32>
}

// Truth values of lanes.
// CHECK-LABEL: func.func @truth
// CHECK: %keep = stripe.load %m : !stripe.view<16xi1>
// CHECK: %both = eltwise.logical_and %keep, %less : vector<16xi1>
// CHECK: eltwise.cast %both : vector<16xi1> to vector<16xf32>
// CHECK: stripe.store %both, %p : !stripe.view<16xi1>
func.func @truth(%I : !stripe.view<32xsi32>, %M : !stripe.view<32xi1>) -> (!stripe.view<32xf32>, !stripe.view<32xi1>) {
  %O = stripe.alloc : !stripe.view<32xf32>
  %P = stripe.alloc : !stripe.view<32xi1>
  stripe.block [%j : 32]
      in %k = %I[%j] : 1
      in %m = %M[%j] : 1
      out %o = %O[%j] : 1
      out %p = %P[%j] : 1 {
    %n = stripe.load %k : !stripe.view<1xsi32>
    %keep = stripe.load %m : !stripe.view<1xi1>
    %zero = eltwise.constant 0 : si32
    %less = eltwise.cmp_lt %n, %zero : (si32, si32) -> i1
    %both = eltwise.logical_and %keep, %less : i1
    %x = eltwise.cast %both : i1 to f32
    stripe.store %x, %o : !stripe.view<1xf32>
    stripe.store %both, %p : !stripe.view<1xi1>
  }
  func.return %O, %P : !stripe.view<32xf32>, !stripe.view<32xi1>
}

// Places that differ between lanes are loaded one by one.
// NARROW-LABEL: func.func @gather
// NARROW: %n = stripe.load %k : !stripe.view<4xsi32>
// NARROW-NEXT: [[N:%[0-9]+]] = eltwise.shuffle %n [0] : (vector<4xsi32>) -> si32
// NARROW-NEXT: stripe.load %v[[[N]]] : !stripe.view<9xf32>
// NARROW: %x = eltwise.shuffle %{{.*}} : (f32, f32, f32, f32) -> vector<4xf32>
func.func @gather(%V : !stripe.view<9xf32>, %I : !stripe.view<32xsi32>) -> !stripe.view<32xf32> {
  %O = stripe.alloc : !stripe.view<32xf32>
  stripe.block [%j : 32]
      in %k = %I[%j] : 1
      in %v = %V[0] : 9
      out %o = %O[%j] : 1 {
    %n = stripe.load %k : !stripe.view<1xsi32>
    %x = stripe.load %v[%n] : !stripe.view<9xf32>
    stripe.store %x, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<32xf32>
}

// What points of a serial block hand on stays in its lane.
// CHECK-LABEL: func.func @running
// CHECK: stripe.block serial [%t : 8, %j : 2]
// CHECK: stripe.store %{{.*}}, %o : !stripe.view<1x16xf32>
func.func @running(%A : !stripe.view<9x32xf32>) -> !stripe.view<9x32xf32> {
  %O = stripe.alloc : !stripe.view<9x32xf32>
  stripe.block "all" [%r : 1]
      in %a = %A[0, 0] : 9x32
      inout %all = %O[0, 0] : 9x32 {
    stripe.block serial [%t : 8, %j : 32]
        in %x = %a[%t, %j] : 1x1
        in %last = %all[%t, %j] : 1x1
        out %o = %all[%t + 1, %j] : 1x1 {
      %0 = stripe.load %x : !stripe.view<1x1xf32>
      %1 = stripe.load %last : !stripe.view<1x1xf32>
      %2 = eltwise.add %0, %1 : f32
      stripe.store %2, %o : !stripe.view<1x1xf32>
    }
  }
  func.return %O : !stripe.view<9x32xf32>
}

// Vectors of the row that a subscript chooses, of an index, and under one condition.
// CHECK-LABEL: func.func @rows
// CHECK: stripe.block [%i : 4, %j : 2]
// CHECK: in %v = %V[0, 16 * %j] : 9x16
// CHECK: out %o = %O[0, 16 * %j] : 4x16
// CHECK: %x = stripe.load %v[%n, 0] : !stripe.view<9x16xsi32> -> vector<16xsi32>
// CHECK-NEXT: %p = stripe.index %i - 48 * %j + 1 step -3 : vector<16xsi32>
// CHECK-NEXT: %q = stripe.index 2 * %i : si32
// CHECK-NEXT: %y = eltwise.add %x, %p : vector<16xsi32>
// CHECK: stripe.store %{{.*}}, %o[%q, 0] if %keep : vector<16xsi32> -> !stripe.view<4x16xsi32>
func.func @rows(%V : !stripe.view<9x32xsi32>, %I : !stripe.view<4xsi32>) -> !stripe.view<4x32xsi32> {
  %O = stripe.alloc : !stripe.view<4x32xsi32>
  stripe.block [%i : 4, %j : 32]
      in %k = %I[%i] : 1
      in %v = %V[0, %j] : 9x1
      out %o = %O[0, %j] : 4x1 {
    %n = stripe.load %k : !stripe.view<1xsi32>
    %two = eltwise.constant 2 : si32
    %keep = eltwise.cmp_lt %n, %two : (si32, si32) -> i1
    %x = stripe.load %v[%n, 0] : !stripe.view<9x1xsi32>
    %p = stripe.index %i - 3 * %j + 1 : si32
    %q = stripe.index 2 * %i : si32
    %y = eltwise.add %x, %p : si32
    %z = eltwise.mul %y, %q : si32
    stripe.store %z, %o[%q, 0] if %keep : !stripe.view<4x1xsi32>
  }
  func.return %O : !stripe.view<4x32xsi32>
}

// Vectors start anywhere in a window that moves with them.
// CHECK-LABEL: func.func @sliding
// CHECK: in %v = %V[16 * %j] : 20
// CHECK: stripe.load %v[%n] : !stripe.view<20xf32> -> vector<16xf32>
func.func @sliding(%V : !stripe.view<36xf32>, %I : !stripe.view<si32>) -> !stripe.view<32xf32> {
  %O = stripe.alloc : !stripe.view<32xf32>
  stripe.block [%j : 32]
      in %k = %I[]
      in %v = %V[%j] : 5
      out %o = %O[%j] : 1 {
    %n = stripe.load %k : !stripe.view<si32>
    %x = stripe.load %v[%n] : !stripe.view<5xf32>
    stripe.store %x, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<32xf32>
}

// One condition selects all lanes.
// CHECK-LABEL: func.func @selection
// CHECK: %keep = stripe.load %m : !stripe.view<i1>
// CHECK: [[MASK:%keep_[0-9]]] = eltwise.broadcast %keep : i1 to vector<16xi1>
// CHECK-NEXT: [[ZERO:%zero_[0-9]]] = eltwise.constant 0 : vector<16xsi32>
// CHECK-NEXT: eltwise.cond [[MASK]], %n, [[ZERO]]
func.func @selection(%I : !stripe.view<32xsi32>, %M : !stripe.view<i1>) -> !stripe.view<32xsi32> {
  %O = stripe.alloc : !stripe.view<32xsi32>
  stripe.block [%j : 32]
      in %k = %I[%j] : 1
      in %m = %M[]
      out %o = %O[%j] : 1 {
    %n = stripe.load %k : !stripe.view<1xsi32>
    %keep = stripe.load %m : !stripe.view<i1>
    %zero = eltwise.constant 0 : si32
    %s = eltwise.cond %keep, %n, %zero : (i1, si32, si32) -> si32
    stripe.store %s, %o : !stripe.view<1xsi32>
  }
  func.return %O : !stripe.view<32xsi32>
}

// Left alone: conditions that differ between lanes, and points in order of which one
// reads what the last one wrote.
// CHECK-LABEL: func.func @lanes_apart
// CHECK-NOT: vector
func.func @lanes_apart(%I : !stripe.view<32xsi32>) -> (!stripe.view<32xf32>, !stripe.view<33xsi32>) {
  %O = stripe.alloc : !stripe.view<32xf32>
  stripe.block "condition" [%j : 32]
      in %k = %I[%j] : 1
      out %o = %O[%j] : 1 {
    %n = stripe.load %k : !stripe.view<1xsi32>
    %zero = eltwise.constant 0 : si32
    %keep = eltwise.cmp_lt %n, %zero : (si32, si32) -> i1
    %x = eltwise.cast %n : si32 to f32
    stripe.store %x, %o if %keep : !stripe.view<1xf32>
  }
  %P = stripe.alloc : !stripe.view<33xsi32>
  stripe.block "order" serial [%j : 32]
      in %last = %P[%j] : 1
      in %k = %I[%j] : 1
      out %p = %P[%j + 1] : 1 {
    %n = stripe.load %k : !stripe.view<1xsi32>
    %m = stripe.load %last : !stripe.view<1xsi32>
    %x = eltwise.add %n, %m : si32
    stripe.store %x, %p : !stripe.view<1xsi32>
  }
  func.return %O, %P : !stripe.view<32xf32>, !stripe.view<33xsi32>
}

// An array in which subscripts choose stays one of numbers.
// CHECK-LABEL: func.func @table
// CHECK: %t = stripe.alloc : !stripe.view<16xsi32, private>
func.func @table(%I : !stripe.view<8xsi32>) -> !stripe.view<8xsi32> {
  %O = stripe.alloc : !stripe.view<8xsi32>
  stripe.block [%i : 8]
      in %k = %I[%i] : 1
      out %o = %O[%i] : 1 {
    %t = stripe.alloc : !stripe.view<16xsi32, private>
    stripe.block [%j : 16]
        out %c = %t[%j] : 1 {
      %p = stripe.index %j : si32
      stripe.store %p, %c : !stripe.view<1xsi32, private>
    }
    %n = stripe.load %k : !stripe.view<1xsi32>
    %x = stripe.load %t[%n] : !stripe.view<16xsi32, private>
    stripe.store %x, %o : !stripe.view<1xsi32>
  }
  func.return %O : !stripe.view<8xsi32>
}
