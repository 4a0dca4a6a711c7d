// RUN: tile-opt %s -p 'stripe-share-reductions{hardware=nvidia-h200}' | filecheck %s
// RUN: tile-opt %s --validate-each --validate-entry=rows -p 'stripe-share-reductions{hardware=nvidia-h200},stripe-tile,stripe-accumulate,stripe-map,lower-stripe-to-opencl' | filecheck %s --check-prefix=KERNEL
// RUN: tile-opt %s --validate-each --validate-entry=columns -p 'stripe-share-reductions{hardware=nvidia-h200},stripe-tile,stripe-accumulate,stripe-map,lower-stripe-to-opencl' | filecheck %s --check-prefix=KERNEL
// RUN: tile-opt %s --validate-each --validate-entry=nest -p 'stripe-share-reductions{hardware=nvidia-h200},stripe-tile,stripe-accumulate,stripe-map,lower-stripe-to-opencl' | filecheck %s --check-prefix=KERNEL
// RUN: not tile-opt %s -p 'stripe-share-reductions{longest=0}' 2>&1 | filecheck %s --check-prefix=ERROR
// KERNEL: opencl.barrier
// ERROR: error: expected longest of 1 or more, got 0

// Rows: a part for each work-item of some rows, and a tree over these.
// CHECK-LABEL: func.func @rows
// CHECK: stripe.block "S" [%i : 10]
// CHECK-NEXT: in %x = %X[8 * %i, 0] : 8x300
// CHECK-NEXT: out %s = %S[8 * %i] : 8 {
// CHECK-NEXT: %s_parts = stripe.alloc : !stripe.view<8x32xf32, local>
// CHECK-NEXT: stripe.block [%k : 10, %i_1 : 8, %lane : 32]
// CHECK-NEXT: in %x_1 = %x[%i_1, 32 * %k + %lane] : 1x1
// CHECK-NEXT: out %s_1 = %s_parts[%i_1, %lane] : 1x1 add init 0
// CHECK-NEXT: where -32 * %k - %lane + 299 >= 0
// CHECK-NEXT: tile [0, 1, 1] bind [_, group, group] because "32 work-items take turns at the values of a row"
// CHECK: %s_parts_1 = stripe.alloc : !stripe.view<8x4xf32, local>
// CHECK-NEXT: stripe.block [%i_1 : 8, %lane : 8, %lane_1 : 4]
// CHECK-NEXT: in %part = %s_parts[%i_1, 4 * %lane + %lane_1] : 1x1
// CHECK-NEXT: out %s_1 = %s_parts_1[%i_1, %lane_1] : 1x1 add init 0
// CHECK: stripe.block [%i_1 : 8, %lane : 4]
// CHECK-NEXT: in %part = %s_parts_1[%i_1, %lane] : 1x1
// CHECK-NEXT: out %s_1 = %s[%i_1] : 1 add init 0
func.func @rows(%X : !stripe.view<80x300xf32>) -> !stripe.view<80xf32> {
  %S = stripe.alloc : !stripe.view<80xf32>
  stripe.block "S" [%i : 80, %k : 300]
      in %x = %X[%i, %k] : 1x1
      out %s = %S[%i] : 1 add init 0 {
    %v = stripe.load %x : !stripe.view<1x1xf32>
    stripe.store %v, %s : !stripe.view<1xf32>
  }
  func.return %S : !stripe.view<80xf32>
}

