// RUN: tile-opt %s --split-input-file -p 'stripe-pad,stripe-tile,stripe-stage{fills=true},stripe-collect-outputs,stripe-drop-constraints' | filecheck %s

// Rows beyond the end are never read, and beyond the end of the sum both factors are 0:
// only what is copied and what is stored is tested.
// CHECK-LABEL: func.func @product
// CHECK:      stripe.block [%k : 4]
// CHECK:      in %from = %a_1[2 * %i_1 + %w0, %w1] : 1x1
// CHECK:      where -2 * %i_1 - %w0 - 8 * %i + 19 >= 0, -%w1 - 4 * %k + 12 >= 0
// CHECK:      in %from = %b_1[%w0, 2 * %j_1 + %w1] : 1x1
// CHECK:      where
// CHECK:      in %a_2 = %a_stage
// CHECK-NOT:  where
// CHECK:      in %from = %c_acc[%e0, %e1] : 1x1
// CHECK-NEXT: out %to = %c[%e0, %e1] : 1x1
// CHECK-NEXT: where {{.*}} >= 0, {{.*}} >= 0
func.func @product(%A : !stripe.view<20x13xf32>, %B : !stripe.view<13x18xf32>) -> !stripe.view<20x18xf32> {
  %C = stripe.alloc : !stripe.view<20x18xf32>
  stripe.block "C" [%i : 20, %j : 18, %k : 13]
      in %a = %A[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 add init 0
      attributes {stripe.schedule = #stripe.schedule<
        tile [8, 8, 0] bind [grid, grid, _], tile [8, 8, 4], tile [2, 2, 4] bind [group, group, _],
        pad [8, 8, 4],
        stage input 0 at 2 of 2 order [1, 0] local, stage input 1 at 2 of 2 order [0, 1] local>} {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %y = stripe.load %b : !stripe.view<1x1xf32>
    %z = eltwise.mul %x, %y : f32
    stripe.store %z, %c : !stripe.view<1x1xf32>
  }
  func.return %C : !stripe.view<20x18xf32>
}

// -----

// 0 is no identity of a maximum: the end of what is aggregated is tested.
// CHECK-LABEL: func.func @largest
// CHECK:      in %a_2 = %a_stage
// CHECK:      where -%k_1 - 4 * %k + 12 >= 0 {
// CHECK:      in %from = %c_acc
func.func @largest(%A : !stripe.view<20x13xf32>, %B : !stripe.view<13x18xf32>) -> !stripe.view<20x18xf32> {
  %C = stripe.alloc : !stripe.view<20x18xf32>
  stripe.block "C" [%i : 20, %j : 18, %k : 13]
      in %a = %A[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 max init -inf
      attributes {stripe.schedule = #stripe.schedule<
        tile [8, 8, 0] bind [grid, grid, _], tile [8, 8, 4], tile [2, 2, 4] bind [group, group, _],
        pad [8, 8, 4],
        stage input 0 at 2 of 2 order [1, 0] local, stage input 1 at 2 of 2 order [0, 1] local>} {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %y = stripe.load %b : !stripe.view<1x1xf32>
    %z = eltwise.mul %x, %y : f32
    stripe.store %z, %c : !stripe.view<1x1xf32>
  }
  func.return %C : !stripe.view<20x18xf32>
}

// -----

// At the border of an image the weights are no zeros, and may be infinite.
// CHECK-LABEL: func.func @border
// CHECK:      in %x_1 = %x_stage
// CHECK:      where %s + %y_2 + 2 * %y_1 + 8 * %y - 1 >= 0, -%s - %y_2
func.func @border(%X : !stripe.view<16xf32>, %W : !stripe.view<3x8xf32>) -> !stripe.view<16x8xf32> {
  %O = stripe.alloc : !stripe.view<16x8xf32>
  stripe.block "O" [%y : 16, %d : 8, %s : 3]
      in %x = %X[%y + %s - 1] : 1
      in %w = %W[%s, %d] : 1x1
      out %o = %O[%y, %d] : 1x1 add init 0
      where %y + %s - 1 >= 0, -%y - %s + 16 >= 0
      attributes {stripe.schedule = #stripe.schedule<
        tile [8, 8, 0] bind [grid, grid, _], tile [2, 2, 0] bind [group, group, _],
        stage input 0 at 1 of 1 order [0] local, stage input 1 at 1 of 1 order [0, 1] local>} {
    %p = stripe.load %x : !stripe.view<1xf32>
    %q = stripe.load %w : !stripe.view<1x1xf32>
    %z = eltwise.mul %p, %q : f32
    stripe.store %z, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<16x8xf32>
}
