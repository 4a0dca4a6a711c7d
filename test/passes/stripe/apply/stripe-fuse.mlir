// RUN: tile-opt %s -p stripe-fuse | filecheck %s

// A chain becomes one block; a window that both have is there once, and what it stores
// is not read again.
// CHECK-LABEL: func.func @chain
// CHECK: stripe.block "O" [%i : 4, %j : 8]
// CHECK-NEXT: in %a = %A[%i, %j] : 1x1
// CHECK-NEXT: out %t = %T[%i, %j] : 1x1
// CHECK-NEXT: out %o = %O[%i, %j] : 1x1
// CHECK-NEXT: where %i + %j - 1 >= 0 {
// CHECK-NOT: stripe.block
func.func @chain(%A : !stripe.view<4x8xf32>) -> (!stripe.view<4x8xf32>, !stripe.view<4x8xf32>) {
  %T = stripe.alloc : !stripe.view<4x8xf32>
  stripe.block "T" [%i : 4, %j : 8]
      in %a = %A[%i, %j] : 1x1
      out %t = %T[%i, %j] : 1x1
      where %i + %j - 1 >= 0 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %0, %t : !stripe.view<1x1xf32>
  }
  %U = stripe.alloc : !stripe.view<4x8xf32>
  stripe.block [%i : 4, %j : 8]
      in %a = %A[%i, %j] : 1x1
      in %t = %T[%i, %j] : 1x1
      out %u = %U[%i, %j] : 1x1
      where %i + %j - 1 >= 0 {
    %0 = stripe.load %t : !stripe.view<1x1xf32>
    %1 = stripe.load %a : !stripe.view<1x1xf32>
    %2 = eltwise.add %0, %1 : f32
    stripe.store %2, %u : !stripe.view<1x1xf32>
  }
  %O = stripe.alloc : !stripe.view<4x8xf32>
  stripe.block "O" [%x : 4, %y : 8]
      in %u = %U[%x, %y] : 1x1
      out %o = %O[%x, %y] : 1x1
      where %x + %y - 1 >= 0 {
    %0 = stripe.load %u : !stripe.view<1x1xf32>
    stripe.store %0, %o : !stripe.view<1x1xf32>
  }
  func.return %T, %O : !stripe.view<4x8xf32>, !stripe.view<4x8xf32>
}

// Over a block in between that has nothing to do with it.
// CHECK-LABEL: func.func @over
// CHECK: stripe.block "V"
// CHECK-NEXT: in %a = %A[%i] : 1
// CHECK-NEXT: out %t = %T[%i] : 1
// CHECK-NEXT: out %v = %V[%i] : 1 {
// CHECK: stripe.block "S"
// CHECK-NOT: stripe.block
func.func @over(%A : !stripe.view<8xf32>) -> (!stripe.view<8xf32>, !stripe.view<f32>, !stripe.view<8xf32>) {
  %T = stripe.alloc : !stripe.view<8xf32>
  %S = stripe.alloc : !stripe.view<f32>
  stripe.block "T" [%i : 8]
      in %a = %A[%i] : 1
      out %t = %T[%i] : 1 {
    %0 = stripe.load %a : !stripe.view<1xf32>
    stripe.store %0, %t : !stripe.view<1xf32>
  }
  stripe.block "S" [%i : 8]
      in %a = %A[%i] : 1
      out %s = %S[] add init 0 {
    %0 = stripe.load %a : !stripe.view<1xf32>
    stripe.store %0, %s : !stripe.view<f32>
  }
  %V = stripe.alloc : !stripe.view<8xf32>
  stripe.block "V" [%i : 8]
      in %t = %T[%i] : 1
      out %v = %V[%i] : 1 {
    %0 = stripe.load %t : !stripe.view<1xf32>
    stripe.store %0, %v : !stripe.view<1xf32>
  }
  func.return %T, %S, %V : !stripe.view<8xf32>, !stripe.view<f32>, !stripe.view<8xf32>
}

