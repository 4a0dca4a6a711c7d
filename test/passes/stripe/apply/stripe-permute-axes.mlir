// RUN: tile-opt %s -p stripe-permute-axes | filecheck %s
// RUN: tile-opt %s -p stripe-permute-axes,stripe-permute-axes | filecheck %s
// RUN: sed 's/\[1, 0\]/[1, 1]/' %s | not tile-opt - 2>&1 | filecheck %s --check-prefix=ORDER

// ORDER: error: {{.*}}expected a layout of the axes 0 to 1, each once, got [1, 1]

// A concatenation of two parts, a sum over it by windows, and an input that is in no
// other order: loops over what is written follow its axes, the longest sum is inside.
// CHECK-LABEL: func.func @concatenated
// CHECK: %A = stripe.alloc : !stripe.view<5x7xf32>
// CHECK-NEXT: stripe.block [%j : 5, %i : 3]
// CHECK-NEXT: in %x = %X[%i, %j] : 1x1
// CHECK-NEXT: out %a = %A[%j, %i] : 1x1 {
// CHECK: stripe.block [%j : 5, %i : 4]
// CHECK: out %a = %A[%j, %i + 3] : 1x1 {
// CHECK: stripe.block [%i : 6, %k : 2, %j : 5]
// CHECK-NEXT: in %a = %A[%j, %i + %k] : 1x1
// CHECK-NEXT: out %o = %O[%i] : 1 add init 0 {
// CHECK-NOT: layout
func.func @concatenated(
    %X : !stripe.view<3x5xf32>, %Y : !stripe.view<4x5xf32>
) -> !stripe.view<6xf32> {
  %A = stripe.alloc {layout = #stripe.layout<[1, 0] because "it is shorter">} : !stripe.view<7x5xf32>
  stripe.block [%i : 3, %j : 5]
      in %x = %X[%i, %j] : 1x1
      out %a = %A[%i, %j] : 1x1 {
    %0 = stripe.load %x : !stripe.view<1x1xf32>
    stripe.store %0, %a : !stripe.view<1x1xf32>
  }
  stripe.block [%i : 4, %j : 5]
      in %y = %Y[%i, %j] : 1x1
      out %a = %A[%i + 3, %j] : 1x1 {
    %0 = stripe.load %y : !stripe.view<1x1xf32>
    stripe.store %0, %a : !stripe.view<1x1xf32>
  }
  %O = stripe.alloc : !stripe.view<6xf32>
  stripe.block [%i : 6, %k : 2, %j : 5]
      in %a = %A[%i + %k, %j] : 1x1
      out %o = %O[%i] : 1 add init 0 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %0, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<6xf32>
}
