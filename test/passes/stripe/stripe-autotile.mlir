// RUN: tile-opt %s -p stripe-autotile | filecheck %s
// RUN: tile-opt %s -p 'stripe-autotile{bits=256 registers=16}' | filecheck %s --check-prefix=AVX2
// RUN: tile-opt %s -p 'stripe-autotile{elements=32 pieces=1}' | filecheck %s --check-prefix=PIECES
// RUN: tile-opt %s -p 'stripe-autotile{registers=1}' | filecheck %s --check-prefix=FEW
// RUN: not tile-opt %s -p 'stripe-autotile{pieces=0}' 2>&1 | filecheck %s --check-prefix=ERROR
// ERROR: error: expected pieces of 1 or more, got 0

// Register tiles, with the reduction whole, and their number of registers.
// CHECK-LABEL: func.func @matmul
// CHECK: attributes {stripe.tile = [array<i64: 8, 96, 96>, array<i64: 8, 48, 96>], stripe.tile_reason = "{{[0-9]+}} of 32 registers, {{[0-9.]+}} cycles per element of work"}
// AVX2-LABEL: func.func @matmul
// AVX2: array<i64: {{[0-9]+}}, {{8|16|24|32}}, 96>], stripe.tile_reason = "{{[0-9]+}} of 16 registers
// No tile fits one register: the smallest does with what there is.
// FEW-LABEL: func.func @matmul
// FEW: stripe.tile = [array<i64: 2, 32, 96>, array<i64: 1, 1, 96>]
func.func @matmul(%A : !stripe.view<96x96xf32>, %B : !stripe.view<96x96xf32>) -> !stripe.view<96x96xf32> {
  %C = stripe.alloc : !stripe.view<96x96xf32>
  stripe.block "C" [%i : 96, %j : 96, %k : 96]
      in %a = %A[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 add init 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %y = stripe.load %b : !stripe.view<1x1xf32>
    %z = eltwise.mul %x, %y : f32
    stripe.store %z, %c : !stripe.view<1x1xf32>
  }
  func.return %C : !stripe.view<96x96xf32>
}

// Streaming work is cut into pieces along its last axes.
// CHECK-LABEL: func.func @stream
// CHECK: attributes {stripe.tile = [array<i64: 4, 64>], stripe.tile_reason = "streams 256 of 4096 elements at a time"}
// PIECES-LABEL: func.func @stream
// PIECES: stripe.tile = [array<i64: 1, 32>]
func.func @stream(%A : !stripe.view<64x64xf32>) -> !stripe.view<64x64xf32> {
  %O = stripe.alloc : !stripe.view<64x64xf32>
  stripe.block [%i : 64, %j : 64]
      in %a = %A[%i, %j] : 1x1
      out %o = %O[%i, %j] : 1x1 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %o : !stripe.view<1x1xf32>
  }
  func.return %O : !stripe.view<64x64xf32>
}

// What `init` must not set stays out of tiles: gaps, a diagonal, and cells that points
// share.
// CHECK-LABEL: func.func @fixed
// CHECK: stripe.tile = [array<i64: 1, 8>]
// CHECK: stripe.tile = [array<i64: 1, 8>]
// CHECK: stripe.tile = [array<i64: 1, 1>]
// CHECK: stripe.tile = [array<i64: 1>]
func.func @fixed(%A : !stripe.view<8x8xf32>) -> (!stripe.view<16xf32>, !stripe.view<8x8xf32>, !stripe.view<15xf32>, !stripe.view<8xf32>) {
  %O = stripe.alloc : !stripe.view<16xf32>
  %P = stripe.alloc : !stripe.view<8x8xf32>
  %Q = stripe.alloc : !stripe.view<15xf32>
  %R = stripe.alloc : !stripe.view<8xf32>
  %S = stripe.alloc : !stripe.view<f32>
  stripe.block [%i : 8, %k : 8]
      in %a = %A[%i, %k] : 1x1
      out %o = %O[2 * %i] : 1 add init 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %o : !stripe.view<1xf32>
  }
  stripe.block [%i : 8, %k : 8]
      in %a = %A[%i, %k] : 1x1
      out %p = %P[%i, %i] : 1x1 add init 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %p : !stripe.view<1x1xf32>
  }
  stripe.block [%i : 8, %j : 8]
      in %a = %A[%i, %j] : 1x1
      out %q = %Q[%i + %j] : 1 add init 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %q : !stripe.view<1xf32>
  }
  stripe.block [%i : 8]
      in %a = %A[%i, 0] : 1x1
      out %r = %R[%i] : 1 add init 0
      out %s = %S[] add init 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %r : !stripe.view<1xf32>
    stripe.store %x, %s : !stripe.view<f32>
  }
  func.return %O, %P, %Q, %R : !stripe.view<16xf32>, !stripe.view<8x8xf32>, !stripe.view<15xf32>, !stripe.view<8xf32>
}

// Left alone: sizes that are there already, nests, blocks without points.
// CHECK-LABEL: func.func @left_alone
// CHECK: stripe.tile = array<i64: 5>
// CHECK-NOT: stripe.tile
func.func @left_alone(%A : !stripe.view<8xf32>) -> !stripe.view<8xf32> {
  %O = stripe.alloc : !stripe.view<8xf32>
  stripe.block [%i : 8]
      in %a = %A[%i] : 1
      out %o = %O[%i] : 1
      attributes {stripe.tile = array<i64: 5>} {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %o : !stripe.view<1xf32>
  }
  stripe.block [%i : 2]
      in %a = %A[4 * %i] : 4
      out %o = %O[4 * %i] : 4 {
    stripe.block [%j : 4]
        in %a_1 = %a[%j] : 1
        out %o_1 = %o[%j] : 1 {
      %x = stripe.load %a_1 : !stripe.view<1xf32>
      stripe.store %x, %o_1 : !stripe.view<1xf32>
    }
  }
  stripe.block [%i : 0]
      in %a = %A[%i] : 1
      out %o = %O[%i] : 1 {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %o : !stripe.view<1xf32>
  }
  func.return %O : !stripe.view<8xf32>
}