// Columns: few, so that rows are cut into chunks; the last tile sticks out.
// CHECK-LABEL: func.func @columns
// CHECK: %S_parts = stripe.alloc : !stripe.view<[[COUNT:[0-9]+]]x70xf32>
// CHECK-NEXT: stripe.block "S" [%c : [[COUNT]], %j : [[TILES:[0-9]+]]]
// CHECK-NEXT: in %x = %X[[[SIZE:[0-9]+]] * %c, [[SIDE:[0-9]+]] * %j] : [[SIZE]]x[[SIDE]]
// CHECK-NEXT: out %s = %S_parts[%c, [[SIDE]] * %j] : 1x[[SIDE]] {
// CHECK-NEXT: %s_parts = stripe.alloc : !stripe.view<[[LANES:[0-9]+]]x1x[[SIDE]]xf32, local>
// CHECK-NEXT: stripe.block [%i : {{[0-9]+}}, %j_1 : [[SIDE]], %lane : [[LANES]]]
// CHECK-NEXT: in %x_1 = %x[[[LANES]] * %i + %lane, %j_1] : 1x1
// CHECK-NEXT: out %s_1 = %s_parts[%lane, 0, %j_1] : 1x1x1 max init -inf
// CHECK-NEXT: where -[[LANES]] * %i - %lane - [[SIZE]] * %c + 19999 >= 0, -%j_1 - [[SIDE]] * %j + 69 >= 0
// CHECK-NEXT: tile [0, 1, 1] order [2, 0, 1] bind [_, group, group]
// CHECK: out %s_1 = %s[0, %j_1] : 1x1 max init -inf
// CHECK-NEXT: where -%j_1 - [[SIDE]] * %j + 69 >= 0
// The parts of the chunks are columns, too.
// CHECK: in %part = %S_parts[0, {{.*}}] : [[COUNT]]x
// CHECK-NEXT: out %s = %S[
func.func @columns(%X : !stripe.view<20000x70xf32>) -> !stripe.view<70xf32> {
  %S = stripe.alloc : !stripe.view<70xf32>
  stripe.block "S" [%i : 20000, %j : 70]
      in %x = %X[%i, %j] : 1x1
      out %s = %S[%j] : 1 max init -inf {
    %v = stripe.load %x : !stripe.view<1x1xf32>
    stripe.store %v, %s : !stripe.view<1xf32>
  }
  func.return %S : !stripe.view<70xf32>
}

// Of a product each input is used for many cells: it is left to others.
// CHECK-LABEL: func.func @product
// CHECK: stripe.block "C" [%i : 64, %j : 64, %k : 64]
func.func @product(%A : !stripe.view<64x64xf32>, %B : !stripe.view<64x64xf32>) -> !stripe.view<64x64xf32> {
  %C = stripe.alloc : !stripe.view<64x64xf32>
  stripe.block "C" [%i : 64, %j : 64, %k : 64]
      in %a = %A[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 add init 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %y = stripe.load %b : !stripe.view<1x1xf32>
    %z = eltwise.mul %x, %y : f32
    stripe.store %z, %c : !stripe.view<1x1xf32>
  }
  func.return %C : !stripe.view<64x64xf32>
}

