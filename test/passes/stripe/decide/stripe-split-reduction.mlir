// RUN: tile-opt %s -p 'stripe-split-reduction{lanes=8 parallelism=4 hardware="cpu-avx512:overheads.group_elements=16"}' | filecheck %s
// RUN: tile-opt %s -p 'stripe-split-reduction{lanes=8 parallelism=1}' | filecheck %s --check-prefix=SERIAL
// RUN: tile-opt %s -p 'stripe-split-reduction{lanes=8 parallelism=5 hardware="cpu-avx512:overheads.group_elements=1000"}' | filecheck %s --check-prefix=FEW
// RUN: not tile-opt %s -p 'stripe-split-reduction{lanes=0}' 2>&1 | filecheck %s --check-prefix=ERROR
// RUN: not tile-opt %s -p 'stripe-split-reduction{rounds=-1}' 2>&1 | filecheck %s --check-prefix=ROUNDS
// ERROR: error: expected lanes of 1 or more, got 0
// ROUNDS: error: expected rounds of 1 or more, got -1

// Every eighth value has a cell of its own; the cells are aggregated, then the rest. With
// rows enough for all cores that is done row by row.
// CHECK-LABEL: func.func @rows
// CHECK: stripe.block "S" [%i : 4]
// CHECK-NEXT: in %a = %A[%i, 0] : 1x100
// CHECK-NEXT: out %s = %S[%i] : 1 {
// CHECK-NEXT: %s_parts = stripe.alloc : !stripe.view<1x8xf32, private>
// CHECK-NEXT: stripe.block [%k : 12, %lane : 8]
// CHECK-NEXT: in %a_1 = %a[0, 8 * %k + %lane] : 1x1
// CHECK-NEXT: out %s_1 = %s_parts[0, %lane] : 1x1 max init -inf
// CHECK-NEXT: attributes {stripe.schedule = #stripe.schedule<
// CHECK-NEXT: tile [0, 0]
// CHECK: stripe.block [%lane : 8]
// CHECK-NEXT: in %part = %s_parts[0, %lane] : 1x1
// CHECK-NEXT: out %s_1 = %s[0] : 1 max init -inf
// CHECK: stripe.block [%k : 4]
// CHECK-NEXT: in %a_1 = %a[0, %k + 96] : 1x1
// CHECK-NEXT: out %s_1 = %s[0] : 1 max {
// FEW-LABEL: func.func @rows
// FEW: %S_parts = stripe.alloc : !stripe.view<4x8xf32>
// FEW-NEXT: stripe.block "S" [%i : 4, %k : 12, %lane : 8]
// FEW-NEXT: in %a = %A[%i, 8 * %k + %lane] : 1x1
// FEW-NEXT: out %s = %S_parts[%i, %lane] : 1x1 max init -inf
// FEW-NEXT: attributes {stripe.schedule = #stripe.schedule<
// FEW-NEXT: tile [1, 0, 0]
// FEW: stripe.block "S" [%i : 4, %lane : 8]
// FEW-NEXT: in %part = %S_parts[%i, %lane] : 1x1
// FEW-NEXT: out %s = %S[%i] : 1 max init -inf
// FEW: stripe.block "S" [%i : 4, %k : 4]
// FEW-NEXT: in %a = %A[%i, %k + 96] : 1x1
// FEW-NEXT: out %s = %S[%i] : 1 max {
func.func @rows(%A : !stripe.view<4x100xf32>) -> !stripe.view<4xf32> {
  %S = stripe.alloc : !stripe.view<4xf32>
  stripe.block "S" [%i : 4, %k : 100]
      in %a = %A[%i, %k] : 1x1
      out %s = %S[%i] : 1 max init -inf {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %s : !stripe.view<1xf32>
  }
  func.return %S : !stripe.view<4xf32>
}

