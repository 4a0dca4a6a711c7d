// RUN: tile-opt %s -p stripe-plan-layout,stripe-transpose-outputs | filecheck %s
// RUN: tile-opt %s -p stripe-plan-layout,stripe-transpose-outputs,stripe-fuse | filecheck %s --check-prefix=FUSED
// RUN: tile-opt %s -p 'stripe-plan-layout,stripe-transpose-outputs,stripe-autotile,stripe-tile,stripe-map' | filecheck %s --check-prefix=TILED

// Vectors along %y would collect every second number: channels go last, and the longest
// loop that aggregates goes inside.
// CHECK-LABEL: func.func @channels_first
// CHECK: %O = stripe.alloc : !stripe.view<64x13x13xf32>
// CHECK-NEXT: %O_transposed = stripe.alloc : !stripe.view<13x13x64xf32>
// CHECK-NEXT: stripe.block "O" [%x : 13, %y : 13, %o : 64, %k : 3, %l : 3, %c : 64]
// CHECK-NEXT: in %i = %I[%c, 2 * %x + %k, 2 * %y + %l] : 1x1x1
// CHECK-NEXT: in %w = %K[%o, %c, %k, %l] : 1x1x1x1
// CHECK-NEXT: out %v = %O_transposed[%x, %y, %o] : 1x1x1 add init 0
// CHECK-NEXT: attributes {stripe.scheduled = #stripe.schedule<over [o, x, y, c, k, l], output order [1, 2, 0] because "
// CHECK: stripe.block "O" [%o : 64, %x : 13, %y : 13]
// CHECK-NEXT: in %transposed = %O_transposed[%x, %y, %o] : 1x1x1
// CHECK-NEXT: out %v = %O[%o, %x, %y] : 1x1x1 {
// CHECK-NEXT: %[[VALUE:.*]] = stripe.load %transposed
// CHECK-NEXT: stripe.store %[[VALUE]], %v

// What is noted later is of the indices as they are then.
// TILED: stripe.block "O" [%{{.*}} grid]
// TILED: attributes {stripe.scheduled = [#stripe.schedule<over [o, x, y, c, k, l], output order [1, 2, 0] because {{.*}}, #stripe.schedule<
// TILED-NEXT: over [x, y, o, k, l, c],
// TILED: because "{{.*}}">, #stripe.schedule<over [x, o], points bind [grid, grid] because "each value has cells of its own">]
func.func @channels_first(
    %I : !stripe.view<64x27x27xf32>, %K : !stripe.view<64x64x3x3xf32>
) -> !stripe.view<64x13x13xf32> {
  %O = stripe.alloc : !stripe.view<64x13x13xf32>
  stripe.block "O" [%o : 64, %x : 13, %y : 13, %c : 64, %k : 3, %l : 3]
      in %i = %I[%c, 2 * %x + %k, 2 * %y + %l] : 1x1x1
      in %w = %K[%o, %c, %k, %l] : 1x1x1x1
      out %v = %O[%o, %x, %y] : 1x1x1 add init 0 {
    %0 = stripe.load %i : !stripe.view<1x1x1xf32>
    %1 = stripe.load %w : !stripe.view<1x1x1x1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %v : !stripe.view<1x1x1xf32>
  }
  func.return %O : !stripe.view<64x13x13xf32>
}

