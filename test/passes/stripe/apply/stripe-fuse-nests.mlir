// RUN: tile-opt %s -p stripe-fuse-nests | filecheck %s
// RUN: tile-opt %s -p stripe-fuse-nests --validate-each --validate-entry=crossing
// RUN: tile-opt %s -p stripe-fuse-nests,stripe-localize | filecheck %s --check-prefix LOCAL
// RUN: tile-opt %s -p 'stripe-fuse-nests{overhangs=true}' --validate-each --validate-entry=epilogue | filecheck %s --check-prefix OVER

// A reduction of each row and what is done with it: one row is a point. Statements that
// depend on a member and lie between follow the nest.
// CHECK-LABEL: func.func @rows
// CHECK: stripe.block "Y" [%m : 6]
// CHECK-NEXT: in %x = %X[%m, 0] : 1x40
// CHECK-NEXT: out %s = %S[%m] : 1
// CHECK-NEXT: in %s_1 = %S[%m] : 1
// CHECK-NEXT: out %y = %Y[%m, 0] : 1x40
// CHECK: stripe.block [%n : 40]
// CHECK-NEXT: in %x_1 = %x[0, %n] : 1x1
// CHECK-NEXT: out %s_2 = %s[0] : 1 add init 0
// CHECK: stripe.block [%j : 40]
// CHECK-NEXT: in %x_1 = %x[0, %j] : 1x1
// CHECK-NEXT: in %s_2 = %s_1[0] : 1
// CHECK-NEXT: out %y_1 = %y[0, %j] : 1x1
// CHECK: stripe.block "between"
// LOCAL-LABEL: func.func @rows
// LOCAL: %S = stripe.alloc : !stripe.view<6xf32>
func.func @rows(%X : !stripe.view<6x40xf32>)
    -> (!stripe.view<6x40xf32>, !stripe.view<6xf32>) {
  %S = stripe.alloc : !stripe.view<6xf32>
  %U = stripe.alloc : !stripe.view<6xf32>
  %Y = stripe.alloc : !stripe.view<6x40xf32>
  stripe.block "S" [%m : 6, %n : 40]
      in %x = %X[%m, %n] : 1x1
      out %s = %S[%m] : 1 add init 0
      attributes {stripe.schedule = #stripe.schedule<fuse group 0 shared [0] tiles [[1]]>} {
    %0 = stripe.load %x : !stripe.view<1x1xf32>
    stripe.store %0, %s : !stripe.view<1xf32>
  }
  stripe.block "between" [%i : 6]
      in %s = %S[%i] : 1
      out %u = %U[%i] : 1 {
    %0 = stripe.load %s : !stripe.view<1xf32>
    stripe.store %0, %u : !stripe.view<1xf32>
  }
  stripe.block "Y" [%j : 40, %i : 6]
      in %x = %X[%i, %j] : 1x1
      in %s = %S[%i] : 1
      out %y = %Y[%i, %j] : 1x1
      attributes {stripe.schedule = #stripe.schedule<fuse group 0 shared [1] tiles [[1]]>} {
    %0 = stripe.load %x : !stripe.view<1x1xf32>
    %1 = stripe.load %s : !stripe.view<1xf32>
    %2 = eltwise.sub %0, %1 : f32
    stripe.store %2, %y : !stripe.view<1x1xf32>
  }
  func.return %Y, %U : !stripe.view<6x40xf32>, !stripe.view<6xf32>
}

