// A matrix product, and the decision how to tile and stage it.
func.func @main(%A : !stripe.view<64x64xf32>, %B : !stripe.view<64x64xf32>) -> !stripe.view<64x64xf32> {
  %C = stripe.alloc : !stripe.view<64x64xf32>
  stripe.block "product" [%i : 64, %j : 64, %k : 64]
      in %a = %A[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 add init 0
      attributes {stripe.schedule = #stripe.schedule<
        tile [16, 16, 64],
        tile [16, 16, 8],
        tile [2, 2, 8],
        stage input 0 at 2 of 2 order [0, 1] local,
        stage input 1 at 2 of 2 order [0, 1] local>} {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %y = stripe.load %b : !stripe.view<1x1xf32>
    %z = eltwise.mul %x, %y : f32
    stripe.store %z, %c : !stripe.view<1x1xf32>
  }
  func.return %C : !stripe.view<64x64xf32>
}
