// RUN: tile-opt %s -p stripe-count-work | filecheck %s
// RUN: tile-opt %s -p stripe-count-work,stripe-map,lower-stripe-to-opencl | filecheck %s --check-prefix=LAUNCH

// A multiply-add is two operations, a cell is read once.
// CHECK-LABEL: func.func @product
// CHECK:      stripe.block "C" [%i : 8, %j : 4, %k : 2]
// CHECK:          attributes {stripe.work = array<i64: 128, 96, 128>}
// LAUNCH:     opencl.launch @C groups [32, 1, 1] (%A, %B, %C) {stripe.work = array<i64: 128, 96, 128>}
func.func @product(%A : !stripe.view<8x2xf32>, %B : !stripe.view<2x4xf32>) -> !stripe.view<8x4xf32> {
  %C = stripe.alloc : !stripe.view<8x4xf32>
  stripe.block "C" [%i : 8, %j : 4, %k : 2]
      in %a = %A[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 add init 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %y = stripe.load %b : !stripe.view<1x1xf32>
    %z = eltwise.mul %x, %y : f32
    stripe.store %z, %c : !stripe.view<1x1xf32>
  }
  func.return %C : !stripe.view<8x4xf32>
}

// Cells that are set count where no point is, operations do not. What is added to what
// is there reads it.
// CHECK-LABEL: func.func @triangle
// CHECK:      stripe.block "set"
// CHECK:          attributes {stripe.work = array<i64: 10, 16, 32>}
// CHECK:      stripe.block "added"
// CHECK:          attributes {stripe.work = array<i64: 10, 32, 16>}
func.func @triangle(%A : !stripe.view<4xf32>) -> !stripe.view<8xf32> {
  %B = stripe.alloc : !stripe.view<8xf32>
  stripe.block "set" [%i : 8, %k : 4]
      in %a = %A[%k] : 1
      out %b = %B[%i] : 1 add init 0
      where -%i - %k + 3 >= 0 {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %b : !stripe.view<1xf32>
  }
  stripe.block "added" [%i : 8, %k : 4]
      in %a = %A[%k] : 1
      out %b = %B[%i] : 1 add
      where -%i - %k + 3 >= 0 {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %b : !stripe.view<1xf32>
  }
  func.return %B : !stripe.view<8xf32>
}

// What is there already stays.
// CHECK-LABEL: func.func @counted
// CHECK:          attributes {stripe.work = array<i64: 1, 2, 3>}
func.func @counted(%A : !stripe.view<4xf32>) -> !stripe.view<4xf32> {
  %B = stripe.alloc : !stripe.view<4xf32>
  stripe.block "B" [%i : 4]
      in %a = %A[%i] : 1
      out %b = %B[%i] : 1
      attributes {stripe.work = array<i64: 1, 2, 3>} {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %b : !stripe.view<1xf32>
  }
  func.return %B : !stripe.view<4xf32>
}
