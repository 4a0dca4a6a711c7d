// RUN: tile-opt %s -p 'stripe-autotile{hardware=nvidia-h200}' | filecheck %s

// Windows of images lie in local memory with the channels of a step side by side, as they
// do in memory: four of them are copied at once.
// CHECK-LABEL: func.func @channels_last
// CHECK:       stage input 0 at 2 of 2 order [0, 1, 2, 3] padding 4 local
// CHECK-NEXT:  stage input 1 at 2 of 2 order [0, 1, 2, 3] local
func.func @channels_last(%I : !stripe.view<16x56x56x64xf32>, %K : !stripe.view<3x3x64x64xf32>)
    -> !stripe.view<16x56x56x64xf32> {
  %O = stripe.alloc : !stripe.view<16x56x56x64xf32>
  stripe.block "O" [%n : 16, %x : 56, %y : 56, %d : 64, %s : 3, %t : 3, %c : 64]
      in %i = %I[%n, %s + %x - 1, %t + %y - 1, %c] : 1x1x1x1
      in %k = %K[%s, %t, %c, %d] : 1x1x1x1
      out %o = %O[%n, %x, %y, %d] : 1x1x1x1 add init 0
      where %s + %x - 1 >= 0, -%s - %x + 56 >= 0, %t + %y - 1 >= 0, -%t - %y + 56 >= 0 {
    %a = stripe.load %i : !stripe.view<1x1x1x1xf32>
    %b = stripe.load %k : !stripe.view<1x1x1x1xf32>
    %p = eltwise.mul %a, %b : f32
    stripe.store %p, %o : !stripe.view<1x1x1x1xf32>
  }
  func.return %O : !stripe.view<16x56x56x64xf32>
}

// Three channels are no whole loads: the pixels of each lie side by side.
// CHECK-LABEL: func.func @few_channels
// CHECK:       stage input 0 at 2 of 2 order [3, 0, 1, 2] padding 4 local
func.func @few_channels(%I : !stripe.view<16x56x56x3xf32>, %K : !stripe.view<3x3x3x64xf32>)
    -> !stripe.view<16x56x56x64xf32> {
  %O = stripe.alloc : !stripe.view<16x56x56x64xf32>
  stripe.block "O" [%n : 16, %x : 56, %y : 56, %d : 64, %s : 3, %t : 3, %c : 3]
      in %i = %I[%n, %s + %x - 1, %t + %y - 1, %c] : 1x1x1x1
      in %k = %K[%s, %t, %c, %d] : 1x1x1x1
      out %o = %O[%n, %x, %y, %d] : 1x1x1x1 add init 0
      where %s + %x - 1 >= 0, -%s - %x + 56 >= 0, %t + %y - 1 >= 0, -%t - %y + 56 >= 0 {
    %a = stripe.load %i : !stripe.view<1x1x1x1xf32>
    %b = stripe.load %k : !stripe.view<1x1x1x1xf32>
    %p = eltwise.mul %a, %b : f32
    stripe.store %p, %o : !stripe.view<1x1x1x1xf32>
  }
  func.return %O : !stripe.view<16x56x56x64xf32>
}

// So few channels are summed up for all taps of a row at a time, which share a window.
// CHECK-LABEL: func.func @taps
// CHECK:       tile [1, 8, 16, 64, 1, 7, 3],
func.func @taps(%I : !stripe.view<16x224x224x3xf32>, %K : !stripe.view<7x7x3x64xf32>)
    -> !stripe.view<16x112x112x64xf32> {
  %O = stripe.alloc : !stripe.view<16x112x112x64xf32>
  stripe.block "O" [%n : 16, %x : 112, %y : 112, %d : 64, %s : 7, %t : 7, %c : 3]
      in %i = %I[%n, %s + 2 * %x - 3, %t + 2 * %y - 3, %c] : 1x1x1x1
      in %k = %K[%s, %t, %c, %d] : 1x1x1x1
      out %o = %O[%n, %x, %y, %d] : 1x1x1x1 add init 0
      where %s + 2 * %x - 3 >= 0, -%s - 2 * %x + 226 >= 0, %t + 2 * %y - 3 >= 0, -%t - 2 * %y + 226 >= 0 {
    %a = stripe.load %i : !stripe.view<1x1x1x1xf32>
    %b = stripe.load %k : !stripe.view<1x1x1x1xf32>
    %p = eltwise.mul %a, %b : f32
    stripe.store %p, %o : !stripe.view<1x1x1x1xf32>
  }
  func.return %O : !stripe.view<16x112x112x64xf32>
}

// Without channels to sum up, a lane has some neighbouring pixels, and the window of all of
// them in registers. Where channels are no whole loads it has pixels that are apart.
// CHECK-LABEL: func.func @depthwise
// CHECK:       tile [1, 1, [[OWN:[0-9]+]], 4, 3, 3] bind [group, group, group, group, _, _]
// CHECK-NEXT:  tile [1, 1, [[OWN]], 4, 3, 3]
// CHECK-NEXT:  points bind [_, _, unroll, vector, unroll, unroll]
// CHECK-NEXT:  stage input 0 at {{[0-9]}} of {{[0-9]}} order [0, 1, 2, 3] private
// CHECK-LABEL: func.func @odd
// CHECK-NOT:   stage
func.func @depthwise(%I : !stripe.view<16x56x56x128xf32>, %K : !stripe.view<3x3x128xf32>)
    -> !stripe.view<16x56x56x128xf32> {
  %O = stripe.alloc : !stripe.view<16x56x56x128xf32>
  stripe.block "O" [%n : 16, %x : 56, %y : 56, %c : 128, %s : 3, %t : 3]
      in %i = %I[%n, %s + %x - 1, %t + %y - 1, %c] : 1x1x1x1
      in %k = %K[%s, %t, %c] : 1x1x1
      out %o = %O[%n, %x, %y, %c] : 1x1x1x1 add init 0
      where %s + %x - 1 >= 0, -%s - %x + 56 >= 0, %t + %y - 1 >= 0, -%t - %y + 56 >= 0 {
    %a = stripe.load %i : !stripe.view<1x1x1x1xf32>
    %b = stripe.load %k : !stripe.view<1x1x1xf32>
    %p = eltwise.mul %a, %b : f32
    stripe.store %p, %o : !stripe.view<1x1x1x1xf32>
  }
  func.return %O : !stripe.view<16x56x56x128xf32>
}
func.func @odd(%I : !stripe.view<16x56x56x99xf32>, %K : !stripe.view<3x3x99xf32>)
    -> !stripe.view<16x56x56x99xf32> {
  %O = stripe.alloc : !stripe.view<16x56x56x99xf32>
  stripe.block "O" [%n : 16, %x : 56, %y : 56, %c : 99, %s : 3, %t : 3]
      in %i = %I[%n, %s + %x - 1, %t + %y - 1, %c] : 1x1x1x1
      in %k = %K[%s, %t, %c] : 1x1x1
      out %o = %O[%n, %x, %y, %c] : 1x1x1x1 add init 0
      where %s + %x - 1 >= 0, -%s - %x + 56 >= 0, %t + %y - 1 >= 0, -%t - %y + 56 >= 0 {
    %a = stripe.load %i : !stripe.view<1x1x1x1xf32>
    %b = stripe.load %k : !stripe.view<1x1x1xf32>
    %p = eltwise.mul %a, %b : f32
    stripe.store %p, %o : !stripe.view<1x1x1x1xf32>
  }
  func.return %O : !stripe.view<16x56x56x99xf32>
}
