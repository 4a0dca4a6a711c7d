// RUN: tile-opt %s -p stripe-partition-edges | filecheck %s
// RUN: tile-opt %s -p 'stripe-partition-edges{bits=128}' | filecheck %s --check-prefix=NARROW

// The interior, which the tiles fill, then the edges. What is left over along the vectors
// is filled with whole vectors first: 70 = 64 + 6, and 6 = 4 + 2 with vectors of four.
// CHECK-LABEL: func.func @both
// CHECK: stripe.block "C" [%i : 8, %j : 64]
// CHECK-NEXT: in %a = %A[%i, %j] : 1x1
// CHECK-NEXT: out %c = %C[%i, %j] : 1x1
// CHECK-NEXT: attributes {stripe.tile = [array<i64: 4, 32>]} {
// CHECK: stripe.block "C" [%i : 8, %j : 4]
// CHECK-NEXT: in %a = %A[%i, %j + 64] : 1x1
// CHECK: stripe.block "C" [%i : 8, %j : 2]
// CHECK-NEXT: in %a = %A[%i, %j + 68] : 1x1
// CHECK: stripe.block "C" [%i : 2, %j : 64]
// CHECK-NEXT: in %a = %A[%i + 8, %j] : 1x1
// CHECK: stripe.block "C" [%i : 2, %j : 4]
// CHECK: stripe.block "C" [%i : 2, %j : 2]
// CHECK-NEXT: in %a = %A[%i + 8, %j + 68] : 1x1
func.func @both(%A : !stripe.view<10x70xf32>) -> !stripe.view<10x70xf32> {
  %C = stripe.alloc : !stripe.view<10x70xf32>
  stripe.block "C" [%i : 10, %j : 70]
      in %a = %A[%i, %j] : 1x1
      out %c = %C[%i, %j] : 1x1
      attributes {stripe.tile = [array<i64: 4, 32>]} {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %c : !stripe.view<1x1xf32>
  }
  func.return %C : !stripe.view<10x70xf32>
}

// Less than a tile: 31 is 16 + 8 + 4 + 3 with vectors of up to 16, with vectors of 4 it
// is 28 + 3. The innermost sizes count.
// CHECK-LABEL: func.func @vectors
// CHECK: [%j : 16]
// CHECK: [%j : 8]
// CHECK: [%j : 4]
// CHECK: [%j : 3]
// NARROW-LABEL: func.func @vectors
// NARROW: [%j : 28]
// NARROW: [%j : 3]
func.func @vectors(%A : !stripe.view<31xf32>) -> !stripe.view<31xf32> {
  %C = stripe.alloc : !stripe.view<31xf32>
  stripe.block "C" [%j : 31]
      in %a = %A[%j] : 1
      out %c = %C[%j] : 1
      attributes {stripe.tile = [array<i64: 5>, array<i64: 32>]} {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %c : !stripe.view<1xf32>
  }
  func.return %C : !stripe.view<31xf32>
}

// Constraints and nested blocks are shifted with the index.
// CHECK-LABEL: func.func @shifted
// CHECK: stripe.block [%i : 8]
// CHECK: where -%i + 8 >= 0
// CHECK: in %a_1 = %a[%j + %i] : 1
// CHECK: stripe.block [%i : 2]
// CHECK: where -%i >= 0
// CHECK: in %a_1 = %a[%j + %i + 8] : 1
func.func @shifted(%A : !stripe.view<16xf32>) -> !stripe.view<10x4xf32> {
  %C = stripe.alloc : !stripe.view<10x4xf32>
  stripe.block [%i : 10]
      in %a = %A[0] : 16
      out %c = %C[%i, 0] : 1x4
      where 8 - %i >= 0
      attributes {stripe.tile = array<i64: 4>} {
    stripe.block [%j : 4]
        in %a_1 = %a[%j + %i] : 1
        out %c_1 = %c[0, %j] : 1x1 {
      %x = stripe.load %a_1 : !stripe.view<1xf32>
      stripe.store %x, %c_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %C : !stripe.view<10x4xf32>
}

// Left alone: no sizes, an index that only aggregates, sizes that divide or are whole,
// and parts that would set the same cells.
// CHECK-LABEL: func.func @left_alone
// CHECK: [%i : 10, %k : 9]
// CHECK: [%i : 10, %k : 9]
// CHECK: [%i : 9, %k : 4]
// CHECK-NOT: stripe.block
func.func @left_alone(%A : !stripe.view<10x9xf32>) -> (!stripe.view<10xf32>, !stripe.view<10xf32>, !stripe.view<12xf32>) {
  %C = stripe.alloc : !stripe.view<10xf32>
  stripe.block [%i : 10, %k : 9]
      in %a = %A[%i, %k] : 1x1
      out %c = %C[%i] : 1 add init 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %c : !stripe.view<1xf32>
  }
  %D = stripe.alloc : !stripe.view<10xf32>
  stripe.block [%i : 10, %k : 9]
      in %a = %A[%i, %k] : 1x1
      out %c = %D[%i] : 1 add init 0
      attributes {stripe.tile = array<i64: 5, 4>} {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %c : !stripe.view<1xf32>
  }
  %E = stripe.alloc : !stripe.view<12xf32>
  stripe.block [%i : 9, %k : 4]
      in %a = %A[%i, %k] : 1x1
      out %c = %E[%i + %k] : 1 add init 0
      attributes {stripe.tile = array<i64: 2, 3>} {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %c : !stripe.view<1xf32>
  }
  func.return %C, %D, %E : !stripe.view<10xf32>, !stripe.view<10xf32>, !stripe.view<12xf32>
}

// Indices as numbers count on; a serial block is not split.
// CHECK-LABEL: func.func @numbers
// CHECK: stripe.block [%i : 8]
// CHECK: stripe.index 2 * %i : si32
// CHECK: stripe.block [%i : 3]
// CHECK: stripe.index 2 * %i + 16 : si32
// CHECK: stripe.block serial [%i : 11]
// CHECK-NOT: stripe.block
func.func @numbers() -> (!stripe.view<11xsi32>, !stripe.view<11xsi32>) {
  %O = stripe.alloc : !stripe.view<11xsi32>
  %P = stripe.alloc : !stripe.view<11xsi32>
  stripe.block [%i : 11]
      out %o = %O[%i] : 1
      attributes {stripe.tile = [array<i64: 4>]} {
    %x = stripe.index 2 * %i : si32
    stripe.store %x, %o : !stripe.view<1xsi32>
  }
  stripe.block serial [%i : 11]
      out %o = %P[%i] : 1
      attributes {stripe.tile = [array<i64: 4>]} {
    %x = stripe.index 2 * %i : si32
    stripe.store %x, %o : !stripe.view<1xsi32>
  }
  func.return %O, %P : !stripe.view<11xsi32>, !stripe.view<11xsi32>
}
