// RUN: tile-opt %s -p stripe-pad --split-input-file --verify-diagnostics | filecheck %s

// Ranges become multiples; a constraint keeps the points what they were.
// CHECK-LABEL: func.func @product
// CHECK: stripe.block "C" [%i : 64, %j : 32, %k : 32]
// CHECK: out %c = %C[%i, %j] : 1x1 add init 0
// CHECK-NEXT: where -%j + 29 >= 0
// CHECK-NOT: stripe.schedule =
func.func @product(%A : !stripe.view<64x32xf32>, %B : !stripe.view<32x30xf32>) -> !stripe.view<64x30xf32> {
  %C = stripe.alloc : !stripe.view<64x30xf32>
  stripe.block "C" [%i : 64, %j : 30, %k : 32]
      in %a = %A[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 add init 0
      attributes {stripe.schedule = #stripe.schedule<pad [16, 16, 0]>} {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %y = stripe.load %b : !stripe.view<1x1xf32>
    %z = eltwise.mul %x, %y : f32
    stripe.store %z, %c : !stripe.view<1x1xf32>
  }
  func.return %C : !stripe.view<64x30xf32>
}

// -----

// The further values would set cells that are there.
// CHECK-LABEL: func.func @more_cells
// CHECK: stripe.block [%i : 30]
func.func @more_cells(%A : !stripe.view<30xf32>) -> !stripe.view<40xf32> {
  %C = stripe.alloc : !stripe.view<40xf32>
  stripe.block [%i : 30]
      in %a = %A[%i] : 1
      out %c = %C[%i] : 1 add init 0
      attributes {stripe.schedule = #stripe.schedule<pad [16]>} {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %c : !stripe.view<1xf32>
  }
  func.return %C : !stripe.view<40xf32>
}
