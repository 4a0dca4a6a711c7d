// RUN: tile-opt %s -p stripe-dead-code-elimination | filecheck %s

// CHECK-LABEL: func.func @unread
// CHECK-NEXT: %O = stripe.alloc
// CHECK-NEXT: stripe.block [%i : 8]
// CHECK-NEXT: in %a = %A[%i] : 1
// CHECK-NEXT: out %o = %O[%i] : 1 {
// CHECK-NEXT: %x = stripe.load %a
// CHECK-NEXT: stripe.store %x, %o
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @unread(%A : !stripe.view<8xf32>, %B : !stripe.view<8xf32>) -> !stripe.view<8xf32> {
  %T = stripe.alloc : !stripe.view<8xf32>
  %O = stripe.alloc : !stripe.view<8xf32>
  stripe.block [%i : 8]
      in %a = %A[%i] : 1
      in %b = %B[%i] : 1
      in %unused = %B[%i] : 1
      out %t = %T[%i] : 1
      out %o = %O[%i] : 1 {
    %x = stripe.load %a : !stripe.view<1xf32>
    %y = stripe.load %b : !stripe.view<1xf32>
    %z = eltwise.exp %y : f32
    stripe.store %z, %t : !stripe.view<1xf32>
    stripe.store %x, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<8xf32>
}

// A buffer that is read only by what is removed, through several blocks.
// CHECK-LABEL: func.func @chain
// CHECK-NEXT: func.return
func.func @chain(%A : !stripe.view<8xf32>) -> !stripe.view<8xf32> {
  %T = stripe.alloc : !stripe.view<8xf32>
  stripe.block [%i : 8]
      in %a = %A[%i] : 1
      out %t = %T[%i] : 1 add init 0 {
    %0 = stripe.load %a : !stripe.view<1xf32>
    stripe.store %0, %t : !stripe.view<1xf32>
  }
  %U = stripe.alloc : !stripe.view<8xf32>
  stripe.block [%i : 2]
      in %t = %T[4 * %i] : 4
      out %u = %U[4 * %i] : 4 {
    %p = stripe.alloc : !stripe.view<f32, private>
    stripe.block [%j : 4]
        in %t_1 = %t[%j] : 1
        out %u_1 = %u[%j] : 1
        out %p_1 = %p[] max init 0 {
      %0 = stripe.load %t_1 : !stripe.view<1xf32>
      stripe.store %0, %u_1 : !stripe.view<1xf32>
      stripe.store %0, %p_1 : !stripe.view<f32, private>
    }
  }
  func.return %A : !stripe.view<8xf32>
}

// No points, no statements, no outputs.
// CHECK-LABEL: func.func @no_effect
// CHECK-NOT: "gone"
// CHECK: stripe.block "sets" [%i : 8]
// CHECK-NEXT: out %o = %O[%i] : 1 init 1 {
// CHECK-NEXT: }
// CHECK: stripe.block "outer"
// CHECK-NOT: stripe.block
func.func @no_effect(%A : !stripe.view<8xf32>) -> !stripe.view<8xf32> {
  %O = stripe.alloc : !stripe.view<8xf32>
  stripe.block "gone" [%i : 8, %j : 0]
      in %a = %A[%i] : 1
      out %o = %O[%i] : 1 {
    %0 = stripe.load %a : !stripe.view<1xf32>
    stripe.store %0, %o : !stripe.view<1xf32>
  }
  stripe.block "gone" [%i : 8]
      out %o = %O[%i] : 1 {
  }
  stripe.block "sets" [%i : 8]
      out %o = %O[%i] : 1 init 1 {
  }
  stripe.block "gone" [%i : 8]
      in %a = %A[%i] : 1 {
    %0 = stripe.load %a : !stripe.view<1xf32>
  }
  stripe.block "outer" [%i : 8]
      in %a = %A[%i] : 1
      out %o = %O[%i] : 1 {
    stripe.block "gone" [%j : 2]
        in %a_1 = %a[0] : 1 {
      %0 = stripe.load %a_1 : !stripe.view<1xf32>
    }
    %0 = stripe.load %a : !stripe.view<1xf32>
    stripe.store %0, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<8xf32>
}