// Left alone: nothing shared; another place of what is written; other points; an
// aggregation; blocks with tile sizes.
// CHECK-LABEL: func.func @left_alone
// CHECK: stripe.block "T"
// CHECK: stripe.block "apart"
// CHECK: stripe.block "reversed"
// CHECK: stripe.block "half"
// CHECK: stripe.block "sum"
// CHECK: stripe.block "more"
// CHECK: stripe.block "tiled"
// CHECK: stripe.block "last"
func.func @left_alone(%A : !stripe.view<8xf32>, %B : !stripe.view<8xf32>) -> (!stripe.view<8xf32>, !stripe.view<8xf32>, !stripe.view<8xf32>, !stripe.view<8xf32>) {
  %T = stripe.alloc : !stripe.view<8xf32>
  %U = stripe.alloc : !stripe.view<8xf32>
  %V = stripe.alloc : !stripe.view<8xf32>
  %W = stripe.alloc : !stripe.view<8xf32>
  stripe.block "T" [%i : 8]
      in %a = %A[%i] : 1
      out %t = %T[%i] : 1 {
    %0 = stripe.load %a : !stripe.view<1xf32>
    stripe.store %0, %t : !stripe.view<1xf32>
  }
  stripe.block "apart" [%i : 8]
      in %b = %B[%i] : 1
      out %w = %W[%i] : 1 {
    %0 = stripe.load %b : !stripe.view<1xf32>
    stripe.store %0, %w : !stripe.view<1xf32>
  }
  stripe.block "reversed" [%i : 8]
      in %t = %T[7 - %i] : 1
      out %u = %U[%i] : 1 {
    %0 = stripe.load %t : !stripe.view<1xf32>
    stripe.store %0, %u : !stripe.view<1xf32>
  }
  stripe.block "half" [%i : 8]
      in %u = %U[%i] : 1
      out %v = %V[%i] : 1
      where %i - 4 >= 0 {
    %0 = stripe.load %u : !stripe.view<1xf32>
    stripe.store %0, %v : !stripe.view<1xf32>
  }
  stripe.block "sum" [%i : 8]
      in %u = %U[%i] : 1
      out %v = %V[%i] : 1 add {
    %0 = stripe.load %u : !stripe.view<1xf32>
    stripe.store %0, %v : !stripe.view<1xf32>
  }
  stripe.block "more" [%i : 8]
      in %v = %V[%i] : 1
      out %t = %T[%i] : 1 {
    %0 = stripe.load %v : !stripe.view<1xf32>
    stripe.store %0, %t : !stripe.view<1xf32>
  }
  stripe.block "tiled" [%i : 8]
      in %t = %T[%i] : 1
      out %u = %U[%i] : 1
      attributes {stripe.schedule = #stripe.schedule<tile [4]>} {
    %0 = stripe.load %t : !stripe.view<1xf32>
    stripe.store %0, %u : !stripe.view<1xf32>
  }
  stripe.block "last" [%i : 8]
      in %u = %U[%i] : 1
      out %v = %V[%i] : 1 {
    %0 = stripe.load %u : !stripe.view<1xf32>
    stripe.store %0, %v : !stripe.view<1xf32>
  }
  func.return %T, %U, %V, %W : !stripe.view<8xf32>, !stripe.view<8xf32>, !stripe.view<8xf32>, !stripe.view<8xf32>
}

// Not over a block that needs the first one's result, or whose input it would change.
// CHECK-LABEL: func.func @in_order
// CHECK: stripe.block "T"
// CHECK: stripe.block "U"
// CHECK: stripe.block "T"
func.func @in_order(%A : !stripe.view<8xf32>) -> (!stripe.view<8xf32>, !stripe.view<8xf32>) {
  %T = stripe.alloc : !stripe.view<8xf32>
  %U = stripe.alloc : !stripe.view<8xf32>
  stripe.block "T" [%i : 8]
      in %a = %A[%i] : 1
      out %t = %T[%i] : 1 {
    %0 = stripe.load %a : !stripe.view<1xf32>
    stripe.store %0, %t : !stripe.view<1xf32>
  }
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
    %1 = eltwise.neg %0 : f32
    stripe.store %1, %t : !stripe.view<1xf32>
  }
  func.return %T, %U : !stripe.view<8xf32>, !stripe.view<8xf32>
}

