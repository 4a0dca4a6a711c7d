// RUN: tile-opt %s -p 'stripe-plan-fusion{hardware="cpu-avx512-xeon"}' | filecheck %s

// Two products one after the other, by weights that each tile of rows reads as a whole.
// Those of both, 0.5 MB, stay in a core's own cache of 2 MB.
// CHECK-LABEL: func.func @small_weights
// CHECK: stripe.block "P"
// CHECK: fuse group 0 shared [0]
// CHECK: stripe.block "Q"
// CHECK: fuse group 0 shared [0]
func.func @small_weights(%X : !stripe.view<196x512xf32>, %V : !stripe.view<512x128xf32>,
    %W : !stripe.view<128x512xf32>) -> !stripe.view<196x512xf32> {
  %P = stripe.alloc : !stripe.view<196x128xf32>
  %Q = stripe.alloc : !stripe.view<196x512xf32>
  stripe.block "P" [%m : 196, %n : 128, %k : 512]
      in %x = %X[%m, %k] : 1x1
      in %v = %V[%k, %n] : 1x1
      out %p = %P[%m, %n] : 1x1 add init 0 {
    %0 = stripe.load %x : !stripe.view<1x1xf32>
    %1 = stripe.load %v : !stripe.view<1x1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %p : !stripe.view<1x1xf32>
  }
  stripe.block "Q" [%m : 196, %n : 512, %k : 128]
      in %p = %P[%m, %k] : 1x1
      in %w = %W[%k, %n] : 1x1
      out %q = %Q[%m, %n] : 1x1 add init 0 {
    %0 = stripe.load %p : !stripe.view<1x1xf32>
    %1 = stripe.load %w : !stripe.view<1x1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %q : !stripe.view<1x1xf32>
  }
  func.return %Q : !stripe.view<196x512xf32>
}

// Either of these, of 1 MB, would stay by itself, but not both: each tile would read them
// from the cache that the cores share.
// CHECK-LABEL: func.func @large_weights
// CHECK: stripe.block "P"
// CHECK-NOT: fuse group
// CHECK: stripe.block "Q"
// CHECK-NOT: fuse group
func.func @large_weights(%X : !stripe.view<196x256xf32>,
    %V : !stripe.view<256x1024xf32>, %W : !stripe.view<1024x256xf32>)
    -> !stripe.view<196x256xf32> {
  %P = stripe.alloc : !stripe.view<196x1024xf32>
  %Q = stripe.alloc : !stripe.view<196x256xf32>
  stripe.block "P" [%m : 196, %n : 1024, %k : 256]
      in %x = %X[%m, %k] : 1x1
      in %v = %V[%k, %n] : 1x1
      out %p = %P[%m, %n] : 1x1 add init 0 {
    %0 = stripe.load %x : !stripe.view<1x1xf32>
    %1 = stripe.load %v : !stripe.view<1x1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %p : !stripe.view<1x1xf32>
  }
  stripe.block "Q" [%m : 196, %n : 256, %k : 1024]
      in %p = %P[%m, %k] : 1x1
      in %w = %W[%k, %n] : 1x1
      out %q = %Q[%m, %n] : 1x1 add init 0 {
    %0 = stripe.load %p : !stripe.view<1x1xf32>
    %1 = stripe.load %w : !stripe.view<1x1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %q : !stripe.view<1x1xf32>
  }
  func.return %Q : !stripe.view<196x256xf32>
}

// 49 rows are four tiles of two cores: each core reads all weights, 0.6 MB, from where
// the last kernel has left them, and apart they share them out.
// CHECK-LABEL: func.func @few_rows
// CHECK: stripe.block "P"
// CHECK-NOT: fuse group
// CHECK: stripe.block "Q"
// CHECK-NOT: fuse group
func.func @few_rows(%X : !stripe.view<49x960xf32>, %V : !stripe.view<960x160xf32>,
    %W : !stripe.view<160x960xf32>) -> !stripe.view<49x960xf32> {
  %P = stripe.alloc : !stripe.view<49x160xf32>
  %Q = stripe.alloc : !stripe.view<49x960xf32>
  stripe.block "P" [%m : 49, %n : 160, %k : 960]
      in %x = %X[%m, %k] : 1x1
      in %v = %V[%k, %n] : 1x1
      out %p = %P[%m, %n] : 1x1 add init 0 {
    %0 = stripe.load %x : !stripe.view<1x1xf32>
    %1 = stripe.load %v : !stripe.view<1x1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %p : !stripe.view<1x1xf32>
  }
  stripe.block "Q" [%m : 49, %n : 960, %k : 160]
      in %p = %P[%m, %k] : 1x1
      in %w = %W[%k, %n] : 1x1
      out %q = %Q[%m, %n] : 1x1 add init 0 {
    %0 = stripe.load %p : !stripe.view<1x1xf32>
    %1 = stripe.load %w : !stripe.view<1x1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %q : !stripe.view<1x1xf32>
  }
  func.return %Q : !stripe.view<49x960xf32>
}

// Windows that reach over the border of a small image use what is there nine times: they
// are tiled for registers, and what follows has their tiles.
// CHECK-LABEL: func.func @windows
// CHECK: stripe.block "D"
// CHECK: fuse group 0 shared [0, 1, 2] tiles
// CHECK: tile [
// CHECK: stripe.block "R"
// CHECK: fuse group 0 shared [0, 1, 2] tiles
func.func @windows(%I : !stripe.view<7x7x960xf32>, %K : !stripe.view<3x3x960xf32>)
    -> !stripe.view<7x7x960xf32> {
  %D = stripe.alloc : !stripe.view<7x7x960xf32>
  %R = stripe.alloc : !stripe.view<7x7x960xf32>
  stripe.block "D" [%y : 7, %x : 7, %c : 960, %i : 3, %j : 3]
      in %a = %I[%y + %i - 1, %x + %j - 1, %c] : 1x1x1
      in %k = %K[%i, %j, %c] : 1x1x1
      out %d = %D[%y, %x, %c] : 1x1x1 add init 0
      where %y + %i - 1 >= 0, 7 - %y - %i >= 0, %x + %j - 1 >= 0, 7 - %x - %j >= 0 {
    %0 = stripe.load %a : !stripe.view<1x1x1xf32>
    %1 = stripe.load %k : !stripe.view<1x1x1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %d : !stripe.view<1x1x1xf32>
  }
  stripe.block "R" [%y : 7, %x : 7, %c : 960]
      in %d = %D[%y, %x, %c] : 1x1x1
      out %r = %R[%y, %x, %c] : 1x1x1 {
    %0 = stripe.load %d : !stripe.view<1x1x1xf32>
    %1 = eltwise.relu %0 : f32
    stripe.store %1, %r : !stripe.view<1x1x1xf32>
  }
  func.return %R : !stripe.view<7x7x960xf32>
}
