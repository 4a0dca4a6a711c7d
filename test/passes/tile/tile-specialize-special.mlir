// RUN: tile-opt %s -p 'tile-specialize{arguments="2x3xf32","4xsi32","4xf16","3x5xui32"}' | filecheck %s

// Ranks, sizes and element types become known, axes count from 0, operands that only
// give sizes and assertions that hold are gone.
// CHECK-LABEL: func.func @main
func.func @main(%A : tensor<?x?x!eltwise.any>, %I : tensor<*x!eltwise.any>, %X : tensor<*x!eltwise.any>, %S : tensor<*x!eltwise.any>) {
  %M, %N = tile.sizes %A ["M", "N"] : tensor<?x?x!eltwise.any>
  %MN = eltwise.mul %M, %N : index
  // CHECK-NEXT: %R = tile.reshape %A -> [6, 1] {tile.pid = "x"} : tensor<2x3xf32> -> tensor<6x1xf32>
  %R = tile.reshape %A -> [%MN, 1] {tile.pid = "x"} : tensor<?x?x!eltwise.any> -> tensor<?x1x!eltwise.any>
  // CHECK-NEXT: %0 = tile.index 1 : tensor<2x3xsi32>
  %0 = tile.index -1 like %A : tensor<?x?x!eltwise.any> -> tensor<?x?xsi32>
  // CHECK-NEXT: %1 = tile.index 0 : tensor<3x7xsi32>
  %1 = tile.index 0 [%N, 7] : tensor<?x7xsi32>
  // CHECK-NEXT: %2 = tile.shape %I : tensor<4xsi32>
  %2 = tile.shape %I : tensor<*x!eltwise.any>
  // CHECK-NEXT: %3 = tile.argsort %A axis 0 descending : tensor<2x3xf32>
  %3 = tile.argsort %A axis -2 descending : tensor<?x?x!eltwise.any>
  // CHECK-NEXT: %V, %T = tile.prng %S -> [2] : tensor<3x5xui32> -> tensor<2xf32>
  %V, %T = tile.prng %S -> [%M] : tensor<*x!eltwise.any> -> tensor<?xf32>
  %c = eltwise.cmp_lt %M, %N : index
  tile.assert %c "assert_wide"

  // Integer indices need no interpolation.
  // CHECK-NEXT: %4 = tile.gather %A, %I axis 1 : (tensor<2x3xf32>, tensor<4xsi32>) -> tensor<2x4xf32>
  %4 = tile.gather %A, %I axis -1 interpolation linear : (tensor<?x?x!eltwise.any>, tensor<*x!eltwise.any>) -> tensor<*x!eltwise.any>
  // CHECK-NEXT: %5 = tile.gather %I, %X interpolation nearest nearest_mode ceil : (tensor<4xsi32>, tensor<4xf16>) -> tensor<4xsi32>
  %5 = tile.gather %I, %X interpolation nearest nearest_mode ceil : (tensor<*x!eltwise.any>, tensor<*x!eltwise.any>) -> tensor<*x!eltwise.any>
  // Between integers there are floats.
  // CHECK-NEXT: [[F:%.*]] = eltwise.cast %I : tensor<4xsi32> to tensor<4xf32>
  // CHECK-NEXT: tile.gather [[F]], %X interpolation linear : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  %6 = tile.gather %I, %X interpolation linear : (tensor<*x!eltwise.any>, tensor<*x!eltwise.any>) -> tensor<*x!eltwise.any>
  // CHECK-NEXT: tile.gather %A, %{{.*}} mode nd : (tensor<2x3xf32>, tensor<1xsi32>) -> tensor<3xf32>
  %7 = tile.gather %A, %2 mode nd : (tensor<?x?x!eltwise.any>, tensor<?xsi32>) -> tensor<*x!eltwise.any>

  // CHECK-NEXT: tile.scatter %X, %I, %A : (tensor<4xf16>, tensor<4xsi32>, tensor<2x3xf32>) -> tensor<2xf16>
  %8 = tile.scatter %X, %I, %A : (tensor<*x!eltwise.any>, tensor<*x!eltwise.any>, tensor<?x?x!eltwise.any>) -> tensor<*x!eltwise.any>
  // Updates and base become one type.
  // CHECK-NEXT: [[B:%.*]] = eltwise.cast %I : tensor<4xsi32> to tensor<4xf16>
  // CHECK-NEXT: tile.scatter %X, %I, [[B]] mode update_elt : (tensor<4xf16>, tensor<4xsi32>, tensor<4xf16>) -> tensor<4xf16>
  %9 = tile.scatter %X, %I, %I axis -1 mode update_elt : (tensor<*x!eltwise.any>, tensor<*x!eltwise.any>, tensor<*x!eltwise.any>) -> tensor<*x!eltwise.any>
  // A literal takes the type of the base.
  %two = eltwise.constant 2 : tensor<!eltwise.any>
  %first = eltwise.constant 0 : tensor<!eltwise.any>
  // CHECK: tile.scatter {{.*}} mode update_slice : (tensor<f16>, tensor<si32>, tensor<4xf16>) -> tensor<4xf16>
  %10 = tile.scatter %two, %first, %X mode update_slice : (tensor<!eltwise.any>, tensor<!eltwise.any>, tensor<*x!eltwise.any>) -> tensor<*x!eltwise.any>
  // Of i1 the sum counts.
  %less = eltwise.cmp_lt %X, %two : (tensor<*x!eltwise.any>, tensor<!eltwise.any>) -> tensor<*x!eltwise.any>
  // CHECK: [[C:%.*]] = eltwise.cast %less : tensor<4xi1> to tensor<4xsi32>
  // CHECK-NEXT: tile.scatter [[C]], %I, %A : {{.*}} -> tensor<2xsi32>
  %11 = tile.scatter %less, %I, %A : (tensor<*x!eltwise.any>, tensor<*x!eltwise.any>, tensor<?x?x!eltwise.any>) -> tensor<*x!eltwise.any>

  // What is summed becomes a contraction, nothing to sum a copy.
  // CHECK-NEXT: tile.contract add over [i0, i1] %A[i0, i1] -> [0 : 1, i1 : 3] : (tensor<2x3xf32>) -> tensor<1x3xf32>
  %12 = tile.simple_reduce %A -> [1, %N] : tensor<?x?x!eltwise.any> -> tensor<1x?x!eltwise.any>
  // CHECK-NEXT: tile.contract add over [i0, i1] %A[i0, i1] -> [i1 : 3] : (tensor<2x3xf32>) -> tensor<3xf32>
  %13 = tile.simple_reduce %A -> [%N] : tensor<?x?x!eltwise.any> -> tensor<?x!eltwise.any>
  // CHECK-NEXT: eltwise.ident %A : tensor<2x3xf32>
  %14 = tile.simple_reduce %A -> [%M, %N] : tensor<?x?x!eltwise.any> -> tensor<?x?x!eltwise.any>
  // CHECK-NEXT: func.return
  func.return
}
