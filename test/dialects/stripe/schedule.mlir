// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// Parts are printed in one order, each with its reason.
// CHECK: attributes {stripe.schedule = #stripe.schedule<
// CHECK-NEXT: fuse group 12 shared [2, [0, 1]] tiles {{\[\[}}64, 0], [8, 4]],
// CHECK-NEXT: tile [8, 32, 0] order [1, 0] bind [grid, grid, _] because "fits cache 2",
// CHECK-NEXT: tile [8, 16, 0] bind [loop, _, _],
// CHECK-NEXT: points order [2, 0, 1] bind [_, vector, unroll],
// CHECK-NEXT: stage input 1 at 0 of 2 order [0, 1] global,
// CHECK-NEXT: stage input 0 at 1 of 1 order [1, 0] private fill -0.5 because "it is \22near\22",
// CHECK-NEXT: stage input 0 at -1 of 0 order [] local fill 2,
// CHECK-NEXT: pad [0, 16, 0],
// CHECK-NEXT: instruction "mma.m16n8k16" because "it is there",
// CHECK-NEXT: because "4.5 ms">} {
// CHECK: attributes {stripe.schedule = #stripe.schedule<points bind [group]>} {
// CHECK: attributes {stripe.schedule = #stripe.schedule<alone>} {
// CHECK: attributes {stripe.schedule = #stripe.schedule<
// CHECK-NEXT: over [i, _],
// CHECK-NEXT: points bind [group, loop],
// CHECK-NEXT: because "so">} {
func.func @main(%A : !stripe.view<64x32xf32>, %B : !stripe.view<32x64xf32>, %C : !stripe.view<64x64xf32>) {
  stripe.block [%i : 64, %j : 64, %k : 32]
      in %a = %A[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      attributes {stripe.schedule = #stripe.schedule<
        because "4.5 ms",
        stage input 1 at 0 of 2 order [0, 1] global,
        instruction "mma.m16n8k16" because "it is there",
        pad [0, 16, 0],
        fuse group 12 shared [2, [0, 1]] tiles [[64, 0], [8, 4]],
        points order [2, 0, 1] bind [_, vector, unroll],
        tile [8, 32, 0] order [1, 0] bind [grid, grid, _] because "fits cache 2",
        tile [8, 16, 0] bind [loop, _, _],
        stage input 0 at 1 of 1 order [1, 0] private fill -0.5 because "it is \22near\22",
        stage input 0 at -1 of 0 order [] local fill 2>} {
  }
  stripe.block [%i : 4] attributes {stripe.schedule = #stripe.schedule<points bind [group]>} {
  }
  stripe.block [%i : 4] attributes {stripe.schedule = #stripe.schedule<alone>} {
  }
  stripe.block [%i : 4, %1 : 4] attributes {stripe.schedule = #stripe.schedule<over [i, _], points bind [group, loop], because "so">} {
  }
  func.return
}