// With few cells another index is cut, into chunks with cells of their own; indices as
// values are split too.
// CHECK-LABEL: func.func @total
// CHECK: %S_parts = stripe.alloc : !stripe.view<3x8xf32>
// CHECK-NEXT: stripe.block "S" [%c : 3, %i : 2, %k : 8, %lane : 8]
// CHECK-NEXT: in %a = %A[2 * %c + %i, 8 * %k + %lane] : 1x1
// CHECK-NEXT: out %s = %S_parts[%c, %lane] : 1x1 add init 0
// CHECK-NEXT: where -2 * %c - %i + 4 >= 0
// CHECK-NEXT: attributes {stripe.schedule = #stripe.schedule<
// CHECK-NEXT: tile [1, 0, 0, 0]
// CHECK: stripe.index 8 * %k + %lane
// CHECK: stripe.block "S" [%c : 3, %lane : 8]
// CHECK-NEXT: in %part = %S_parts[%c, %lane] : 1x1
// SERIAL-LABEL: func.func @total
// SERIAL: %S_parts = stripe.alloc : !stripe.view<8xf32>
func.func @total(%A : !stripe.view<5x64xf32>) -> !stripe.view<f32> {
  %S = stripe.alloc : !stripe.view<f32>
  stripe.block "S" [%i : 5, %k : 64]
      in %a = %A[%i, %k] : 1x1
      out %s = %S[] add init 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %n = stripe.index %k : si32
    %y = eltwise.cast %n : si32 to f32
    %z = eltwise.mul %x, %y : f32
    stripe.store %z, %s : !stripe.view<f32>
  }
  func.return %S : !stripe.view<f32>
}

// The one row is cut itself.
// CHECK-LABEL: func.func @one_row
// CHECK: %S_parts = stripe.alloc : !stripe.view<4x8xf32>
// CHECK-NEXT: stripe.block "S" [%c : 4, %k : 2, %lane : 8]
// CHECK-NEXT: in %a = %A[16 * %c + 8 * %k + %lane] : 1
// CHECK: stripe.block "S" [%k : 6]
// CHECK-NEXT: in %a = %A[%k + 64] : 1
func.func @one_row(%A : !stripe.view<70xf32>) -> !stripe.view<f32> {
  %S = stripe.alloc : !stripe.view<f32>
  stripe.block "S" [%k : 70]
      in %a = %A[%k] : 1
      out %s = %S[] add init 0 {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %s : !stripe.view<f32>
  }
  func.return %S : !stripe.view<f32>
}

// Two outputs; a reduction between the kept index and the row.
// CHECK-LABEL: func.func @several
// CHECK: stripe.block "S" [%i : 4]
// CHECK: stripe.block [%j : 2, %k : 8, %lane : 8]
// FEW-LABEL: func.func @several
// FEW: %S_parts = stripe.alloc : !stripe.view<4x8xf32>
// FEW-NEXT: %T_parts = stripe.alloc : !stripe.view<4x8xf32>
// FEW-NEXT: stripe.block "S" [%i : 4, %j : 2, %k : 8, %lane : 8]
// FEW-NEXT: in %a = %A[%i, %j, 8 * %k + %lane] : 1x1x1
// FEW-NEXT: out %s = %S_parts[%i, %lane] : 1x1 add init 0
// FEW-NEXT: out %t = %T_parts[%i, %lane] : 1x1 max init -inf
// FEW: stripe.block "S" [%i : 4, %lane : 8]
// FEW-NEXT: in %part = %S_parts[%i, %lane] : 1x1
// FEW-NEXT: in %part_1 = %T_parts[%i, %lane] : 1x1
func.func @several(%A : !stripe.view<4x2x64xf32>) -> (!stripe.view<4xf32>, !stripe.view<4xf32>) {
  %S = stripe.alloc : !stripe.view<4xf32>
  %T = stripe.alloc : !stripe.view<4xf32>
  stripe.block "S" [%i : 4, %j : 2, %k : 64]
      in %a = %A[%i, %j, %k] : 1x1x1
      out %s = %S[%i] : 1 add init 0
      out %t = %T[%i] : 1 max init -inf {
    %x = stripe.load %a : !stripe.view<1x1x1xf32>
    stripe.store %x, %s : !stripe.view<1xf32>
    stripe.store %x, %t : !stripe.view<1xf32>
  }
  func.return %S, %T : !stripe.view<4xf32>, !stripe.view<4xf32>
}

