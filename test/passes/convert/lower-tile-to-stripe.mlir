// RUN: tile-opt %s -p lower-tile-to-stripe | filecheck %s

// A contraction is one block over its ranges; its indices keep their names.
// CHECK-LABEL: func.func @matmul(%A: !stripe.view<4x5xf32>, %B: !stripe.view<5x6xf32>) -> !stripe.view<4x6xf32>
// CHECK:       %C = stripe.alloc : !stripe.view<4x6xf32>
// CHECK-NEXT:  stripe.block "C" [%i : 4, %j : 6, %k : 5]
// CHECK-NEXT:    in %a = %A[%i, %k] : 1x1
// CHECK-NEXT:    in %b = %B[%k, %j] : 1x1
// CHECK-NEXT:    out %c = %C[%i, %j] : 1x1 add init 0 {
// CHECK-NEXT:    %0 = stripe.load %a : !stripe.view<1x1xf32>
// CHECK-NEXT:    %1 = stripe.load %b : !stripe.view<1x1xf32>
// CHECK-NEXT:    %2 = eltwise.mul %0, %1 : f32
// CHECK-NEXT:    stripe.store %2, %c : !stripe.view<1x1xf32>
// CHECK-NEXT:  }
// CHECK-NEXT:  func.return %C : !stripe.view<4x6xf32>
func.func @matmul(%A : tensor<4x5xf32>, %B : tensor<5x6xf32>) -> tensor<4x6xf32> {
  %C = tile.contract add over [i : 4, j : 6 | k : 5] %A[i, k] * %B[k, j] -> [i : 4, j : 6]
      : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  func.return %C : tensor<4x6xf32>
}

