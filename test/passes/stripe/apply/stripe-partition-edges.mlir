// RUN: tile-opt %s -p stripe-partition-edges | filecheck %s
// RUN: tile-opt %s -p 'stripe-partition-edges{bits=512}' | filecheck %s --check-prefix=VECTORS

// In a work-group the edge has whole vectors, if nothing is read of what is set: not
// between groups.
// CHECK-LABEL: func.func @in_group
// CHECK-COUNT-2: stripe.block [%j : 31]
// CHECK: stripe.block "D" [%j : 31]
// VECTORS-LABEL: func.func @in_group
// VECTORS: stripe.block [%j : 64]
// VECTORS: stripe.block [%j : 32]
// VECTORS-NEXT: in %a_1 = %a[%j + 63] : 1
// VECTORS-NEXT: out %c_1 = %c[%j + 63] : 1 add init 0
// VECTORS: stripe.block [%j : 31]
// VECTORS: stripe.block "D" [%j : 31]
func.func @in_group(%A : !stripe.view<100xf32>) -> (!stripe.view<100xf32>, !stripe.view<100xf32>) {
  %C = stripe.alloc : !stripe.view<100xf32>
  %D = stripe.alloc : !stripe.view<100xf32>
  stripe.block []
      in %a = %A[0] : 100
      out %c = %C[0] : 100
      in %read = %C[0] : 100 {
    stripe.block [%j : 95]
        in %a_1 = %a[%j] : 1
        out %c_1 = %c[%j] : 1 add init 0
        attributes {stripe.schedule = #stripe.schedule<tile [32]>} {
      %x = stripe.load %a_1 : !stripe.view<1xf32>
      stripe.store %x, %c_1 : !stripe.view<1xf32>
    }
    stripe.block [%j : 95]
        in %a_1 = %read[%j + 5] : 1
        out %c_1 = %c[%j] : 1 add init 0
        attributes {stripe.schedule = #stripe.schedule<tile [32]>} {
      %x = stripe.load %a_1 : !stripe.view<1xf32>
      stripe.store %x, %c_1 : !stripe.view<1xf32>
    }
  }
  stripe.block "D" [%j : 95]
      in %a_1 = %A[%j] : 1
      out %d_1 = %D[%j] : 1 add init 0
      attributes {stripe.schedule = #stripe.schedule<tile [32]>} {
    %x = stripe.load %a_1 : !stripe.view<1xf32>
    stripe.store %x, %d_1 : !stripe.view<1xf32>
  }
  func.return %C, %D : !stripe.view<100xf32>, !stripe.view<100xf32>
}

// The rest of a buffer is not for the last tile: the interior, then the edges.
// CHECK-LABEL: func.func @both
// CHECK: stripe.block "C" [%i : 8, %j : 64]
// CHECK-NEXT: in %a = %A[%i, %j] : 1x1
// CHECK-NEXT: out %c = %C[%i, %j] : 1x1 add init 0
// CHECK-NEXT: attributes {stripe.schedule = #stripe.schedule<tile [4, 32]>} {
// CHECK: stripe.block "C" [%i : 8, %j : 6]
// CHECK-NEXT: in %a = %A[%i, %j + 64] : 1x1
// CHECK: stripe.block "C" [%i : 2, %j : 64]
// CHECK-NEXT: in %a = %A[%i + 8, %j] : 1x1
// CHECK: stripe.block "C" [%i : 2, %j : 6]
// CHECK-NEXT: in %a = %A[%i + 8, %j + 64] : 1x1
// CHECK-NOT: stripe.block
func.func @both(%A : !stripe.view<10x70xf32>) -> !stripe.view<20x90xf32> {
  %C = stripe.alloc : !stripe.view<20x90xf32>
  stripe.block "C" [%i : 10, %j : 70]
      in %a = %A[%i, %j] : 1x1
      out %c = %C[%i, %j] : 1x1 add init 0
      attributes {stripe.schedule = #stripe.schedule<tile [4, 32]>} {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %c : !stripe.view<1x1xf32>
  }
  func.return %C : !stripe.view<20x90xf32>
}

// A tile that is larger than the range is as large as it. All levels count.
// CHECK-LABEL: func.func @levels
// CHECK: [%j : 30]
// CHECK: [%j : 1]
// CHECK-NOT: stripe.block
func.func @levels(%A : !stripe.view<31xf32>) -> !stripe.view<40xf32> {
  %C = stripe.alloc : !stripe.view<40xf32>
  stripe.block "C" [%j : 31]
      in %a = %A[%j] : 1
      out %c = %C[%j] : 1 add init 0
      attributes {stripe.schedule = #stripe.schedule<tile [32], tile [5]>} {
    %x = stripe.load %a : !stripe.view<1xf32>
    stripe.store %x, %c : !stripe.view<1xf32>
  }
  func.return %C : !stripe.view<40xf32>
}

