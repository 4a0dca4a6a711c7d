// The sum of each row, and what is done with it.
func.func @main(%X : !stripe.view<512x8192xf32>) -> !stripe.view<512x8192xf32> {
  %S = stripe.alloc : !stripe.view<512xf32>
  %Y = stripe.alloc : !stripe.view<512x8192xf32>
  stripe.block "S" [%m : 512, %n : 8192]
      in %x = %X[%m, %n] : 1x1
      out %s = %S[%m] : 1 add init 0 {
    %0 = stripe.load %x : !stripe.view<1x1xf32>
    stripe.store %0, %s : !stripe.view<1xf32>
  }
  stripe.block "Y" [%i : 512, %j : 8192]
      in %x = %X[%i, %j] : 1x1
      in %s = %S[%i] : 1
      out %y = %Y[%i, %j] : 1x1 {
    %0 = stripe.load %x : !stripe.view<1x1xf32>
    %1 = stripe.load %s : !stripe.view<1xf32>
    %2 = eltwise.div %0, %1 : f32
    stripe.store %2, %y : !stripe.view<1x1xf32>
  }
  func.return %Y : !stripe.view<512x8192xf32>
}
