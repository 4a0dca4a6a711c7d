// RUN: tile-opt %s -p lower-tile-to-stripe | filecheck %s

// A gather is a block over its result that loads at computed places; indices that their
// type keeps in bounds need no test on that side.
// CHECK-LABEL: func.func @gather
// CHECK:       stripe.block "R" [%i0 : 5, %i1 : 4]
// CHECK-NEXT:    in %i = %I[%i0] : 1
// CHECK-NEXT:    in %v = %V[0, %i1] : 9x1
// CHECK-NEXT:    out %r = %R[%i0, %i1] : 1x1 {
// CHECK-NEXT:    %[[INDEX:.*]] = stripe.load %i : !stripe.view<1xsi32>
// CHECK:         %[[LOW:.*]] = eltwise.max %[[INDEX]], %{{.*}} : si32
// CHECK:         %[[PLACE:.*]] = eltwise.min %[[LOW]], %{{.*}} : si32
// CHECK-NEXT:    %[[VALUE:.*]] = stripe.load %v[%[[PLACE]], 0] : !stripe.view<9x1xf32>
// CHECK-NEXT:    stripe.store %[[VALUE]], %r : !stripe.view<1x1xf32>
// CHECK:       stripe.block "S"
// CHECK-NOT:     eltwise.m
// CHECK:         stripe.load %w[%{{.*}}] : !stripe.view<256xf32>
func.func @gather(%V : tensor<9x4xf32>, %I : tensor<5xsi32>, %W : tensor<256xf32>, %J : tensor<3xui8>)
    -> (tensor<5x4xf32>, tensor<3xf32>) {
  %R = tile.gather %V, %I : (tensor<9x4xf32>, tensor<5xsi32>) -> tensor<5x4xf32>
  %S = tile.gather %W, %J out_of_bounds zero : (tensor<256xf32>, tensor<3xui8>) -> tensor<3xf32>
  func.return %R, %S : tensor<5x4xf32>, tensor<3xf32>
}

// Out of bounds is where clamping changes an index: there the value is 0.
// CHECK-LABEL: func.func @gather_nd
// CHECK:       stripe.block "R" [%i0 : 2, %i1 : 5, %i2 : 7]
// CHECK-NEXT:    in %i = %I[%i0, %i1, 0] : 1x1x1
// CHECK-NEXT:    in %i_1 = %I[%i0, %i1, 1] : 1x1x1
// CHECK-NEXT:    in %v = %V[%i0, 0, 0, %i2] : 1x3x4x1
// CHECK:         eltwise.cmp_eq
// CHECK:         eltwise.cmp_eq
// CHECK-NEXT:    %[[INSIDE:.*]] = eltwise.logical_and
// CHECK-NEXT:    %[[VALUE:.*]] = stripe.load %v[0, %{{.*}}, %{{.*}}, 0]
// CHECK:         eltwise.cond %[[INSIDE]], %[[VALUE]], %{{.*}} : (i1, f32, f32) -> f32
func.func @gather_nd(%V : tensor<2x3x4x7xf32>, %I : tensor<2x5x2xsi64>) -> tensor<2x5x7xf32> {
  %R = tile.gather %V, %I batch_dims 1 mode nd out_of_bounds zero
      : (tensor<2x3x4x7xf32>, tensor<2x5x2xsi64>) -> tensor<2x5x7xf32>
  func.return %R : tensor<2x5x7xf32>
}

// A sum: zeros, then a block that adds each update at its cell.
// CHECK-LABEL: func.func @scatter
// CHECK:       stripe.block "R_fill" [%i0 : 9, %i1 : 4]
// CHECK:       stripe.block "R" [%n : 5, %behind : 4]
// CHECK-NEXT:    in %i = %I[%n] : 1
// CHECK-NEXT:    in %u = %U[%n, %behind] : 1x1
// CHECK-NEXT:    out %r = %R[0, %behind] : 9x1 add {
// CHECK:         stripe.store %{{.*}}, %r[%{{.*}}, 0] : !stripe.view<9x1xf32>
func.func @scatter(%U : tensor<5x4xf32>, %I : tensor<5xsi32>, %B : tensor<9x4xf32>) -> tensor<9x4xf32> {
  %R = tile.scatter %U, %I, %B
      : (tensor<5x4xf32>, tensor<5xsi32>, tensor<9x4xf32>) -> tensor<9x4xf32>
  func.return %R : tensor<9x4xf32>
}