// A nest over rows: what two blocks read is read once, what items share is in local
// memory, and each has its own cells of what is computed of each.
// CHECK-LABEL: func.func @nest
// CHECK: stripe.block "O" [%i : 7]
// CHECK: %x_1 = stripe.alloc : !stripe.view<1x16x64xf32, private>
// CHECK-NEXT: stripe.block [%e0 : 16, %lane : 64]
// CHECK-NEXT: in %from = %x[0, 64 * %e0 + %lane] : 1x1
// CHECK-NEXT: out %to = %x_1[0, %e0, %lane] : 1x1x1
// CHECK-NEXT: where -64 * %e0 - %lane + 999 >= 0
// CHECK-NEXT: attributes {stripe.schedule = #stripe.schedule<
// CHECK-NEXT: tile [0, 1] bind [_, group] because "64 work-items take turns at the cells of a row",
// CHECK-NEXT: points bind [unroll, _]>}
// CHECK: %N = stripe.alloc : !stripe.view<1xf32, local>
// CHECK-NEXT: %E = stripe.alloc : !stripe.view<1x16x64xf32, private>
// CHECK: out %n = %N_parts[0, %lane] : 1x1 add init 0
// CHECK: out %o_1 = %o[0, 64 * %j + %lane] : 1x1
func.func @nest(%X : !stripe.view<7x1000xf32>) -> !stripe.view<7x1000xf32> {
  %O = stripe.alloc : !stripe.view<7x1000xf32>
  stripe.block "O" [%i : 7]
      in %x = %X[%i, 0] : 1x1000
      out %o = %O[%i, 0] : 1x1000 {
    %N = stripe.alloc : !stripe.view<1xf32, private>
    %E = stripe.alloc : !stripe.view<1x1000xf32, private>
    stripe.block [%j : 1000]
        in %x_1 = %x[0, %j] : 1x1
        out %e = %E[0, %j] : 1x1 {
      %0 = stripe.load %x_1 : !stripe.view<1x1xf32>
      %1 = eltwise.exp %0 : f32
      stripe.store %1, %e : !stripe.view<1x1xf32, private>
    }
    stripe.block [%j : 1000]
        in %x_1 = %x[0, %j] : 1x1
        in %e = %E[0, %j] : 1x1
        out %n = %N[0] : 1 add init 0 {
      %0 = stripe.load %e : !stripe.view<1x1xf32, private>
      %1 = stripe.load %x_1 : !stripe.view<1x1xf32>
      %2 = eltwise.mul %0, %1 : f32
      stripe.store %2, %n : !stripe.view<1xf32, private>
    }
    stripe.block [%j : 1000]
        in %e = %E[0, %j] : 1x1
        in %n = %N[0] : 1
        out %o_1 = %o[0, %j] : 1x1 {
      %0 = stripe.load %e : !stripe.view<1x1xf32, private>
      %1 = stripe.load %n : !stripe.view<1xf32, private>
      %2 = eltwise.div %0, %1 : f32
      stripe.store %2, %o_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %O : !stripe.view<7x1000xf32>
}

// Few rows and columns: parts of the sum, which another block adds up.
// CHECK-LABEL: func.func @contraction
// CHECK: %C_parts = stripe.alloc : !stripe.view<[[PARTS:[0-9]+]]x32x64xf32>
// CHECK-NEXT: stripe.block "C" [%c : [[PARTS]], %i : 32, %j : 64, %k : [[SIZE:[0-9]+]]]
// CHECK-NEXT: in %a = %A[%i, [[SIZE]] * %c + %k] : 1x1
// CHECK-NEXT: in %b = %B[[[SIZE]] * %c + %k, %j] : 1x1
// CHECK-NEXT: out %c_1 = %C_parts[%c, %i, %j] : 1x1x1 add init 0 {
// CHECK: in %part = %C_parts[0, %i, {{.*}}] : [[PARTS]]x1x
func.func @contraction(%A : !stripe.view<32x8192xf32>, %B : !stripe.view<8192x64xf32>) -> !stripe.view<32x64xf32> {
  %C = stripe.alloc : !stripe.view<32x64xf32>
  stripe.block "C" [%i : 32, %j : 64, %k : 8192]
      in %a = %A[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 add init 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %y = stripe.load %b : !stripe.view<1x1xf32>
    %z = eltwise.mul %x, %y : f32
    stripe.store %z, %c : !stripe.view<1x1xf32>
  }
  func.return %C : !stripe.view<32x64xf32>
}

// Rows of parts begin at whole vectors: nobody reads what is between them.
// CHECK-LABEL: func.func @odd_rows
// CHECK: %C_parts = stripe.alloc : !stripe.view<[[PARTS:[0-9]+]]x32x64xf32>
// CHECK-NEXT: stripe.block "C" [%c : [[PARTS]], %i : 32, %j : 61, %k : [[SIZE:[0-9]+]]]
// CHECK: out %c_1 = %C_parts[%c, %i, %j] : 1x1x1 add init 0 {
func.func @odd_rows(%A : !stripe.view<32x8192xf32>, %B : !stripe.view<8192x61xf32>) -> !stripe.view<32x61xf32> {
  %C = stripe.alloc : !stripe.view<32x61xf32>
  stripe.block "C" [%i : 32, %j : 61, %k : 8192]
      in %a = %A[%i, %k] : 1x1
      in %b = %B[%k, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 add init 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %y = stripe.load %b : !stripe.view<1x1xf32>
    %z = eltwise.mul %x, %y : f32
    stripe.store %z, %c : !stripe.view<1x1xf32>
  }
  func.return %C : !stripe.view<32x61xf32>
}
