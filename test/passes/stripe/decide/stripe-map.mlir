// RUN: tile-opt %s -p stripe-map | filecheck %s

// Indices of cells of their own run in parallel; an index that aggregates stays a loop,
// one that is bound stays so, and nested blocks are not mapped.
// CHECK-LABEL: func.func @mapped
// CHECK: stripe.block [%i : 4 grid, %j : 2 unroll, %k : 3]
// CHECK: over [i, j, k], points bind [grid, _, _] because "each value has cells of its own">} {
// CHECK: stripe.block [%l : 8]
func.func @mapped(%A : !stripe.view<4x2x3xf32>) -> !stripe.view<4x16xf32> {
  %O = stripe.alloc : !stripe.view<4x16xf32>
  stripe.block [%i : 4, %j : 2 unroll, %k : 3]
      in %a = %A[%i, %j, %k] : 1x1x1
      out %o = %O[%i, 8 * %j] : 1x8 add {
    %x = stripe.load %a : !stripe.view<1x1x1xf32>
    stripe.block [%l : 8]
        out %o_1 = %o[0, %l] : 1x1 add {
      stripe.store %x, %o_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %O : !stripe.view<4x16xf32>
}

// Left alone: cells that points share, in one output or in one of two.
// CHECK-LABEL: func.func @left_alone
// CHECK-NOT: grid
func.func @left_alone(%A : !stripe.view<8xf32>) -> (!stripe.view<11xf32>, !stripe.view<8xf32>, !stripe.view<f32>) {
  %O = stripe.alloc : !stripe.view<11xf32>
  stripe.block [%i : 8, %j : 4]
      in %a = %A[%i] : 1
      out %o = %O[%i + %j] : 1 add {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %o : !stripe.view<1xf32>
  }
  %P = stripe.alloc : !stripe.view<8xf32>
  %S = stripe.alloc : !stripe.view<f32>
  stripe.block [%i : 8]
      in %a = %A[%i] : 1
      out %p = %P[%i] : 1
      out %s = %S[] add {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %p : !stripe.view<1xf32>
    stripe.store %x, %s : !stripe.view<f32>
  }
  func.return %O, %P, %S : !stripe.view<11xf32>, !stripe.view<8xf32>, !stripe.view<f32>
}

// The points of a serial block are in order; those of a block around it are not.
// CHECK-LABEL: func.func @serial
// CHECK: stripe.block serial [%t : 7]
// CHECK: stripe.block [%r : 4 grid]
// CHECK: stripe.block serial [%u : 7]
func.func @serial() -> !stripe.view<4x8xf32> {
  %O = stripe.alloc : !stripe.view<4x8xf32>
  stripe.block serial [%t : 7]
      inout %o = %O[0, %t] : 1x1 {
    %x = stripe.load %o : !stripe.view<1x1xf32>
    stripe.store %x, %o : !stripe.view<1x1xf32>
  }
  stripe.block [%r : 4]
      inout %row = %O[%r, 0] : 1x8 {
    stripe.block serial [%u : 7]
        in %a = %row[0, %u] : 1x1
        out %b = %row[0, %u + 1] : 1x1 {
      %x = stripe.load %a : !stripe.view<1x1xf32>
      stripe.store %x, %b : !stripe.view<1x1xf32>
    }
  }
  func.return %O : !stripe.view<4x8xf32>
}

// Points that assign chosen cells have each its own; those that add may meet.
// CHECK-LABEL: func.func @chosen
// CHECK: stripe.block "assign" [%i : 6 grid, %j : 3 grid]
// CHECK: stripe.block "add" [%i : 6, %j : 3 grid]
// CHECK: stripe.block "both" [%i : 6]
func.func @chosen(%P : !stripe.view<6xsi32>) -> (!stripe.view<6x3xsi32>, !stripe.view<6x3xsi32>, !stripe.view<6xsi32>, !stripe.view<si32>) {
  %O = stripe.alloc : !stripe.view<6x3xsi32>
  %S = stripe.alloc : !stripe.view<6x3xsi32>
  %T = stripe.alloc : !stripe.view<6xsi32>
  %U = stripe.alloc : !stripe.view<si32>
  stripe.block "assign" [%i : 6, %j : 3]
      in %p = %P[%i] : 1
      out %o = %O[0, %j] : 6x1 {
    %x = stripe.load %p : !stripe.view<1xsi32>
    stripe.store %x, %o[%x, 0] : !stripe.view<6x1xsi32>
  }
  stripe.block "add" [%i : 6, %j : 3]
      in %p = %P[%i] : 1
      out %s = %S[0, %j] : 6x1 add init 0 {
    %x = stripe.load %p : !stripe.view<1xsi32>
    stripe.store %x, %s[%x, 0] : !stripe.view<6x1xsi32>
  }
  stripe.block "both" [%i : 6]
      in %p = %P[%i] : 1
      out %t = %T[0] : 6
      out %u = %U[] add init 0 {
    %x = stripe.load %p : !stripe.view<1xsi32>
    stripe.store %x, %t[%x] : !stripe.view<6xsi32>
    stripe.store %x, %u : !stripe.view<si32>
  }
  func.return %O, %S, %T, %U : !stripe.view<6x3xsi32>, !stripe.view<6x3xsi32>, !stripe.view<6xsi32>, !stripe.view<si32>
}

// What is bound stays: a loop that is to be one, and points that work-items share.
// CHECK-LABEL: func.func @bound
// CHECK: stripe.block [%i : 4 loop, %j : 8 group, %k : 2 grid]
func.func @bound(%A : !stripe.view<4x8x2xf32>) -> !stripe.view<4x8x2xf32> {
  %O = stripe.alloc : !stripe.view<4x8x2xf32>
  stripe.block [%i : 4 loop, %j : 8 group, %k : 2]
      in %a = %A[%i, %j, %k] : 1x1x1
      out %o = %O[%i, %j, %k] : 1x1x1 {
    %x = stripe.load %a : !stripe.view<1x1x1xf32>
    stripe.store %x, %o : !stripe.view<1x1x1xf32>
  }
  func.return %O : !stripe.view<4x8x2xf32>
}
