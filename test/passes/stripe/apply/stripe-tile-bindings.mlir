// RUN: tile-opt %s -p stripe-tile | filecheck %s

// The loops of each block of a nest are bound, in whatever order they are.
// CHECK-LABEL: func.func @bound
// CHECK: stripe.block "C" [%j : 3 grid, %i : 8 grid]
// CHECK: tile [8, 20, 0] order [1, 0] bind [grid, grid, _],
// CHECK-NEXT: tile [4, 20, 8] bind [loop, _, loop],
// CHECK-NEXT: points order [1, 0] bind [unroll, vector, _]>} {
// CHECK: stripe.block [%k : 4 loop, %i_1 : 2 loop]
// CHECK: stripe.block [%j_1 : 20 vector, %i_2 : 4 unroll, %k_1 : 8]
func.func @bound(%A : !stripe.view<64x32xf32>, %B : !stripe.view<32x60xf32>) -> !stripe.view<64x60xf32> {
  %C = stripe.alloc : !stripe.view<64x60xf32>
  stripe.block "C" [%i : 64, %j : 60, %k : 32]
      in %a = %A[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 add init 0
      attributes {stripe.schedule = #stripe.schedule<
        tile [8, 20, 0] order [1, 0] bind [grid, grid, _],
        tile [4, 20, 8] bind [loop, _, loop],
        points order [1, 0] bind [unroll, vector, _]>} {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %y = stripe.load %b : !stripe.view<1x1xf32>
    %z = eltwise.mul %x, %y : f32
    stripe.store %z, %c : !stripe.view<1x1xf32>
  }
  func.return %C : !stripe.view<64x60xf32>
}

// What an index is bound to where it stands: work-items are of tiles, vectors of points,
// and loops of both.
// CHECK-LABEL: func.func @standing
// CHECK: stripe.block [%i : 2 group, %j : 2, %k : 2 loop, %l : 2 unroll]
// CHECK: stripe.block [%i_1 : 4, %j_1 : 4 vector, %k_1 : 4 loop, %l_1 : 4 unroll]
func.func @standing(%A : !stripe.view<8x8x8x8xf32>) -> !stripe.view<8x8x8x8xf32> {
  %B = stripe.alloc : !stripe.view<8x8x8x8xf32>
  stripe.block [%i : 8 group, %j : 8 vector, %k : 8 loop, %l : 8 unroll]
      in %a = %A[%i, %j, %k, %l] : 1x1x1x1
      out %b = %B[%i, %j, %k, %l] : 1x1x1x1
      attributes {stripe.schedule = #stripe.schedule<tile [4, 4, 4, 4]>} {
    %x = stripe.load %a : !stripe.view<1x1x1x1xf32>
    stripe.store %x, %b : !stripe.view<1x1x1x1xf32>
  }
  func.return %B : !stripe.view<8x8x8x8xf32>
}

// Without tiles, the points are those of the block.
// CHECK-LABEL: func.func @points
// CHECK: stripe.block [%j : 4 unroll, %i : 8 grid]
func.func @points(%A : !stripe.view<8x4xf32>) -> !stripe.view<8x4xf32> {
  %B = stripe.alloc : !stripe.view<8x4xf32>
  stripe.block [%i : 8, %j : 4]
      in %a = %A[%i, %j] : 1x1
      out %b = %B[%i, %j] : 1x1
      attributes {stripe.schedule = #stripe.schedule<points order [1] bind [grid, unroll]>} {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %b : !stripe.view<1x1xf32>
  }
  func.return %B : !stripe.view<8x4xf32>
}

// A level that makes no loops makes no block, and copies count those that there are;
// what is bound there is bound to nothing.
// CHECK-LABEL: func.func @same_loops
// CHECK: stripe.block [%i : 2 grid]
// CHECK: attributes {stripe.scheduled = #stripe.schedule<
// CHECK-NEXT: over [i, j],
// CHECK-NEXT: tile [4, 4] bind [grid, _],
// CHECK-NEXT: tile [2, 4]>, stripe.schedule = #stripe.schedule<stage input 0 at 0 of 1 order [0, 1] global>} {
// CHECK: stripe.block [%i_1 : 2]
// CHECK: stripe.block [%i_2 : 2, %j : 4]
func.func @same_loops(%A : !stripe.view<8x4xf32>) -> !stripe.view<8x4xf32> {
  %B = stripe.alloc : !stripe.view<8x4xf32>
  stripe.block [%i : 8, %j : 4]
      in %a = %A[%i, %j] : 1x1
      out %b = %B[%i, %j] : 1x1
      attributes {stripe.schedule = #stripe.schedule<
        tile [4, 0] order [1, 0] bind [grid, grid],
        tile [9, 9] bind [group, lane],
        tile [2, 0],
        points order [0, 1],
        stage input 0 at 0 of 2 order [0, 1] global>} {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %b : !stripe.view<1x1xf32>
  }
  func.return %B : !stripe.view<8x4xf32>
}

// Work-items that share points set the cells of their own ones.
// CHECK-LABEL: func.func @points_of_items
// CHECK: stripe.block "C" [%i : 2 grid]
// CHECK-NEXT: in %a = %A[4 * %i, 0] : 4x8
// CHECK-NEXT: out %c = %C[4 * %i] : 4
// CHECK: stripe.block [%i_1 : 4 lane]
// CHECK-NEXT: in %a_1 = %a[%i_1, 0] : 1x8
// CHECK-NEXT: out %c_1 = %c[%i_1] : 1 add init 0 {
// CHECK: stripe.block [%k : 8 unroll]
// CHECK-NEXT: in %a_2 = %a_1[0, %k] : 1x1
// CHECK-NEXT: out %c_2 = %c_1[0] : 1 add {
func.func @points_of_items(%A : !stripe.view<8x8xf32>) -> !stripe.view<8xf32> {
  %C = stripe.alloc : !stripe.view<8xf32>
  stripe.block "C" [%i : 8, %k : 8]
      in %a = %A[%i, %k] : 1x1
      out %c = %C[%i] : 1 add init 0
      attributes {stripe.schedule = #stripe.schedule<
        tile [4, 0] bind [grid, _],
        points bind [lane, unroll]>} {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %c : !stripe.view<1xf32>
  }
  func.return %C : !stripe.view<8xf32>
}
