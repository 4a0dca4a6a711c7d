// RUN: tile-opt %s -p stripe-localize | filecheck %s
// RUN: tile-opt %s -p 'stripe-localize{hardware="cpu-avx512:overheads.private_bytes=4"}' | filecheck %s --check-prefix=LIMIT

// CHECK-LABEL: func.func @point
// CHECK-NOT: !stripe.view<6x8xf32>
// CHECK: stripe.block [%i : 6, %j : 8]
// CHECK-NEXT: in %a = %A[%i, %j] : 1x1
// CHECK-NEXT: out %o = %O[%i, %j] : 1x1 {
// CHECK-NEXT: %T = stripe.alloc : !stripe.view<1x1xf32, private>
// CHECK: stripe.store %y, %T : !stripe.view<1x1xf32, private>
// CHECK-NEXT: stripe.load %T : !stripe.view<1x1xf32, private>
func.func @point(%A : !stripe.view<6x9xf32>) -> !stripe.view<6x9xf32> {
  %T = stripe.alloc : !stripe.view<6x8xf32>
  %O = stripe.alloc : !stripe.view<6x9xf32>
  stripe.block [%i : 6, %j : 8]
      in %a = %A[%i, %j] : 1x1
      out %w = %T[%i, %j] : 1x1
      in %r = %T[%i, %j] : 1x1
      out %o = %O[%i, %j] : 1x1 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %y = eltwise.neg %x : f32
    stripe.store %y, %w : !stripe.view<1x1xf32>
    %z = stripe.load %r : !stripe.view<1x1xf32>
    stripe.store %z, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<6x9xf32>
}

// The windows of nested blocks become private too.
// CHECK-LABEL: func.func @tile
// CHECK: %T = stripe.alloc : !stripe.view<4x8xf32, private>
// CHECK: out %w = %T[%i_1, %j] : 1x1 {
// CHECK: stripe.store %x, %w : !stripe.view<1x1xf32, private>
// CHECK: in %r = %T[3, 7] : 1x1
// LIMIT-LABEL: func.func @tile
// LIMIT-NOT: private
func.func @tile(%A : !stripe.view<8x8xf32>) -> !stripe.view<2xf32> {
  %T = stripe.alloc : !stripe.view<8x8xf32>
  %O = stripe.alloc : !stripe.view<2xf32>
  stripe.block [%i : 2]
      in %a = %A[4 * %i, 0] : 4x8
      out %w = %T[4 * %i, 0] : 4x8
      in %r = %T[4 * %i, 0] : 4x8
      out %o = %O[%i] : 1 {
    stripe.block [%i_1 : 4, %j : 8]
        in %a_1 = %a[%i_1, %j] : 1x1
        out %w_1 = %w[%i_1, %j] : 1x1 {
      %x = stripe.load %a_1 : !stripe.view<1x1xf32>
      stripe.store %x, %w_1 : !stripe.view<1x1xf32>
    }
    stripe.block []
        in %r_1 = %r[3, 7] : 1x1
        out %o_1 = %o[0] : 1 {
      %x = stripe.load %r_1 : !stripe.view<1x1xf32>
      stripe.store %x, %o_1 : !stripe.view<1xf32>
    }
  }
  func.return %O : !stripe.view<2xf32>
}