// Columns: chunks of rows, tiles of whole rows of cells.
// CHECK-LABEL: func.func @columns
// CHECK: %S_parts = stripe.alloc : !stripe.view<4x32xf32>
// CHECK-NEXT: stripe.block "S" [%c : 4, %k : 16, %j : 32]
// CHECK-NEXT: in %a = %A[16 * %c + %k, %j] : 1x1
// CHECK-NEXT: out %s = %S_parts[%c, %j] : 1x1 add init 0
// CHECK-NEXT: attributes {stripe.schedule = #stripe.schedule<
// CHECK-NEXT: tile [1, 0, 0]
// CHECK: stripe.block "S" [%j : 32, %c : 4]
// CHECK-NEXT: in %part = %S_parts[%c, %j] : 1x1
func.func @columns(%A : !stripe.view<64x32xf32>) -> !stripe.view<32xf32> {
  %S = stripe.alloc : !stripe.view<32xf32>
  stripe.block "S" [%k : 64, %j : 32]
      in %a = %A[%k, %j] : 1x1
      out %s = %S[%j] : 1 add init 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %s : !stripe.view<1xf32>
  }
  func.return %S : !stripe.view<32xf32>
}

// Where columns are few, rows take turns.
// CHECK-LABEL: func.func @narrow
// CHECK: %S_parts = stripe.alloc : !stripe.view<4x4x2xf32>
// CHECK-NEXT: stripe.block "S" [%c : 4, %k : 16, %j : 2, %lane : 4]
// CHECK-NEXT: in %a = %A[64 * %c + 4 * %k + %lane, %j] : 1x1
// CHECK-NEXT: out %s = %S_parts[%c, %lane, %j] : 1x1x1 add init 0
// CHECK: stripe.block "S" [%k : 3, %j : 2]
// CHECK-NEXT: in %a = %A[%k + 256, %j] : 1x1
func.func @narrow(%A : !stripe.view<259x2xf32>) -> !stripe.view<2xf32> {
  %S = stripe.alloc : !stripe.view<2xf32>
  stripe.block "S" [%k : 259, %j : 2]
      in %a = %A[%k, %j] : 1x1
      out %s = %S[%j] : 1 add init 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %s : !stripe.view<1xf32>
  }
  func.return %S : !stripe.view<2xf32>
}

// In a block, the cells are private.
// CHECK-LABEL: func.func @inside
// CHECK: stripe.block "outer" [%i : 4]
// CHECK: %s_parts = stripe.alloc : !stripe.view<1x8xf32, private>
// CHECK-NEXT: stripe.block [%k : 8, %lane : 8]
// CHECK-NEXT: in %x = %a[0, 8 * %k + %lane] : 1x1
// CHECK: stripe.block [%lane : 8]
func.func @inside(%A : !stripe.view<4x64xf32>) -> !stripe.view<4xf32> {
  %S = stripe.alloc : !stripe.view<4xf32>
  stripe.block "outer" [%i : 4]
      in %a = %A[%i, 0] : 1x64
      out %s = %S[%i] : 1 add init 0 {
    stripe.block [%k : 64]
        in %x = %a[0, %k] : 1x1
        out %t = %s[0] : 1 add init 0 {
      %0 = stripe.load %x : !stripe.view<1x1xf32>
      stripe.store %0, %t : !stripe.view<1xf32>
    }
  }
  func.return %S : !stripe.view<4xf32>
}

