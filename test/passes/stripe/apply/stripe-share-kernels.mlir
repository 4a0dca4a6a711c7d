// RUN: tile-opt %s -p stripe-share-kernels | filecheck %s
// RUN: tile-opt %s -p stripe-share-kernels,stripe-plan-vectors{bits=128},stripe-vectorize{bits=128} | filecheck %s --check-prefix=FIRST
// RUN: tile-opt %s -p stripe-share-kernels,stripe-map,lower-stripe-to-opencl | filecheck %s --check-prefix=LAUNCH

// Names do not matter. The type of a buffer, an access, what is computed, and whether
// two buffers are one memory do.
// CHECK-LABEL: func.func @alike
// CHECK:      stripe.block "first" [%i : 16]
// CHECK-NEXT:     in
// CHECK-NEXT:     out
// CHECK-NEXT:     attributes {stripe.kernel = 0 : i64} {
// CHECK:      stripe.block "other_names" [%j : 16]
// CHECK:          attributes {stripe.kernel = 0 : i64} {
// CHECK:      stripe.block "access"
// CHECK-NOT:  attributes
// CHECK:      stripe.block "operation"
// CHECK-NOT:  attributes
// CHECK:      stripe.block "in_place"
// CHECK-NOT:  attributes
// CHECK:      stripe.block "larger"
// CHECK-NOT:  attributes

// Passes for the inside of kernels leave all but the first one as they are.
// FIRST-LABEL: func.func @alike
// FIRST:       stripe.block "first" [%i : 4]
// FIRST:       stripe.block "other_names" [%j : 16]
// FIRST:       stripe.block "access" [%i : 4]

// LAUNCH-NOT:  opencl.kernel @other_names
// LAUNCH-LABEL: func.func @alike
// LAUNCH:      opencl.launch @first groups [16, 1, 1] (%A, %T)
// LAUNCH-NEXT: opencl.launch @first groups [16, 1, 1] (%T, %U)
// LAUNCH-NEXT: opencl.launch @access groups [16, 1, 1] (%U, %V)
// LAUNCH-NEXT: opencl.launch @operation groups [16, 1, 1] (%V, %W)
// LAUNCH-NEXT: opencl.launch @in_place groups [16, 1, 1] (%W)
// LAUNCH-NEXT: opencl.launch @larger groups [16, 1, 1] (%W, %X)
func.func @alike(%A : !stripe.view<16xf32>) -> !stripe.view<17xf32> {
  %T = stripe.alloc : !stripe.view<16xf32>
  %U = stripe.alloc : !stripe.view<16xf32>
  %V = stripe.alloc : !stripe.view<16xf32>
  %W = stripe.alloc : !stripe.view<16xf32>
  %X = stripe.alloc : !stripe.view<17xf32>
  stripe.block "first" [%i : 16] in %a = %A[%i] : 1 out %t = %T[%i] : 1 {
    %x = stripe.load %a : !stripe.view<1xf32>
    %y = eltwise.neg %x : f32
    stripe.store %y, %t : !stripe.view<1xf32>
  }
  stripe.block "other_names" [%j : 16] in %t = %T[%j] : 1 out %u = %U[%j] : 1 {
    %z = stripe.load %t : !stripe.view<1xf32>
    %w = eltwise.neg %z : f32
    stripe.store %w, %u : !stripe.view<1xf32>
  }
  stripe.block "access" [%i : 16] in %u = %U[-1 * %i + 15] : 1 out %v = %V[%i] : 1 {
    %x = stripe.load %u : !stripe.view<1xf32>
    %y = eltwise.neg %x : f32
    stripe.store %y, %v : !stripe.view<1xf32>
  }
  stripe.block "operation" [%i : 16] in %v = %V[%i] : 1 out %w = %W[%i] : 1 {
    %x = stripe.load %v : !stripe.view<1xf32>
    %y = eltwise.exp %x : f32
    stripe.store %y, %w : !stripe.view<1xf32>
  }
  stripe.block "in_place" [%i : 16] in %v = %W[%i] : 1 out %w = %W[%i] : 1 {
    %x = stripe.load %v : !stripe.view<1xf32>
    %y = eltwise.neg %x : f32
    stripe.store %y, %w : !stripe.view<1xf32>
  }
  stripe.block "larger" [%i : 16] in %w = %W[%i] : 1 out %x = %X[%i] : 1 {
    %y = stripe.load %w : !stripe.view<1xf32>
    %z = eltwise.neg %y : f32
    stripe.store %z, %x : !stripe.view<1xf32>
  }
  func.return %X : !stripe.view<17xf32>
}