// With many more indices than cells, sums of parts; what is out of bounds is dropped.
// CHECK-LABEL: func.func @histogram
// CHECK:       stripe.block "R_fill" [%i0 : 16, %i1 : 10]
// CHECK:       stripe.block "R" [%part : 16, %n : 63]
// CHECK-NEXT:    in %i = %I[63 * %part + %n] : 1
// CHECK-NEXT:    in %u = %U[63 * %part + %n] : 1
// CHECK-NEXT:    out %r_parts = %R_parts[%part, 0] : 1x10 add
// CHECK-NEXT:    where -63 * %part - %n + 999 >= 0 {
// CHECK:         %[[INSIDE:.*]] = eltwise.cmp_eq
// CHECK:         stripe.store %{{.*}}, %r_parts[0, %{{.*}}] if %[[INSIDE]]
// CHECK:       stripe.block "R_sum" [%cell : 10, %part : 16]
// CHECK:         out %r = %R[%cell] : 1 add init 0 {
func.func @histogram(%U : tensor<1000xf32>, %I : tensor<1000xsi32>, %B : tensor<10xf32>) -> tensor<10xf32> {
  %R = tile.scatter %U, %I, %B out_of_bounds zero
      : (tensor<1000xf32>, tensor<1000xsi32>, tensor<10xf32>) -> tensor<10xf32>
  func.return %R : tensor<10xf32>
}

// Sums of f16 are sums of f32.
// CHECK-LABEL: func.func @half
// CHECK:       %R_sum = stripe.alloc : !stripe.view<9x4xf32>
// CHECK:       out %r_sum = %R_sum[0, %behind] : 9x1 add
// CHECK:       stripe.block "R_cast" [%i0 : 9, %i1 : 4]
func.func @half(%U : tensor<5x4xf16>, %I : tensor<5xsi32>, %B : tensor<9x4xf16>) -> tensor<9x4xf16> {
  %R = tile.scatter %U, %I, %B
      : (tensor<5x4xf16>, tensor<5xsi32>, tensor<9x4xf16>) -> tensor<9x4xf16>
  func.return %R : tensor<9x4xf16>
}

// To overwrite: the last index of each cell, then the base or that update.
// CHECK-LABEL: func.func @overwrite
// CHECK:       stripe.block "R_fill" [%i0 : 9]
// CHECK:       stripe.block "R_last" [%n0 : 5, %n1 : 2]
// CHECK-NEXT:    in %i = %I[%n0, %n1] : 1x1
// CHECK-NEXT:    out %r_last = %R_last[0] : 9 max {
// CHECK:         %[[NUMBER:.*]] = stripe.index 2 * %n0 + %n1 + 1 : si32
// CHECK-NEXT:    stripe.store %[[NUMBER]], %r_last[%{{.*}}] : !stripe.view<9xsi32>
// CHECK:       stripe.block "R" [%i0 : 9, %i1 : 4]
// CHECK-NEXT:    in %r_last = %R_last[%i0] : 1
// CHECK-NEXT:    in %u = %U_1[0, %i1] : 10x1
// CHECK-NEXT:    in %b = %B[%i0, %i1] : 1x1
// CHECK-NEXT:    out %r = %R[%i0, %i1] : 1x1 {
// CHECK:         %[[HAS:.*]] = eltwise.cmp_gt
// CHECK:         %[[UPDATE:.*]] = stripe.load %u
// CHECK-NEXT:    %[[BASE:.*]] = stripe.load %b
// CHECK-NEXT:    stripe.store %[[BASE]], %r :
// CHECK-NEXT:    stripe.store %[[UPDATE]], %r if %[[HAS]] :
func.func @overwrite(%U : tensor<5x2x4xf32>, %I : tensor<5x2xsi32>, %B : tensor<9x4xf32>) -> tensor<9x4xf32> {
  %R = tile.scatter %U, %I, %B mode update_slice
      : (tensor<5x2x4xf32>, tensor<5x2xsi32>, tensor<9x4xf32>) -> tensor<9x4xf32>
  func.return %R : tensor<9x4xf32>
}

// A reshape is a view; what a function returns it copies. Coordinates have no buffer.
// CHECK-LABEL: func.func @shapes
// CHECK-NEXT:  %X_1 = stripe.reshape %X : !stripe.view<4x5xf32> to !stripe.view<20xf32>
// CHECK:       stripe.block "c" [%i0 : 20]
// CHECK-NEXT:    out %{{.*}} = %c[%i0] : 1 {
// CHECK-NEXT:    %{{.*}} = stripe.index %i0 : si32
// CHECK:       stripe.block "B" [%i0 : 20]
// CHECK-NEXT:    in %x = %X_1[%i0] : 1
// CHECK:       stripe.block "S" []
// CHECK-NEXT:    out %s = %S[0] : 1
// CHECK-NEXT:    out %s_1 = %S[1] : 1 {
// CHECK:       stripe.block "A_copy" [%i0 : 20]
// CHECK:       func.return %A, %B, %S
func.func @shapes(%X : tensor<4x5xf32>) -> (tensor<20xf32>, tensor<20xf32>, tensor<2xsi32>) {
  %A = tile.reshape %X -> [20] : tensor<4x5xf32> -> tensor<20xf32>
  %i = tile.index 0 : tensor<20xsi32>
  %c = eltwise.cast %i : tensor<20xsi32> to tensor<20xf32>
  %B = eltwise.add %A, %c : tensor<20xf32>
  %S = tile.shape %X : tensor<4x5xf32>
  func.return %A, %B, %S : tensor<20xf32>, tensor<20xf32>, tensor<2xsi32>
}

