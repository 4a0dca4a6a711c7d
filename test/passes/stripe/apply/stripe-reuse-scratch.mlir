// RUN: tile-opt %s -p 'stripe-reuse-scratch{least=16}' | filecheck %s
// RUN: tile-opt %s -p stripe-reuse-scratch | filecheck %s --check-prefix SMALL

// In place, then what is free again; what is read at another cell is not.
// CHECK-LABEL: func.func @chain
// CHECK: %A = stripe.alloc : !stripe.view<4x8xf32, private>
// CHECK-NEXT: %C = stripe.alloc : !stripe.view<4x8xf32, private>
// CHECK-NOT: stripe.alloc
// CHECK: in %a = %A[%i, %j] : 1x1
// CHECK-NEXT: out %b = %A[%i, %j] : 1x1 {
// CHECK: in %b = %A[%i, -%j + 7] : 1x1
// CHECK-NEXT: out %c = %C[%i, %j] : 1x1 {
// CHECK: in %c = %C[%i, -%j + 7] : 1x1
// CHECK-NEXT: out %d = %A[%i, %j] : 1x1 {
// SMALL-LABEL: func.func @chain
// SMALL-COUNT-4: stripe.alloc : !stripe.view<4x8xf32, private>
func.func @chain(%X : !stripe.view<3x4x8xf32>) -> !stripe.view<3x4x8xf32> {
  %Y = stripe.alloc : !stripe.view<3x4x8xf32>
  stripe.block [%h : 3]
      in %x = %X[%h, 0, 0] : 1x4x8
      out %y = %Y[%h, 0, 0] : 1x4x8 {
    %D = stripe.alloc : !stripe.view<4x8xf32, private>
    %C = stripe.alloc : !stripe.view<4x8xf32, private>
    %B = stripe.alloc : !stripe.view<4x8xf32, private>
    %A = stripe.alloc : !stripe.view<4x8xf32, private>
    stripe.block [%i : 4, %j : 8]
        in %x1 = %x[0, %i, %j] : 1x1x1
        out %a = %A[%i, %j] : 1x1 {
      %0 = stripe.load %x1 : !stripe.view<1x1x1xf32>
      stripe.store %0, %a : !stripe.view<1x1xf32, private>
    }
    stripe.block [%i : 4, %j : 8]
        in %a = %A[%i, %j] : 1x1
        out %b = %B[%i, %j] : 1x1 {
      %0 = stripe.load %a : !stripe.view<1x1xf32, private>
      %1 = eltwise.neg %0 : f32
      stripe.store %1, %b : !stripe.view<1x1xf32, private>
    }
    stripe.block [%i : 4, %j : 8]
        in %b = %B[%i, -%j + 7] : 1x1
        out %c = %C[%i, %j] : 1x1 {
      %0 = stripe.load %b : !stripe.view<1x1xf32, private>
      stripe.store %0, %c : !stripe.view<1x1xf32, private>
    }
    stripe.block [%i : 4, %j : 8]
        in %c = %C[%i, -%j + 7] : 1x1
        out %d = %D[%i, %j] : 1x1 {
      %0 = stripe.load %c : !stripe.view<1x1xf32, private>
      stripe.store %0, %d : !stripe.view<1x1xf32, private>
    }
    stripe.block [%i : 4, %j : 8]
        in %d = %D[%i, %j] : 1x1
        out %y1 = %y[0, %i, %j] : 1x1x1 {
      %0 = stripe.load %d : !stripe.view<1x1xf32, private>
      stripe.store %0, %y1 : !stripe.view<1x1x1xf32>
    }
  }
  func.return %Y : !stripe.view<3x4x8xf32>
}

// Left alone: types that differ, what is needed later, loads behind the store.
// CHECK-LABEL: func.func @kept
// CHECK-COUNT-4: stripe.alloc : {{.*}}private>
func.func @kept(%X : !stripe.view<3x8xf32>) -> !stripe.view<3x8xf32> {
  %Y = stripe.alloc : !stripe.view<3x8xf32>
  stripe.block [%h : 3]
      in %x = %X[%h, 0] : 1x8
      out %y = %Y[%h, 0] : 1x8 {
    %A = stripe.alloc : !stripe.view<8xf32, private>
    %B = stripe.alloc : !stripe.view<8xf32, private>
    %C = stripe.alloc : !stripe.view<1x8xf32, private>
    %D = stripe.alloc : !stripe.view<8xf32, private>
    stripe.block [%j : 8]
        in %x1 = %x[0, %j] : 1x1
        out %a = %A[%j] : 1 {
      %0 = stripe.load %x1 : !stripe.view<1x1xf32>
      stripe.store %0, %a : !stripe.view<1xf32, private>
    }
    stripe.block [%j : 8]
        in %a = %A[%j] : 1
        out %b = %B[%j] : 1
        out %c = %C[0, %j] : 1x1 {
      %0 = stripe.load %a : !stripe.view<1xf32, private>
      %1 = eltwise.neg %0 : f32
      stripe.store %1, %b : !stripe.view<1xf32, private>
      %2 = stripe.load %a : !stripe.view<1xf32, private>
      stripe.store %2, %c : !stripe.view<1x1xf32, private>
    }
    stripe.block [%j : 8]
        in %b = %B[%j] : 1
        in %a = %A[%j] : 1
        in %c = %C[0, %j] : 1x1
        out %d = %D[%j] : 1
        out %y1 = %y[0, %j] : 1x1 {
      %0 = stripe.load %b : !stripe.view<1xf32, private>
      stripe.store %0, %d : !stripe.view<1xf32, private>
      %1 = stripe.load %a : !stripe.view<1xf32, private>
      %2 = stripe.load %c : !stripe.view<1x1xf32, private>
      %3 = eltwise.add %1, %2 : f32
      %4 = stripe.load %b : !stripe.view<1xf32, private>
      %5 = eltwise.add %3, %4 : f32
      stripe.store %5, %y1 : !stripe.view<1x1xf32>
    }
  }
  func.return %Y : !stripe.view<3x8xf32>
}