// A block is not moved over a statement between, which it may need.
// CHECK-LABEL: func.func @between
// CHECK: stripe.block "T"
// CHECK: %two = eltwise.constant 2 : f32
// CHECK: stripe.block "U"
func.func @between(%A : !stripe.view<8xf32>) -> (!stripe.view<8xf32>, !stripe.view<8xf32>) {
  %T = stripe.alloc : !stripe.view<8xf32>
  %U = stripe.alloc : !stripe.view<8xf32>
  stripe.block "T" [%i : 8]
      in %a = %A[%i] : 1
      out %t = %T[%i] : 1 {
    %0 = stripe.load %a : !stripe.view<1xf32>
    stripe.store %0, %t : !stripe.view<1xf32>
  }
  %two = eltwise.constant 2 : f32
  stripe.block "U" [%i : 8]
      in %t = %T[%i] : 1
      out %u = %U[%i] : 1 {
    %0 = stripe.load %t : !stripe.view<1xf32>
    %1 = eltwise.mul %0, %two : f32
    stripe.store %1, %u : !stripe.view<1xf32>
  }
  func.return %T, %U : !stripe.view<8xf32>, !stripe.view<8xf32>
}

// A buffer that two fused blocks use stands before the first of them.
// CHECK-LABEL: @shared
// CHECK: %shared = stripe.alloc
// CHECK: stripe.block [%i : 4]
// CHECK: stripe.block [%i : 2, %j : 2]
func.func @shared(%A: !stripe.view<4xf32>, %B: !stripe.view<2x2xf32>)
    -> (!stripe.view<4xf32>, !stripe.view<2x2xf32>) {
  %first = stripe.alloc : !stripe.view<4xf32>
  stripe.block [%i : 4]
      in %a = %A[%i] : 1
      out %f = %first[%i] : 1 {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %f : !stripe.view<1xf32>
  }
  %second = stripe.alloc : !stripe.view<2x2xf32>
  stripe.block [%i : 2, %j : 2]
      in %b = %B[%i, %j] : 1x1
      out %s = %second[%i, %j] : 1x1 {
    %x = stripe.load %b : !stripe.view<1x1xf32>
    stripe.store %x, %s : !stripe.view<1x1xf32>
  }
  %shared = stripe.alloc : !stripe.view<4xf32>
  stripe.block [%i : 4]
      in %f = %first[%i] : 1
      out %t = %shared[%i] : 1 {
    %x = stripe.load %f : !stripe.view<1xf32>
    %y = eltwise.neg %x : f32
    stripe.store %y, %t : !stripe.view<1xf32>
  }
  %third = stripe.alloc : !stripe.view<2x2xf32>
  stripe.block [%i : 2, %j : 2]
      in %s = %second[%i, %j] : 1x1
      in %t = %shared[%i] : 1
      out %u = %third[%i, %j] : 1x1 {
    %x = stripe.load %s : !stripe.view<1x1xf32>
    %y = stripe.load %t : !stripe.view<1xf32>
    %z = eltwise.add %x, %y : f32
    stripe.store %z, %u : !stripe.view<1x1xf32>
  }
  func.return %shared, %third : !stripe.view<4xf32>, !stripe.view<2x2xf32>
}

