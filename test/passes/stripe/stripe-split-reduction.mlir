// RUN: tile-opt %s -p 'stripe-split-reduction{lanes=8}' | filecheck %s
// RUN: tile-opt %s -p 'stripe-split-reduction{lanes=8 parallelism=2}' | filecheck %s --check-prefix=SERIAL
// RUN: not tile-opt %s -p 'stripe-split-reduction{lanes=0}' 2>&1 | filecheck %s --check-prefix=ERROR
// ERROR: error: expected lanes of 1 or more, got 0

// Every eighth value has a cell of its own; the cells are aggregated, then the rest.
// CHECK-LABEL: func.func @rows
// CHECK: %S_parts = stripe.alloc : !stripe.view<4x8xf32>
// CHECK-NEXT: stripe.block "S" [%i : 4, %k : 12, %lane : 8]
// CHECK-NEXT: in %a = %A[%i, 8 * %k + %lane] : 1x1
// CHECK-NEXT: out %s = %S_parts[%i, %lane] : 1x1 max init -inf {
// CHECK: stripe.block "S" [%i : 4, %lane : 8]
// CHECK-NEXT: in %part = %S_parts[%i, %lane] : 1x1
// CHECK-NEXT: out %s = %S[%i] : 1 max init -inf {
// CHECK: stripe.block "S" [%i : 4, %k : 4]
// CHECK-NEXT: in %a = %A[%i, %k + 96] : 1x1
// CHECK-NEXT: out %s = %S[%i] : 1 max {
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

// With few cells the other index gets cells of its own; indices as values are split too.
// CHECK-LABEL: func.func @total
// CHECK: %S_parts = stripe.alloc : !stripe.view<4x8xf32>
// CHECK: eltwise.cast %{{[0-9]+}} : index to f32
// CHECK: stripe.block "S" [%i : 4, %lane : 8]
// SERIAL-LABEL: func.func @total
// SERIAL: %S_parts = stripe.alloc : !stripe.view<4x8xf32>
// SERIAL-LABEL: func.func @three
// SERIAL: %S_parts = stripe.alloc : !stripe.view<4x8xf32>
func.func @total(%A : !stripe.view<4x64xf32>) -> !stripe.view<f32> {
  %S = stripe.alloc : !stripe.view<f32>
  stripe.block "S" [%i : 4, %k : 64]
      in %a = %A[%i, %k] : 1x1
      out %s = %S[] add init 0 {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    %y = eltwise.cast %k : index to f32
    %z = eltwise.mul %x, %y : f32
    stripe.store %z, %s : !stripe.view<f32>
  }
  func.return %S : !stripe.view<f32>
}

// CHECK-LABEL: func.func @three
// CHECK: %S_parts = stripe.alloc : !stripe.view<4x4x8xf32>
func.func @three(%A : !stripe.view<4x4x64xf32>) -> !stripe.view<4xf32> {
  %S = stripe.alloc : !stripe.view<4xf32>
  stripe.block "S" [%i : 4, %j : 4, %k : 64]
      in %a = %A[%i, %j, %k] : 1x1x1
      out %s = %S[%i] : 1 add init 0 {
    %x = stripe.load %a : !stripe.view<1x1x1xf32>
    stripe.store %x, %s : !stripe.view<1xf32>
  }
  func.return %S : !stripe.view<4xf32>
}

// Left alone: short rows, a constraint, a step of two, another start value, several
// outputs, what can be computed by vectors as it is, and sizes by hand.
// CHECK-LABEL: func.func @left_alone
// CHECK-NOT: _parts
func.func @left_alone(%A : !stripe.view<4x64xf32>, %B : !stripe.view<64x4xf32>) -> (!stripe.view<4xf32>, !stripe.view<4xf32>) {
  %S = stripe.alloc : !stripe.view<4xf32>
  %T = stripe.alloc : !stripe.view<4xf32>
  stripe.block "short" [%i : 4, %k : 31]
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
  stripe.block "several" [%i : 4, %k : 64]
      in %a = %A[%i, %k] : 1x1
      out %s = %S[%i] : 1 add init 0
      out %t = %T[%i] : 1 max init -inf {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %s : !stripe.view<1xf32>
    stripe.store %x, %t : !stripe.view<1xf32>
  }
  stripe.block "columns" [%i : 4, %k : 64]
      in %b = %B[%k, %i] : 1x1
      out %s = %S[%i] : 1 add init 0 {
    %x = stripe.load %b : !stripe.view<1x1xf32>
    stripe.store %x, %s : !stripe.view<1xf32>
  }
  stripe.block "tiled" [%i : 4, %k : 64]
      in %a = %A[%i, %k] : 1x1
      out %s = %S[%i] : 1 add init 0
      attributes {stripe.tile = array<i64: 2, 16>} {
    %x = stripe.load %a : !stripe.view<1x1xf32>
    stripe.store %x, %s : !stripe.view<1xf32>
  }
  func.return %S, %T : !stripe.view<4xf32>, !stripe.view<4xf32>
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
