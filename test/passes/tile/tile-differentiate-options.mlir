// RUN: tile-opt %s -p 'tile-differentiate{loss=L wrt=X}' | filecheck %s
// RUN: tile-opt %s -p 'tile-differentiate{loss=L}' | filecheck %s --check-prefix=ALL
// RUN: not tile-opt %s -p 'tile-differentiate{wrt=X}' 2>&1 | filecheck %s --check-prefix=TWO
// RUN: not tile-opt %s -p 'tile-differentiate{loss=Y}' 2>&1 | filecheck %s --check-prefix=LOSS
// RUN: not tile-opt %s -p 'tile-differentiate{loss=L wrt=Z}' 2>&1 | filecheck %s --check-prefix=WRT
// RUN: not tile-opt %s -p 'tile-differentiate{loss=L wrt=I}' 2>&1 | filecheck %s --check-prefix=KIND
// RUN: not tile-opt %s -p 'tile-differentiate{loss=L entry=other}' 2>&1 | filecheck %s --check-prefix=ENTRY

// The gradients follow the other results, and have their names.

// CHECK: -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
// CHECK-SAME: tile.outputs = ["L", "dX", "dX_2"]
// CHECK: %dX = eltwise.neg %W
// CHECK: func.return %L, %L, %dX :

// ALL: tile.outputs = ["L", "dX", "dX_2", "dW"]
// ALL: func.return %L, %L, %dX, %dW :

// TWO: error: the function has 2 results: L, dX
// TWO: hint: the option loss says which one to differentiate
// LOSS: error: there is no result 'Y'
// LOSS: hint: there is L, dX
// WRT: error: there is no argument 'Z'
// WRT: hint: there is X, W, I
// KIND: error: cannot differentiate by 'I': its elements are si32
// ENTRY: error: the module has no function @other, only @main

func.func @main(%X : tensor<4xf32>, %W : tensor<4xf32>, %I : tensor<4xsi32>)
    -> (tensor<4xf32>, tensor<4xf32>)
    attributes {tile.inputs = ["X", "W", "I"], tile.outputs = ["L", "dX"]} {
  %0 = eltwise.neg %X : tensor<4xf32>
  %L = eltwise.mul %0, %W : tensor<4xf32>
  func.return %L, %L : tensor<4xf32>, tensor<4xf32>
}
