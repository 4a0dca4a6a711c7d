// RUN: tile-opt %s -p stripe-fuse | filecheck %s

// Into the one block that reads it, at the places it reads.
// CHECK-LABEL: func.func @single
// CHECK-NOT: %D = stripe.alloc
// CHECK: stripe.block "S" [%i : 4, %j : 6]
// CHECK-NEXT: out %s = %S[%j] : 1 add init 0
// CHECK-NEXT: in %a = %A[%j, %i] : 1x1
// CHECK-NEXT: in %b = %B[%j] : 1 {
// CHECK-NEXT: %0 = stripe.load %a : !stripe.view<1x1xf32>
// CHECK-NEXT: %1 = stripe.load %b : !stripe.view<1xf32>
// CHECK-NEXT: %2 = eltwise.div %0, %1 : f32
// CHECK-NEXT: %3 = eltwise.exp %2 : f32
// CHECK-NEXT: %4 = eltwise.mul %3, %3 : f32
// CHECK-NEXT: stripe.store %4, %s : !stripe.view<1xf32>
func.func @single(%A : !stripe.view<6x4xf32>, %B : !stripe.view<6xf32>)
    -> !stripe.view<6xf32> {
  %D = stripe.alloc : !stripe.view<6x4xf32>
  %S = stripe.alloc : !stripe.view<6xf32>
  stripe.block "D" [%p : 6, %q : 4]
      in %a = %A[%p, %q] : 1x1
      in %b = %B[%p] : 1
      out %d = %D[%p, %q] : 1x1 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    %1 = stripe.load %b : !stripe.view<1xf32>
    %2 = eltwise.div %0, %1 : f32
    %3 = eltwise.exp %2 : f32
    stripe.store %3, %d : !stripe.view<1x1xf32>
  }
  stripe.block "S" [%i : 4, %j : 6]
      in %d = %D[%j, %i] : 1x1
      out %s = %S[%j] : 1 add init 0 {
    %0 = stripe.load %d : !stripe.view<1x1xf32>
    %1 = eltwise.mul %0, %0 : f32
    stripe.store %1, %s : !stripe.view<1xf32>
  }
  func.return %S : !stripe.view<6xf32>
}

// A cheap one into all; an expensive one that two blocks read stays.
// CHECK-LABEL: func.func @several
// CHECK-NOT: %C = stripe.alloc
// CHECK: %E = stripe.alloc
// CHECK-NOT: stripe.block "C"
// CHECK: stripe.block "E"
// CHECK: eltwise.sub
// CHECK: stripe.block "S"
// CHECK: in %e = %E[%i, %j] : 1x1
// CHECK: eltwise.sub
// CHECK: stripe.block "T"
func.func @several(%A : !stripe.view<4x6xf32>, %B : !stripe.view<4xf32>)
    -> (!stripe.view<4xf32>, !stripe.view<6xf32>) {
  %C = stripe.alloc : !stripe.view<4x6xf32>
  %E = stripe.alloc : !stripe.view<4x6xf32>
  %S = stripe.alloc : !stripe.view<4xf32>
  %T = stripe.alloc : !stripe.view<6xf32>
  stripe.block "C" [%p : 4, %q : 6]
      in %a = %A[%p, %q] : 1x1
      in %b = %B[%p] : 1
      out %c = %C[%p, %q] : 1x1 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    %1 = stripe.load %b : !stripe.view<1xf32>
    %2 = eltwise.sub %0, %1 : f32
    stripe.store %2, %c : !stripe.view<1x1xf32>
  }
  stripe.block "E" [%p : 4, %q : 6]
      in %c = %C[%p, %q] : 1x1
      out %e = %E[%p, %q] : 1x1 {
    %0 = stripe.load %c : !stripe.view<1x1xf32>
    %1 = eltwise.exp %0 : f32
    stripe.store %1, %e : !stripe.view<1x1xf32>
  }
  stripe.block "S" [%i : 4, %j : 6]
      in %e = %E[%i, %j] : 1x1
      in %c = %C[%i, %j] : 1x1
      out %s = %S[%i] : 1 add init 0 {
    %0 = stripe.load %e : !stripe.view<1x1xf32>
    %1 = stripe.load %c : !stripe.view<1x1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %s : !stripe.view<1xf32>
  }
  stripe.block "T" [%i : 4, %j : 6]
      in %e = %E[%i, %j] : 1x1
      out %t = %T[%j] : 1 add init 0 {
    %0 = stripe.load %e : !stripe.view<1x1xf32>
    stripe.store %0, %t : !stripe.view<1xf32>
  }
  func.return %S, %T : !stripe.view<4xf32>, !stripe.view<6xf32>
}

