// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// Before specialization: any rank, sizes that are values, negative axes.
// CHECK-LABEL: func.func @symbolic
func.func @symbolic(%A : tensor<?x?x!eltwise.any>, %X : tensor<*x!eltwise.any>, %S : tensor<3x?x!eltwise.any>) {
  %M, %K = tile.sizes %A ["M", "K"] : tensor<?x?x!eltwise.any>
  // CHECK: %R = tile.reshape %A -> [%M, 4] {tile.pid = "x"} : tensor<?x?x!eltwise.any> -> tensor<?x4x!eltwise.any>
  %R = tile.reshape %A -> [%M, 4] {tile.pid = "x"} : tensor<?x?x!eltwise.any> -> tensor<?x4x!eltwise.any>
  // CHECK-NEXT: tile.reshape %X -> [] : tensor<*x!eltwise.any> -> tensor<!eltwise.any>
  %0 = tile.reshape %X -> [] : tensor<*x!eltwise.any> -> tensor<!eltwise.any>
  // CHECK-NEXT: tile.simple_reduce %X -> [1, %M] : tensor<*x!eltwise.any> -> tensor<1x?x!eltwise.any>
  %1 = tile.simple_reduce %X -> [1, %M] : tensor<*x!eltwise.any> -> tensor<1x?x!eltwise.any>
  // CHECK-NEXT: tile.index -1 like %X {note} : tensor<*x!eltwise.any> -> tensor<*xsi32>
  %2 = tile.index -1 like %X {note} : tensor<*x!eltwise.any> -> tensor<*xsi32>
  // CHECK-NEXT: tile.index 1 [%M, 4] : tensor<?x4xsi32>
  %3 = tile.index 1 [%M, 4] : tensor<?x4xsi32>
  // CHECK-NEXT: tile.shape %X : tensor<*x!eltwise.any>
  %4 = tile.shape %X : tensor<*x!eltwise.any>
  // CHECK-NEXT: tile.argsort %A axis -1 descending : tensor<?x?x!eltwise.any>
  %5 = tile.argsort %A axis -1 descending : tensor<?x?x!eltwise.any>
  // CHECK-NEXT: %V, %T = tile.prng %S -> [%M, 4] : tensor<3x?x!eltwise.any> -> tensor<?x4xf32>
  %V, %T = tile.prng %S -> [%M, 4] : tensor<3x?x!eltwise.any> -> tensor<?x4xf32>
  // CHECK-NEXT: tile.argsort %T axis 0 ascending : tensor<3x?xui32>
  %6 = tile.argsort %T axis 0 ascending : tensor<3x?xui32>
  // CHECK-NEXT: %c = eltwise.cmp_lt %M, %K : index
  %c = eltwise.cmp_lt %M, %K : index
  // CHECK-NEXT: tile.assert %c "assert_narrow" {note}
  tile.assert %c "assert_narrow" {note}
  // CHECK-NEXT: tile.gather %A, %2 axis -2 : (tensor<?x?x!eltwise.any>, tensor<*xsi32>) -> tensor<*x!eltwise.any>
  %7 = tile.gather %A, %2 axis -2 : (tensor<?x?x!eltwise.any>, tensor<*xsi32>) -> tensor<*x!eltwise.any>
  // CHECK-NEXT: tile.gather %A, %4 mode nd : (tensor<?x?x!eltwise.any>, tensor<?xsi32>) -> tensor<*x!eltwise.any>
  %8 = tile.gather %A, %4 mode nd : (tensor<?x?x!eltwise.any>, tensor<?xsi32>) -> tensor<*x!eltwise.any>
  // CHECK-NEXT: tile.scatter %X, %4, %A : (tensor<*x!eltwise.any>, tensor<?xsi32>, tensor<?x?x!eltwise.any>) -> tensor<*x!eltwise.any>
  %9 = tile.scatter %X, %4, %A : (tensor<*x!eltwise.any>, tensor<?xsi32>, tensor<?x?x!eltwise.any>) -> tensor<*x!eltwise.any>
  func.return
}

