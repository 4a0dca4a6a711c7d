// RUN: tile-opt %s -p stripe-autotile | filecheck %s
// RUN: tile-opt %s -p stripe-autotile,stripe-tile | filecheck %s --check-prefix=TILED

// Of the two digits of a place in an output with 'init', tiles hold all values of the
// lower one, so that they leave no gaps: where they are transposed, and in streams.
// CHECK-LABEL: func.func @transposed
// CHECK: tile [2, 2, 1, 2, 10] order [0, 1, 2, 3, 4]
// TILED-LABEL: func.func @transposed
func.func @transposed(%D : !stripe.view<2x10x2x1x2x2xf32>) -> !stripe.view<5x5x1x10xf32> {
  %O = stripe.alloc : !stripe.view<5x5x1x10xf32>
  stripe.block [%y : 2, %v : 2, %x : 2, %u : 2, %o : 10]
      in %d = %D[%x, %o, %v, 0, %u, %y] : 1x1x1x1x1x1
      out %w = %O[2 * %y + %v, 2 * %x + %u, 0, %o] : 1x1x1x1 add init 0 {
    %0 = stripe.load %d : !stripe.view<1x1x1x1x1x1xf32>
    stripe.store %0, %w : !stripe.view<1x1x1x1xf32>
  }
  func.return %O : !stripe.view<5x5x1x10xf32>
}

// CHECK-LABEL: func.func @stream
// CHECK: stripe.schedule = #stripe.schedule<
// CHECK-NEXT: tile [2, {{[0-9]+}}]
// TILED-LABEL: func.func @stream
func.func @stream(%D : !stripe.view<2x640xf32>) -> !stripe.view<1280xf32> {
  %O = stripe.alloc : !stripe.view<1280xf32>
  stripe.block [%v : 2, %y : 640]
      in %d = %D[%v, %y] : 1x1
      out %w = %O[2 * %y + %v] : 1 add init 0 {
    %0 = stripe.load %d : !stripe.view<1x1xf32>
    stripe.store %0, %w : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<1280xf32>
}
