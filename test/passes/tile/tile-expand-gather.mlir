// RUN: tile-opt %s -p tile-expand-gather | filecheck %s

// The nearest cell: `round` gives the even integer of two, which is put right.
// CHECK-LABEL: func.func @nearest
// CHECK-NEXT:  %[[EVEN:.*]] = eltwise.round %X : tensor<5xf32>
// CHECK:       %[[GAP:.*]] = eltwise.sub %[[EVEN]], %X
// CHECK:       %[[WRONG:.*]] = eltwise.cmp_eq %[[GAP]]
// CHECK:       %[[LOWER:.*]] = eltwise.sub %[[EVEN]]
// CHECK:       %[[PLACE:.*]] = eltwise.cond %[[WRONG]], %[[LOWER]], %[[EVEN]]
// CHECK-NEXT:  %[[INDEX:.*]] = eltwise.cast %[[PLACE]] : tensor<5xf32> to tensor<5xsi32>
// CHECK-NEXT:  %R = tile.gather %V, %[[INDEX]] out_of_bounds zero {note} : (tensor<9xsi8>, tensor<5xsi32>) -> tensor<5xsi8>
// CHECK-NEXT:  %[[FLOOR:.*]] = eltwise.floor %X
// CHECK-NEXT:  %[[INDEX:.*]] = eltwise.cast %[[FLOOR]]
// CHECK-NEXT:  %S = tile.gather %V, %[[INDEX]] :
// CHECK-NEXT:  %[[INDEX:.*]] = eltwise.cast %X
// CHECK-NEXT:  %T = tile.gather %V, %[[INDEX]] :
func.func @nearest(%V : tensor<9xsi8>, %X : tensor<5xf32>) -> (tensor<5xsi8>, tensor<5xsi8>, tensor<5xsi8>) {
  %R = tile.gather %V, %X interpolation nearest out_of_bounds zero {note}
      : (tensor<9xsi8>, tensor<5xf32>) -> tensor<5xsi8>
  %S = tile.gather %V, %X interpolation nearest nearest_mode floor
      : (tensor<9xsi8>, tensor<5xf32>) -> tensor<5xsi8>
  %T = tile.gather %V, %X interpolation nearest nearest_mode simple
      : (tensor<9xsi8>, tensor<5xf32>) -> tensor<5xsi8>
  func.return %R, %S, %T : tensor<5xsi8>, tensor<5xsi8>, tensor<5xsi8>
}

// Two cells and their weights, which broadcast over the axes behind the one gathered.
// CHECK-LABEL: func.func @linear
// CHECK-NEXT:  %[[FLOOR:.*]] = eltwise.floor %X : tensor<2x5xf32>
// CHECK-NEXT:  %[[T:.*]] = eltwise.sub %X, %[[FLOOR]]
// CHECK:       %[[REST:.*]] = eltwise.sub %{{.*}}, %[[T]]
// CHECK:       tile.gather %V, %{{.*}} axis 2 batch_dims 1 : (tensor<2x3x9x4xf32>, tensor<2x5xsi32>) -> tensor<2x3x5x4xf32>
// CHECK-NEXT:  %[[WEIGHT:.*]] = tile.reshape %[[REST]] -> [2, 1, 5, 1]
// CHECK-NEXT:  eltwise.mul %{{.*}}, %[[WEIGHT]]
// CHECK:       tile.gather %V, %{{.*}} axis 2 batch_dims 1
// CHECK-NEXT:  tile.reshape %[[T]] -> [2, 1, 5, 1]
// CHECK:       %R = eltwise.add
func.func @linear(%V : tensor<2x3x9x4xf32>, %X : tensor<2x5xf32>) -> tensor<2x3x5x4xf32> {
  %R = tile.gather %V, %X axis 2 batch_dims 1 interpolation linear
      : (tensor<2x3x9x4xf32>, tensor<2x5xf32>) -> tensor<2x3x5x4xf32>
  func.return %R : tensor<2x3x5x4xf32>
}

// Weights and sums of f16 are f32.
// CHECK-LABEL: func.func @half
// CHECK:       eltwise.cast %X : tensor<5xf16> to tensor<5xf32>
// CHECK-COUNT-4: tile.gather
// CHECK:       %R = eltwise.cast %{{.*}} : tensor<5xf32> to tensor<5xf16>
func.func @half(%V : tensor<9xf16>, %X : tensor<5xf16>) -> tensor<5xf16> {
  %R = tile.gather %V, %X interpolation cubic cube_coefficient -0.5
      : (tensor<9xf16>, tensor<5xf16>) -> tensor<5xf16>
  func.return %R : tensor<5xf16>
}

// Left alone: indices that are integers, and types that are not known.
// CHECK-LABEL: func.func @kept
// CHECK-NEXT:  tile.gather %V, %I :
// CHECK-NEXT:  tile.gather %V, %X interpolation linear :
func.func @kept(%V : tensor<9xf32>, %I : tensor<5xsi32>, %X : tensor<?xf32>) -> (tensor<5xf32>, tensor<?xf32>) {
  %R = tile.gather %V, %I : (tensor<9xf32>, tensor<5xsi32>) -> tensor<5xf32>
  %S = tile.gather %V, %X interpolation linear : (tensor<9xf32>, tensor<?xf32>) -> tensor<?xf32>
  func.return %R, %S : tensor<5xf32>, tensor<?xf32>
}
