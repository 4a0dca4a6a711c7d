// RUN: tile-opt %s -p 'tile-specialize{arguments="3x4xf32"},tile-differentiate,tile-canonicalize,tile-flatten,lower-tile-to-stripe' --validate-each | filecheck %s

// A program with gradients is run as what they are expanded to.
// CHECK: stripe.block "dX"

func.func @main(%X : tensor<?x?x!eltwise.any>) -> tensor<?x?x!eltwise.any> {
  %N, %M = tile.sizes %X ["N", "M"] : tensor<?x?x!eltwise.any>
  %P = tile.contract mul over [i, j] %X[i, j] -> [i : %N]
      : (tensor<?x?x!eltwise.any>) -> tensor<?x!eltwise.any>
  %dX = tile.gradient %P, %X : tensor<?x!eltwise.any>, tensor<?x?x!eltwise.any>
  func.return %dX : tensor<?x?x!eltwise.any>
}
