// The programs that test_stripe_vectors.py runs before and after vectorization. Here: that
// each prints and parses back.
// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP


// CHECK-LABEL: func.func @transposition
func.func @transposition(%A : !stripe.view<48x32xf32>, %D : !stripe.view<32xf32>) -> !stripe.view<32x48xf32> {
  %O = stripe.alloc : !stripe.view<32x48xf32>
  stripe.block [%i : 32, %j : 48]
      in %a = %A[%j, %i] : 1x1
      in %b = %A[%i, 0] : 1x1
      in %d = %D[%i] : 1
      out %o = %O[%i, %j] : 1x1 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %y = stripe.load %b : !stripe.view<1x1xf32>
    %z = stripe.load %d : !stripe.view<1xf32>
    %n = stripe.index 2 * %i - %j + 1 : si32
    %m = eltwise.cast %n : si32 to f32
    %u = eltwise.sub %x, %y : f32
    %v = eltwise.mul %u, %z : f32
    %w = eltwise.add %m, %v : f32
    stripe.store %w, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<32x48xf32>
}

// CHECK-LABEL: func.func @mirrored_square
func.func @mirrored_square(%A : !stripe.view<16x16xsi16>) -> !stripe.view<16x16xsi32> {
  %O = stripe.alloc : !stripe.view<16x16xsi32>
  stripe.block [%i : 16, %j : 16]
      in %a = %A[-%j + 15, %i] : 1x1
      out %o = %O[-%i + 15, %j] : 1x1 {
    %x = stripe.load %a : !stripe.view<1x1xsi16>
    %y = eltwise.cast %x : si16 to si32
    stripe.store %y, %o : !stripe.view<1x1xsi32>
  }
  func.return %O : !stripe.view<16x16xsi32>
}

