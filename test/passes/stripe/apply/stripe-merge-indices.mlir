// RUN: tile-opt %s -p stripe-merge-indices | filecheck %s
// RUN: tile-opt %s -p 'stripe-merge-indices{streams=true}' | filecheck %s --check-prefix=STREAMS

// The pixels of an image, all images together; the channels are something else to K.
// CHECK-LABEL: func.func @pixels
// CHECK:       %[[I:.*]] = stripe.reshape %{{.*}} : {{.*}} to !stripe.view<98x64xf32>
// CHECK:       %[[O:.*]] = stripe.reshape %{{.*}} : {{.*}} to !stripe.view<98x32xf32>
// CHECK-NEXT:  stripe.block "O" [%{{.*}} : 98, %co : 32, %ci : 64]
// CHECK-NEXT:    in %i = %[[I]][%{{.*}}, %ci] : 1x1
// CHECK-NEXT:    in %k = %K[%ci, %co] : 1x1
// CHECK-NEXT:    out %o = %[[O]][%{{.*}}, %co] : 1x1 add init 0 {
// CHECK-NEXT:    %0 = stripe.load %i : !stripe.view<1x1xf32>
// CHECK:       func.return %O : !stripe.view<2x7x7x32xf32>
func.func @pixels(%I : !stripe.view<2x7x7x64xf32>, %K : !stripe.view<64x32xf32>) -> !stripe.view<2x7x7x32xf32> {
  %O = stripe.alloc : !stripe.view<2x7x7x32xf32>
  stripe.block "O" [%n : 2, %x : 7, %y : 7, %co : 32, %ci : 64]
      in %i = %I[%n, %x, %y, %ci] : 1x1x1x1
      in %k = %K[%ci, %co] : 1x1
      out %o = %O[%n, %x, %y, %co] : 1x1x1x1 add init 0 {
    %0 = stripe.load %i : !stripe.view<1x1x1x1xf32>
    %1 = stripe.load %k : !stripe.view<1x1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %o : !stripe.view<1x1x1x1xf32>
  }
  func.return %O : !stripe.view<2x7x7x32xf32>
}

// Indices that only aggregate merge too, not with the others.
// CHECK-LABEL: func.func @sums
// CHECK:       %[[I:.*]] = stripe.reshape %{{.*}} to !stripe.view<20x42xf32>
// CHECK-NEXT:  stripe.block "O" [%a : 20, %c : 42]
// CHECK-NEXT:    in %i = %[[I]][%a, %c] : 1x1
// CHECK-NEXT:    out %o = %{{.*}}[%a] : 1 add init 0 {
func.func @sums(%I : !stripe.view<4x5x6x7xf32>) -> !stripe.view<4x5xf32> {
  %O = stripe.alloc : !stripe.view<4x5xf32>
  stripe.block "O" [%a : 4, %b : 5, %c : 6, %d : 7]
      in %i = %I[%a, %b, %c, %d] : 1x1x1x1
      out %o = %O[%a, %b] : 1x1 add init 0 {
    %0 = stripe.load %i : !stripe.view<1x1x1x1xf32>
    stripe.store %0, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<4x5xf32>
}

// Not contiguous: the other way round in one buffer, rows that are longer than the range,
// a window, a constraint, a value that is used. Nothing aggregates in the last block.
// CHECK-LABEL: func.func @apart
// CHECK-NOT:   stripe.reshape
// CHECK:       func.return
func.func @apart(%I : !stripe.view<4x4x9xf32>, %J : !stripe.view<4x5x9xf32>)
    -> (!stripe.view<4x4xf32>, !stripe.view<4x4xf32>, !stripe.view<4x4xf32>, !stripe.view<4x4x9xf32>) {
  %O = stripe.alloc : !stripe.view<4x4xf32>
  %P = stripe.alloc : !stripe.view<4x4xf32>
  %Q = stripe.alloc : !stripe.view<4x4xf32>
  %R = stripe.alloc : !stripe.view<4x4x9xf32>
  stripe.block "turned" [%a : 4, %b : 4, %c : 9]
      in %i = %I[%b, %a, %c] : 1x1x1
      in %j = %J[%a, %b, %c] : 1x1x1
      out %o = %O[%a, %b] : 1x1 add init 0 {
    %0 = stripe.load %i : !stripe.view<1x1x1xf32>
    %1 = stripe.load %j : !stripe.view<1x1x1xf32>
    %2 = eltwise.add %0, %1 : f32
    stripe.store %2, %o : !stripe.view<1x1xf32>
  }
  stripe.block "long" [%a : 4, %b : 4, %c : 9]
      in %j = %J[%a, %b, %c] : 1x1x1
      out %o = %P[%a, %b] : 1x1 add init 0 {
    %1 = stripe.load %j : !stripe.view<1x1x1xf32>
    stripe.store %1, %o : !stripe.view<1x1xf32>
  }
  stripe.block "checked" [%a : 4, %b : 4, %c : 9]
      in %i = %I[%a, %b, %c] : 1x1x1
      out %o = %Q[%a, %b] : 1x1 add init 0
      where %a + %b - %c >= 0 {
    %0 = stripe.load %i : !stripe.view<1x1x1xf32>
    stripe.store %0, %o : !stripe.view<1x1xf32>
  }
  stripe.block "copied" [%a : 4, %b : 4, %c : 9]
      in %i = %I[%a, %b, %c] : 1x1x1
      out %o = %R[%a, %b, %c] : 1x1x1 {
    %0 = stripe.load %i : !stripe.view<1x1x1xf32>
    stripe.store %0, %o : !stripe.view<1x1x1xf32>
  }
  func.return %O, %P, %Q, %R : !stripe.view<4x4xf32>, !stripe.view<4x4xf32>, !stripe.view<4x4xf32>, !stripe.view<4x4x9xf32>
}

// For streams a matrix of one column is a vector, of which the index that aggregates runs
// through neighbours.
// CHECK-LABEL: func.func @column
// CHECK-NOT:   stripe.reshape
// STREAMS-LABEL: func.func @column
// STREAMS:       %[[X:.*]] = stripe.reshape %X : !stripe.view<8x1xf32> to !stripe.view<8xf32>
// STREAMS-NEXT:  %[[Y:.*]] = stripe.reshape %Y : !stripe.view<5x1x1xf32> to !stripe.view<5x1xf32>
// STREAMS-NEXT:  %[[Z:.*]] = stripe.reshape %[[Y]] : !stripe.view<5x1xf32> to !stripe.view<5xf32>
// STREAMS-NEXT:  stripe.block "Y" [%i : 5, %k : 8]
// STREAMS-NEXT:    in %a = %A[%i, %k] : 1x1
// STREAMS-NEXT:    in %x = %[[X]][%k] : 1
// STREAMS-NEXT:    out %y = %[[Z]][%i] : 1 add init 0 {
func.func @column(%A : !stripe.view<5x8xf32>, %X : !stripe.view<8x1xf32>) -> !stripe.view<5x1x1xf32> {
  %Y = stripe.alloc : !stripe.view<5x1x1xf32>
  stripe.block "Y" [%i : 5, %k : 8]
      in %a = %A[%i, %k] : 1x1
      in %x = %X[%k, 0] : 1x1
      out %y = %Y[%i, 0, 0] : 1x1x1 add init 0 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    %1 = stripe.load %x : !stripe.view<1x1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %y : !stripe.view<1x1x1xf32>
  }
  func.return %Y : !stripe.view<5x1x1xf32>
}
