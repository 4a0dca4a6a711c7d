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

// One value at one chosen place; another subscript, another store or a condition between
// the two may change it.
// CHECK-LABEL: func.func @chosen
// CHECK: stripe.store %x, %t[%p]
// CHECK-NEXT: stripe.store %x, %o
// CHECK-NEXT: [[R:%.*]] = stripe.load %t[%q]
// CHECK-NEXT: stripe.store [[R]], %o
// CHECK-NEXT: stripe.store %x, %t[%q]
// CHECK-NEXT: [[S:%.*]] = stripe.load %t[%p]
// CHECK-NEXT: stripe.store [[S]], %o
// CHECK-NEXT: stripe.store %x, %t[%p] if %m
// CHECK-NEXT: [[T:%.*]] = stripe.load %t[%p]
// CHECK-NEXT: stripe.store [[T]], %o
// CHECK-NEXT: stripe.store [[T]], %o
func.func @chosen(%A : !stripe.view<8xf32>, %M : !stripe.view<8xi1>) -> !stripe.view<8xf32> {
  %O = stripe.alloc : !stripe.view<8xf32>
  stripe.block [%i : 8]
      in %a = %A[%i] : 1
      in %c = %M[%i] : 1
      out %o = %O[%i] : 1 {
    %t = stripe.alloc : !stripe.view<4xf32, private>
    %x = stripe.load %a : !stripe.view<1xf32>
    %m = stripe.load %c : !stripe.view<1xi1>
    %p = eltwise.cast %x : f32 to si32
    %one = eltwise.constant 1 : si32
    %q = eltwise.sub %one, %p : si32
    stripe.store %x, %t[%p] : !stripe.view<4xf32, private>
    %r = stripe.load %t[%p] : !stripe.view<4xf32, private>
    stripe.store %r, %o : !stripe.view<1xf32>
    %s = stripe.load %t[%q] : !stripe.view<4xf32, private>
    stripe.store %s, %o : !stripe.view<1xf32>
    stripe.store %x, %t[%q] : !stripe.view<4xf32, private>
    %u = stripe.load %t[%p] : !stripe.view<4xf32, private>
    stripe.store %u, %o : !stripe.view<1xf32>
    stripe.store %x, %t[%p] if %m : !stripe.view<4xf32, private>
    %v = stripe.load %t[%p] : !stripe.view<4xf32, private>
    stripe.store %v, %o : !stripe.view<1xf32>
    %w = stripe.load %t[%p] : !stripe.view<4xf32, private>
    stripe.store %w, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<8xf32>
}

// A store through another shape of the memory may change it.
// CHECK-LABEL: func.func @other_shape
// CHECK: stripe.store %x, %f
// CHECK-NEXT: stripe.load %t
func.func @other_shape(%A : !stripe.view<8xf32>) -> !stripe.view<8xf32> {
  %O = stripe.alloc : !stripe.view<8xf32>
  %T = stripe.alloc : !stripe.view<8xf32>
  %F = stripe.reshape %T : !stripe.view<8xf32> to !stripe.view<4x2xf32>
  stripe.block [%i : 1]
      in %a = %A[%i] : 1
      inout %t = %T[0] : 1
      out %f = %F[0, 0] : 1x1
      out %o = %O[%i] : 1 {
    %x = stripe.load %a : !stripe.view<1xf32>
    %y = eltwise.neg %x : f32
    stripe.store %y, %t : !stripe.view<1xf32>
    stripe.store %x, %f : !stripe.view<1x1xf32>
    %z = stripe.load %t : !stripe.view<1xf32>
    stripe.store %z, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<8xf32>
}