// Two levels of tiles, and nests for the edges.
// CHECK-LABEL: func.func @epilogue
// CHECK: stripe.block "R" [%i : 2, %j : 2]
// CHECK-NEXT: in %a = %A[8 * %i, 0] : 8x5
// CHECK-NEXT: in %b = %B[0, 4 * %j] : 5x4
// CHECK: stripe.block [%i_1 : 2]
// CHECK: stripe.block [%k : 5, %i_2 : 4, %j_1 : 4]
// CHECK: stripe.block [%p : 4, %q : 4]
// The rest of the columns, then that of the rows.
// CHECK: stripe.block "R" [%i : 2]
// CHECK: stripe.block "R" [%j : 2]
// Or the last tiles reach over both.
// OVER-LABEL: func.func @epilogue
// OVER: stripe.block "R" [%i : 3, %j : 3]
// OVER: where -%p - 4 * %i_1 - 8 * %i + 16 >= 0, -%q - 4 * %j + 8 >= 0
// OVER-NOT: stripe.block "R"
// OVER-LABEL: func.func @decided
// LOCAL-LABEL: func.func @epilogue
// LOCAL: %R = stripe.alloc : !stripe.view<17x9xf32>
// LOCAL-NEXT: stripe.block "R" [%i : 2, %j : 2]
// LOCAL: %C = stripe.alloc : !stripe.view<4x4xf32, private>
func.func @epilogue(%A : !stripe.view<17x5xf32>, %B : !stripe.view<5x9xf32>)
    -> !stripe.view<17x9xf32> {
  %R = stripe.alloc : !stripe.view<17x9xf32>
  %C = stripe.alloc : !stripe.view<17x9xf32>
  stripe.block "C" [%i : 17, %j : 9, %k : 5]
      in %a = %A[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 add init 0
      attributes {stripe.schedule = #stripe.schedule<fuse group 3 shared [0, 1] tiles [[8, 4], [4, 4]]>} {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    %1 = stripe.load %b : !stripe.view<1x1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %c : !stripe.view<1x1xf32>
  }
  stripe.block "R" [%p : 17, %q : 9]
      in %c = %C[%p, %q] : 1x1
      out %r = %R[%p, %q] : 1x1
      attributes {stripe.schedule = #stripe.schedule<fuse group 3 shared [0, 1] tiles [[8, 4], [4, 4]]>} {
    %0 = stripe.load %c : !stripe.view<1x1xf32>
    %1 = eltwise.neg %0 : f32
    stripe.store %1, %r : !stripe.view<1x1xf32>
  }
  func.return %R : !stripe.view<17x9xf32>
}

// A leaf that keeps its own tiles: the last tiles reach over the range.
// CHECK-LABEL: func.func @decided
// CHECK: stripe.block "R" [%i : 5]
// CHECK-NEXT: in %a = %A[4 * %i, 0] : 4x5
// CHECK: stripe.block [%k : 5, %i_1 : 4]
// CHECK: where -%i_1 - 4 * %i + 16 >= 0
// CHECK-NEXT: attributes {stripe.schedule = #stripe.schedule<tile [5, 4]>, stripe.scheduled = #stripe.schedule<over [i, k], fuse group 0 shared [0] tiles {{\[\[4\]\]}}>} {
// CHECK: stripe.block [%p : 4]
// CHECK: where -%p - 4 * %i + 16 >= 0
// CHECK-NOT: stripe.block
// CHECK: func.return
// LOCAL-LABEL: func.func @decided
// LOCAL: %C = stripe.alloc : !stripe.view<4xf32, private>
func.func @decided(%A : !stripe.view<17x5xf32>) -> !stripe.view<17xf32> {
  %R = stripe.alloc : !stripe.view<17xf32>
  %C = stripe.alloc : !stripe.view<17xf32>
  stripe.block "C" [%i : 17, %k : 5]
      in %a = %A[%i, %k] : 1x1
      out %c = %C[%i] : 1 add init 0
      attributes {stripe.schedule = #stripe.schedule<fuse group 0 shared [0] tiles [[4]], tile [4, 5]>} {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %0, %c : !stripe.view<1xf32>
  }
  stripe.block "R" [%p : 17]
      in %c = %C[%p] : 1
      out %r = %R[%p] : 1
      attributes {stripe.schedule = #stripe.schedule<fuse group 0 shared [0] tiles [[4]]>} {
    %0 = stripe.load %c : !stripe.view<1xf32>
    %1 = eltwise.neg %0 : f32
    stripe.store %1, %r : !stripe.view<1xf32>
  }
  func.return %R : !stripe.view<17xf32>
}

// Shared indices that are one in all buffers.
// CHECK-LABEL: func.func @merged
// CHECK: stripe.block "R" [%x : 5]
// CHECK-NEXT: in %i = %I_1[6 * %x, 0] : 6x7
// LOCAL-LABEL: func.func @merged
// LOCAL: stripe.block "R" [%x : 5]
// LOCAL: %O = stripe.alloc : !stripe.view<6x3xf32, private>
func.func @merged(%I : !stripe.view<5x6x7xf32>, %K : !stripe.view<7x3xf32>)
    -> !stripe.view<5x6x3xf32> {
  %R = stripe.alloc : !stripe.view<5x6x3xf32>
  %O = stripe.alloc : !stripe.view<5x6x3xf32>
  stripe.block "O" [%x : 5, %y : 6, %c : 3, %k : 7]
      in %i = %I[%x, %y, %k] : 1x1x1
      in %w = %K[%k, %c] : 1x1
      out %o = %O[%x, %y, %c] : 1x1x1 add init 0
      attributes {stripe.schedule = #stripe.schedule<fuse group 0 shared [[0, 1], 2] tiles [[6, 0]]>} {
    %0 = stripe.load %i : !stripe.view<1x1x1xf32>
    %1 = stripe.load %w : !stripe.view<1x1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %o : !stripe.view<1x1x1xf32>
  }
  stripe.block "R" [%x : 5, %y : 6, %c : 3]
      in %o = %O[%x, %y, %c] : 1x1x1
      out %r = %R[%x, %y, %c] : 1x1x1
      attributes {stripe.schedule = #stripe.schedule<fuse group 0 shared [[0, 1], 2] tiles [[6, 0]]>} {
    %0 = stripe.load %o : !stripe.view<1x1x1xf32>
    %1 = eltwise.neg %0 : f32
    stripe.store %1, %r : !stripe.view<1x1x1xf32>
  }
  func.return %R : !stripe.view<5x6x3xf32>
}

// Nothing without the attribute.
// CHECK-LABEL: func.func @alone
// CHECK: stripe.block "first" [%i : 4]
// CHECK: stripe.block "second" [%i : 4]
func.func @alone(%X : !stripe.view<4xf32>) -> !stripe.view<4xf32> {
  %S = stripe.alloc : !stripe.view<4xf32>
  %T = stripe.alloc : !stripe.view<4xf32>
  stripe.block "first" [%i : 4]
      in %x = %X[%i] : 1
      out %s = %S[%i] : 1 {
    %0 = stripe.load %x : !stripe.view<1xf32>
    stripe.store %0, %s : !stripe.view<1xf32>
  }
  stripe.block "second" [%i : 4]
      in %s = %S[%i] : 1
      out %t = %T[%i] : 1 {
    %0 = stripe.load %s : !stripe.view<1xf32>
    stripe.store %0, %t : !stripe.view<1xf32>
  }
  func.return %T : !stripe.view<4xf32>
}

// Parts of a row that a member reads one by one: the nest sees the row.
// CHECK-LABEL: func.func @parts
// CHECK:      stripe.block "Y" [%i : 8]
// CHECK-NEXT:   in %x = %X[%i, 0, 0] : 1x2x4
// CHECK-NEXT:   out %t = %T[%i, 0, 0] : 1x2x4
// CHECK-NEXT:   in %a = %T[%i, 0, 0] : 1x2x4
// CHECK-NEXT:   in %b = %T[%i, 0, 0] : 1x2x4
// CHECK-NEXT:   out %y = %Y[%i, 0] : 1x4 {
// CHECK:        stripe.block [%{{.*}} : 2, %{{.*}} : 4]
// CHECK:        stripe.block [%{{.*}} : 4]
// CHECK-NEXT:     in %{{.*}} = %a[0, 0, %{{.*}}] : 1x1x1
// CHECK-NEXT:     in %{{.*}} = %b[0, 1, %{{.*}}] : 1x1x1
func.func @parts(%X : !stripe.view<8x2x4xf32>) -> !stripe.view<8x4xf32> {
  %T = stripe.alloc : !stripe.view<8x2x4xf32>
  %Y = stripe.alloc : !stripe.view<8x4xf32>
  stripe.block "T" [%i : 8, %g : 2, %j : 4]
      in %x = %X[%i, %g, %j] : 1x1x1
      out %t = %T[%i, %g, %j] : 1x1x1
      attributes {stripe.schedule = #stripe.schedule<fuse group 0 shared [0] tiles [[1]]>} {
    %0 = stripe.load %x : !stripe.view<1x1x1xf32>
    stripe.store %0, %t : !stripe.view<1x1x1xf32>
  }
  stripe.block "Y" [%i : 8, %j : 4]
      in %a = %T[%i, 0, %j] : 1x1x1
      in %b = %T[%i, 1, %j] : 1x1x1
      out %y = %Y[%i, %j] : 1x1
      attributes {stripe.schedule = #stripe.schedule<fuse group 0 shared [0] tiles [[1]]>} {
    %0 = stripe.load %a : !stripe.view<1x1x1xf32>
    %1 = stripe.load %b : !stripe.view<1x1x1xf32>
    %2 = eltwise.add %0, %1 : f32
    stripe.store %2, %y : !stripe.view<1x1xf32>
  }
  func.return %Y : !stripe.view<8x4xf32>
}

// What depends on the first group moves behind it, "b" too: it is behind "c" by then, and
// the second nest stands where "b" does.
// CHECK-LABEL: func.func @crossing
// CHECK:      stripe.block "q" [%i : 8]
// CHECK:      stripe.block "b" [%i : 8]
// CHECK-NOT:  stripe.block "
func.func @crossing(%X : !stripe.view<8x16xf32>) -> (!stripe.view<8x16xf32>, !stripe.view<8x16xf32>) {
  %P = stripe.alloc : !stripe.view<8x16xf32>
  %Q = stripe.alloc : !stripe.view<8x16xf32>
  %A = stripe.alloc : !stripe.view<8x16xf32>
  %B = stripe.alloc : !stripe.view<8x16xf32>
  stripe.block "p" [%i : 8, %j : 16]
      in %x = %X[%i, %j] : 1x1
      out %y = %P[%i, %j] : 1x1
      attributes {stripe.schedule = #stripe.schedule<fuse group 0 shared [0] tiles [[1]]>} {
    %0 = stripe.load %x : !stripe.view<1x1xf32>
    %1 = eltwise.add %0, %0 : f32
    stripe.store %1, %y : !stripe.view<1x1xf32>
  }
  stripe.block "a" [%i : 8, %j : 16]
      in %x = %X[%i, %j] : 1x1
      out %y = %A[%i, %j] : 1x1
      attributes {stripe.schedule = #stripe.schedule<fuse group 1 shared [0] tiles [[1]]>} {
    %0 = stripe.load %x : !stripe.view<1x1xf32>
    %1 = eltwise.mul %0, %0 : f32
    stripe.store %1, %y : !stripe.view<1x1xf32>
  }
  stripe.block "b" [%i : 8, %j : 16]
      in %x = %A[%i, %j] : 1x1
      in %p = %P[%i, %j] : 1x1
      out %y = %B[%i, %j] : 1x1
      attributes {stripe.schedule = #stripe.schedule<fuse group 1 shared [0] tiles [[1]]>} {
    %0 = stripe.load %x : !stripe.view<1x1xf32>
    %1 = stripe.load %p : !stripe.view<1x1xf32>
    %2 = eltwise.add %0, %1 : f32
    stripe.store %2, %y : !stripe.view<1x1xf32>
  }
  %C = stripe.alloc : !stripe.view<8x16xf32>
  stripe.block "c" [%i : 8, %j : 16]
      in %x = %A[%i, %j] : 1x1
      out %y = %C[%i, %j] : 1x1
      attributes {stripe.schedule = #stripe.schedule<fuse group 1 shared [0] tiles [[1]]>} {
    %0 = stripe.load %x : !stripe.view<1x1xf32>
    %1 = eltwise.neg %0 : f32
    stripe.store %1, %y : !stripe.view<1x1xf32>
  }
  stripe.block "q" [%i : 8, %j : 16]
      in %x = %P[%i, %j] : 1x1
      out %y = %Q[%i, %j] : 1x1
      attributes {stripe.schedule = #stripe.schedule<fuse group 0 shared [0] tiles [[1]]>} {
    %0 = stripe.load %x : !stripe.view<1x1xf32>
    %1 = eltwise.neg %0 : f32
    stripe.store %1, %y : !stripe.view<1x1xf32>
  }
  func.return %B, %C : !stripe.view<8x16xf32>, !stripe.view<8x16xf32>
}