// Left alone: what is read many times, what is returned, what is read across rows, what
// covers a part, and what is overwritten before it is read.
// CHECK-LABEL: func.func @left_alone
// CHECK: stripe.block "transposed"
// CHECK: out %m = %M
// CHECK: out %r = %R
// CHECK: out %t = %T
// CHECK: stripe.block "product"
// CHECK: in %m = %M
// CHECK: stripe.block "part"
// CHECK: stripe.block "old"
// CHECK: stripe.block "overwritten"
// CHECK: stripe.block "reader"
// CHECK: in %r = %R[%i, %j] : 1x1
// CHECK: in %t = %T[%i, %j] : 1x1
// CHECK: in %p = %P[%i, %j] : 1x1
// CHECK: in %o = %O[%i, %j] : 1x1
func.func @left_alone(%A : !stripe.view<4x4xf32>, %B : !stripe.view<4x4xf32>)
    -> (!stripe.view<4x4xf32>, !stripe.view<4x4xf32>, !stripe.view<f32>) {
  %M = stripe.alloc : !stripe.view<4x4xf32>
  %C = stripe.alloc : !stripe.view<4x4xf32>
  %R = stripe.alloc : !stripe.view<4x4xf32>
  %T = stripe.alloc : !stripe.view<4x4xf32>
  %P = stripe.alloc : !stripe.view<4x4xf32>
  %W = stripe.alloc : !stripe.view<4x4xf32>
  %O = stripe.alloc : !stripe.view<4x4xf32>
  %S = stripe.alloc : !stripe.view<f32>
  stripe.block "many" [%i : 4, %j : 4]
      in %a = %A[%i, %j] : 1x1
      out %m = %M[%i, %j] : 1x1 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    %1 = eltwise.neg %0 : f32
    stripe.store %1, %m : !stripe.view<1x1xf32>
  }
  stripe.block "product" [%i : 4, %j : 4, %k : 4]
      in %m = %M[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 add init 0 {
    %0 = stripe.load %m : !stripe.view<1x1xf32>
    %1 = stripe.load %b : !stripe.view<1x1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %c : !stripe.view<1x1xf32>
  }
  stripe.block "returned" [%i : 4, %j : 4]
      in %a = %A[%i, %j] : 1x1
      out %r = %R[%i, %j] : 1x1 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    %1 = eltwise.neg %0 : f32
    stripe.store %1, %r : !stripe.view<1x1xf32>
  }
  stripe.block "transposed" [%i : 4, %j : 4]
      in %a = %A[%j, %i] : 1x1
      out %t = %T[%i, %j] : 1x1 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    %1 = eltwise.neg %0 : f32
    stripe.store %1, %t : !stripe.view<1x1xf32>
  }
  stripe.block "part" [%i : 4, %j : 3]
      in %a = %A[%i, %j] : 1x1
      out %p = %P[%i, %j] : 1x1 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    %1 = eltwise.neg %0 : f32
    stripe.store %1, %p : !stripe.view<1x1xf32>
  }
  stripe.block "old" [%i : 4, %j : 4]
      in %w = %W[%i, %j] : 1x1
      out %o = %O[%i, %j] : 1x1 {
    %0 = stripe.load %w : !stripe.view<1x1xf32>
    %1 = eltwise.neg %0 : f32
    stripe.store %1, %o : !stripe.view<1x1xf32>
  }
  stripe.block "overwritten" [%i : 4, %j : 4]
      in %c = %C[%i, %j] : 1x1
      out %w = %W[%i, %j] : 1x1
      where %i + %j - 1 >= 0 {
    %0 = stripe.load %c : !stripe.view<1x1xf32>
    stripe.store %0, %w : !stripe.view<1x1xf32>
  }
  stripe.block "reader" [%i : 4, %j : 4]
      in %r = %R[%i, %j] : 1x1
      in %t = %T[%i, %j] : 1x1
      in %p = %P[%i, %j] : 1x1
      in %o = %O[%i, %j] : 1x1
      out %s = %S[] add init 0 {
    %0 = stripe.load %r : !stripe.view<1x1xf32>
    %1 = stripe.load %t : !stripe.view<1x1xf32>
    %2 = stripe.load %p : !stripe.view<1x1xf32>
    %3 = stripe.load %o : !stripe.view<1x1xf32>
    %4 = eltwise.add %0, %1 : f32
    %5 = eltwise.add %2, %3 : f32
    %6 = eltwise.mul %4, %5 : f32
    stripe.store %6, %s : !stripe.view<f32>
  }
  func.return %R, %W, %S : !stripe.view<4x4xf32>, !stripe.view<4x4xf32>, !stripe.view<f32>
}

