func.func @main(%A : !stripe.view<64x32xf32>, %B : !stripe.view<32x60xf32>)
    -> !stripe.view<64x60xf32> {
  %C = stripe.alloc : !stripe.view<64x60xf32>
  stripe.block "C" [%i : 64, %j : 60, %k : 32]
      in %a = %A[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 add init 0
      attributes {stripe.schedule = #stripe.schedule<
        tile [32, 20, 32],
        tile [4, 20, 32],
        points order [0, 1, 2],
        stage input 1 at 1 of 1 order [1, 0] private because "the loop over %k is inside">} {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %y = stripe.load %b : !stripe.view<1x1xf32>
    %z = eltwise.mul %x, %y : f32
    stripe.store %z, %c : !stripe.view<1x1xf32>
  }
  func.return %C : !stripe.view<64x60xf32>
}
