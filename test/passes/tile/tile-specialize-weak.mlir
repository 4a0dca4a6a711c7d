// RUN: tile-opt %s -p 'tile-specialize{arguments="3xf64","3xsi8","3xi1"}' | filecheck %s

// Literals, sizes and functions of only those take the type of what they meet.

// CHECK-LABEL: func.func @main
func.func @main(%D : tensor<?x!eltwise.any>, %I : tensor<?x!eltwise.any>,
    %P : tensor<?x!eltwise.any>) -> (tensor<?x!eltwise.any>, tensor<?x!eltwise.any>,
    tensor<?x!eltwise.any>, tensor<?x!eltwise.any>, tensor<!eltwise.any>,
    tensor<f32>, tensor<!eltwise.any>) {
  %N = tile.sizes %D ["N"] : tensor<?x!eltwise.any>
  %one = eltwise.constant 1 : tensor<!eltwise.any>
  %tenth = eltwise.constant 0.1 : tensor<!eltwise.any>
  %count = tile.from_index %N : tensor<!eltwise.any>
  %ratio = eltwise.div %tenth, %count : tensor<!eltwise.any>
  %half = eltwise.div %one, %count : tensor<!eltwise.any>

  // Computed in 64 bits, not rounded to f32 on the way.
  // CHECK: %ratio = eltwise.constant 0.03333333333333333 : tensor<f64>
  // CHECK: eltwise.mul %D, %ratio : (tensor<3xf64>, tensor<f64>) -> tensor<3xf64>
  %0 = eltwise.mul %D, %ratio : (tensor<?x!eltwise.any>, tensor<!eltwise.any>) -> tensor<?x!eltwise.any>
  // CHECK: %count = eltwise.constant 3 : tensor<si8>
  // CHECK: eltwise.add %I, %count : (tensor<3xsi8>, tensor<si8>) -> tensor<3xsi8>
  %1 = eltwise.add %I, %count : (tensor<?x!eltwise.any>, tensor<!eltwise.any>) -> tensor<?x!eltwise.any>
  // A float literal makes an integer f32, an integer literal a boolean si32.
  // CHECK: eltwise.cast %I : tensor<3xsi8> to tensor<3xf32>
  // CHECK: %tenth = eltwise.constant 0.1 : tensor<f32>
  %2 = eltwise.mul %I, %tenth : (tensor<?x!eltwise.any>, tensor<!eltwise.any>) -> tensor<?x!eltwise.any>
  // CHECK: eltwise.cast %P : tensor<3xi1> to tensor<3xsi32>
  // CHECK: %one = eltwise.constant 1 : tensor<si32>
  %3 = eltwise.add %P, %one : (tensor<?x!eltwise.any>, tensor<!eltwise.any>) -> tensor<?x!eltwise.any>
  // What meets nothing has a type of its own; an explicit cast has that of the cast.
  // CHECK: %wide = eltwise.constant 0.1 : tensor<f32>
  // CHECK: %half = eltwise.constant 0 : tensor<si32>
  // CHECK: %less = eltwise.constant 1 : tensor<i1>
  // CHECK-NOT: eltwise.cmp_lt
  %wide = eltwise.cast %tenth : tensor<!eltwise.any> to tensor<f32>
  %less = eltwise.cmp_lt %tenth, %count : tensor<!eltwise.any>
  func.return %0, %1, %2, %3, %half, %wide, %less
      : tensor<?x!eltwise.any>, tensor<?x!eltwise.any>, tensor<?x!eltwise.any>,
        tensor<?x!eltwise.any>, tensor<!eltwise.any>, tensor<f32>, tensor<!eltwise.any>
}
