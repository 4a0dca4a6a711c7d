// RUN: tile-opt %s -p 'stripe-recall' | filecheck %s
// RUN: tile-opt %s -p 'stripe-recall{records="no/such/file" target="t" compiler="0"}' | filecheck %s
// RUN: not tile-opt %s -p 'stripe-recall{file="records"}' 2>&1 | filecheck %s --check-prefix=OPTION

// Without measurements, blocks are left alone. What is recalled is in test_recall.py.

// CHECK:      stripe.block "C" [%i : 8, %j : 8, %k : 4]
// CHECK-NOT:  attributes
// CHECK:      stripe.block "S" [%i : 8, %j : 8]
// CHECK:        attributes {stripe.schedule = #stripe.schedule<tile [2, 8]>} {

// OPTION: 'stripe-recall' has no option 'file'

func.func @main(%A: !stripe.view<8x4xf32>, %B: !stripe.view<4x8xf32>)
    -> !stripe.view<8xf32> {
  %C = stripe.alloc : !stripe.view<8x8xf32>
  stripe.block "C" [%i : 8, %j : 8, %k : 4]
      in %a = %A[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 add init 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %y = stripe.load %b : !stripe.view<1x1xf32>
    %z = eltwise.mul %x, %y : f32
    stripe.store %z, %c : !stripe.view<1x1xf32>
  }
  %S = stripe.alloc : !stripe.view<8xf32>
  stripe.block "S" [%i : 8, %j : 8]
      in %c = %C[%i, %j] : 1x1
      out %s = %S[%i] : 1 add init 0
      attributes {stripe.schedule = #stripe.schedule<tile [2, 8]>} {
    %x = stripe.load %c : !stripe.view<1x1xf32>
    stripe.store %x, %s : !stripe.view<1xf32>
  }
  func.return %S : !stripe.view<8xf32>
}
