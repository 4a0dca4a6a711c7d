// Programs that choose places by data, that go point by point, and that see memory under
// other shapes. test_stripe_specials.py says what they compute. Here: that each prints
// and parses back.
// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// CHECK-LABEL: func.func @gather_rows
func.func @gather_rows(%V : !stripe.view<4x33xf32>, %I : !stripe.view<7xsi32>) -> !stripe.view<7x33xf32> {
  %O = stripe.alloc : !stripe.view<7x33xf32>
  stripe.block "O" [%n : 7, %j : 33]
      in %i = %I[%n] : 1
      in %v = %V[0, %j] : 4x1
      out %o = %O[%n, %j] : 1x1 {
    %0 = stripe.load %i : !stripe.view<1xsi32>
    %low = eltwise.constant 0 : si32
    %high = eltwise.constant 3 : si32
    %1 = eltwise.max %0, %low : si32
    %2 = eltwise.min %1, %high : si32
    // CHECK: stripe.load %v[%{{.*}}, 0] : !stripe.view<4x1xf32>
    %x = stripe.load %v[%2, 0] : !stripe.view<4x1xf32>
    stripe.store %x, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<7x33xf32>
}

// The chosen place differs from lane to lane.
// CHECK-LABEL: func.func @gather_columns
func.func @gather_columns(%V : !stripe.view<5x4xf32>, %I : !stripe.view<32xui8>) -> !stripe.view<5x32xf32> {
  %O = stripe.alloc : !stripe.view<5x32xf32>
  stripe.block "O" [%i : 5, %n : 32]
      in %k = %I[%n] : 1
      in %v = %V[%i, 0] : 1x4
      out %o = %O[%i, %n] : 1x1 {
    %0 = stripe.load %k : !stripe.view<1xui8>
    %high = eltwise.constant 3 : ui8
    %1 = eltwise.min %0, %high : ui8
    %x = stripe.load %v[0, %1] : !stripe.view<1x4xf32>
    stripe.store %x, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<5x32xf32>
}

// A chain of blocks over the same points. %T and %G are handed on from point to point;
// %W is not: it is read where another point wrote it.
// CHECK-LABEL: func.func @gather_in_a_chain
func.func @gather_in_a_chain(%A : !stripe.view<4x16xf32>, %I : !stripe.view<4x16xsi64>) -> !stripe.view<4x16xf32> {
  %W = stripe.alloc : !stripe.view<4x16xf32>
  stripe.block "W" [%i : 4, %j : 16]
      in %a = %A[%i, %j] : 1x1
      out %w = %W[%i, %j] : 1x1 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    %1 = eltwise.mul %0, %0 : f32
    stripe.store %1, %w : !stripe.view<1x1xf32>
  }
  %T = stripe.alloc : !stripe.view<4x16xsi64>
  stripe.block "T" [%i : 4, %j : 16]
      in %k = %I[%i, %j] : 1x1
      out %t = %T[%i, %j] : 1x1 {
    %0 = stripe.load %k : !stripe.view<1x1xsi64>
    %low = eltwise.constant 0 : si64
    %high = eltwise.constant 3 : si64
    %1 = eltwise.max %0, %low : si64
    %2 = eltwise.min %1, %high : si64
    stripe.store %2, %t : !stripe.view<1x1xsi64>
  }
  %G = stripe.alloc : !stripe.view<4x16xf32>
  stripe.block "G" [%i : 4, %j : 16]
      in %t = %T[%i, %j] : 1x1
      in %w = %W[0, %j] : 4x1
      out %g = %G[%i, %j] : 1x1 {
    %k = stripe.load %t : !stripe.view<1x1xsi64>
    %x = stripe.load %w[%k, 0] : !stripe.view<4x1xf32>
    stripe.store %x, %g : !stripe.view<1x1xf32>
  }
  %O = stripe.alloc : !stripe.view<4x16xf32>
  stripe.block "O" [%i : 4, %j : 16]
      in %g = %G[%i, %j] : 1x1
      in %a = %A[%i, %j] : 1x1
      out %o = %O[%i, %j] : 1x1 {
    %x = stripe.load %g : !stripe.view<1x1xf32>
    %y = stripe.load %a : !stripe.view<1x1xf32>
    %z = eltwise.sub %x, %y : f32
    stripe.store %z, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<4x16xf32>
}

// Points meet in %T at chosen places: what one stores there, another must not load in
// the same block.
// CHECK-LABEL: func.func @scatter_then_gather
func.func @scatter_then_gather(%P : !stripe.view<4xsi32>) -> !stripe.view<4xsi32> {
  %T = stripe.alloc : !stripe.view<4xsi32>
  stripe.block "T" [%i : 4]
      out %t = %T[0] : 4 {
    %x = stripe.index 3 - %i : si32
    %y = stripe.index 10 * %i : si32
    stripe.store %y, %t[%x] : !stripe.view<4xsi32>
  }
  %O = stripe.alloc : !stripe.view<4xsi32>
  stripe.block "O" [%i : 4]
      in %t = %T[0] : 4
      in %p = %P[%i] : 1
      out %o = %O[0] : 4 {
    %x = stripe.index %i : si32
    %y = stripe.load %t[%x] : !stripe.view<4xsi32>
    %z = stripe.load %p : !stripe.view<1xsi32>
    %s = eltwise.add %y, %z : si32
    stripe.store %s, %o[%x] : !stripe.view<4xsi32>
  }
  func.return %O : !stripe.view<4xsi32>
}

// CHECK-LABEL: func.func @gather_and_add
func.func @gather_and_add(%V : !stripe.view<4x20xf32>, %I : !stripe.view<19xsi32>) -> !stripe.view<20xf32> {
  %O = stripe.alloc : !stripe.view<20xf32>
  stripe.block "O" [%j : 20, %k : 19]
      in %i = %I[%k] : 1
      in %v = %V[0, %j] : 4x1
      out %o = %O[%j] : 1 add init 0 {
    %0 = stripe.load %i : !stripe.view<1xsi32>
    %low = eltwise.constant 0 : si32
    %high = eltwise.constant 3 : si32
    %1 = eltwise.max %0, %low : si32
    %2 = eltwise.min %1, %high : si32
    %x = stripe.load %v[%2, 0] : !stripe.view<4x1xf32>
    stripe.store %x, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<20xf32>
}

// CHECK-LABEL: func.func @scatter_add
func.func @scatter_add(%U : !stripe.view<17x37xf32>, %I : !stripe.view<17xsi32>) -> !stripe.view<4x37xf32> {
  %O = stripe.alloc : !stripe.view<4x37xf32>
  // CHECK: out %o = %O[0, %j] : 4x1 add init 0
  stripe.block "O" [%n : 17, %j : 37]
      in %i = %I[%n] : 1
      in %u = %U[%n, %j] : 1x1
      out %o = %O[0, %j] : 4x1 add init 0 {
    %0 = stripe.load %i : !stripe.view<1xsi32>
    %low = eltwise.constant 0 : si32
    %high = eltwise.constant 3 : si32
    %1 = eltwise.max %0, %low : si32
    %2 = eltwise.min %1, %high : si32
    %x = stripe.load %u : !stripe.view<1x1xf32>
    stripe.store %x, %o[%2, 0] : !stripe.view<4x1xf32>
  }
  func.return %O : !stripe.view<4x37xf32>
}

// All points may meet.
// CHECK-LABEL: func.func @histogram
func.func @histogram(%I : !stripe.view<100xsi32>) -> !stripe.view<5xsi32> {
  %O = stripe.alloc : !stripe.view<5xsi32>
  stripe.block "O" [%n : 100]
      in %i = %I[%n] : 1
      out %o = %O[0] : 5 add init 0 {
    %0 = stripe.load %i : !stripe.view<1xsi32>
    %low = eltwise.constant 0 : si32
    %high = eltwise.constant 5 : si32
    %one = eltwise.constant 1 : si32
    %above = eltwise.cmp_ge %0, %low : (si32, si32) -> i1
    %below = eltwise.cmp_lt %0, %high : (si32, si32) -> i1
    %inside = eltwise.logical_and %above, %below : i1
    // CHECK: stripe.store %one, %o[%{{.*}}] if %inside : !stripe.view<5xsi32>
    stripe.store %one, %o[%0] if %inside : !stripe.view<5xsi32>
  }
  func.return %O : !stripe.view<5xsi32>
}

// A condition without a subscript, over what is there already.
// CHECK-LABEL: func.func @conditional_store
func.func @conditional_store(%A : !stripe.view<6x16xf32>, %M : !stripe.view<6xi1>) -> !stripe.view<6x16xf32> {
  %O = stripe.alloc : !stripe.view<6x16xf32>
  stripe.block "zero" [%i : 6, %j : 16]
      out %o = %O[%i, %j] : 1x1 {
    %z = eltwise.constant -1 : f32
    stripe.store %z, %o : !stripe.view<1x1xf32>
  }
  stripe.block "O" [%i : 6, %j : 16]
      in %m = %M[%i] : 1
      in %a = %A[%i, %j] : 1x1
      out %o = %O[%i, %j] : 1x1 {
    %keep = stripe.load %m : !stripe.view<1xi1>
    %x = stripe.load %a : !stripe.view<1x1xf32>
    // CHECK: stripe.store %x, %o if %keep : !stripe.view<1x1xf32>
    stripe.store %x, %o if %keep : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<6x16xf32>
}

// Cells that no store with a condition reaches keep the initial value.
// CHECK-LABEL: func.func @conditional_init
func.func @conditional_init(%A : !stripe.view<33xf32>) -> !stripe.view<33xf32> {
  %O = stripe.alloc : !stripe.view<33xf32>
  stripe.block "O" [%i : 33]
      in %a = %A[%i] : 1
      out %o = %O[%i] : 1 add init 0 {
    %x = stripe.load %a : !stripe.view<1xf32>
    %zero = eltwise.constant 0 : f32
    %keep = eltwise.cmp_gt %x, %zero : (f32, f32) -> i1
    stripe.store %x, %o if %keep : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<33xf32>
}

// The places of the numbers in order: how many come before each, then a permutation.
// CHECK-LABEL: func.func @argsort
func.func @argsort(%A : !stripe.view<3x21xf32>) -> !stripe.view<3x21xsi32> {
  %R = stripe.alloc : !stripe.view<3x21xsi32>
  stripe.block "R" [%r : 3, %i : 21, %k : 21]
      in %a = %A[%r, %i] : 1x1
      in %b = %A[%r, %k] : 1x1
      out %o = %R[%r, %i] : 1x1 add init 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %y = stripe.load %b : !stripe.view<1x1xf32>
    %less = eltwise.cmp_lt %y, %x : (f32, f32) -> i1
    %same = eltwise.cmp_eq %y, %x : (f32, f32) -> i1
    // CHECK: %p = stripe.index %i : si32
    %p = stripe.index %i : si32
    %q = stripe.index %k : si32
    %earlier = eltwise.cmp_lt %q, %p : (si32, si32) -> i1
    %tie = eltwise.logical_and %same, %earlier : i1
    %before = eltwise.logical_or %less, %tie : i1
    %n = eltwise.cast %before : i1 to si32
    stripe.store %n, %o : !stripe.view<1x1xsi32>
  }
  %O = stripe.alloc : !stripe.view<3x21xsi32>
  stripe.block "O" [%r : 3, %i : 21]
      in %rank = %R[%r, %i] : 1x1
      out %o = %O[%r, 0] : 1x21 {
    %n = stripe.load %rank : !stripe.view<1x1xsi32>
    %p = stripe.index %i : si32
    stripe.store %p, %o[0, %n] : !stripe.view<1x21xsi32>
  }
  func.return %O : !stripe.view<3x21xsi32>
}

// Updates in order: the last one of those with one index stays.
// CHECK-LABEL: func.func @update_rows
func.func @update_rows(%B : !stripe.view<4x33xf32>, %I : !stripe.view<9xsi32>, %U : !stripe.view<9x33xf32>) -> !stripe.view<4x33xf32> {
  %O = stripe.alloc : !stripe.view<4x33xf32>
  stripe.block "copy" [%i : 4, %j : 33]
      in %b = %B[%i, %j] : 1x1
      out %o = %O[%i, %j] : 1x1 {
    %x = stripe.load %b : !stripe.view<1x1xf32>
    stripe.store %x, %o : !stripe.view<1x1xf32>
  }
  stripe.block "O" [%j : 33]
      in %i = %I[0] : 9
      in %u = %U[0, %j] : 9x1
      inout %o = %O[0, %j] : 4x1 {
    // CHECK: stripe.block serial [%n : 9]
    stripe.block serial [%n : 9]
        in %i1 = %i[%n] : 1
        in %u1 = %u[%n, 0] : 1x1
        out %o1 = %o[0, 0] : 4x1 {
      %0 = stripe.load %i1 : !stripe.view<1xsi32>
      %low = eltwise.constant 0 : si32
      %high = eltwise.constant 3 : si32
      %1 = eltwise.max %0, %low : si32
      %2 = eltwise.min %1, %high : si32
      %x = stripe.load %u1 : !stripe.view<1x1xf32>
      stripe.store %x, %o1[%2, 0] : !stripe.view<4x1xf32>
    }
  }
  func.return %O : !stripe.view<4x33xf32>
}

// A sum that runs along the rows, in place.
// CHECK-LABEL: func.func @running_sum
func.func @running_sum(%A : !stripe.view<5x12xf32>) -> !stripe.view<5x12xf32> {
  %O = stripe.alloc : !stripe.view<5x12xf32>
  stripe.block "copy" [%r : 5, %t : 12]
      in %a = %A[%r, %t] : 1x1
      out %o = %O[%r, %t] : 1x1 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %o : !stripe.view<1x1xf32>
  }
  stripe.block "O" [%r : 5]
      // CHECK: inout %row = %O[%r, 0] : 1x12
      inout %row = %O[%r, 0] : 1x12 {
    stripe.block serial [%t : 11]
        in %last = %row[0, %t] : 1x1
        inout %next = %row[0, %t + 1] : 1x1 {
      %x = stripe.load %last : !stripe.view<1x1xf32>
      %y = stripe.load %next : !stripe.view<1x1xf32>
      %z = eltwise.add %x, %y : f32
      stripe.store %z, %next : !stripe.view<1x1xf32>
    }
  }
  func.return %O : !stripe.view<5x12xf32>
}

// Every row on its own, in memory that only one block needs.
// CHECK-LABEL: func.func @running_largest
func.func @running_largest(%A : !stripe.view<5x12xf32>) -> !stripe.view<5xf32> {
  %S = stripe.alloc : !stripe.view<5xf32>
  %O = stripe.alloc : !stripe.view<5xf32>
  stripe.block "O" [%r : 5]
      in %row = %A[%r, 0] : 1x12
      inout %s = %S[%r] : 1
      out %o = %O[%r] : 1 {
    %first = eltwise.constant 0 : f32
    stripe.store %first, %s : !stripe.view<1xf32>
    stripe.block serial [%t : 12]
        in %a = %row[0, %t] : 1x1
        inout %state = %s[0] : 1
        where %t - 2 >= 0 {
      %x = stripe.load %a : !stripe.view<1x1xf32>
      %y = stripe.load %state : !stripe.view<1xf32>
      %two = eltwise.constant 2 : f32
      %0 = eltwise.mul %x, %two : f32
      %1 = eltwise.sub %0, %y : f32
      stripe.store %1, %state : !stripe.view<1xf32>
    }
    %last = stripe.load %s : !stripe.view<1xf32>
    stripe.store %last, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<5xf32>
}

// Nothing is parallel: the order of both indices matters.
// CHECK-LABEL: func.func @checksum
func.func @checksum(%A : !stripe.view<4x8xsi32>) -> !stripe.view<si32> {
  %O = stripe.alloc : !stripe.view<si32>
  stripe.block "start" []
      out %o = %O[] {
    %0 = eltwise.constant 1 : si32
    stripe.store %0, %o : !stripe.view<si32>
  }
  // CHECK: stripe.block "O" serial [%i : 4, %j : 8]
  stripe.block "O" serial [%i : 4, %j : 8]
      in %a = %A[%i, %j] : 1x1
      inout %o = %O[] {
    %x = stripe.load %a : !stripe.view<1x1xsi32>
    %y = stripe.load %o : !stripe.view<si32>
    %three = eltwise.constant 3 : si32
    %0 = eltwise.mul %y, %three : si32
    %1 = eltwise.add %0, %x : si32
    stripe.store %1, %o : !stripe.view<si32>
  }
  func.return %O : !stripe.view<si32>
}

// Steps in order, the work of each in parallel.
// CHECK-LABEL: func.func @steps
func.func @steps(%M : !stripe.view<4x4xf32>, %X : !stripe.view<4xf32>) -> !stripe.view<4xf32> {
  %O = stripe.alloc : !stripe.view<4xf32>
  stripe.block "copy" [%i : 4]
      in %x = %X[%i] : 1
      out %o = %O[%i] : 1 {
    %0 = stripe.load %x : !stripe.view<1xf32>
    stripe.store %0, %o : !stripe.view<1xf32>
  }
  stripe.block "O" serial [%t : 3]
      in %m = %M[0, 0] : 4x4
      inout %o = %O[0] : 4 {
    %y = stripe.alloc : !stripe.view<4xf32, private>
    stripe.block [%i : 4, %k : 4]
        in %a = %m[%i, %k] : 1x1
        in %b = %o[%k] : 1
        out %c = %y[%i] : 1 add init 0 {
      %0 = stripe.load %a : !stripe.view<1x1xf32>
      %1 = stripe.load %b : !stripe.view<1xf32>
      %2 = eltwise.mul %0, %1 : f32
      stripe.store %2, %c : !stripe.view<1xf32, private>
    }
    stripe.block [%i : 4]
        in %c = %y[%i] : 1
        out %d = %o[%i] : 1 {
      %0 = stripe.load %c : !stripe.view<1xf32, private>
      %n = stripe.index %t + 1 : si32
      %1 = eltwise.cast %n : si32 to f32
      %2 = eltwise.add %0, %1 : f32
      stripe.store %2, %d : !stripe.view<1xf32>
    }
  }
  func.return %O : !stripe.view<4xf32>
}

// One memory under three shapes, written and read through different ones.
// CHECK-LABEL: func.func @reshaped
func.func @reshaped(%A : !stripe.view<6x8xf32>) -> !stripe.view<2x24xf32> {
  %T = stripe.alloc : !stripe.view<6x8xf32>
  stripe.block "T" [%i : 6, %j : 8]
      in %a = %A[%i, %j] : 1x1
      out %t = %T[%i, %j] : 1x1 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %y = eltwise.neg %x : f32
    stripe.store %y, %t : !stripe.view<1x1xf32>
  }
  // CHECK: %F = stripe.reshape %T : !stripe.view<6x8xf32> to !stripe.view<48xf32>
  %F = stripe.reshape %T : !stripe.view<6x8xf32> to !stripe.view<48xf32>
  %G = stripe.reshape %A : !stripe.view<6x8xf32> to !stripe.view<48xf32>
  stripe.block "odd" [%i : 24]
      in %g = %G[2 * %i + 1] : 1
      out %f = %F[2 * %i + 1] : 1 {
    %x = stripe.load %g : !stripe.view<1xf32>
    %ten = eltwise.constant 10 : f32
    %y = eltwise.mul %x, %ten : f32
    stripe.store %y, %f : !stripe.view<1xf32>
  }
  %U = stripe.alloc : !stripe.view<48xf32>
  %V = stripe.reshape %U : !stripe.view<48xf32> to !stripe.view<2x24xf32>
  %S = stripe.reshape %T : !stripe.view<6x8xf32> to !stripe.view<2x24xf32>
  stripe.block "V" [%i : 2, %j : 24]
      in %s = %S[%i, %j] : 1x1
      out %v = %V[%i, %j] : 1x1 {
    %x = stripe.load %s : !stripe.view<1x1xf32>
    %one = eltwise.constant 1 : f32
    %y = eltwise.add %x, %one : f32
    stripe.store %y, %v : !stripe.view<1x1xf32>
  }
  func.return %V : !stripe.view<2x24xf32>
}

// A chain over the same points, part of it under another shape.
// CHECK-LABEL: func.func @reshaped_chain
func.func @reshaped_chain(%A : !stripe.view<5x9xf32>) -> !stripe.view<45xf32> {
  %T = stripe.alloc : !stripe.view<45xf32>
  %B = stripe.reshape %A : !stripe.view<5x9xf32> to !stripe.view<45xf32>
  stripe.block "T" [%i : 45]
      in %b = %B[%i] : 1
      out %t = %T[%i] : 1 {
    %x = stripe.load %b : !stripe.view<1xf32>
    %y = eltwise.mul %x, %x : f32
    stripe.store %y, %t : !stripe.view<1xf32>
  }
  %U = stripe.alloc : !stripe.view<5x9xf32>
  %W = stripe.reshape %U : !stripe.view<5x9xf32> to !stripe.view<45xf32>
  stripe.block "U" [%i : 45]
      in %t = %T[%i] : 1
      out %u = %W[%i] : 1 {
    %x = stripe.load %t : !stripe.view<1xf32>
    %y = eltwise.add %x, %x : f32
    stripe.store %y, %u : !stripe.view<1xf32>
  }
  // Row sums through the other shape.
  %R = stripe.alloc : !stripe.view<5xf32>
  stripe.block "R" [%i : 5, %k : 9]
      in %u = %U[%i, %k] : 1x1
      out %r = %R[%i] : 1 add init 0 {
    %x = stripe.load %u : !stripe.view<1x1xf32>
    stripe.store %x, %r : !stripe.view<1xf32>
  }
  %O = stripe.alloc : !stripe.view<45xf32>
  stripe.block "O" [%i : 45]
      in %u = %W[%i] : 1
      in %r = %R[0] : 5
      out %o = %O[%i] : 1 {
    %x = stripe.load %u : !stripe.view<1xf32>
    %n = stripe.index %i : si32
    %nine = eltwise.constant 9 : si32
    %row = eltwise.div %n, %nine : si32
    %y = stripe.load %r[%row] : !stripe.view<5xf32>
    %z = eltwise.add %x, %y : f32
    stripe.store %z, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<45xf32>
}

// Indices as numbers, along the vectors and across.
// CHECK-LABEL: func.func @coordinates
func.func @coordinates(%A : !stripe.view<6x40xsi32>) -> (!stripe.view<6x40xsi32>, !stripe.view<6x40xui8>) {
  %O = stripe.alloc : !stripe.view<6x40xsi32>
  %P = stripe.alloc : !stripe.view<6x40xui8>
  stripe.block "O" [%i : 6, %j : 40]
      in %a = %A[%i, %j] : 1x1
      out %o = %O[%i, %j] : 1x1 {
    %x = stripe.load %a : !stripe.view<1x1xsi32>
    %p = stripe.index 7 * %i - 3 * %j + 2 : si32
    %q = stripe.index %i : si32
    %0 = eltwise.mul %x, %q : si32
    %1 = eltwise.add %0, %p : si32
    stripe.store %1, %o : !stripe.view<1x1xsi32>
  }
  stripe.block "P" [%i : 6, %j : 40]
      out %o = %P[%i, %j] : 1x1 {
    %p = stripe.index 5 * %j - 9 * %i : ui8
    stripe.store %p, %o : !stripe.view<1x1xui8>
  }
  func.return %O, %P : !stripe.view<6x40xsi32>, !stripe.view<6x40xui8>
}

// A table of each point, and sums over a part of the coordinates.
// CHECK-LABEL: func.func @private_table
func.func @private_table(%I : !stripe.view<9xsi32>) -> (!stripe.view<9xsi32>, !stripe.view<9xsi32>) {
  %O = stripe.alloc : !stripe.view<9xsi32>
  %S = stripe.alloc : !stripe.view<9xsi32>
  stripe.block "O" [%n : 9]
      in %i = %I[%n] : 1
      out %o = %O[%n] : 1 {
    %table = stripe.alloc : !stripe.view<4xsi32, private>
    stripe.block [%k : 4]
        out %t = %table[%k] : 1 {
      %x = stripe.index %n - 5 * %k : si32
      stripe.store %x, %t : !stripe.view<1xsi32, private>
    }
    %0 = stripe.load %i : !stripe.view<1xsi32>
    %low = eltwise.constant 0 : si32
    %high = eltwise.constant 3 : si32
    %1 = eltwise.max %0, %low : si32
    %2 = eltwise.min %1, %high : si32
    %x = stripe.load %table[%2] : !stripe.view<4xsi32, private>
    stripe.store %x, %o : !stripe.view<1xsi32>
  }
  stripe.block "S" [%n : 9, %k : 11]
      in %i = %I[%n] : 1
      out %s = %S[%n] : 1 add init 0
      where %n + %k - 4 >= 0, 14 - %n - %k >= 0 {
    %x = stripe.load %i : !stripe.view<1xsi32>
    %p = stripe.index %k + 1 : si32
    %0 = eltwise.mul %x, %p : si32
    stripe.store %0, %s : !stripe.view<1xsi32>
  }
  func.return %O, %S : !stripe.view<9xsi32>, !stripe.view<9xsi32>
}

// Subscripts within windows that move along the last axis.
// CHECK-LABEL: func.func @sliding_choice
func.func @sliding_choice(%A : !stripe.view<3x36xf32>, %I : !stripe.view<3xsi16>) -> !stripe.view<3x32xf32> {
  %O = stripe.alloc : !stripe.view<3x32xf32>
  stripe.block "O" [%r : 3, %j : 32]
      in %i = %I[%r] : 1
      in %a = %A[%r, %j] : 1x5
      out %o = %O[%r, %j] : 1x1 {
    %0 = stripe.load %i : !stripe.view<1xsi16>
    %low = eltwise.constant 0 : si16
    %high = eltwise.constant 4 : si16
    %1 = eltwise.max %0, %low : si16
    %2 = eltwise.min %1, %high : si16
    %x = stripe.load %a[0, %2] : !stripe.view<1x5xf32>
    stripe.store %x, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<3x32xf32>
}

// Zero where the place is outside.
// CHECK-LABEL: func.func @gather_or_zero
func.func @gather_or_zero(%V : !stripe.view<4x32xf32>, %I : !stripe.view<7xsi32>) -> !stripe.view<7x32xf32> {
  %O = stripe.alloc : !stripe.view<7x32xf32>
  stripe.block "O" [%n : 7, %j : 32]
      in %i = %I[%n] : 1
      in %v = %V[0, %j] : 4x1
      out %o = %O[%n, %j] : 1x1 {
    %0 = stripe.load %i : !stripe.view<1xsi32>
    %low = eltwise.constant 0 : si32
    %high = eltwise.constant 3 : si32
    %1 = eltwise.max %0, %low : si32
    %2 = eltwise.min %1, %high : si32
    %x = stripe.load %v[%2, 0] : !stripe.view<4x1xf32>
    %inside = eltwise.cmp_eq %0, %2 : (si32, si32) -> i1
    %zero = eltwise.constant 0 : f32
    %y = eltwise.cond %inside, %x, %zero : (i1, f32, f32) -> f32
    stripe.store %y, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<7x32xf32>
}
