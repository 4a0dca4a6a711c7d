// RUN: tile-opt %s -p stripe-write-once | filecheck %s

// Two matrices, one below the other: no copy, no cell twice, and ranges that end where the
// constraints do.
// CHECK-LABEL: func.func @joined
// CHECK-NEXT:  %O = stripe.alloc
// CHECK-NEXT:  stripe.block "P" [%i : 5, %j : 4]
// CHECK-NEXT:    in %a = %A[%i, %j] : 1x1
// CHECK-NEXT:    out %p = %O[%i, %j] : 1x1 {
// CHECK:       stripe.block "O" [%i : 3, %j : 4]
// CHECK-NEXT:    in %b = %B[%i, %j] : 1x1
// CHECK-NEXT:    out %o = %O[%i + 5, %j] : 1x1 {
// CHECK:       func.return %O
func.func @joined(%A : !stripe.view<5x4xf32>, %B : !stripe.view<3x4xf32>) -> !stripe.view<8x4xf32> {
  %P = stripe.alloc : !stripe.view<8x4xf32>
  stripe.block "P" [%i : 8, %j : 4]
      in %a = %A[%i, %j] : 1x1
      out %p = %P[%i, %j] : 1x1 init 0
      where -%i + 4 >= 0 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %0, %p : !stripe.view<1x1xf32>
  }
  %O = stripe.alloc : !stripe.view<8x4xf32>
  stripe.block [%i : 8, %j : 4]
      in %p = %P[%i, %j] : 1x1
      out %o = %O[%i, %j] : 1x1 {
    %0 = stripe.load %p : !stripe.view<1x1xf32>
    stripe.store %0, %o : !stripe.view<1x1xf32>
  }
  stripe.block "O" [%i : 8, %j : 4]
      in %b = %B[%i - 5, %j] : 1x1
      out %o = %O[%i, %j] : 1x1
      where %i - 5 >= 0 {
    %0 = stripe.load %b : !stripe.view<1x1xf32>
    stripe.store %0, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<8x4xf32>
}

// One row is nobody else's: initial values stay, and so does the range that sets them.
// CHECK-LABEL: func.func @gap
// CHECK:       stripe.block "O" [%i : 8, %j : 4]
// CHECK:         out %o = %O[%i, %j] : 1x1 init 0
// CHECK-NEXT:    where -%i + 4 >= 0 {
// CHECK:       stripe.block "rest" [%i : 2, %j : 4]
// CHECK:         out %o = %O[%i + 6, %j] : 1x1 {
func.func @gap(%A : !stripe.view<5x4xf32>, %B : !stripe.view<2x4xf32>) -> !stripe.view<8x4xf32> {
  %O = stripe.alloc : !stripe.view<8x4xf32>
  stripe.block "O" [%i : 8, %j : 4]
      in %a = %A[%i, %j] : 1x1
      out %o = %O[%i, %j] : 1x1 init 0
      where -%i + 4 >= 0 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %0, %o : !stripe.view<1x1xf32>
  }
  stripe.block "rest" [%i : 8, %j : 4]
      in %b = %B[%i - 6, %j] : 1x1
      out %o = %O[%i, %j] : 1x1
      where 2 * %i - 11 >= 0 {
    %0 = stripe.load %b : !stripe.view<1x1xf32>
    stripe.store %0, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<8x4xf32>
}

// Somebody reads the initial values before they are overwritten, and reads what is copied
// once more afterwards.
// CHECK-LABEL: func.func @read
// CHECK:       out %p = %P[%i] : 1 init 0
// CHECK:       stripe.block "copy"
// CHECK:       stripe.block "rest" [%i : 3]
// CHECK:       stripe.block "again"
func.func @read(%A : !stripe.view<5xf32>) -> (!stripe.view<8xf32>, !stripe.view<8xf32>) {
  %P = stripe.alloc : !stripe.view<8xf32>
  stripe.block "P" [%i : 8]
      in %a = %A[%i] : 1
      out %p = %P[%i] : 1 init 0
      where -%i + 4 >= 0 {
    %0 = stripe.load %a : !stripe.view<1xf32>
    stripe.store %0, %p : !stripe.view<1xf32>
  }
  %O = stripe.alloc : !stripe.view<8xf32>
  stripe.block "copy" [%i : 8]
      in %p = %P[%i] : 1
      out %o = %O[%i] : 1 {
    %0 = stripe.load %p : !stripe.view<1xf32>
    stripe.store %0, %o : !stripe.view<1xf32>
  }
  stripe.block "rest" [%i : 8]
      in %a = %A[%i - 5] : 1
      out %p = %P[%i] : 1
      where %i - 5 >= 0 {
    %0 = stripe.load %a : !stripe.view<1xf32>
    stripe.store %0, %p : !stripe.view<1xf32>
  }
  %Q = stripe.alloc : !stripe.view<8xf32>
  stripe.block "again" [%i : 8]
      in %p = %P[%i] : 1
      out %q = %Q[%i] : 1 {
    %0 = stripe.load %p : !stripe.view<1xf32>
    %1 = eltwise.neg %0 : f32
    stripe.store %1, %q : !stripe.view<1xf32>
  }
  func.return %O, %Q : !stripe.view<8xf32>, !stripe.view<8xf32>
}