// A gather joins what makes its indices and what uses its elements, not what makes the
// memory in which it chooses.
// CHECK-LABEL: func.func @gather
// CHECK: stripe.block [%i : 4]
// CHECK: out %w = %W
// CHECK: stripe.block [%i : 4]
// CHECK: stripe.load %{{.*}}[%{{.*}}] : !stripe.view<4xf32>
// CHECK-NOT: stripe.block
func.func @gather(%A : !stripe.view<4xf32>, %I : !stripe.view<4xsi32>) -> !stripe.view<4xf32> {
  %W = stripe.alloc : !stripe.view<4xf32>
  stripe.block [%i : 4]
      in %a = %A[%i] : 1
      out %w = %W[%i] : 1 {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %w : !stripe.view<1xf32>
  }
  %T = stripe.alloc : !stripe.view<4xsi32>
  stripe.block [%i : 4]
      in %n = %I[%i] : 1
      out %t = %T[%i] : 1 {
    %x = stripe.load %n : !stripe.view<1xsi32>
    %zero = eltwise.constant 0 : si32
    %y = eltwise.max %x, %zero : si32
    stripe.store %y, %t : !stripe.view<1xsi32>
  }
  %G = stripe.alloc : !stripe.view<4xf32>
  stripe.block [%i : 4]
      in %t = %T[%i] : 1
      in %w = %W[0] : 4
      out %g = %G[%i] : 1 {
    %n = stripe.load %t : !stripe.view<1xsi32>
    %x = stripe.load %w[%n] : !stripe.view<4xf32>
    stripe.store %x, %g : !stripe.view<1xf32>
  }
  %O = stripe.alloc : !stripe.view<4xf32>
  stripe.block [%i : 4]
      in %g = %G[%i] : 1
      out %o = %O[%i] : 1 {
    %x = stripe.load %g : !stripe.view<1xf32>
    stripe.store %x, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<4xf32>
}

// Left alone: serial blocks, points that meet at chosen cells, and memory that one block
// writes under a shape and the other reads under another.
// CHECK-LABEL: func.func @apart
// CHECK-COUNT-6: stripe.block
func.func @apart(%A : !stripe.view<4xsi32>) -> (!stripe.view<4xsi32>, !stripe.view<4xsi32>, !stripe.view<2x2xsi32>) {
  %T = stripe.alloc : !stripe.view<4xsi32>
  %O = stripe.alloc : !stripe.view<4xsi32>
  stripe.block [%i : 4]
      in %a = %A[%i] : 1
      out %t = %T[0] : 4 {
    %x = stripe.load %a : !stripe.view<1xsi32>
    stripe.store %x, %t[%x] : !stripe.view<4xsi32>
  }
  stripe.block [%i : 4]
      in %t = %T[0] : 4
      out %o = %O[0] : 4 {
    %n = stripe.index %i : si32
    %x = stripe.load %t[%n] : !stripe.view<4xsi32>
    stripe.store %x, %o[%n] : !stripe.view<4xsi32>
  }
  %P = stripe.alloc : !stripe.view<4xsi32>
  stripe.block serial [%i : 4]
      in %a = %A[%i] : 1
      out %p = %P[%i] : 1 {
    %x = stripe.load %a : !stripe.view<1xsi32>
    stripe.store %x, %p : !stripe.view<1xsi32>
  }
  stripe.block [%i : 4]
      inout %p = %P[%i] : 1 {
    %x = stripe.load %p : !stripe.view<1xsi32>
    stripe.store %x, %p : !stripe.view<1xsi32>
  }
  %U = stripe.alloc : !stripe.view<2x2xsi32>
  %F = stripe.reshape %U : !stripe.view<2x2xsi32> to !stripe.view<4xsi32>
  %Q = stripe.alloc : !stripe.view<2x2xsi32>
  stripe.block [%i : 2, %j : 2]
      in %a = %A[%i + %j] : 1
      out %u = %U[%i, %j] : 1x1 {
    %x = stripe.load %a : !stripe.view<1xsi32>
    stripe.store %x, %u : !stripe.view<1x1xsi32>
  }
  stripe.block [%i : 2, %j : 2]
      in %f = %F[2 * %j + %i] : 1
      out %q = %Q[%i, %j] : 1x1 {
    %x = stripe.load %f : !stripe.view<1xsi32>
    stripe.store %x, %q : !stripe.view<1x1xsi32>
  }
  func.return %O, %P, %Q : !stripe.view<4xsi32>, !stripe.view<4xsi32>, !stripe.view<2x2xsi32>
}

// What defines a late buffer, its shapes included, moves before the blocks.
// CHECK-LABEL: func.func @late_shape
// CHECK: %U = stripe.alloc
// CHECK-NEXT: %F = stripe.reshape %U
// CHECK-NEXT: stripe.block [%i : 4]
// CHECK-NOT: stripe.block
func.func @late_shape(%A : !stripe.view<4xf32>) -> (!stripe.view<4xf32>, !stripe.view<2x2xf32>) {
  %T = stripe.alloc : !stripe.view<4xf32>
  stripe.block [%i : 4]
      in %a = %A[%i] : 1
      out %t = %T[%i] : 1 {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %t : !stripe.view<1xf32>
  }
  %U = stripe.alloc : !stripe.view<2x2xf32>
  %F = stripe.reshape %U : !stripe.view<2x2xf32> to !stripe.view<4xf32>
  stripe.block [%i : 4]
      in %t = %T[%i] : 1
      out %f = %F[%i] : 1 {
    %x = stripe.load %t : !stripe.view<1xf32>
    stripe.store %x, %f : !stripe.view<1xf32>
  }
  func.return %T, %U : !stripe.view<4xf32>, !stripe.view<2x2xf32>
}