// Left alone: a result, a buffer of two blocks, two windows, cells that points share,
// an aggregation, and cells that `init` sets.
// CHECK-LABEL: func.func @left_alone
// CHECK-NOT: private
func.func @left_alone(%A : !stripe.view<6xf32>) -> (!stripe.view<6xf32>, !stripe.view<6xf32>) {
  %O = stripe.alloc : !stripe.view<6xf32>
  %P = stripe.alloc : !stripe.view<6xf32>
  %shared = stripe.alloc : !stripe.view<6xf32>
  %shifted = stripe.alloc : !stripe.view<12xf32>
  %one = stripe.alloc : !stripe.view<1xf32>
  %sum = stripe.alloc : !stripe.view<6xf32>
  %set = stripe.alloc : !stripe.view<6xf32>
  stripe.block [%i : 6]
      in %a = %A[%i] : 1
      out %s = %shared[%i] : 1
      out %w = %shifted[%i] : 1
      in %r = %shifted[%i + 6] : 1
      out %m = %one[0] : 1 max
      out %u = %sum[%i] : 1 add
      out %v = %set[%i] : 1 init 4
      in %q = %set[%i] : 1
      out %o = %O[%i] : 1 {
    %x = stripe.load %a : !stripe.view<1xf32>
    %y = stripe.load %q : !stripe.view<1xf32>
    stripe.store %x, %s : !stripe.view<1xf32>
    stripe.store %x, %w : !stripe.view<1xf32>
    stripe.store %x, %m : !stripe.view<1xf32>
    stripe.store %x, %u : !stripe.view<1xf32>
    stripe.store %y, %o : !stripe.view<1xf32>
  }
  stripe.block [%i : 6]
      in %s = %shared[%i] : 1
      out %p = %P[%i] : 1 {
    %x = stripe.load %s : !stripe.view<1xf32>
    stripe.store %x, %p : !stripe.view<1xf32>
  }
  func.return %O, %P : !stripe.view<6xf32>, !stripe.view<6xf32>
}

// Left alone: what serial points hand on, and memory that is seen under another shape.
// CHECK-LABEL: func.func @handed_on
// CHECK: %S = stripe.alloc : !stripe.view<f32>
// CHECK: %T = stripe.alloc : !stripe.view<4x2xf32>
// CHECK-NOT: private
func.func @handed_on(%A : !stripe.view<8xf32>) -> !stripe.view<8xf32> {
  %O = stripe.alloc : !stripe.view<8xf32>
  %S = stripe.alloc : !stripe.view<f32>
  stripe.block serial [%i : 8]
      in %a = %A[%i] : 1
      inout %s = %S[]
      out %o = %O[%i] : 1 {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %s : !stripe.view<f32>
    %y = stripe.load %s : !stripe.view<f32>
    stripe.store %y, %o : !stripe.view<1xf32>
  }
  %T = stripe.alloc : !stripe.view<4x2xf32>
  %F = stripe.reshape %T : !stripe.view<4x2xf32> to !stripe.view<8xf32>
  stripe.block [%i : 8]
      in %a = %A[%i] : 1
      inout %t = %F[%i] : 1 {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %t : !stripe.view<1xf32>
  }
  stripe.block [%i : 4, %j : 2]
      in %t = %T[%i, %j] : 1x1
      out %o = %O[2 * %i + %j] : 1 {
    %x = stripe.load %t : !stripe.view<1x1xf32>
    stripe.store %x, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<8xf32>
}

// A row of each point, in which subscripts choose and a serial block runs.
// CHECK-LABEL: func.func @row_of_each_point
// CHECK-NOT: stripe.alloc : !stripe.view<4x8xf32>
// CHECK: stripe.block [%r : 4]
// CHECK: %T = stripe.alloc : !stripe.view<1x8xf32, private>
// CHECK: stripe.block serial [%t2 : 8]
// CHECK: out %w = %T[0, 0] : 1x8
// CHECK: stripe.store %{{.*}}, %w[0, %n] : !stripe.view<1x8xf32, private>
// CHECK: stripe.load %T[0, 0] : !stripe.view<1x8xf32, private>
// LIMIT-LABEL: func.func @row_of_each_point
// LIMIT: stripe.alloc : !stripe.view<4x8xf32>
func.func @row_of_each_point(%A : !stripe.view<4x8xf32>) -> !stripe.view<4xf32> {
  %O = stripe.alloc : !stripe.view<4xf32>
  %T = stripe.alloc : !stripe.view<4x8xf32>
  stripe.block [%r : 4]
      in %a = %A[%r, 0] : 1x8
      inout %t = %T[%r, 0] : 1x8
      out %o = %O[%r] : 1 {
    stripe.block serial [%t2 : 8]
        in %b = %a[0, %t2] : 1x1
        out %w = %t[0, 0] : 1x8 {
      %x = stripe.load %b : !stripe.view<1x1xf32>
      %n = stripe.index 7 - %t2 : si32
      stripe.store %x, %w[0, %n] : !stripe.view<1x8xf32>
    }
    %y = stripe.load %t[0, 0] : !stripe.view<1x8xf32>
    stripe.store %y, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<4xf32>
}