// Cells beyond the end of the result are computed and not copied.
// CHECK-LABEL: func.func @beyond_the_end
// CHECK: %O_transposed = stripe.alloc : !stripe.view<25x12x2x64xf32>
// CHECK: out %v = %O_transposed[%n, %x, %r, %o] : 1x1x1x1 add init 0
// CHECK: stripe.block "O" [%n : 25, %o : 64, %x : 12, %r : 2]
// CHECK-NEXT: in %transposed = %O_transposed[%n, %x, %r, %o] : 1x1x1x1
// CHECK-NEXT: out %v = %O[%n, %o, 2 * %x + %r - 1] : 1x1x1
// CHECK-NEXT: where 2 * %x + %r - 1 >= 0, -2 * %x - %r + 22 >= 0 {
func.func @beyond_the_end(
    %I : !stripe.view<25x64x13xf32>, %K : !stripe.view<64x64x4xf32>
) -> !stripe.view<25x64x22xf32> {
  %O = stripe.alloc : !stripe.view<25x64x22xf32>
  stripe.block "O" [%n : 25, %o : 64, %x : 12, %r : 2, %c : 64, %k : 2]
      in %i = %I[%n, %c, %x + %k] : 1x1x1
      in %w = %K[%o, %c, 2 * %k + %r] : 1x1x1
      out %v = %O[%n, %o, 2 * %x + %r - 1] : 1x1x1 add init 0 {
    %0 = stripe.load %i : !stripe.view<1x1x1xf32>
    %1 = stripe.load %w : !stripe.view<1x1x1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %v : !stripe.view<1x1x1xf32>
  }
  func.return %O : !stripe.view<25x64x22xf32>
}

// What follows reads the scratch: the copy has an index for each axis of the result, that
// of the batch of one, too, and so `stripe-fuse` joins it with an element-wise block.
// CHECK-LABEL: func.func @followed
// CHECK: stripe.block "T" [%0 : 1, %o : 64, %x : 13, %y : 13]
// CHECK-NEXT: in %transposed = %T_transposed[%x, %y, %o] : 1x1x1
// CHECK-NEXT: out %v = %T[%0, %o, %x, %y] : 1x1x1x1 {
// CHECK: stripe.block "O"
// FUSED-LABEL: func.func @followed
// FUSED: stripe.block "T" [%x : 13, %y : 13, %o : 64, %k : 3, %l : 3, %c : 64]
// FUSED: stripe.block "O" [%{{.*}} : 1, %o : 64, %x : 13, %y : 13]
// FUSED-NEXT: in %transposed = %T_transposed[%x, %y, %o] : 1x1x1
// FUSED-NEXT: in %b = %B[%o] : 1
// FUSED-NEXT: out %r = %O[%{{.*}}, %o, %x, %y] : 1x1x1x1 {
// FUSED-NEXT: %[[T:.*]] = stripe.load %transposed
// FUSED-NEXT: %[[B:.*]] = stripe.load %b
// FUSED-NEXT: %[[SUM:.*]] = eltwise.add %[[T]], %[[B]]
// FUSED-NEXT: stripe.store %[[SUM]], %r
// FUSED-NOT: stripe.block
// FUSED: return
func.func @followed(
    %I : !stripe.view<1x64x27x27xf32>, %K : !stripe.view<64x64x3x3xf32>,
    %B : !stripe.view<64xf32>
) -> !stripe.view<1x64x13x13xf32> {
  %T = stripe.alloc : !stripe.view<1x64x13x13xf32>
  stripe.block "T" [%o : 64, %x : 13, %y : 13, %c : 64, %k : 3, %l : 3]
      in %i = %I[0, %c, 2 * %x + %k, 2 * %y + %l] : 1x1x1x1
      in %w = %K[%o, %c, %k, %l] : 1x1x1x1
      out %v = %T[0, %o, %x, %y] : 1x1x1x1 add init 0 {
    %0 = stripe.load %i : !stripe.view<1x1x1x1xf32>
    %1 = stripe.load %w : !stripe.view<1x1x1x1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %v : !stripe.view<1x1x1x1xf32>
  }
  %O = stripe.alloc : !stripe.view<1x64x13x13xf32>
  stripe.block "O" [%n : 1, %o : 64, %x : 13, %y : 13]
      in %t = %T[%n, %o, %x, %y] : 1x1x1x1
      in %b = %B[%o] : 1
      out %r = %O[%n, %o, %x, %y] : 1x1x1x1 {
    %0 = stripe.load %t : !stripe.view<1x1x1x1xf32>
    %1 = stripe.load %b : !stripe.view<1xf32>
    %2 = eltwise.add %0, %1 : f32
    stripe.store %2, %r : !stripe.view<1x1x1x1xf32>
  }
  func.return %O : !stripe.view<1x64x13x13xf32>
}