// Ranks are counted, and each position is stored at its rank.
// CHECK-LABEL: func.func @argsort
// CHECK:       stripe.block "R_ranks" [%row : 3, %run : 1, %i : 9, %j : 9]
// CHECK:         out %r_ranks = %R_ranks[%row, 9 * %run + %i] : 1x1 add init 0 {
// CHECK:       stripe.block "R_run" [%row : 3, %run : 1]
// CHECK:         out %r = %R[%row, 9 * %run] : 1x9
// CHECK:         stripe.block [%i : 9]
// CHECK:           stripe.store %{{.*}}, %r_1[0, %{{.*}}] : !stripe.view<1x9xsi32>
func.func @argsort(%X : tensor<3x9xf32>) -> tensor<3x9xsi32> {
  %R = tile.argsort %X axis 1 ascending : tensor<3x9xf32>
  func.return %R : tensor<3x9xsi32>
}

// Long rows: runs, the rest behind the last whole one, and as many merges as it takes.
// CHECK-LABEL: func.func @long_argsort
// CHECK:       stripe.block "R_rows" [%before : 1, %behind : 3, %place : 300]
// CHECK:       stripe.block "R_ranks" [%row : 3, %run : 4, %i : 64, %j : 64]
// CHECK:       stripe.block "R_run" [%row : 3, %run : 4]
// CHECK:       stripe.block "R_ranks" [%row : 3, %run : 1, %i : 44, %j : 44]
// CHECK:       stripe.block "R_run" [%row : 3, %run : 1]
// CHECK:       stripe.block "R_merge" [%row : 3, %pair : 3, %part : 1]
// CHECK-NEXT:    in %[[KEYS:.*]] = %R_keys[%row, 0] : 1x300
// CHECK-NEXT:    in %[[POSITIONS:.*]] = %R_positions[%row, 0] : 1x300
// CHECK-NEXT:    out %{{.*}} = %R_keys_1[%row, 128 * %pair + 128 * %part] : 1x128
// CHECK-NEXT:    out %{{.*}} = %R_positions_1[%row, 128 * %pair + 128 * %part] : 1x128
// CHECK-NEXT:    where -128 * %pair - 128 * %part + 299 >= 0 {
// CHECK:         stripe.block serial [%step : 7]
// CHECK:           stripe.block [%lane : 4 unroll]
// CHECK:         stripe.block serial [%step : 32]
// CHECK:           stripe.block [%lane : 4 unroll]
// CHECK:       stripe.block "R_merge" [%row : 3, %pair : 2, %part : 1]
// CHECK:       stripe.block "R_merge" [%row : 3, %pair : 1, %part : 1]
// CHECK-NOT:     %R_keys_2
// CHECK:       stripe.block "R_columns" [%before : 1, %place : 300, %behind : 3]
func.func @long_argsort(%X : tensor<300x3xsi8>) -> tensor<300x3xsi32> {
  %R = tile.argsort %X axis 0 descending : tensor<300x3xsi8>
  func.return %R : tensor<300x3xsi32>
}

// Groups of lanes make their steps one after the other, then some lanes one more.
// CHECK-LABEL: func.func @prng
// CHECK:       %[[FLAT:.*]] = stripe.reshape %R : !stripe.view<20x60xf32> to !stripe.view<1200xf32>
// CHECK-NEXT:  stripe.block "R" [%group : 2 grid]
// CHECK-NEXT:    in %s = %S[0, 256 * %group] : 3x256
// CHECK-NEXT:    out %t = %T[0, 256 * %group] : 3x256
// CHECK-NEXT:    out %r = %[[FLAT]][256 * %group] : 768 {
// CHECK:         stripe.block serial [%step : 2]
// CHECK-NEXT:      inout %{{.*}} = %state[0, 0] : 3x256
// CHECK-NEXT:      out %{{.*}} = %r[512 * %step] : 256 {
// CHECK-NEXT:      stripe.block [%lane : 256]
// CHECK:       stripe.block "R_rest" [%lane : 176]
// CHECK-NEXT:    inout %t = %T[0, %lane] : 1x1
// CHECK:         out %r = %[[FLAT]][%lane + 1024] : 1 {
// CHECK:       func.return %R, %T
func.func @prng(%S : tensor<3x512xui32>) -> (tensor<20x60xf32>, tensor<3x512xui32>) {
  %R, %T = tile.prng %S -> [20, 60] : tensor<3x512xui32> -> tensor<20x60xf32>
  func.return %R, %T : tensor<20x60xf32>, tensor<3x512xui32>
}