// CHECK-LABEL: func.func @steps
func.func @steps(%A : !stripe.view<4x130xf32>) -> !stripe.view<5x32xf32> {
  %O = stripe.alloc : !stripe.view<5x32xf32>
  stripe.block [%i : 32]
      in %two = %A[0, 2 * %i + 1] : 1x1
      in %four = %A[1, 4 * %i] : 1x1
      in %back = %A[2, -%i + 40] : 1x1
      in %three_back = %A[3, -3 * %i + 99] : 1x1
      in %one = %A[0, %i] : 1x1
      out %o0 = %O[0, %i] : 1x1
      out %o1 = %O[1, %i] : 1x1
      out %o2 = %O[2, %i] : 1x1
      out %o3 = %O[3, %i] : 1x1
      out %o4 = %O[4, %i] : 1x1 {
    %0 = stripe.load %two : !stripe.view<1x1xf32>
    %1 = stripe.load %four : !stripe.view<1x1xf32>
    %2 = stripe.load %back : !stripe.view<1x1xf32>
    %3 = stripe.load %three_back : !stripe.view<1x1xf32>
    %4 = stripe.load %one : !stripe.view<1x1xf32>
    stripe.store %0, %o0 : !stripe.view<1x1xf32>
    stripe.store %1, %o1 : !stripe.view<1x1xf32>
    stripe.store %2, %o2 : !stripe.view<1x1xf32>
    stripe.store %3, %o3 : !stripe.view<1x1xf32>
    stripe.store %4, %o4 : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<5x32xf32>
}

// CHECK-LABEL: func.func @columns
func.func @columns(%A : !stripe.view<32x9xf32>) -> !stripe.view<16xf32> {
  %O = stripe.alloc : !stripe.view<16xf32>
  stripe.block [%i : 16]
      in %a = %A[2 * %i, 3] : 1x1
      in %b = %A[%i, 8] : 1x1
      in %far = %A[-%i + 20, 1] : 1x1
      out %o = %O[%i] : 1 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %y = stripe.load %b : !stripe.view<1x1xf32>
    %z = stripe.load %far : !stripe.view<1x1xf32>
    %u = eltwise.mul %x, %y : f32
    %v = eltwise.sub %u, %z : f32
    stripe.store %v, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<16xf32>
}

// CHECK-LABEL: func.func @rows_times_vector
func.func @rows_times_vector(%A : !stripe.view<32x48xf32>, %X : !stripe.view<48xf32>) -> !stripe.view<32xf32> {
  %O = stripe.alloc : !stripe.view<32xf32>
  stripe.block [%i : 32]
      out %o = %O[%i] : 1 {
    %zero = eltwise.constant 0 : f32
    stripe.store %zero, %o : !stripe.view<1xf32>
  }
  stripe.block [%k : 48, %i : 32]
      in %a = %A[%i, %k] : 1x1
      in %x = %X[%k] : 1
      out %o = %O[%i] : 1 add {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    %1 = stripe.load %x : !stripe.view<1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<32xf32>
}

// CHECK-LABEL: func.func @gather
func.func @gather(%V : !stripe.view<7x32xf32>, %I : !stripe.view<32xsi32>, %T : !stripe.view<9xi1>, %S : !stripe.view<si32>) -> (!stripe.view<32xf32>, !stripe.view<32xf32>) {
  %O = stripe.alloc : !stripe.view<32xf32>
  %P = stripe.alloc : !stripe.view<32xf32>
  stripe.block [%j : 32]
      in %i = %I[%j] : 1
      in %s = %S[]
      in %v = %V[0, %j] : 7x1
      in %t = %T[0] : 9
      out %o = %O[%j] : 1
      out %p = %P[%j] : 1 {
    %n = stripe.load %i : !stripe.view<1xsi32>
    %big = eltwise.abs %n : si32
    %row = stripe.load %s : !stripe.view<si32>
    %place = eltwise.abs %row : si32
    %x = stripe.load %v[%big, 0] : !stripe.view<7x1xf32>
    %y = stripe.load %v[%place, 0] : !stripe.view<7x1xf32>
    %truth = stripe.load %t[%big] : !stripe.view<9xi1>
    %z = eltwise.cast %truth : i1 to f32
    %u = eltwise.add %x, %y : f32
    stripe.store %u, %o : !stripe.view<1xf32>
    stripe.store %z, %p : !stripe.view<1xf32>
  }
  func.return %O, %P : !stripe.view<32xf32>, !stripe.view<32xf32>
}

// CHECK-LABEL: func.func @truth
func.func @truth(%A : !stripe.view<32xf32>, %I : !stripe.view<32xsi32>, %M : !stripe.view<32xi1>) -> (!stripe.view<32xi1>, !stripe.view<32xf64>, !stripe.view<32xsi8>) {
  %O = stripe.alloc : !stripe.view<32xi1>
  %P = stripe.alloc : !stripe.view<32xf64>
  %Q = stripe.alloc : !stripe.view<32xsi8>
  stripe.block [%j : 32]
      in %i = %I[%j] : 1
      in %m = %M[-%j + 31] : 1
      in %one = %M[3] : 1
      in %a = %A[%j] : 1
      out %o = %O[%j] : 1
      out %p = %P[%j] : 1
      out %q = %Q[%j] : 1 {
    %n = stripe.load %i : !stripe.view<1xsi32>
    %x = stripe.load %a : !stripe.view<1xf32>
    %t = stripe.load %m : !stripe.view<1xi1>
    %same = stripe.load %one : !stripe.view<1xi1>
    %zero = eltwise.constant 0 : si32
    %c = eltwise.cmp_lt %n, %zero : (si32, si32) -> i1
    %d = eltwise.cast %x : f32 to i1
    %e = eltwise.logical_and %c, %d : i1
    %f = eltwise.logical_xor %e, %t : i1
    %g = eltwise.logical_or %f, %same : i1
    %h = eltwise.cond %t, %g, %same : (i1, i1, i1) -> i1
    stripe.store %h, %o : !stripe.view<1xi1>
    %wide = eltwise.cast %x : f32 to f64
    %counted = eltwise.cast %h : i1 to f64
    %chosen = eltwise.cond %c, %wide, %counted : (i1, f64, f64) -> f64
    stripe.store %chosen, %p : !stripe.view<1xf64>
    %less = eltwise.cmp_lt %t, %c : (i1, i1) -> i1
    %byte = eltwise.cast %less : i1 to si8
    stripe.store %byte, %q : !stripe.view<1xsi8>
  }
  func.return %O, %P, %Q : !stripe.view<32xi1>, !stripe.view<32xf64>, !stripe.view<32xsi8>
}

// CHECK-LABEL: func.func @only_truth
func.func @only_truth(%M : !stripe.view<2x32xi1>) -> !stripe.view<32xi1> {
  %O = stripe.alloc : !stripe.view<32xi1>
  stripe.block [%j : 32]
      in %a = %M[0, %j] : 1x1
      in %b = %M[1, %j] : 1x1
      out %o = %O[%j] : 1 {
    %x = stripe.load %a : !stripe.view<1x1xi1>
    %y = stripe.load %b : !stripe.view<1x1xi1>
    %z = eltwise.cmp_ge %x, %y : (i1, i1) -> i1
    stripe.store %z, %o : !stripe.view<1xi1>
  }
  func.return %O : !stripe.view<32xi1>
}

// CHECK-LABEL: func.func @running_columns
func.func @running_columns(%A : !stripe.view<9x32xf32>) -> !stripe.view<9x32xf32> {
  %O = stripe.alloc : !stripe.view<9x32xf32>
  stripe.block [%j : 2]
      in %a = %A[0, 16 * %j] : 9x16
      out %o = %O[0, 16 * %j] : 9x16 {
    %s = stripe.alloc : !stripe.view<16xf32, private>
    stripe.block [%l : 16]
        out %c = %s[%l] : 1 {
      %zero = eltwise.constant 0 : f32
      stripe.store %zero, %c : !stripe.view<1xf32, private>
    }
    stripe.block serial [%l : 16, %t : 9]
        in %x = %a[%t, %l] : 1x1
        inout %c = %s[%l] : 1
        out %y = %o[%t, %l] : 1x1 {
      %0 = stripe.load %x : !stripe.view<1x1xf32>
      %1 = stripe.load %c : !stripe.view<1xf32, private>
      %2 = eltwise.add %0, %1 : f32
      stripe.store %2, %c : !stripe.view<1xf32, private>
      stripe.store %2, %y : !stripe.view<1x1xf32>
    }
  }
  func.return %O : !stripe.view<9x32xf32>
}

// Each value of %n has a place of its own.
// CHECK-LABEL: func.func @scattered_columns
func.func @scattered_columns(%U : !stripe.view<16x32xf32>, %I : !stripe.view<32xsi32>) -> !stripe.view<9x16xf32> {
  %O = stripe.alloc : !stripe.view<9x16xf32>
  stripe.block [%i : 9, %j : 16]
      out %o = %O[%i, %j] : 1x1 {
    %z = eltwise.constant 0 : f32
    stripe.store %z, %o : !stripe.view<1x1xf32>
  }
  stripe.block [%n : 32, %j : 16]
      in %i = %I[%n] : 1
      in %u = %U[%j, %n] : 1x1
      out %o = %O[0, %j] : 9x1 add {
    %0 = stripe.load %i : !stripe.view<1xsi32>
    %1 = eltwise.abs %0 : si32
    %2 = stripe.load %u : !stripe.view<1x1xf32>
    stripe.store %2, %o[%1, 0] : !stripe.view<9x1xf32>
  }
  func.return %O : !stripe.view<9x16xf32>
}
