// RUN: tile-opt %s -p stripe-scalarize | filecheck %s

// A stored value is handed on, and a cell is loaded once.
// CHECK-LABEL: func.func @forwards
// CHECK: %[[X:[0-9]+]] = stripe.load %a
// CHECK-NEXT: %[[Y:[0-9]+]] = eltwise.neg %[[X]] : f32
// CHECK-NEXT: stripe.store %[[Y]], %w
// CHECK-NEXT: %[[Z:[0-9]+]] = eltwise.add %[[Y]], %[[X]] : f32
// CHECK-NEXT: stripe.store %[[Z]], %o
// CHECK-NEXT: }
func.func @forwards(%A : !stripe.view<8xf32>) -> (!stripe.view<8xf32>, !stripe.view<8xf32>) {
  %T = stripe.alloc : !stripe.view<8xf32>
  %O = stripe.alloc : !stripe.view<8xf32>
  stripe.block [%i : 8]
      in %a = %A[%i] : 1
      in %b = %A[%i] : 1
      out %w = %T[%i] : 1
      in %r = %T[%i] : 1
      out %o = %O[%i] : 1 {
    %0 = stripe.load %a : !stripe.view<1xf32>
    %1 = eltwise.neg %0 : f32
    stripe.store %1, %w : !stripe.view<1xf32>
    %2 = stripe.load %r : !stripe.view<1xf32>
    %3 = stripe.load %b : !stripe.view<1xf32>
    %4 = eltwise.add %2, %3 : f32
    stripe.store %4, %o : !stripe.view<1xf32>
  }
  func.return %T, %O : !stripe.view<8xf32>, !stripe.view<8xf32>
}

// Through an allocation, and anew after each store.
// CHECK-LABEL: func.func @allocation
// CHECK: stripe.load %a
// CHECK-NOT: stripe.load
// CHECK: stripe.store %{{.*}}, %o
func.func @allocation(%A : !stripe.view<8xf32>) -> !stripe.view<8xf32> {
  %O = stripe.alloc : !stripe.view<8xf32>
  stripe.block [%i : 8]
      in %a = %A[%i] : 1
      out %o = %O[%i] : 1 {
    %t = stripe.alloc : !stripe.view<1xf32, private>
    %0 = stripe.load %a : !stripe.view<1xf32>
    stripe.store %0, %t : !stripe.view<1xf32, private>
    %1 = stripe.load %t : !stripe.view<1xf32, private>
    %2 = eltwise.mul %1, %1 : f32
    stripe.store %2, %t : !stripe.view<1xf32, private>
    %3 = stripe.load %t : !stripe.view<1xf32, private>
    stripe.store %3, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<8xf32>
}

// Left alone: an aggregation, another window of the buffer, and what a block writes.
// CHECK-LABEL: func.func @left_alone
// CHECK: stripe.store %{{.*}}, %s
// CHECK-NEXT: stripe.load %r
// CHECK: stripe.store %{{.*}}, %w
// CHECK-NEXT: stripe.store %{{.*}}, %w2
// CHECK-NEXT: stripe.load %q
// CHECK: stripe.store %{{.*}}, %t
// CHECK: stripe.load %t
func.func @left_alone(%A : !stripe.view<8xf32>) -> (!stripe.view<8xf32>, !stripe.view<16xf32>, !stripe.view<8xf32>) {
  %S = stripe.alloc : !stripe.view<8xf32>
  %T = stripe.alloc : !stripe.view<16xf32>
  %O = stripe.alloc : !stripe.view<8xf32>
  stripe.block [%i : 8]
      in %a = %A[%i] : 1
      out %s = %S[%i] : 1 add init 1
      in %r = %S[%i] : 1
      out %w = %T[%i] : 1
      out %w2 = %T[%i + 8] : 1
      in %q = %T[%i] : 1
      out %o = %O[%i] : 1 {
    %t = stripe.alloc : !stripe.view<f32, private>
    %0 = stripe.load %a : !stripe.view<1xf32>
    stripe.store %0, %s : !stripe.view<1xf32>
    %1 = stripe.load %r : !stripe.view<1xf32>
    stripe.store %1, %w : !stripe.view<1xf32>
    stripe.store %0, %w2 : !stripe.view<1xf32>
    %2 = stripe.load %q : !stripe.view<1xf32>
    stripe.store %2, %t : !stripe.view<f32, private>
    stripe.block [%j : 2]
        out %u = %t[] add {
      %3 = eltwise.constant 1 : f32
      stripe.store %3, %u : !stripe.view<f32, private>
    }
    %4 = stripe.load %t : !stripe.view<f32, private>
    stripe.store %4, %o : !stripe.view<1xf32>
  }
  func.return %S, %T, %O : !stripe.view<8xf32>, !stripe.view<16xf32>, !stripe.view<8xf32>
}
