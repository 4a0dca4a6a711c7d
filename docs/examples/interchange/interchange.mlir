// RUN: tile-opt %s --load-pass-plugin=%S/interchange.py -p stripe-interchange | filecheck %s

// A step of %k moves down a row of %B, and one of %j to the next cell of a row.
// CHECK-LABEL: @product
// CHECK:      stripe.block "C" [%i : 64, %k : 32, %j : 48]
// CHECK-NEXT:     in %a = %A[%i, %k] : 1x1
// CHECK-NEXT:     in %b = %B[%k, %j] : 1x1
// CHECK-NEXT:     out %c = %C[%i, %j] : 1x1 add init 0 {
func.func @product(%A: !stripe.view<64x32xf32>, %B: !stripe.view<32x48xf32>)
    -> !stripe.view<64x48xf32> {
  %C = stripe.alloc : !stripe.view<64x48xf32>
  stripe.block "C" [%i : 64, %j : 48, %k : 32]
      in %a = %A[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 add init 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %y = stripe.load %b : !stripe.view<1x1xf32>
    %z = eltwise.mul %x, %y : f32
    stripe.store %z, %c : !stripe.view<1x1xf32>
  }
  func.return %C : !stripe.view<64x48xf32>
}

// Constraints, levels, attributes and uses in the body go with their indices.
// CHECK-LABEL: @running_sum
// CHECK:      stripe.block [%i : 8 grid, %k : 8, %j : 9 unroll]
// CHECK-NEXT:     in %a = %I[%k, %j] : 1x1
// CHECK-NEXT:     out %c = %O[%i, %j] : 1x1 add init 0
// CHECK-NEXT:     where %i - %k >= 0
// CHECK:          note = "kept"
func.func @running_sum(%I: !stripe.view<8x9xf32>) -> !stripe.view<8x9xf32> {
  %O = stripe.alloc : !stripe.view<8x9xf32>
  stripe.block [%i : 8 grid, %j : 9 unroll, %k : 8]
      in %a = %I[%k, %j] : 1x1
      out %c = %O[%i, %j] : 1x1 add init 0
      where %i - %k >= 0 attributes {note = "kept"} {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %c : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<8x9xf32>
}

// Outer blocks keep their order. The captured index %i stays where it is.
// CHECK-LABEL: @window
// CHECK: stripe.block [%j : 4, %i : 16]
// CHECK: stripe.block [%y : 4, %x : 3]
// CHECK: where %x - %i >= 0
func.func @window(%A: !stripe.view<64x12xf32>) -> !stripe.view<64x12xf32> {
  %C = stripe.alloc : !stripe.view<64x12xf32>
  stripe.block [%j : 4, %i : 16]
      in %a = %A[4 * %i, 3 * %j] : 4x3
      out %c = %C[4 * %i, 3 * %j] : 4x3 {
    stripe.block [%x : 3, %y : 4]
        in %a_1 = %a[%y, %x] : 1x1
        out %c_1 = %c[%y, %x] : 1x1
        where %x - %i >= 0 {
      %v = stripe.load %a_1 : !stripe.view<1x1xf32>
      stripe.store %v, %c_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %C : !stripe.view<64x12xf32>
}

// Indices with equal steps keep their order.
// CHECK-LABEL: @transpose
// CHECK: stripe.block [%j : 5, %i : 5]
func.func @transpose(%A: !stripe.view<5x5xf32>) -> !stripe.view<5x5xf32> {
  %B = stripe.alloc : !stripe.view<5x5xf32>
  stripe.block [%j : 5, %i : 5]
      in %a = %A[%i, %j] : 1x1
      out %b = %B[%j, %i] : 1x1 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %b : !stripe.view<1x1xf32>
  }
  func.return %B : !stripe.view<5x5xf32>
}