// CHECK-LABEL: func.func @gather
func.func @gather(%V : tensor<2x9x4xf32>, %I : tensor<2x5xsi32>, %X : tensor<7xf32>, %J : tensor<2x3x2xui8>) {
  // CHECK-NEXT: tile.gather %V, %I : (tensor<2x9x4xf32>, tensor<2x5xsi32>) -> tensor<2x5x9x4xf32>
  %0 = tile.gather %V, %I : (tensor<2x9x4xf32>, tensor<2x5xsi32>) -> tensor<2x5x9x4xf32>
  // CHECK-NEXT: tile.gather %V, %I axis 1 batch_dims 1 out_of_bounds zero : {{.*}} -> tensor<2x5x4xf32>
  %1 = tile.gather %V, %I axis 1 batch_dims 1 out_of_bounds zero : (tensor<2x9x4xf32>, tensor<2x5xsi32>) -> tensor<2x5x4xf32>
  // CHECK-NEXT: tile.gather %V, %J batch_dims 1 mode nd : {{.*}} -> tensor<2x3xf32>
  %2 = tile.gather %V, %J batch_dims 1 mode nd : (tensor<2x9x4xf32>, tensor<2x3x2xui8>) -> tensor<2x3xf32>
  // CHECK-NEXT: tile.gather %V, %X axis 2 interpolation nearest nearest_mode ceil : {{.*}} -> tensor<2x9x7xf32>
  %3 = tile.gather %V, %X axis 2 interpolation nearest nearest_mode ceil : (tensor<2x9x4xf32>, tensor<7xf32>) -> tensor<2x9x7xf32>
  // CHECK-NEXT: tile.gather %V, %X interpolation cubic cube_coefficient -1.0e-07 {note} : {{.*}} -> tensor<7x9x4xf32>
  %4 = tile.gather %V, %X interpolation cubic cube_coefficient -1.0e-07 {note} : (tensor<2x9x4xf32>, tensor<7xf32>) -> tensor<7x9x4xf32>
  // The options that are the usual ones need not be written.
  // CHECK-NEXT: tile.gather %V, %X interpolation linear : {{.*}} -> tensor<7x9x4xf32>
  %5 = tile.gather %V, %X axis 0 batch_dims 0 mode normal interpolation linear nearest_mode round_prefer_floor cube_coefficient -0.75 out_of_bounds clamp : (tensor<2x9x4xf32>, tensor<7xf32>) -> tensor<7x9x4xf32>
  func.return
}

// CHECK-LABEL: func.func @scatter
func.func @scatter(%U : tensor<5x4xf32>, %I : tensor<5xsi32>, %B : tensor<9x4xf32>, %E : tensor<5x4xsi64>, %J : tensor<5x1xui8>) {
  // CHECK-NEXT: tile.scatter %U, %I, %B : {{.*}} -> tensor<9x4xf32>
  %0 = tile.scatter %U, %I, %B : (tensor<5x4xf32>, tensor<5xsi32>, tensor<9x4xf32>) -> tensor<9x4xf32>
  // CHECK-NEXT: tile.scatter %U, %I, %B mode update_slice {note} : {{.*}} -> tensor<9x4xf32>
  %1 = tile.scatter %U, %I, %B mode update_slice {note} : (tensor<5x4xf32>, tensor<5xsi32>, tensor<9x4xf32>) -> tensor<9x4xf32>
  // CHECK-NEXT: tile.scatter %U, %E, %B axis 1 mode update_elt out_of_bounds zero : {{.*}} -> tensor<9x4xf32>
  %2 = tile.scatter %U, %E, %B axis 1 mode update_elt out_of_bounds zero : (tensor<5x4xf32>, tensor<5x4xsi64>, tensor<9x4xf32>) -> tensor<9x4xf32>
  // CHECK-NEXT: tile.scatter %U, %J, %B mode update_nd : {{.*}} -> tensor<9x4xf32>
  %3 = tile.scatter %U, %J, %B mode update_nd : (tensor<5x4xf32>, tensor<5x1xui8>, tensor<9x4xf32>) -> tensor<9x4xf32>
  func.return
}

// After specialization: static sizes, no operands that give sizes.
// CHECK-LABEL: func.func @static
func.func @static(%X : tensor<4x5xf16>, %S : tensor<1x3xui32>) {
  // CHECK-NEXT: tile.index 1 : tensor<3x4xsi32>
  %0 = tile.index 1 : tensor<3x4xsi32>
  // CHECK-NEXT: tile.shape %X : tensor<4x5xf16>
  %1 = tile.shape %X : tensor<4x5xf16>
  // CHECK-NEXT: tile.reshape %X -> [2, 10] : tensor<4x5xf16> -> tensor<2x10xf16>
  %2 = tile.reshape %X -> [2, 10] : tensor<4x5xf16> -> tensor<2x10xf16>
  // CHECK-NEXT: %V, %T = tile.prng %S -> [] : tensor<1x3xui32> -> tensor<f32>
  %V, %T = tile.prng %S -> [] : tensor<1x3xui32> -> tensor<f32>
  func.return
}
