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

// Memory that is read through another shape is needed; memory that nothing reads is not,
// nor are the shapes that it is seen under. A condition alone keeps nothing alive.
// CHECK-LABEL: func.func @shapes
// CHECK: %T = stripe.alloc
// CHECK-NEXT: %F = stripe.reshape %T
// CHECK-NOT: stripe.alloc : !stripe.view<2x8xf32>
// CHECK-NOT: stripe.reshape
// CHECK: stripe.block [%i : 8]
// CHECK: out %t = %T
// CHECK-NOT: %G
// CHECK-NOT: stripe.load %m
// CHECK: stripe.block [%i : 16]
func.func @shapes(%A : !stripe.view<16xf32>, %M : !stripe.view<8xi1>) -> !stripe.view<16xf32> {
  %T = stripe.alloc : !stripe.view<8x2xf32>
  %F = stripe.reshape %T : !stripe.view<8x2xf32> to !stripe.view<16xf32>
  %U = stripe.alloc : !stripe.view<2x8xf32>
  %G = stripe.reshape %U : !stripe.view<2x8xf32> to !stripe.view<16xf32>
  stripe.block [%i : 8]
      in %a = %A[0] : 16
      in %m = %M[%i] : 1
      out %t = %T[%i, 0] : 1x2
      out %g = %G[2 * %i] : 1 {
    %n = stripe.index %i : si32
    %keep = stripe.load %m : !stripe.view<1xi1>
    %x = stripe.load %a[%n] : !stripe.view<16xf32>
    %zero = eltwise.constant 0 : si32
    stripe.store %x, %t[0, 0] : !stripe.view<1x2xf32>
    stripe.store %x, %t[0, 1] : !stripe.view<1x2xf32>
    stripe.store %x, %g if %keep : !stripe.view<1xf32>
  }
  %O = stripe.alloc : !stripe.view<16xf32>
  stripe.block [%i : 16]
      in %f = %F[%i] : 1
      out %o = %O[%i] : 1 {
    %x = stripe.load %f : !stripe.view<1xf32>
    stripe.store %x, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<16xf32>
}

// What is changed in place is an effect.
// CHECK-LABEL: func.func @in_place
// CHECK: stripe.block serial [%t : 3]
func.func @in_place() -> !stripe.view<4xf32> {
  %O = stripe.alloc : !stripe.view<4xf32>
  stripe.block serial [%t : 3]
      inout %o = %O[%t] : 1 {
    %x = stripe.load %o : !stripe.view<1xf32>
    stripe.store %x, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<4xf32>
}
