// RUN: tile-opt %s -p stripe-assign-layouts | filecheck %s
// RUN: tile-opt %s -p 'stripe-assign-layouts{bits=32}' | filecheck %s --check-prefix=SCALAR
// RUN: tile-opt %s -p 'stripe-assign-layouts{worth=100000}' | filecheck %s --check-prefix=SCALAR
// RUN: tile-opt %s -p stripe-assign-layouts,stripe-permute-axes | filecheck %s --check-prefix=APPLIED
// RUN: not tile-opt %s -p 'stripe-assign-layouts{worth=0}' 2>&1 | filecheck %s --check-prefix=WORTH

// WORTH: error: expected worth of 1 or more, got 0
// SCALAR-NOT: layout

// Two convolutions with what is done between them: all but the result has channels last.
// CHECK-LABEL: func.func @convolutions
// CHECK: %A = stripe.alloc {layout = #stripe.layout<[1, 2, 0] because "{{.*}} for 3 blocks, at least {{.*}} with the axes as they are">} : !stripe.view<64x13x13xf32>
// CHECK: %R = stripe.alloc {layout = #stripe.layout<[1, 2, 0] because
// CHECK: %O = stripe.alloc : !stripe.view<64x11x11xf32>

// APPLIED-LABEL: func.func @convolutions
// APPLIED: %A = stripe.alloc : !stripe.view<13x13x64xf32>
// APPLIED-NEXT: stripe.block [%x : 13, %y : 13, %o : 64, %k : 3, %l : 3, %c : 64]
// APPLIED: out %a = %A[%x, %y, %o] : 1x1x1 add init 0
// APPLIED: stripe.block [%x : 13, %y : 13, %c : 64]
// APPLIED-NEXT: in %a = %A[%x, %y, %c] : 1x1x1
// APPLIED-NEXT: out %r = %R[%x, %y, %c] : 1x1x1
// APPLIED: stripe.block [%o : 64, %x : 11, %y : 11, %c : 64, %k : 3, %l : 3]
// APPLIED-NEXT: in %r = %R[%x + %k, %y + %l, %c] : 1x1x1
// APPLIED: out %v = %O[%o, %x, %y] : 1x1x1 add init 0
func.func @convolutions(
    %I : !stripe.view<64x27x27xf32>, %K : !stripe.view<64x64x3x3xf32>
) -> !stripe.view<64x11x11xf32> {
  %A = stripe.alloc : !stripe.view<64x13x13xf32>
  stripe.block [%o : 64, %x : 13, %y : 13, %c : 64, %k : 3, %l : 3]
      in %i = %I[%c, 2 * %x + %k, 2 * %y + %l] : 1x1x1
      in %w = %K[%o, %c, %k, %l] : 1x1x1x1
      out %a = %A[%o, %x, %y] : 1x1x1 add init 0 {
    %0 = stripe.load %i : !stripe.view<1x1x1xf32>
    %1 = stripe.load %w : !stripe.view<1x1x1x1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %a : !stripe.view<1x1x1xf32>
  }
  %R = stripe.alloc : !stripe.view<64x13x13xf32>
  stripe.block [%c : 64, %x : 13, %y : 13]
      in %a = %A[%c, %x, %y] : 1x1x1
      out %r = %R[%c, %x, %y] : 1x1x1 {
    %0 = stripe.load %a : !stripe.view<1x1x1xf32>
    %1 = eltwise.abs %0 : f32
    stripe.store %1, %r : !stripe.view<1x1x1xf32>
  }
  %O = stripe.alloc : !stripe.view<64x11x11xf32>
  stripe.block [%o : 64, %x : 11, %y : 11, %c : 64, %k : 3, %l : 3]
      in %r = %R[%c, %x + %k, %y + %l] : 1x1x1
      in %w = %K[%o, %c, %k, %l] : 1x1x1x1
      out %v = %O[%o, %x, %y] : 1x1x1 add init 0 {
    %0 = stripe.load %r : !stripe.view<1x1x1xf32>
    %1 = stripe.load %w : !stripe.view<1x1x1x1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %v : !stripe.view<1x1x1xf32>
  }
  func.return %O : !stripe.view<64x11x11xf32>
}

// Left alone: long rows of whole vectors.
// CHECK-LABEL: func.func @product
// CHECK-NOT: layout
func.func @product(
    %A : !stripe.view<64x96xf32>, %B : !stripe.view<96x64xf32>
) -> !stripe.view<64x64xf32> {
  %C = stripe.alloc : !stripe.view<64x64xf32>
  stripe.block [%i : 64, %j : 64, %k : 96]
      in %a = %A[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 add init 0 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    %1 = stripe.load %b : !stripe.view<1x1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %c : !stripe.view<1x1xf32>
  }
  %R = stripe.alloc : !stripe.view<64x64xf32>
  stripe.block [%i : 64, %j : 64]
      in %c = %C[%i, %j] : 1x1
      out %r = %R[%i, %j] : 1x1 {
    %0 = stripe.load %c : !stripe.view<1x1xf32>
    %1 = eltwise.abs %0 : f32
    stripe.store %1, %r : !stripe.view<1x1xf32>
  }
  func.return %R : !stripe.view<64x64xf32>
}

// What is reshaped keeps the order of its axes.
// CHECK-LABEL: func.func @reshaped
// CHECK-NOT: layout
func.func @reshaped(
    %I : !stripe.view<64x27x27xf32>, %K : !stripe.view<64x64x3x3xf32>
) -> !stripe.view<10816xf32> {
  %A = stripe.alloc : !stripe.view<64x13x13xf32>
  stripe.block [%o : 64, %x : 13, %y : 13, %c : 64, %k : 3, %l : 3]
      in %i = %I[%c, 2 * %x + %k, 2 * %y + %l] : 1x1x1
      in %w = %K[%o, %c, %k, %l] : 1x1x1x1
      out %a = %A[%o, %x, %y] : 1x1x1 add init 0 {
    %0 = stripe.load %i : !stripe.view<1x1x1xf32>
    %1 = stripe.load %w : !stripe.view<1x1x1x1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %a : !stripe.view<1x1x1xf32>
  }
  %F = stripe.reshape %A : !stripe.view<64x13x13xf32> to !stripe.view<10816xf32>
  %R = stripe.alloc : !stripe.view<10816xf32>
  stripe.block [%i : 10816]
      in %f = %F[%i] : 1
      out %r = %R[%i] : 1 {
    %0 = stripe.load %f : !stripe.view<1xf32>
    %1 = eltwise.abs %0 : f32
    stripe.store %1, %r : !stripe.view<1xf32>
  }
  func.return %R : !stripe.view<10816xf32>
}
