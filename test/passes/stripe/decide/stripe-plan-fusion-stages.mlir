// RUN: tile-opt %s -p 'stripe-plan-fusion{hardware="cpu-avx512-xeon"}' | filecheck %s

// Two products with weights of their own, and the sum of both: each copies its weights in
// front of the nest, the one that the tiles are those of and the other one.
// CHECK: stripe.block "P"
// CHECK: fuse group 0 shared [1, 2, 0] tiles {{\[\[1, 32, 64\], \[1, 32, 8\]\]}}
// CHECK: stage input 1 at -2 of -1 order [0, 1, 2] global
// CHECK: stripe.block "Q"
// CHECK: fuse group 0 shared [1, 2, 0] tiles {{\[\[1, 32, 64\], \[1, 32, 8\]\]}}
// CHECK: stage input 1 at -2 of 0 order [0, 1, 2] global
// CHECK: stripe.block "R"
// CHECK: fuse group 0 shared [1, 2, 0] tiles {{\[\[1, 32, 64\], \[1, 32, 8\]\]}}
func.func @main(%X : !stripe.view<64x512xf32>, %S : !stripe.view<64x512xf32>,
    %V : !stripe.view<512x4x512xf32> {tile.constant},
    %W : !stripe.view<512x4x512xf32> {tile.constant})
    -> !stripe.view<64x4x512xf32> {
  %P = stripe.alloc : !stripe.view<64x4x512xf32>
  %Q = stripe.alloc : !stripe.view<64x4x512xf32>
  %R = stripe.alloc : !stripe.view<64x4x512xf32>
  stripe.block "P" [%b : 64, %g : 4, %h : 512, %n : 512]
      in %x = %X[%b, %n] : 1x1
      in %v = %V[%n, %g, %h] : 1x1x1
      out %p = %P[%b, %g, %h] : 1x1x1 add init 0 {
    %0 = stripe.load %x : !stripe.view<1x1xf32>
    %1 = stripe.load %v : !stripe.view<1x1x1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %p : !stripe.view<1x1x1xf32>
  }
  stripe.block "Q" [%b : 64, %g : 4, %h : 512, %n : 512]
      in %s = %S[%b, %n] : 1x1
      in %w = %W[%n, %g, %h] : 1x1x1
      out %q = %Q[%b, %g, %h] : 1x1x1 add init 0 {
    %0 = stripe.load %s : !stripe.view<1x1xf32>
    %1 = stripe.load %w : !stripe.view<1x1x1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %q : !stripe.view<1x1x1xf32>
  }
  stripe.block "R" [%b : 64, %g : 4, %h : 512]
      in %p = %P[%b, %g, %h] : 1x1x1
      in %q = %Q[%b, %g, %h] : 1x1x1
      out %r = %R[%b, %g, %h] : 1x1x1 {
    %0 = stripe.load %p : !stripe.view<1x1x1xf32>
    %1 = stripe.load %q : !stripe.view<1x1x1xf32>
    %2 = eltwise.add %0, %1 : f32
    stripe.store %2, %r : !stripe.view<1x1x1xf32>
  }
  func.return %R : !stripe.view<64x4x512xf32>
}