// An element-wise op is one block over its result; constants are in its body.
// CHECK-LABEL: func.func @elementwise
// CHECK:       stripe.block "C" [%i0 : 4, %i1 : 5]
// CHECK-NEXT:    in %a = %A[0, %i1] : 1x1
// CHECK-NEXT:    in %s = %S[]
// CHECK-NEXT:    in %v = %V[%i0, %i1] : 1x1
// CHECK-NEXT:    out %c = %C[%i0, %i1] : 1x1 {
// CHECK:       eltwise.cond %{{.*}}, %{{.*}}, %{{.*}} : (i1, f32, f32) -> f32
// CHECK:       stripe.block "D" [%i0 : 4, %i1 : 5]
// CHECK:         %[[TWO:.*]] = eltwise.constant 2.0 : f32
// CHECK-NEXT:    eltwise.pow %{{.*}}, %[[TWO]] : f32
// CHECK:       stripe.block "named" [%i0 : 4, %i1 : 5]
// CHECK:         eltwise.cast %{{.*}} : f32 to si8
func.func @elementwise(%A : tensor<1x5xi1>, %S : tensor<f32>, %V : tensor<4x5xf32>) -> tensor<4x5xsi8> {
  %C = eltwise.cond %A, %S, %V : (tensor<1x5xi1>, tensor<f32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  %two = eltwise.constant 2.0 : tensor<f32>
  %D = eltwise.pow %C, %two : (tensor<4x5xf32>, tensor<f32>) -> tensor<4x5xf32>
  %E = eltwise.cast %D {tile.pid = "named"} : tensor<4x5xf32> to tensor<4x5xsi8>
  func.return %E : tensor<4x5xsi8>
}

// Cells that the box does not reach are filled first.
// CHECK-LABEL: func.func @fill
// CHECK:       stripe.block "O_fill" [%i0 : 8]
// CHECK-NEXT:    out %o = %O[%i0] : 1 {
// CHECK-NEXT:    %[[ZERO:.*]] = eltwise.constant 0 : f32
// CHECK-NEXT:    stripe.store %[[ZERO]], %o
// CHECK:       stripe.block "O" [%i : 4]
// CHECK:         out %o = %O[2 * %i] : 1 min init inf {
// CHECK:       stripe.block "P_fill" [%i0 : 8]
// CHECK-NEXT:    in %d = %D[%i0] : 1
// CHECK-NEXT:    out %p = %P[%i0] : 1 {
// CHECK:       stripe.block "P" [%i : 4]
// CHECK-NEXT:    in %I_1 = %I[%i] : 1
// CHECK-NEXT:    out %p = %P[2 * %i] : 1 {
func.func @fill(%I : tensor<4xf32>, %D : tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %O = tile.contract min over [i : 4] %I[i] -> [2 * i : 8] : (tensor<4xf32>) -> tensor<8xf32>
  %P = tile.contract assign over [i : 4] %I[i] -> [2 * i : 8] default %D
      : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %O, %P : tensor<8xf32>, tensor<8xf32>
}

// An index that steps through some cells of an axis one by one runs over all of them, so
// that a padded image is one block, and a default is copied at the same points.
// CHECK-LABEL: func.func @margins
// CHECK-NOT:   fill
// CHECK:       stripe.block "O" [%x : 6, %y : 5]
// CHECK-NEXT:    in %i = %I[%x - 1, %y] : 1x1
// CHECK-NEXT:    out %o = %O[%x, %y] : 1x1 init 0
// CHECK-NEXT:    where %x - 1 >= 0, -%x + 4 >= 0 {
// CHECK:       stripe.block "P_fill" [%i0 : 4, %i1 : 8]
// CHECK:       stripe.block "P" [%x : 4, %y : 8]
// CHECK-NEXT:    in %i = %I[%x, %y - 3] : 1x1
// CHECK-NEXT:    out %p = %P[%x, %y] : 1x1
// CHECK-NEXT:    where %y - 3 >= 0 {
func.func @margins(%I : tensor<4x5xf32>, %D : tensor<4x8xf32>) -> (tensor<6x5xf32>, tensor<4x8xf32>) {
  %O = tile.contract assign over [x : 4, y : 5] %I[x, y] -> [x + 1 : 6, y : 5] : (tensor<4x5xf32>) -> tensor<6x5xf32>
  %P = tile.contract assign over [x : 4, y : 5] %I[x, y] -> [x : 4, y + 3 : 8] default %D
      : (tensor<4x5xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %O, %P : tensor<6x5xf32>, tensor<4x8xf32>
}

// Cells without a point are marked where the identity would be wrong: not in a sum, nor
// in a maximum of unsigned numbers, nor where every cell has a point.
// CHECK-LABEL: func.func @seen
// CHECK:       stripe.block "O" [%i : 4, %k : 4]
// CHECK:         out %o_value = %O_value[%i] : 1 max init -inf
// CHECK-NEXT:    out %o_seen = %O_seen[%i] : 1 max init 0
// CHECK-NEXT:    where %i - %k - 1 >= 0 {
// CHECK:         %[[YES:.*]] = eltwise.constant 1 : i1
// CHECK-NEXT:    stripe.store %[[YES]], %o_seen : !stripe.view<1xi1>
// CHECK:       stripe.block "O_select" [%i0 : 4]
// CHECK-NEXT:    in %o_seen = %O_seen[%i0] : 1
// CHECK-NEXT:    in %o_value = %O_value[%i0] : 1
// CHECK-NEXT:    out %o = %O[%i0] : 1 {
// CHECK:         eltwise.cond
// CHECK-NOT:   seen
// CHECK:       func.return
func.func @seen(%I : tensor<4xf32>, %U : tensor<4xui8>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xui8>, tensor<4xf32>) {
  %O = tile.contract max over [i : 4 | k : 4] %I[k] -> [i : 4] where 0 <= i - k - 1
      : (tensor<4xf32>) -> tensor<4xf32>
  %S = tile.contract add over [i : 4 | k : 4] %I[k] -> [i : 4] where 0 <= i - k - 1
      : (tensor<4xf32>) -> tensor<4xf32>
  %M = tile.contract max over [i : 4 | k : 4] %U[k] -> [i : 4] where 0 <= i - k - 1
      : (tensor<4xui8>) -> tensor<4xui8>
  %T = tile.contract max over [i : 4 | k : 4] %I[k] -> [i : 4] where 0 <= i - k
      : (tensor<4xf32>) -> tensor<4xf32>
  func.return %O, %S, %M, %T : tensor<4xf32>, tensor<4xf32>, tensor<4xui8>, tensor<4xf32>
}

// Halves are summed in f32, but their maximum is a half.
// CHECK-LABEL: func.func @halves
// CHECK:       %S_sum = stripe.alloc : !stripe.view<f32>
// CHECK:       stripe.block "S" [%i : 9]
// CHECK:         out %s_sum = %S_sum[] add init 0 {
// CHECK:         eltwise.mul %{{.*}}, %{{.*}} : f32
// CHECK:       stripe.block "S_cast" []
// CHECK:         eltwise.cast %{{.*}} : f32 to f16
// CHECK:       stripe.block "M" [%i : 9]
// CHECK:         out %m = %M[] max init -inf {
func.func @halves(%I : tensor<9xf16>) -> (tensor<f16>, tensor<f16>) {
  %S = tile.contract add over [| i : 9] %I[i] * %I[i] -> [] : (tensor<9xf16>, tensor<9xf16>) -> tensor<f16>
  %M = tile.contract max over [| i : 9] %I[i] -> [] : (tensor<9xf16>) -> tensor<f16>
  func.return %S, %M : tensor<f16>, tensor<f16>
}

// Where both are equal the third operand counts, elsewhere 0.
// CHECK-LABEL: func.func @conditional
// CHECK:         %[[EQUAL:.*]] = eltwise.cmp_eq %{{.*}}, %{{.*}} : (si8, si8) -> i1
// CHECK-NEXT:    %[[ZERO:.*]] = eltwise.constant 0 : f32
// CHECK-NEXT:    %[[VALUE:.*]] = eltwise.cond %[[EQUAL]], %{{.*}}, %[[ZERO]] : (i1, f32, f32) -> f32
// CHECK-NEXT:    stripe.store %[[VALUE]]
// CHECK:         %[[IS:.*]] = eltwise.cmp_eq
// CHECK-NEXT:    %[[ONE:.*]] = eltwise.cast %[[IS]] : i1 to si32
// CHECK-NEXT:    stripe.store %[[ONE]]
func.func @conditional(%A : tensor<9xsi8>, %V : tensor<9xf32>) -> (tensor<f32>, tensor<si32>) {
  %S = tile.contract add over [| i : 9] %A[i] == %A[0] ? %V[i] -> []
      : (tensor<9xsi8>, tensor<9xsi8>, tensor<9xf32>) -> tensor<f32>
  %N = tile.contract add over [| i : 9] %A[i] == %A[0] -> [] : (tensor<9xsi8>, tensor<9xsi8>) -> tensor<si32>
  func.return %S, %N : tensor<f32>, tensor<si32>
}

// Outputs never alias each other or an input; nothing runs for tensors without elements.
// CHECK-LABEL: func.func @outputs
// CHECK:       %E = stripe.alloc : !stripe.view<0x3xf32>
// CHECK-NEXT:  %[[COPY:.*]] = stripe.alloc : !stripe.view<3xf32>
// CHECK-NEXT:  stripe.block "A_copy" [%i0 : 3]
// CHECK:       %[[AGAIN:.*]] = stripe.alloc : !stripe.view<3xf32>
// CHECK:       stripe.block "A_copy" [%i0 : 3]
// CHECK:       %half = stripe.alloc : !stripe.view<f32>
// CHECK-NEXT:  stripe.block "half_copy" []
// CHECK:       func.return %[[COPY]], %[[AGAIN]], %half, %E :
func.func @outputs(%A : tensor<3xf32>, %Z : tensor<0x1xf32>)
    -> (tensor<3xf32>, tensor<3xf32>, tensor<f32>, tensor<0x3xf32>) {
  %half = eltwise.constant 0.5 : tensor<f32>
  %E = eltwise.add %A, %Z : (tensor<3xf32>, tensor<0x1xf32>) -> tensor<0x3xf32>
  func.return %A, %A, %half, %E : tensor<3xf32>, tensor<3xf32>, tensor<f32>, tensor<0x3xf32>
}

// A contraction without points is a fill.
// CHECK-LABEL: func.func @empty
// CHECK:       stripe.block "O_fill" [%i0 : 4]
// CHECK-NOT:   stripe.block
// CHECK:       func.return
func.func @empty(%I : tensor<4xf32>) -> tensor<4xf32> {
  %O = tile.contract max over [| i : 0] %I[0] -> [0 : 4] : (tensor<4xf32>) -> tensor<4xf32>
  func.return %O : tensor<4xf32>
}

// The box reaches a cell 5 that is not there. All that are there have a point, so nothing
// needs to be marked and nothing filled.
// CHECK-LABEL: func.func @overhanging
// CHECK-NEXT:  %O = stripe.alloc
// CHECK-NEXT:  stripe.block "O" [%x : 3, %i : 2]
// CHECK-NEXT:    in %I_1 = %I[%x] : 1
// CHECK-NEXT:    out %o = %O[2 * %x + %i] : 1 max init -inf
// CHECK-NEXT:    where -2 * %x - %i + 4 >= 0 {
// CHECK-NOT:   stripe.block
func.func @overhanging(%I : tensor<3xf32>) -> tensor<5xf32> {
  %O = tile.contract max over [x : 3, i : 2] %I[x] -> [2 * x + i : 5]
      where 0 <= -2 * x - i + 4 : (tensor<3xf32>) -> tensor<5xf32>
  func.return %O : tensor<5xf32>
}
