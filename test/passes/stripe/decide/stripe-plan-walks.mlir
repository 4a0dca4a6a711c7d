// RUN: tile-opt %s -p 'stripe-plan-walks{hardware="nvidia-h200"}' --split-input-file | filecheck %s

// Weighted means of vectors: the weights of some rows are never in memory.

func.func @means(%Q : !stripe.view<32768x64xf32>, %K : !stripe.view<4096x64xf32>, %V : !stripe.view<4096x64xf32>) -> !stripe.view<32768x64xf32> {
  %S = stripe.alloc : !stripe.view<32768x4096xf32>
  stripe.block "S" [%q : 32768, %k : 4096, %d : 64]
      in %a = %Q[%q, %d] : 1x1
      in %b = %K[%k, %d] : 1x1
      out %s = %S[%q, %k] : 1x1 add init 0 {
    %0 = stripe.load %a : !stripe.view<1x1xf32>
    %1 = stripe.load %b : !stripe.view<1x1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %s : !stripe.view<1x1xf32>
  }
  %M = stripe.alloc : !stripe.view<32768xf32>
  stripe.block "M" [%q : 32768, %k : 4096]
      in %s = %S[%q, %k] : 1x1
      out %m = %M[%q] : 1 max init -inf {
    %0 = stripe.load %s : !stripe.view<1x1xf32>
    stripe.store %0, %m : !stripe.view<1xf32>
  }
  %E = stripe.alloc : !stripe.view<32768x4096xf32>
  stripe.block "E" [%k : 4096, %q : 32768]
      in %s = %S[%q, %k] : 1x1
      in %m = %M[%q] : 1
      out %e = %E[%q, %k] : 1x1 {
    %0 = stripe.load %s : !stripe.view<1x1xf32>
    %1 = stripe.load %m : !stripe.view<1xf32>
    %2 = eltwise.sub %0, %1 : f32
    %3 = eltwise.exp %2 : f32
    stripe.store %3, %e : !stripe.view<1x1xf32>
  }
  %O = stripe.alloc : !stripe.view<32768x64xf32>
  stripe.block "O" [%q : 32768, %d : 64, %k : 4096]
      in %e = %E[%q, %k] : 1x1
      in %v = %V[%k, %d] : 1x1
      out %o = %O[%q, %d] : 1x1 add init 0 {
    %0 = stripe.load %e : !stripe.view<1x1xf32>
    %1 = stripe.load %v : !stripe.view<1x1xf32>
    %2 = eltwise.mul %0, %1 : f32
    stripe.store %2, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<32768x64xf32>
}
// CHECK-LABEL: @means
// CHECK:       stripe.block "S"
// CHECK:           fuse group 0 shared [0] tiles {{\[\[}}[[ROWS:[0-9]+]]]] because "{{.*}} us instead of {{.*}} us, {{.*}}",
// CHECK-NEXT:      walk 1 by [[STEP:[0-9]+]]>
// CHECK:       stripe.block "M"
// CHECK:           walk 1 by [[STEP]]>
// CHECK:       stripe.block "E"
// CHECK:           fuse group 0 shared [1] tiles {{\[\[}}[[ROWS]]]],
// CHECK-NEXT:      walk 0 by [[STEP]]>
// CHECK:       stripe.block "O"
// CHECK:           walk 2 by [[STEP]]>

// -----

// The values are needed elsewhere, too.

func.func @kept(%S : !stripe.view<32768x4096xf32>) -> (!stripe.view<32768x4096xf32>, !stripe.view<32768xf32>) {
  %M = stripe.alloc : !stripe.view<32768xf32>
  stripe.block "M" [%q : 32768, %k : 4096]
      in %s = %S[%q, %k] : 1x1
      out %m = %M[%q] : 1 max init -inf {
    %0 = stripe.load %s : !stripe.view<1x1xf32>
    stripe.store %0, %m : !stripe.view<1xf32>
  }
  %E = stripe.alloc : !stripe.view<32768x4096xf32>
  stripe.block "E" [%q : 32768, %k : 4096]
      in %s = %S[%q, %k] : 1x1
      in %m = %M[%q] : 1
      out %e = %E[%q, %k] : 1x1 {
    %0 = stripe.load %s : !stripe.view<1x1xf32>
    %1 = stripe.load %m : !stripe.view<1xf32>
    %2 = eltwise.sub %0, %1 : f32
    %3 = eltwise.exp %2 : f32
    stripe.store %3, %e : !stripe.view<1x1xf32>
  }
  %L = stripe.alloc : !stripe.view<32768xf32>
  stripe.block "L" [%q : 32768, %k : 4096]
      in %e = %E[%q, %k] : 1x1
      out %l = %L[%q] : 1 add init 0 {
    %0 = stripe.load %e : !stripe.view<1x1xf32>
    stripe.store %0, %l : !stripe.view<1xf32>
  }
  func.return %E, %L : !stripe.view<32768x4096xf32>, !stripe.view<32768xf32>
}
// CHECK-LABEL: @kept
// CHECK-NOT:     walk