// Tiles that do not fill those around them are split inside of these; so are the edges.
// CHECK-LABEL: func.func @inner_levels
// CHECK: stripe.block "C" [%i : 2 grid]
// CHECK-NEXT: out %c = %C[10 * %i] : 10
// CHECK-NEXT: attributes {stripe.scheduled = #stripe.schedule<over [i], tile [10] bind [grid] because "few">} {
// CHECK: stripe.block [%i_1 : 8]
// CHECK-NEXT: out %c_1 = %c[%i_1] : 1 add init 0
// CHECK-NEXT: attributes {stripe.schedule = #stripe.schedule<
// CHECK-NEXT: tile [4],
// CHECK-NEXT: points bind [unroll]>} {
// CHECK: stripe.block [%i_1 : 2]
// CHECK-NEXT: out %c_1 = %c[%i_1 + 8] : 1 add init 0
// CHECK: stripe.block "C" [%i : 4]
// CHECK-NEXT: out %c = %C[%i + 20] : 1 add init 0
// CHECK: stripe.block "C" [%i : 1]
// CHECK-NEXT: out %c = %C[%i + 24] : 1 add init 0
// CHECK-NOT: stripe.block
func.func @inner_levels() -> !stripe.view<30xf32> {
  %C = stripe.alloc : !stripe.view<30xf32>
  stripe.block "C" [%i : 25]
      out %c = %C[%i] : 1 add init 0
      attributes {stripe.schedule = #stripe.schedule<
        tile [10] bind [grid] because "few",
        tile [4],
        points bind [unroll]>} {
    %x = eltwise.constant 1 : f32
    stripe.store %x, %c : !stripe.view<1xf32>
  }
  func.return %C : !stripe.view<30xf32>
}

// What is copied goes with the level that its windows are of; further inside, blocks
// around are counted down.
// CHECK-LABEL: func.func @copies
// CHECK: stripe.block "C" [%i : 2]
// CHECK: stripe.schedule = #stripe.schedule<stage input 0 at 0 of 0 order [0] global>} {
// CHECK: stripe.block [%i_1 : 8]
// CHECK: tile [4],
// CHECK-NEXT: stage input 1 at -1 of 0 order [0] global,
// CHECK-NEXT: stage input 2 at 0 of 0 order [0] private>} {
// CHECK: stripe.block [%i_1 : 2]
func.func @copies(%A : !stripe.view<20xf32>) -> !stripe.view<30xf32> {
  %C = stripe.alloc : !stripe.view<30xf32>
  stripe.block "C" [%i : 20]
      in %a = %A[%i] : 1
      in %b = %A[%i] : 1
      in %d = %A[%i] : 1
      out %c = %C[%i] : 1 add init 0
      attributes {stripe.schedule = #stripe.schedule<
        tile [10],
        tile [4],
        stage input 0 at 0 of 0 order [0] global,
        stage input 1 at 0 of 1 order [0] global,
        stage input 2 at 1 of 1 order [0] private>} {
    %x = stripe.load %a : !stripe.view<1xf32>
    %y = stripe.load %b : !stripe.view<1xf32>
    %z = stripe.load %d : !stripe.view<1xf32>
    %u = eltwise.add %x, %y : f32
    %v = eltwise.add %u, %z : f32
    stripe.store %v, %c : !stripe.view<1xf32>
  }
  func.return %C : !stripe.view<30xf32>
}

// Constraints and nested blocks are shifted with the index.
// CHECK-LABEL: func.func @shifted
// CHECK: stripe.block [%i : 8]
// CHECK: where -%i + 8 >= 0
// CHECK: in %a_1 = %a[%j + %i] : 1
// CHECK: stripe.block [%i : 2]
// CHECK: where -%i >= 0
// CHECK: in %a_1 = %a[%j + %i + 8] : 1
func.func @shifted(%A : !stripe.view<16xf32>) -> !stripe.view<12x4xf32> {
  %C = stripe.alloc : !stripe.view<12x4xf32>
  stripe.block [%i : 10]
      in %a = %A[0] : 16
      out %c = %C[%i, 0] : 1x4 add init 0
      where 8 - %i >= 0
      attributes {stripe.schedule = #stripe.schedule<tile [4]>} {
    stripe.block [%j : 4]
        in %a_1 = %a[%j + %i] : 1
        out %c_1 = %c[0, %j] : 1x1 add {
      %x = stripe.load %a_1 : !stripe.view<1xf32>
      stripe.store %x, %c_1 : !stripe.view<1x1xf32>
    }
  }
  func.return %C : !stripe.view<12x4xf32>
}

