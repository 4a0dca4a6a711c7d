// RUN: tile-opt %s -p 'stripe-split-reduction{lanes=16 longest=8}' | filecheck %s
// RUN: not tile-opt %s -p 'stripe-split-reduction{longest=0}' 2>&1 | filecheck %s --check-prefix=ERROR
// ERROR: error: expected longest of 1 or more, got 0

// Lanes, chunks of eight values for each, and the sum of the parts is cut, too.
// CHECK-LABEL: func.func @total
// CHECK: stripe.block "S" [%c : 2, %k : 8, %lane : 16]
// CHECK-NEXT: in %a = %A[128 * %c + 16 * %k + %lane] : 1
// CHECK-NEXT: out %s = %S_parts[%c, %lane] : 1x1 add init 0
// CHECK: stripe.block "S" [%c : 2, %lane : 4, %lane_1 : 4]
// CHECK-NEXT: in %part = %S_parts[%c, 4 * %lane + %lane_1] : 1x1
// CHECK-NEXT: out %s = %S_parts_1[%lane_1] : 1 add init 0
// CHECK: stripe.block "S" [%lane : 4]
// CHECK-NEXT: in %part = %S_parts_1[%lane] : 1
// CHECK-NEXT: out %s = %S[] add init 0
func.func @total(%A : !stripe.view<256xf32>) -> !stripe.view<f32> {
  %S = stripe.alloc : !stripe.view<f32>
  stripe.block "S" [%k : 256]
      in %a = %A[%k] : 1
      out %s = %S[] add init 0 {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %s : !stripe.view<f32>
  }
  func.return %S : !stripe.view<f32>
}

// Columns, rows too short for lanes, and products of eight times that length; indices
// are cut first that chunks divide.
// CHECK-LABEL: func.func @others
// CHECK: stripe.block "S" [%c : 5, %k : 8, %j : 32]
// CHECK: stripe.block "T" [%c : 5, %k : 1, %l : 8]
// CHECK-NEXT: in %a = %A[%c + %k, %l] : 1x1
// CHECK: stripe.block "P" [%c : 2, %i : 32, %j : 32, %h : 3, %k : 20]
// CHECK-NEXT: in %b = %B[%h, 20 * %c + %k, %i] : 1x1x1
func.func @others(%A : !stripe.view<40x32xf32>, %B : !stripe.view<3x40x32xf32>) -> (!stripe.view<32xf32>, !stripe.view<f32>, !stripe.view<32x32xf32>) {
  %S = stripe.alloc : !stripe.view<32xf32>
  %T = stripe.alloc : !stripe.view<f32>
  %P = stripe.alloc : !stripe.view<32x32xf32>
  stripe.block "S" [%k : 40, %j : 32]
      in %a = %A[%k, %j] : 1x1
      out %s = %S[%j] : 1 add init 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %s : !stripe.view<1xf32>
  }
  stripe.block "T" [%k : 5, %l : 8]
      in %a = %A[%k, %l] : 1x1
      out %t = %T[] add init 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %t : !stripe.view<f32>
  }
  stripe.block "P" [%i : 32, %j : 32, %h : 3, %k : 40]
      in %b = %B[%h, %k, %i] : 1x1x1
      in %d = %B[%h, %k, %j] : 1x1x1
      out %p = %P[%i, %j] : 1x1 add init 0 {
    %x = stripe.load %b : !stripe.view<1x1x1xf32>
    %y = stripe.load %d : !stripe.view<1x1x1xf32>
    %z = eltwise.mul %x, %y : f32
    stripe.store %z, %p : !stripe.view<1x1xf32>
  }
  func.return %S, %T, %P : !stripe.view<32xf32>, !stripe.view<f32>, !stripe.view<32x32xf32>
}

// In a block, the parts are private.
// CHECK-LABEL: func.func @inside
// CHECK: stripe.block "outer" [%i : 2]
// CHECK: %s_parts = stripe.alloc : !stripe.view<2x1xf32, private>
// CHECK-NEXT: stripe.block [%c : 2, %k : 7]
// CHECK-NEXT: in %x = %a[7 * %c + %k, 0] : 1x1
func.func @inside(%A : !stripe.view<14x2xf32>) -> !stripe.view<2xf32> {
  %S = stripe.alloc : !stripe.view<2xf32>
  stripe.block "outer" [%i : 2]
      in %a = %A[0, %i] : 14x1
      out %s = %S[%i] : 1 add init 0 {
    stripe.block [%k : 14]
        in %x = %a[%k, 0] : 1x1
        out %t = %s[0] : 1 add init 0 {
      %0 = stripe.load %x : !stripe.view<1x1xf32>
      stripe.store %0, %t : !stripe.view<1xf32>
    }
  }
  func.return %S : !stripe.view<2xf32>
}

// Left alone: integers and maxima, which are exact, and products, of which the errors
// are the same in any order.
// CHECK-LABEL: func.func @exact
// CHECK-NOT: _parts
func.func @exact(%I : !stripe.view<9x12xsi32>, %A : !stripe.view<9x12xf32>) -> (!stripe.view<si32>, !stripe.view<f32>, !stripe.view<f32>) {
  %S = stripe.alloc : !stripe.view<si32>
  %M = stripe.alloc : !stripe.view<f32>
  %P = stripe.alloc : !stripe.view<f32>
  stripe.block [%k : 9, %l : 12]
      in %a = %I[%k, %l] : 1x1
      out %s = %S[] add init 0 {
    %x = stripe.load %a : !stripe.view<1x1xsi32>
    stripe.store %x, %s : !stripe.view<si32>
  }
  stripe.block [%k : 9, %l : 12]
      in %a = %A[%k, %l] : 1x1
      out %s = %M[] max init -inf {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %s : !stripe.view<f32>
  }
  stripe.block [%k : 9, %l : 12]
      in %a = %A[%k, %l] : 1x1
      out %s = %P[] mul init 1 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %s : !stripe.view<f32>
  }
  func.return %S, %M, %P : !stripe.view<si32>, !stripe.view<f32>, !stripe.view<f32>
}
