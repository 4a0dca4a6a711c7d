// RUN: tile-opt %s -p stripe-autotile | filecheck %s
// RUN: tile-opt %s -p 'stripe-autotile{bits=256 hardware="cpu-avx512:parallel.vector.registers=16"}' | filecheck %s --check-prefix=AVX2
// RUN: tile-opt %s -p 'stripe-autotile{hardware="cpu-avx512:overheads.group_elements=32,overheads.stream_pieces=1"}' | filecheck %s --check-prefix=PIECES
// RUN: not tile-opt %s -p 'stripe-autotile{hardware="cpu-avx512:overheads.stream_pieces=0"}' 2>&1 | filecheck %s --check-prefix=ERROR
// ERROR: error: 'overheads.stream_pieces=0': overheads.stream_pieces: expected a number above 0, got 0
// RUN: not tile-opt %s -p 'stripe-autotile{bits=100}' 2>&1 | filecheck %s --check-prefix=BITS
// BITS: error: vector_bits: expected a power of two from 32 on, got 100
// RUN: not tile-opt %s -p 'stripe-autotile{bits=-1}' 2>&1 | filecheck %s --check-prefix=REGISTERS
// REGISTERS: error: vector_bits: expected a power of two from 32 on, got -1

// Register tiles, with the reduction whole, and their number of registers.
// CHECK-LABEL: func.func @matmul
// CHECK: attributes {stripe.schedule = #stripe.schedule<
// CHECK-NEXT: tile [{{[0-9]+, [0-9]+}}, 96]
// CHECK-NEXT: tile [{{[0-9]+}}, {{32|48|96}}, 96]
// CHECK: because "{{[0-9.]+}} us: launches 4 us, arithmetic {{[0-9.]+}} us, {{.*}}; {{[0-9]+}} of 32 registers, limited by multiply-adds">}
// AVX2-LABEL: func.func @matmul
// AVX2: tile [{{[0-9]+}}, {{8|16|24|32|48}}, 96]
// AVX2: because "{{.*}} of 16 registers
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
// CHECK: tile [4, 64],
// CHECK-NEXT: because "streams 256 of 4096 elements at a time">}
// PIECES-LABEL: func.func @stream
// PIECES: tile [1, 32]
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

// A block inside another one stays as it is, or, with constraints, in one piece, whatever
// vectors leave over: where they end is no border of tiles, which a loop would test.
// CHECK-LABEL: func.func @nested
// CHECK: stripe.block [%i : 4, %j : 72]
// CHECK-NOT: tile
// CHECK: stripe.block [%i : 4, %j : 72]
// CHECK: tile [4, 72],
// CHECK-NEXT: because "all of it at once">}
func.func @nested(%A : !stripe.view<8x4x72xf32>) -> !stripe.view<8x4x72xf32> {
  %O = stripe.alloc : !stripe.view<8x4x72xf32>
  stripe.block [%n : 8]
      in %a = %A[%n, 0, 0] : 1x4x72
      out %o = %O[%n, 0, 0] : 1x4x72 {
    stripe.block [%i : 4, %j : 72]
        in %a_1 = %a[0, %i, %j] : 1x1x1
        out %o_1 = %o[0, %i, %j] : 1x1x1 {
      %x = stripe.load %a_1 : !stripe.view<1x1x1xf32>
      stripe.store %x, %o_1 : !stripe.view<1x1x1xf32>
    }
    stripe.block [%i : 4, %j : 72]
        in %a_1 = %a[0, %i, %j] : 1x1x1
        out %o_1 = %o[0, %i, %j] : 1x1x1
        where %j - 7 >= 0 {
      %x = stripe.load %a_1 : !stripe.view<1x1x1xf32>
      stripe.store %x, %o_1 : !stripe.view<1x1x1xf32>
    }
  }
  func.return %O : !stripe.view<8x4x72xf32>
}

// What `init` must not set stays out of tiles: gaps, a diagonal, and cells that points
// share.
// CHECK-LABEL: func.func @fixed
// CHECK: tile [1, 8]
// CHECK: tile [1, 8]
// CHECK: tile [1, 1]
// CHECK: tile [1]
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

