func.func @main(%A : !stripe.view<64x32xf32>, %B : !stripe.view<32x64xf32>)
    -> !stripe.view<64x64xf32> {
  %C = stripe.alloc : !stripe.view<64x64xf32>
  stripe.block "C" [%i : 64, %j : 64, %k : 32]
      in %a = %A[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 add init 0
      attributes {stripe.schedule = #stripe.schedule<
        tile [8, 16, 0] bind [grid, grid, _],
        tile [4, 8, 0] bind [subgroup, subgroup, _],
        tile [2, 2, 0] bind [lane, lane, _],
        points bind [unroll, vector, loop]>} {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %y = stripe.load %b : !stripe.view<1x1xf32>
    %z = eltwise.mul %x, %y : f32
    stripe.store %z, %c : !stripe.view<1x1xf32>
  }
  func.return %C : !stripe.view<64x64xf32>
}
