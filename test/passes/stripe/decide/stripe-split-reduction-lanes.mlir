// RUN: tile-opt %s -p 'stripe-split-reduction{lanes=1}' --validate-each | filecheck %s
// RUN: tile-opt %s -p 'stripe-split-reduction{lanes=3}' --validate-each | filecheck %s

// Rows that are shorter than the fewest lanes are left alone.
// CHECK-NOT: _parts
// CHECK: stripe.block "S" [%i : 2, %j : 3]
// CHECK-NOT: stripe.block
func.func @main(%A : !stripe.view<2xf32>, %B : !stripe.view<3xf32>) -> !stripe.view<f32> {
  %S = stripe.alloc : !stripe.view<f32>
  stripe.block "S" [%i : 2, %j : 3]
      in %a = %A[%i] : 1
      in %b = %B[%j] : 1
      out %s = %S[] add init 0 {
    %x = stripe.load %a : !stripe.view<1xf32>
    %y = stripe.load %b : !stripe.view<1xf32>
    %z = eltwise.add %x, %y : f32
    stripe.store %z, %s : !stripe.view<f32>
  }
  func.return %S : !stripe.view<f32>
}