// Left alone: sizes that are there already, outer blocks, blocks without points.
// CHECK-LABEL: func.func @left_alone
// CHECK: stripe.schedule = #stripe.schedule<tile [5]>
// CHECK: stripe.block [%i : 2]
// CHECK-NOT: stripe.schedule =
func.func @left_alone(%A : !stripe.view<8xf32>) -> !stripe.view<8xf32> {
  %O = stripe.alloc : !stripe.view<8xf32>
  stripe.block [%i : 8]
      in %a = %A[%i] : 1
      out %o = %O[%i] : 1
      attributes {stripe.schedule = #stripe.schedule<tile [5]>} {
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

// What may meet on a chosen cell stays whole, the rest is cut like a stream. Points that
// assign never meet. A serial block has no tiles.
// CHECK-LABEL: func.func @chosen
// CHECK: stripe.block "add"
// CHECK: tile [100, 256],
// CHECK-NEXT: because "streams
// CHECK: stripe.block "assign"
// CHECK: tile [16384],
// CHECK-NEXT: because "streams
// CHECK: stripe.block "order" serial
// CHECK-NOT: stripe.schedule =
func.func @chosen(%U : !stripe.view<100x4096xf32>, %I : !stripe.view<1048576xsi32>) -> (!stripe.view<9x4096xf32>, !stripe.view<1048576xsi32>, !stripe.view<si32>) {
  %O = stripe.alloc : !stripe.view<9x4096xf32>
  %P = stripe.alloc : !stripe.view<1048576xsi32>
  %Q = stripe.alloc : !stripe.view<si32>
  stripe.block "add" [%n : 100, %j : 4096]
      in %i = %I[%n] : 1
      in %u = %U[%n, %j] : 1x1
      out %o = %O[0, %j] : 9x1 add init 0 {
    %p = stripe.load %i : !stripe.view<1xsi32>
    %x = stripe.load %u : !stripe.view<1x1xf32>
    stripe.store %x, %o[%p, 0] : !stripe.view<9x1xf32>
  }
  stripe.block "assign" [%n : 1048576]
      in %i = %I[%n] : 1
      out %o = %P[0] : 1048576 {
    %p = stripe.load %i : !stripe.view<1xsi32>
    stripe.store %p, %o[%p] : !stripe.view<1048576xsi32>
  }
  stripe.block "order" serial [%n : 1048576]
      in %i = %I[%n] : 1
      inout %o = %Q[] {
    %p = stripe.load %i : !stripe.view<1xsi32>
    %q = stripe.load %o : !stripe.view<si32>
    %r = eltwise.add %p, %q : si32
    stripe.store %r, %o : !stripe.view<si32>
  }
  func.return %O, %P, %Q : !stripe.view<9x4096xf32>, !stripe.view<1048576xsi32>, !stripe.view<si32>
}

// The two digits of a cell: tiles of the higher one have all values of the lower one, but
// not where a constraint depends on it.
// CHECK-LABEL: func.func @digits
// CHECK: stripe.block "whole"
// CHECK: tile [{{[0-9]+}}, 2, 2]
// CHECK-NEXT: tile [{{[2-9]|[1-9][0-9]+}}, 2, 2]
// CHECK: stripe.block "checked"
// CHECK: tile [1, 2, 2]
func.func @digits(%I : !stripe.view<4096xf32>) -> (!stripe.view<8192xf32>, !stripe.view<8192xf32>) {
  %O = stripe.alloc : !stripe.view<8192xf32>
  %P = stripe.alloc : !stripe.view<8192xf32>
  stripe.block "whole" [%x : 4096, %i : 2, %k : 2]
      in %v = %I[%x + %k - 1] : 1
      out %o = %O[2 * %x + %i] : 1 add init 0
      where %x + %k - 1 >= 0 {
    %a = stripe.load %v : !stripe.view<1xf32>
    stripe.store %a, %o : !stripe.view<1xf32>
  }
  stripe.block "checked" [%x : 4096, %i : 2, %k : 2]
      in %v = %I[%x] : 1
      out %o = %P[2 * %x + %i] : 1 add init 0
      where %i + %k - 1 >= 0 {
    %a = stripe.load %v : !stripe.view<1xf32>
    stripe.store %a, %o : !stripe.view<1xf32>
  }
  func.return %O, %P : !stripe.view<8192xf32>, !stripe.view<8192xf32>
}