// In a window, too, there may be more of the buffer; where windows end with it there is
// not.
// CHECK-LABEL: func.func @nested
// CHECK: [%i : 2]
// CHECK: [%j : 4]
// CHECK: [%j : 1]
// CHECK: stripe.block
// CHECK: [%j : 5]
// CHECK-NOT: stripe.block
func.func @nested(%A : !stripe.view<10xf32>) -> (!stripe.view<10xf32>, !stripe.view<10xf32>) {
  %C = stripe.alloc : !stripe.view<10xf32>
  %D = stripe.alloc : !stripe.view<10xf32>
  stripe.block [%i : 2]
      in %a = %A[5 * %i] : 5
      out %c = %C[5 * %i] : 5 {
    stripe.block [%j : 5]
        in %a_1 = %a[%j] : 1
        out %c_1 = %c[%j] : 1 add init 0
        attributes {stripe.schedule = #stripe.schedule<tile [4]>} {
      %x = stripe.load %a_1 : !stripe.view<1xf32>
      stripe.store %x, %c_1 : !stripe.view<1xf32>
    }
  }
  stripe.block []
      in %a = %A[5] : 5
      out %d = %D[5] : 5 {
    stripe.block [%j : 5]
        in %a_1 = %a[%j] : 1
        out %d_1 = %d[%j] : 1 add init 0
        attributes {stripe.schedule = #stripe.schedule<tile [4]>} {
      %x = stripe.load %a_1 : !stripe.view<1xf32>
      stripe.store %x, %d_1 : !stripe.view<1xf32>
    }
  }
  func.return %C, %D : !stripe.view<10xf32>, !stripe.view<10xf32>
}

// Left alone: no sizes, an index that only aggregates, sizes that divide or are whole,
// the end of a buffer, outputs without `init`, and parts that would set the same cells.
// CHECK-LABEL: func.func @left_alone
// CHECK: [%i : 10, %k : 9]
// CHECK: [%i : 10, %k : 9]
// CHECK: [%i : 10, %k : 9]
// CHECK: [%i : 10, %k : 9]
// CHECK: [%i : 9, %k : 4]
// CHECK-NOT: stripe.block
func.func @left_alone(%A : !stripe.view<10x9xf32>) -> (!stripe.view<10xf32>, !stripe.view<10xf32>, !stripe.view<10xf32>, !stripe.view<20x20xf32>, !stripe.view<14xf32>) {
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
      attributes {stripe.schedule = #stripe.schedule<tile [5, 4]>} {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %c : !stripe.view<1xf32>
  }
  %E = stripe.alloc : !stripe.view<10xf32>
  stripe.block [%i : 10, %k : 9]
      in %a = %A[%i, %k] : 1x1
      out %c = %E[%i] : 1 add init 0
      attributes {stripe.schedule = #stripe.schedule<tile [4, 4]>} {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %c : !stripe.view<1xf32>
  }
  %F = stripe.alloc : !stripe.view<20x20xf32>
  stripe.block [%i : 10, %k : 9]
      in %a = %A[%i, %k] : 1x1
      out %c = %F[%i, %k] : 1x1
      attributes {stripe.schedule = #stripe.schedule<tile [4, 4]>} {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %c : !stripe.view<1x1xf32>
  }
  %G = stripe.alloc : !stripe.view<14xf32>
  stripe.block [%i : 9, %k : 4]
      in %a = %A[%i, %k] : 1x1
      out %c = %G[%i + %k] : 1 add init 0
      attributes {stripe.schedule = #stripe.schedule<tile [2, 3]>} {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %c : !stripe.view<1xf32>
  }
  func.return %C, %D, %E, %F, %G : !stripe.view<10xf32>, !stripe.view<10xf32>, !stripe.view<10xf32>, !stripe.view<20x20xf32>, !stripe.view<14xf32>
}

// Indices as numbers count on.
// CHECK-LABEL: func.func @numbers
// CHECK: stripe.block [%i : 8]
// CHECK: stripe.index 2 * %i : si32
// CHECK: stripe.block [%i : 3]
// CHECK: stripe.index 2 * %i + 16 : si32
// CHECK-NOT: stripe.block
func.func @numbers() -> !stripe.view<12xsi32> {
  %O = stripe.alloc : !stripe.view<12xsi32>
  stripe.block [%i : 11]
      out %o = %O[%i] : 1 add init 0
      attributes {stripe.schedule = #stripe.schedule<tile [4]>} {
    %x = stripe.index 2 * %i : si32
    stripe.store %x, %o : !stripe.view<1xsi32>
  }
  func.return %O : !stripe.view<12xsi32>
}