// Left alone: short rows, a constraint, a step of two, another start value, columns of
// which there are enough pieces, sizes by hand, and a product.
// CHECK-LABEL: func.func @left_alone
// CHECK-NOT: _parts
func.func @left_alone(%A : !stripe.view<4x64xf32>, %B : !stripe.view<4x16x4xf32>) -> (!stripe.view<4xf32>, !stripe.view<4x4xf32>, !stripe.view<2x4xf32>) {
  %S = stripe.alloc : !stripe.view<4xf32>
  %P = stripe.alloc : !stripe.view<4x4xf32>
  %Q = stripe.alloc : !stripe.view<2x4xf32>
  stripe.block "short" [%i : 4, %k : 7]
      in %a = %A[%i, %k] : 1x1
      out %s = %S[%i] : 1 add init 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %s : !stripe.view<1xf32>
  }
  stripe.block "constrained" [%i : 4, %k : 64]
      in %a = %A[%i, %k] : 1x1
      out %s = %S[%i] : 1 add init 0
      where %k - %i >= 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %s : !stripe.view<1xf32>
  }
  stripe.block "strided" [%i : 4, %k : 32]
      in %a = %A[%i, 2 * %k] : 1x1
      out %s = %S[%i] : 1 add init 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %s : !stripe.view<1xf32>
  }
  stripe.block "from one" [%i : 4, %k : 64]
      in %a = %A[%i, %k] : 1x1
      out %s = %S[%i] : 1 add init 1 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %s : !stripe.view<1xf32>
  }
  stripe.block "product" [%i : 4, %j : 4, %k : 64]
      in %a = %A[%i, %k] : 1x1
      in %b = %A[%j, %k] : 1x1
      out %p = %P[%i, %j] : 1x1 add init 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %y = stripe.load %b : !stripe.view<1x1xf32>
    %z = eltwise.mul %x, %y : f32
    stripe.store %z, %p : !stripe.view<1x1xf32>
  }
  stripe.block "columns" [%b : 4, %k : 16, %i : 4]
      in %b_1 = %B[%b, %k, %i] : 1x1x1
      out %q = %P[%b, %i] : 1x1 add init 0 {
    %x = stripe.load %b_1 : !stripe.view<1x1x1xf32>
    stripe.store %x, %q : !stripe.view<1x1xf32>
  }
  stripe.block "tiled" [%i : 4, %k : 64]
      in %a = %A[%i, %k] : 1x1
      out %s = %S[%i] : 1 add init 0
      attributes {stripe.schedule = #stripe.schedule<tile [2, 16]>} {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %s : !stripe.view<1xf32>
  }
  func.return %S, %P, %Q : !stripe.view<4xf32>, !stripe.view<4x4xf32>, !stripe.view<2x4xf32>
}

// Left alone: places that subscripts choose, and points in order.
// CHECK-LABEL: func.func @chosen
// CHECK-NOT: _parts
func.func @chosen(%V : !stripe.view<9xsi32>, %I : !stripe.view<64xsi32>) -> (!stripe.view<si32>, !stripe.view<si32>) {
  %O = stripe.alloc : !stripe.view<si32>
  %P = stripe.alloc : !stripe.view<si32>
  stripe.block [%k : 64]
      in %i = %I[%k] : 1
      in %v = %V[0] : 9
      out %o = %O[] add init 0 {
    %n = stripe.load %i : !stripe.view<1xsi32>
    %x = stripe.load %v[%n] : !stripe.view<9xsi32>
    stripe.store %x, %o : !stripe.view<si32>
  }
  stripe.block serial [%k : 64]
      in %i = %I[%k] : 1
      out %p = %P[] add init 0 {
    %x = stripe.load %i : !stripe.view<1xsi32>
    stripe.store %x, %p : !stripe.view<si32>
  }
  func.return %O, %P : !stripe.view<si32>, !stripe.view<si32>
}
