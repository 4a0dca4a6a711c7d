func.func @main(%X : !stripe.view<64x32xf32>, %Y : !stripe.view<48x32xf32>)
    -> !stripe.view<64x48xf32> {
  %D = stripe.alloc : !stripe.view<64x48xf32>
  stripe.block "D" [%i : 64, %j : 48, %k : 32]
      in %x = %X[%i, %k] : 1x1
      in %y = %Y[%j, %k] : 1x1
      out %d = %D[%i, %j] : 1x1 add init 0
      attributes {stripe.schedule = #stripe.schedule<
        tile [4, 4, 32],
        tile [4, 4, 4],
        tile [1, 1, 4],
        instruction "distance_f32x4">} {
    %p = stripe.load %x : !stripe.view<1x1xf32>
    %q = stripe.load %y : !stripe.view<1x1xf32>
    %r = eltwise.sub %p, %q : f32
    %s = eltwise.mul %r, %r : f32
    stripe.store %s, %d : !stripe.view<1x1xf32>
  }
  func.return %D : !stripe.view<64x48xf32>
}