// Indices as numbers are those of the element.
// CHECK-LABEL: func.func @numbers
// CHECK: stripe.block "V" [%m : 6, %n : 4, %p : 2]
// CHECK: %k = stripe.index %m + 2 * %n + %p - 3 : si32
func.func @numbers(%X : !stripe.view<6x8xsi32>) -> !stripe.view<6xsi32> {
  %S = stripe.alloc : !stripe.view<6x8xsi32>
  %V = stripe.alloc : !stripe.view<6xsi32>
  stripe.block "S" [%i : 6, %j : 8]
      in %x = %X[%i, %j] : 1x1
      out %s = %S[%i, %j] : 1x1 {
    %0 = stripe.load %x : !stripe.view<1x1xsi32>
    %k = stripe.index %i + %j - 3 : si32
    %1 = eltwise.mul %0, %k : si32
    stripe.store %1, %s : !stripe.view<1x1xsi32>
  }
  stripe.block "V" [%m : 6, %n : 4, %p : 2]
      in %s = %S[%m, 2 * %n + %p] : 1x1
      out %v = %V[%m] : 1 add init 0 {
    %0 = stripe.load %s : !stripe.view<1x1xsi32>
    stripe.store %0, %v : !stripe.view<1xsi32>
  }
  func.return %V : !stripe.view<6xsi32>
}

// One of two buffers that a block writes goes to its only reader, with what it needs of
// the other one's; then the cheap other one goes, too.
// CHECK-LABEL: func.func @two_outputs
// CHECK-NOT: %D = stripe.alloc
// CHECK-NOT: %E = stripe.alloc
// CHECK: stripe.block "S" [%i : 4, %j : 6]
// CHECK: eltwise.sub
// CHECK-NEXT: eltwise.exp
// CHECK-NEXT: stripe.store
// CHECK: stripe.block "Y" [%i : 4, %j : 6]
// CHECK-NOT: eltwise.exp
// CHECK: eltwise.sub
func.func @two_outputs(%A : !stripe.view<4x6xf32>, %B : !stripe.view<4xf32>)
    -> (!stripe.view<4xf32>, !stripe.view<4x6xf32>) {
  %D = stripe.alloc : !stripe.view<4x6xf32>
  %E = stripe.alloc : !stripe.view<4x6xf32>
  %S = stripe.alloc : !stripe.view<4xf32>
  %Y = stripe.alloc : !stripe.view<4x6xf32>
  stripe.block "DE" [%p : 4, %q : 6]
      in %a = %A[%p, %q] : 1x1
      in %b = %B[%p] : 1
      out %d = %D[%p, %q] : 1x1
      out %e = %E[%p, %q] : 1x1 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    %1 = stripe.load %b : !stripe.view<1xf32>
    %2 = eltwise.sub %0, %1 : f32
    stripe.store %2, %d : !stripe.view<1x1xf32>
    %3 = eltwise.exp %2 : f32
    stripe.store %3, %e : !stripe.view<1x1xf32>
  }
  stripe.block "S" [%i : 4, %j : 6]
      in %e = %E[%i, %j] : 1x1
      out %s = %S[%i] : 1 add init 0 {
    %0 = stripe.load %e : !stripe.view<1x1xf32>
    stripe.store %0, %s : !stripe.view<1xf32>
  }
  stripe.block "Y" [%i : 4, %j : 6]
      in %d = %D[%i, %j] : 1x1
      in %s = %S[%i] : 1
      out %y = %Y[%i, %j] : 1x1 {
    %0 = stripe.load %d : !stripe.view<1x1xf32>
    %1 = stripe.load %s : !stripe.view<1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %y : !stripe.view<1x1xf32>
  }
  func.return %S, %Y : !stripe.view<4xf32>, !stripe.view<4x6xf32>
}

// Expensive operations that both buffers need are not repeated.
// CHECK-LABEL: func.func @shared_work
// CHECK: %E = stripe.alloc
func.func @shared_work(%A : !stripe.view<4x6xf32>)
    -> (!stripe.view<4xf32>, !stripe.view<4x6xf32>) {
  %D = stripe.alloc : !stripe.view<4x6xf32>
  %E = stripe.alloc : !stripe.view<4x6xf32>
  %S = stripe.alloc : !stripe.view<4xf32>
  stripe.block "DE" [%p : 4, %q : 6]
      in %a = %A[%p, %q] : 1x1
      out %d = %D[%p, %q] : 1x1
      out %e = %E[%p, %q] : 1x1 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    %1 = eltwise.exp %0 : f32
    stripe.store %1, %d : !stripe.view<1x1xf32>
    %2 = eltwise.neg %1 : f32
    stripe.store %2, %e : !stripe.view<1x1xf32>
  }
  stripe.block "S" [%i : 4, %j : 6]
      in %e = %E[%i, %j] : 1x1
      out %s = %S[%i] : 1 add init 0 {
    %0 = stripe.load %e : !stripe.view<1x1xf32>
    stripe.store %0, %s : !stripe.view<1xf32>
  }
  func.return %S, %D : !stripe.view<4xf32>, !stripe.view<4x6xf32>
}
