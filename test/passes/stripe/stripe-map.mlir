// RUN: tile-opt %s -p stripe-map | filecheck %s

// Indices of cells of their own run in parallel; an index that aggregates stays a loop,
// one that has a level keeps it, and nested blocks are not mapped.
// CHECK-LABEL: func.func @mapped
// CHECK: stripe.block [%i : 4 grid, %j : 2 unroll, %k : 3]
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
